"""Is this the table that a release was made of? By the digest that the series keeps, else by tuples or by histograms.

An audit against another table would find nothing, and say so with a small rate. So it is refused: for certain where the
series made the release, or where its counts are exact; else where counts are further off than noise ever is.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attack.target import Target
from discreet.errors import QueryError, TableError
from discreet.estimate.estimate import Counts
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema
from discreet.series.digest import RowDigest
from discreet.series.place import usual_series
from discreet.series.store import Series
from discreet.table.names import columns_in
from discreet.table.read import open_table
from discreet.table.source import CsvForm
from discreet.table.table import Table

_FAR = (
    20.0  # standard errors: further off, a count is not noise's; Laplace noise often goes to 7, and to 20 once in 1e12
)
_FAR_IN_MEAN = 4.0  # the same of all counts of a column, where there are some
_FEW = 5
_MOST_GROUPS = 1_000
BY_SERIES = "the table is the one that the series made this release of"
BY_COUNTS = (
    "the table fits the release by what it counts; whether it is the very table only the series that made it could tell"
)


def opened(
    source: Any, schema: Schema, open_files: ExitStack, csv: CsvForm | None = None, *, part: bool = False
) -> Table | None:
    """A table as it was handed in, or read with the release's own domains; None where there is none.

    Raises TableError where it does not fit. `part`: it need not have all columns.
    """
    if source is None:
        return None
    if isinstance(source, Table):
        _check_domains(source, schema, part=part)
        return source
    table, misfits = open_table(source, _partial(source, schema, csv) if part else schema, (), None, csv=csv)
    if table is None:
        raise TableError(
            "the table does not fit the release; hand in its policy (--policy) where it reads or publishes values "
            "otherwise than they stand:\n  " + "\n  ".join(map(str, misfits))
        )
    return open_files.enter_context(table)


def read_outside(source: Any, policy: Policy, *, csv: CsvForm | None = None) -> Table:
    """An outside table read as the policy reads and publishes values; it need not have all columns."""
    schema = _partial(source, policy.schema, csv)
    marks = {name: policy.marks[name] for name in schema.columns if name in policy.marks}
    same = {name: policy.same[name] for name in schema.columns if name in policy.same}
    table, misfits = open_table(source, schema, (), None, marks=marks, same=same, csv=csv)
    if table is None:
        raise TableError("the outside table does not fit the policy:\n  " + "\n  ".join(map(str, misfits)))
    return table


def check_same(target: Target, series: str | Path | None) -> str:
    """Raise TableError where the release was made of another table; else how it is known, in a sentence."""
    table = target.known
    told = _by_series(target, table, series)
    if told is False:
        raise _other(table, "the series made the release of other rows")
    lacks = target.release.lacks(target.codes)
    if lacks:
        raise _other(table, "it shows too few of its people")
    if lacks is None and (off := _by_histograms(target)):
        raise _other(table, off)
    return BY_SERIES if told else BY_COUNTS


def _other(table: Table, why: str) -> TableError:
    return TableError(f"table ({table.name}) must be the one that the release was made of; {why}")


def _by_series(target: Target, table: Table, series: str | Path | None) -> bool | None:
    """Whether the series made the release of these rows; None where it cannot tell."""
    path = usual_series(None) if series is None else Path(series)
    if not path.exists():
        if series is not None:
            raise TableError(f"series ({path}) must be a file that there is; leave it out to compare histograms")
        return None
    with Series(path) as memory:
        wanted = str(target.release.path.resolve())
        made = [entry for entry in memory.entries() if entry.release == wanted]
        if not made:
            return None
        digest = RowDigest(memory.coins.key, table.encodings)
    for codes in table.codes():
        digest.update(codes)
    return made[-1].rows == digest.rows


def _by_histograms(target: Target) -> str:
    """What does not fit, in words without a cell; empty where counts by each column may be those of the table."""
    release, schema = target.release, target.schema
    way = "unbiased" if "unbiased" in release.estimators else release.estimators[0]
    for name in schema.columns:
        domain = schema.domains[name]
        if len(domain) > _MOST_GROUPS:
            continue
        true = np.bincount(target.codes[name], minlength=len(domain))
        try:
            counts = release.count_by(name, estimator=way)
        except QueryError:
            continue
        if _off(counts, dict(zip(domain, true.tolist(), strict=True))):
            return f"counts by {name} are too far from the table's"
    return ""


def _off(counts: Counts, true: dict[Any, int]) -> bool:
    """Whether some count cannot be that of the table, or they can be only by noise as it never is.

    The largest standard error of the column serves for all: those of single counts that were fitted may be too small.
    """
    seen, off, error = 0, [0.0], 0.0
    for (value,), estimate in counts:
        count = true.get(value, 0)
        seen += count
        own = estimate.design or estimate
        low, high = estimate.bounds
        if not low <= count <= high:
            return True
        if own.value is not None and own.standard_error:
            off.append(abs(own.value - count))
            error = max(error, own.standard_error)
    ruled_out = seen < sum(true.values())  # a value that the table has
    return ruled_out or max(off) > _FAR * error or (len(off) > _FEW and sum(off) > _FAR_IN_MEAN * error * len(off))


def _check_domains(table: Table, schema: Schema, *, part: bool) -> None:
    """Raise TableError where a table that was read by its policy has not the release's columns and domains."""
    own, wanted = table.schema, schema
    if not part and set(own.columns) != set(wanted.columns):
        raise TableError(f"table ({table.name}) must have the release's columns; read it with the release's policy")
    for name in own.columns:
        if name in wanted.domains and own.domains[name].as_json() != wanted.domains[name].as_json():
            raise TableError(
                f"table ({table.name}) must be read with the release's domain of {name}; use the policy of the release"
            )


def _partial(source: Any, schema: Schema, csv: CsvForm | None) -> Schema:
    """The release's schema, of the columns that an outside table has."""
    given = {name.casefold() for name in columns_in(source, csv, schema.columns)}
    found = tuple(name for name in schema.columns if name.casefold() in given)
    if not found:
        raise TableError("an outside table must have at least one column of the release; there is nothing to link by")
    return Schema(
        quasi_identifiers=found[:-1], sensitive=found[-1], domains={name: schema.domains[name] for name in found}
    )
