"""Splitting a condition by the value of one column: for each value, the condition that is left on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import literal
from discreet.engine.encoding import Encoding
from discreet.query.condition import TRUE, Atom, Condition, Truth, atoms, bind, decide
from discreet.query.decide import Decided, decide_values


@dataclass(frozen=True, kw_only=True)
class Part:
    """Values (by position) for which the same condition on the other columns decides; TRUE where they always match."""

    condition: Condition
    values: tuple[int, ...]


def split_by(
    conditions: Sequence[Condition], column: str, values: Encoding, engine: Database
) -> list[tuple[Part, ...]]:
    """The parts of each condition; values that can never match are in none.

    Atoms on the column alone are decided for all values at once; an atom that mixes the column with others is left
    open, with the value put in.
    """
    own = {atom for condition in conditions for atom in atoms(condition) if atom.columns == {column}}
    decided = decide_values(list(own), column, values, engine)
    return [_split(condition, column, values, decided) for condition in conditions]


def _split(condition: Condition, column: str, values: Encoding, decided: Mapping[Atom, Decided]) -> tuple[Part, ...]:
    own = [atom for atom in atoms(condition) if atom in decided]
    mixed = any(column in atom.columns and atom not in decided for atom in atoms(condition))
    truths = [_truths(decided[atom]) for atom in own]
    found: dict[Condition, list[int]] = {}
    cases: dict[tuple[Truth, ...], Condition | Truth] = {}
    for position, value in enumerate(values):
        case = tuple(truth[position] for truth in truths)
        if case not in cases:
            cases[case] = decide(condition, dict(zip(own, case, strict=True)))
        left = cases[case]
        if left is False or left is None:
            continue
        if left is True:
            left = TRUE
        elif mixed:
            left = bind(left, {column: literal(value)})
        found.setdefault(left, []).append(position)
    return tuple(Part(condition=left, values=tuple(positions)) for left, positions in found.items())


def _truths(decided: Decided) -> list[Truth]:
    true, false = decided
    if false is None:
        return list(true.tolist())
    return [True if yes else False if no else None for yes, no in zip(true.tolist(), false.tolist(), strict=True)]
