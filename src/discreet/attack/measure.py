"""The classic models measured, on any table or release: each notion's number, exactly, the worst class, and why.

Paper: [W14] chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.attack.counted import check_roles, classes_by, coded_of, coded_sources, presence_by
from discreet.attack.match import opened
from discreet.attack.own_classes import classes_of_release, known_of_release
from discreet.attack.target import codes_of
from discreet.errors import TableError
from discreet.estimate.open import open_release
from discreet.estimate.release import Release
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.measured import Measured
from discreet.guarantee.classic.notions import every_notion
from discreet.guarantee.classic.presence import Presence
from discreet.release.statement import MANIFEST
from discreet.table.source import CsvForm, name_of_source
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What every classic notion says of one table or release; `note` says first what must be known of the classes."""

    name: str
    kind: str
    note: str
    rows: int
    classes: int
    values: int
    measured: tuple[Measured, ...]

    def __getitem__(self, notion: str) -> Measured:
        """A notion by its name, such as "k-anonymity"."""
        for each in self.measured:
            if each.notion == notion:
                return each
        raise KeyError(notion)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "note": self.note,
            "rows": self.rows,
            "classes": self.classes,
            "values": self.values,
            "measured": [each.as_json() for each in self.measured],
        }

    @property
    def lines(self) -> Iterator[str]:
        """The report for people, line by line."""
        yield f"{self.name}: {self.rows:,} rows in {self.classes:,} classes ({self.kind}), {self.values:,} values"
        if self.note:
            yield f"note: {self.note}"
        yield from (f"  {each}" for each in self.measured)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def measure(
    thing: Any,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: str | None = None,
    outside: Any = None,
    *,
    csv: CsvForm | None = None,
) -> Measurement:
    """Measure every classic notion on a table or a release: k, l, t, beta, alpha and, with `outside`, delta.

    `thing` is a Table, anything that a table is read from (then the columns must be named), an open release, or the
    folder of one. `outside` is a table of people whom an outsider knows, by columns of the same names. Raises
    TableError or ReleaseError where nothing can be measured. Classes are told by their number; no cell is shown.
    """
    with ExitStack() as files:
        if isinstance(thing, str | Path) and (Path(thing) / MANIFEST).is_file():
            thing = files.enter_context(open_release(thing))
        if isinstance(thing, Release):
            if quasi_identifiers is not None or sensitive is not None:
                raise TableError(
                    "quasi_identifiers and sensitive must be left out for a release; its columns have roles"
                )
            return _of_release(thing, outside, files, csv)
        if isinstance(quasi_identifiers, str):
            quasi_identifiers = [quasi_identifiers]
        if isinstance(thing, Table):
            return _of_table(thing, quasi_identifiers, sensitive, outside, files, csv)
        if quasi_identifiers is None or sensitive is None:
            raise TableError("quasi_identifiers and sensitive must name columns, where no policy says which they are")
        coded, beside = coded_sources(thing, outside, quasi_identifiers, sensitive, csv)
        found = classes_by(coded, quasi_identifiers, sensitive)
        extra = None if beside is None else presence_by(coded.codes, beside, quasi_identifiers)
        return measured(name_of_source(thing), found, extra)


def measured(name: str, classes: Classes, extra: Presence | None = None) -> Measurement:
    """Every notion of some classes."""
    return Measurement(
        name=name,
        kind=classes.kind,
        note=classes.note,
        rows=int(classes.people.sum()),
        classes=len(classes),
        values=classes.values,
        measured=(*every_notion(classes), *([] if extra is None else [extra])),
    )


def _of_release(release: Release, outside: Any, files: ExitStack, csv: CsvForm | None) -> Measurement:
    extra = None
    classes = classes_of_release(release)
    beside = opened(outside, release.schema, files, csv, part=True)
    if beside is not None:
        known = known_of_release(release)
        if known is None:
            raise TableError(
                "outside must be left out for a release that does not show everybody's quasi-identifiers; measure the "
                "table with it"
            )
        extra = presence_by(known, codes_of(beside), release.schema.quasi_identifiers)
    return measured(release.path.name, classes, extra)


def _of_table(
    table: Table,
    quasi_identifiers: Sequence[str] | None,
    sensitive: str | None,
    outside: Any,
    files: ExitStack,
    csv: CsvForm | None,
) -> Measurement:
    schema = table.schema
    own = schema.sensitive if sensitive is None else sensitive
    names = (
        [each for each in schema.quasi_identifiers if each != own] if quasi_identifiers is None else quasi_identifiers
    )
    check_roles(names, own, schema.columns)
    coded = coded_of(codes_of(table), schema)
    beside = opened(outside, schema, files, csv, part=True)
    extra = None if beside is None else presence_by(coded.codes, codes_of(beside), names)
    return measured(table.name, classes_by(coded, names, own), extra)
