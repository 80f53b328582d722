"""Reading a table: CSV, Parquet or a pandas frame, checked against the policy before anything else happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb

from discreet.engine.duck import Engine
from discreet.engine.encoding import identifier, text
from discreet.errors import TableError
from discreet.schema.domain import Domain
from discreet.schema.nearest import did_you_mean
from discreet.schema.policy import Policy
from discreet.table.table import ROWS, Table

SOURCE = "source_rows"


def read_table(source: Any, policy: Policy, *, memory: str | None = None) -> Table:
    """Open a table for publishing: a path to a CSV or Parquet file, or a pandas frame.

    Raises TableError where columns are missing, cells are null or outside their domain, or a person has several rows.
    Messages name columns and numbers of rows, never a cell.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    engine = Engine(memory=memory)
    try:
        _open(engine, source, path)
        columns = _matched(engine, policy)
        domains = policy.schema.domains
        engine.encode(ROWS, SOURCE, {name: (columns[name], domains[name].encoding) for name in policy.schema.columns})
        rows = _checked(engine, policy, columns)
        return Table(engine=engine, schema=policy.schema, rows=rows, histogram=_histogram(engine, policy))
    except duckdb.Error as error:
        engine.close()
        raise _unreadable(path, error) from None
    except BaseException:
        engine.close()
        raise


def _open(engine: Engine, source: Any, path: Path | None) -> None:
    """Make the source a relation with its own columns; CSV cells stay text until a domain says otherwise."""
    if path is None:
        if not hasattr(source, "columns") or not hasattr(source, "dtypes"):
            raise TableError(f"source ({type(source).__name__}) must be a path to CSV or Parquet, or a pandas frame")
        if any(not isinstance(name, str) for name in source.columns):
            raise TableError("every column of the frame must have a text for its name")
        engine.register(SOURCE, source)
        return
    if not path.is_file():
        raise TableError(f"table ({path}) must be a file that exists")
    if path.suffix.lower() in (".parquet", ".pq"):
        read = f"read_parquet({text(str(path.resolve()))})"
    elif path.suffix.lower() in (".csv", ".tsv", ".txt"):
        read = f"read_csv({text(str(path.resolve()))}, all_varchar = true, header = true)"
    else:
        raise TableError(f"table ({path}) must end in .csv, .tsv or .parquet")
    engine.rows(f"CREATE VIEW {SOURCE} AS SELECT * FROM {read}")


def _matched(engine: Engine, policy: Policy) -> dict[str, str]:
    """The source's column for each name of the policy; names may differ in case only."""
    present = engine.columns(SOURCE)
    folded = {name.casefold(): name for name in present}
    wanted = [*policy.schema.columns, *([policy.person] if policy.person else [])]
    missing = [name for name in wanted if name.casefold() not in folded]
    if missing:
        hints = "; ".join(f"{name} is missing{did_you_mean(name, present).replace('; ', ', ')}" for name in missing)
        raise TableError(f"the table must have every column of the policy: {hints}")
    for name in policy.identifiers:
        if name.casefold() not in folded:
            raise TableError(
                f"identifier {name} is not a column of the table{did_you_mean(name, present)}; correct the policy, so "
                "that "
                "no misspelt identifier is kept by mistake"
            )
    return {name: folded[name.casefold()] for name in wanted}


def _checked(engine: Engine, policy: Policy, columns: dict[str, str]) -> int:
    """The number of rows; raises TableError with every column that has nulls or strangers, and repeated persons."""
    names = policy.schema.columns
    parts = []
    for name in names:
        source = f"s.{identifier(columns[name])}"
        parts.append(f"count(*) FILTER (WHERE {source} IS NULL)")
        parts.append(f"count(*) FILTER (WHERE {source} IS NOT NULL AND r.{identifier(name)} IS NULL)")
    checked = f"{SOURCE} s POSITIONAL JOIN {ROWS} r"
    rows, *found = engine.rows(f"SELECT count(*), {', '.join(parts)} FROM {checked}")[0]
    problems = []
    for name, nulls, outside in zip(names, found[::2], found[1::2], strict=True):
        if nulls and not policy.schema.domains[name].missing:
            problems.append(
                f"{name} is empty in {nulls:,} of {rows:,} rows; fill them, leave these rows out, "
                'or say missing = "category" in the domain'
            )
        if outside:
            problems.append(
                f"{name} is outside its domain in {outside:,} of {rows:,} rows; {_mend(policy.schema.domains[name])}"
            )
    if policy.person:
        person = identifier(columns[policy.person])
        people, nulls = engine.rows(f"SELECT count(DISTINCT {person}), count(*) - count({person}) FROM {SOURCE}")[0]
        if nulls or people + nulls < rows:
            problems.append(
                f"{policy.person} must be different in every row: {rows - people - nulls:,} rows repeat a person and "
                f"{nulls:,} name "
                "none; the promise is for one row a person, so keep one row of each"
            )
    if problems:
        raise TableError("the table does not fit the policy: " + "\n  ".join(["", *problems]).strip("\n"))
    if not rows:
        raise TableError("the table has no rows; there is nothing to publish")
    return int(rows)


def _mend(domain: Domain) -> str:
    if domain.type == "integer":
        return "it must hold whole numbers of the domain; correct the cells or widen the domain in the policy"
    return "correct the cells (letter case and spaces count) or list the values in the policy"


def _histogram(engine: Engine, policy: Policy) -> dict[object, int]:
    """How often each value of the sensitive domain occurs, in the domain's order."""
    sensitive = identifier(policy.schema.sensitive)
    found = dict(engine.rows(f"SELECT {sensitive}, count(*) FROM {ROWS} GROUP BY ALL"))
    return {value: int(found.get(value, 0)) for value in policy.schema.domains[policy.schema.sensitive]}


def _unreadable(path: Path | None, error: duckdb.Error) -> TableError:
    """The parser's complaint without the cells it quotes."""
    line = re.search(r"Line: (\d+)", str(error))
    where = f" at line {line[1]}" if line else ""
    name = path.name if path else "frame"
    return TableError(f"table ({name}) must be readable as it is named; reading failed{where} ({type(error).__name__})")
