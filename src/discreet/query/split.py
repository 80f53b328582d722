"""Splitting a condition by the value of one column: for each value, the condition that is left on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engine.duck import Engine, listing, literal
from discreet.query.condition import TRUE, Atom, Condition, Truth, atoms, bind, decide
from discreet.schema.domain import Value


@dataclass(frozen=True, kw_only=True)
class Part:
    """Values (by position) for which the same condition on the other columns decides; TRUE where they always match."""

    condition: Condition
    values: tuple[int, ...]


def split_by(condition: Condition, column: str, values: Sequence[Value], engine: Engine) -> tuple[Part, ...]:
    """The parts of a condition; values that can never match are in none.

    Atoms on the column alone are decided by the engine for all values at once, so SQL's own rules apply; an atom that
    mixes the column with others is left open, with the value put in.
    """
    own = [atom for atom in atoms(condition) if atom.columns == {column}]
    mixed = any(column in atom.columns and atom not in own for atom in atoms(condition))
    found: dict[Condition, list[int]] = {}
    cases: dict[tuple[Truth, ...], Condition | Truth] = {}
    for position, case in enumerate(_decided(own, column, values, engine)):
        if case not in cases:
            cases[case] = decide(condition, dict(zip(own, case, strict=True)))
        left = cases[case]
        if left is False or left is None:
            continue
        if left is True:
            left = TRUE
        elif mixed:
            left = bind(left, {column: literal(values[position])})
        found.setdefault(left, []).append(position)
    return tuple(Part(condition=left, values=tuple(positions)) for left, positions in found.items())


def _decided(own: Sequence[Atom], column: str, values: Sequence[Value], engine: Engine) -> list[tuple[Truth, ...]]:
    """The truth of each atom for each value, by the engine that would evaluate it on rows."""
    if not own:
        return [()] * len(values)
    truths = ", ".join(atom.sql for atom in own)
    return engine.rows(f"SELECT {truths} FROM {listing(column, tuple(values))} ORDER BY position_")
