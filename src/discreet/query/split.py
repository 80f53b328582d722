"""Splitting a condition by the value of one column: for each value, the condition that is left on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engine.duck import Engine, text
from discreet.query.condition import TRUE, Atom, Condition, Truth, atoms, decide, render
from discreet.schema.domain import Value


@dataclass(frozen=True, kw_only=True)
class Part:
    """The values (by position) for which the same condition on the other columns decides, and that condition as SQL.

    `always` marks values that match whatever the other columns hold; their condition is TRUE.
    """

    sql: str
    values: tuple[int, ...]
    always: bool


def split_by(condition: Condition, column: str, values: Sequence[Value], engine: Engine) -> tuple[Part, ...]:
    """The parts of a condition; values that can never match are in none.

    Atoms on the column alone are decided by the engine for all values at once, so SQL's own rules apply; an atom that
    mixes the column with others is left open, with the value put in.
    """
    own = [atom for atom in atoms(condition) if atom.columns == {column}]
    mixed = any(column in atom.columns and atom not in own for atom in atoms(condition))
    truth = _decided(own, column, values, engine)
    found: dict[str, list[int]] = {}
    always: list[int] = []
    cases: dict[tuple[Truth, ...], Condition | Truth] = {}
    for position, value in enumerate(values):
        case = truth[position]
        if case not in cases:
            cases[case] = decide(condition, dict(zip(own, case, strict=True)))
        left = cases[case]
        if left is True or left == TRUE:
            always.append(position)
        elif left is not False and left is not None:
            bound = {column: literal(value)} if mixed else {}
            found.setdefault(render(left, bound), []).append(position)
    parts = [Part(sql=sql, values=tuple(positions), always=False) for sql, positions in found.items()]
    if always:
        parts.append(Part(sql="TRUE", values=tuple(always), always=True))
    return tuple(parts)


def literal(value: Value) -> str:
    """A value of a domain as an SQL literal."""
    return text(value) if isinstance(value, str) else f"({value})"


def _decided(own: Sequence[Atom], column: str, values: Sequence[Value], engine: Engine) -> list[tuple[Truth, ...]]:
    """The truth of each atom for each value, by the engine that would evaluate it on rows."""
    if not own:
        return [()] * len(values)
    listed = ", ".join(f"({position}, {literal(value)})" for position, value in enumerate(values))
    truths = ", ".join(atom.sql({}) for atom in own)
    relation = f'(VALUES {listed}) AS listed(position_, "{column.replace(chr(34), chr(34) * 2)}")'
    rows = engine.rows(f"SELECT {truths} FROM {relation} ORDER BY position_")
    return [tuple(row) for row in rows]
