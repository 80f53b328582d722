"""Conditions as factors: parts that speak of different columns, each as a table of where it is true."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.engine.duck.database import Database
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError
from discreet.ground.arrays import Bools, Floats
from discreet.query.condition import Atom, Condition, Every, Not, atoms, columns_of
from discreet.query.tables import Leaf, Table, truth_tables

MOST_COMBINATIONS = 2 * 10**7  # of values of columns that one part ties together


@dataclass(frozen=True, eq=False)
class Factor:
    """A part of a condition: its columns, and where it is true (an axis for each), or how much of it, from 0 to 1."""

    columns: tuple[str, ...]
    holds: Bools | Floats


def apart(condition: Condition) -> list[tuple[frozenset[str], Condition]]:
    """The condition as the AND of conditions without common columns, each with its columns."""
    parts = list(condition.parts) if isinstance(condition, Every) else [condition]
    tied: list[tuple[frozenset[str], list[Condition]]] = []
    for part in _flat(parts):
        columns, own = columns_of(part), [part]
        apart = []
        for others, conditions in tied:
            if columns & others:
                columns, own = columns | others, [*conditions, *own]
            else:
                apart.append((others, conditions))
        tied = [*apart, (columns, own)]
    return [(columns, Every(tuple(own))) for columns, own in tied]


def _flat(parts: Sequence[Condition]) -> list[Condition]:
    found: list[Condition] = []
    for part in parts:
        found += _flat(part.parts) if isinstance(part, Every) else [part]
    return found


def factor_of(
    condition: Condition, columns: frozenset[str], encodings: Mapping[str, Encoding], engine: Database
) -> Factor:
    """Where a condition over these columns is true."""
    names = tuple(name for name in encodings if name in columns)
    shape = tuple(len(encodings[name]) for name in names)
    if math.prod(shape) > MOST_COMBINATIONS:
        raise QueryError(
            f"the condition ties {' and '.join(names)} together, {math.prod(shape):,} combinations of values; at most "
            f"{MOST_COMBINATIONS:,} are looked at; join simpler conditions by AND"
        )
    leaves: list[Leaf] = []
    for atom in atoms(condition):
        leaves += [atom, Not(atom)]
    true, _ = _truth(condition, truth_tables(leaves, encodings, engine), names, shape)
    return Factor(names, np.broadcast_to(true, shape))


def _truth(
    condition: Condition, known: Mapping[Leaf, Table], names: tuple[str, ...], shape: tuple[int, ...]
) -> tuple[Bools, Bools]:
    """Where a condition is true and where false; where it is neither, it is unknown."""
    if isinstance(condition, Atom):
        return _axes(known[condition], names), _axes(known[Not(condition)], names)
    if isinstance(condition, Not):
        true, false = _truth(condition.part, known, names, shape)
        return false, true
    one, other = np.ones((1,) * len(shape), dtype=np.bool_), np.zeros((1,) * len(shape), dtype=np.bool_)
    every = isinstance(condition, Every)
    true, false = (one, other) if every else (other, one)
    for part in condition.parts:
        yes, no = _truth(part, known, names, shape)
        true, false = (true & yes, false | no) if every else (true | yes, false & no)
    return true, false


def _axes(table: Table, names: tuple[str, ...]) -> Bools:
    """A predicate's table with an axis for each column of the factor."""
    sizes = dict(zip(table.scope, table.holds.shape, strict=True))
    return table.holds.reshape([sizes.get(name, 1) for name in names])
