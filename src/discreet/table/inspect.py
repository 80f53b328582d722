"""What does not fit between a table and a policy: columns, types, empty and strange cells, repeated persons.

Problems name columns and numbers of rows. Cells are shown only to a custodian who asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.engine.engine import ColumnType, Engine
from discreet.schema.domain import Dates, Decimals, Domain, own_domain
from discreet.schema.nearest import nearest
from discreet.schema.schema import Schema

_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """One thing that does not fit; `column` is the policy's name of the column it is about, and `key` where the policy
    says what the table does not keep: DATA where no line of it can be blamed.
    """

    column: str
    message: str
    key: tuple[str, ...]

    def __str__(self) -> str:
        return self.message


def match_columns(
    present: Mapping[str, ColumnType], schema: Schema, identifiers: Sequence[str], person: str | None
) -> tuple[dict[str, str], list[Misfit]]:
    """The source's column for each name of the policy (letter case may differ), and which are missing or mistyped."""
    folded = {name.casefold(): name for name in present}
    wanted = [*schema.columns, *([person] if person else [])]
    misfits = [
        missing_column(name, schema.role_key(name)[1] if name in schema.columns else "person", present)
        for name in wanted
        if name.casefold() not in folded
    ]
    misfits += [missing_column(name, "identifiers", present) for name in identifiers if name.casefold() not in folded]
    columns = {name: folded[name.casefold()] for name in (*wanted, *identifiers) if name.casefold() in folded}
    for name in schema.columns:
        if name in columns and (problem := _mistyped(name, present[columns[name]], schema.domains[name])):
            misfits.append(Misfit(column=name, message=problem, key=("domains", name)))
    return columns, misfits


def missing_column(name: str, role: str, present: Iterable[str]) -> Misfit:
    """What is said of a name that the policy gives a role and the table does not have, with the nearest that it has."""
    hint = nearest(name, present)
    if role == "identifiers":
        message = f"identifier {name} is not a column of the table{hint} (correct it, so that none is kept by mistake)"
    else:
        message = f"column {name} is missing from the table{hint}"
    return Misfit(column=name, message=message, key=("table", role))


def _mistyped(name: str, kind: ColumnType, domain: Domain) -> str | None:
    domain = own_domain(domain)
    if domain.type == "number" and not kind.as_whole:
        return f"{name} holds {kind.name} but its domain decimals; convert the column"
    if domain.type == "integer" and not kind.as_whole:
        return f"{name} holds {kind.name} but its domain whole numbers; convert the column, or list its values as text"
    if domain.type == "text" and not kind.as_text:
        return f"{name} holds {kind.name} but its domain text; convert the column"
    return None


def check_cells(engine: Engine, schema: Schema, *, show: bool) -> tuple[int, list[Misfit]]:
    """The number of rows, and the columns that have empty cells or cells outside their domain."""
    rows, found = engine.misfits()
    misfits = []
    for name, (nulls, outside) in found.items():
        domain = schema.domains[name]
        if nulls and not domain.missing:
            advice = 'fill them, leave these rows out, or say missing = "category" in the domain'
            message = f"{name} is empty in {nulls:,} of {rows:,} rows; {advice}"
            misfits.append(Misfit(column=name, message=message, key=("domains", name)))
        if outside:
            cells = engine.strangers(name, _SHOWN) if show else []
            shown = f" ({', '.join(f'{cell!r} {count:,}' for cell, count in cells)})" if cells else ""
            look = "" if show else " (check --show-values shows you the cells)"
            message = f"{name} is outside its domain in {outside:,} of {rows:,} rows{shown}; {_mend(domain)}{look}"
            misfits.append(Misfit(column=name, message=message, key=("domains", name)))
    return rows, misfits


def _mend(domain: Domain) -> str:
    domain = own_domain(domain)
    if isinstance(domain, Decimals):
        return (
            f"it must hold numbers from {domain.low} to {domain.high} in steps of {domain.step}, with a decimal point; "
            "correct the cells, or change decimals and step in the policy"
        )
    if isinstance(domain, Dates):
        return (
            f"it must hold dates from {domain.low} to {domain.high}, written such as 2020-03-31; correct the cells or "
            "widen the domain in the policy"
        )
    if domain.type == "integer":
        return "it must hold whole numbers of the domain; correct the cells or widen the domain in the policy"
    return "correct the cells (letter case and spaces count) or list the values in the policy"


def check_persons(engine: Engine, person: str, column: str) -> list[Misfit]:
    """One row a person: the promise is per row."""
    rows, people, nulls = engine.persons(column)
    if not nulls and people == rows:
        return []
    repeats = rows - people - nulls
    message = (
        f"{person} must be different in every row: {repeats:,} rows repeat a person and {nulls:,} name none; "
        "the promise is for one row a person, so keep one row of each"
    )
    return [Misfit(column=person, message=message, key=("table", "person"))]
