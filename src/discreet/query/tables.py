"""Predicates as truth tables over the values of their attributes, and the values that no table tells apart.

A predicate is decided on the cross product of just its own attributes; what is not looked up is evaluated by the
engine, so SQL's own rules apply.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.engine.columns import cells_of, column_of
from discreet.engine.duck.database import BATCH, Database
from discreet.engine.duck.sql import identifier
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError
from discreet.ground.arrays import Bools, Ints
from discreet.query.condition import Atom, Not
from discreet.query.decide import Decided, decide_rows
from discreet.query.lookup import lookup

MOST_COMBINATIONS = 5 * 10**7  # of values that one predicate is decided for
_MOST_HELD = 4 * MOST_COMBINATIONS  # by all predicates of a condition
_MOST_VALUES = 10**7  # of the columns of a condition: each takes up to 35 bytes, in numbers beside its truths
_RELATION = "combinations"
_SMALL = 1 << 12  # values of a column that is decided side by side with others

Leaf = Atom | Not  # a predicate to be true, or one to be false
Variable = str | int  # an attribute, or a gate: the truth of a part of a formula


@dataclass(frozen=True, eq=False)
class Table:
    """Where something holds: an axis for each variable of its scope."""

    scope: tuple[Variable, ...]
    holds: Bools


def atom_of(leaf: Leaf) -> Atom:
    """The predicate of a leaf."""
    atom = leaf.part if isinstance(leaf, Not) else leaf
    if not isinstance(atom, Atom):
        raise TypeError("NOT must stand before a predicate")
    return atom


def truth_tables(
    leaves: Iterable[Leaf], encodings: Mapping[str, Encoding], engine: Database | None
) -> dict[Leaf, Table]:
    """For each predicate, where it is true; for each negated one, where it is false: unknown is neither."""
    leaves = list(leaves)
    scopes = {atom: tuple(name for name in encodings if name in atom.columns) for atom in map(atom_of, leaves)}
    _fit(scopes, encodings)
    decided = _decide(scopes, encodings, engine)
    found = {}
    for leaf in leaves:
        atom = atom_of(leaf)
        true, false = decided[atom]
        holds = true if isinstance(leaf, Atom) else ~true if false is None else false
        found[leaf] = Table(scopes[atom], holds.reshape([len(encodings[name]) for name in scopes[atom]]))
    return found


def merge_values(
    tables: Mapping[Leaf, Table], held: Mapping[str, Ints]
) -> tuple[dict[Leaf, Table], dict[Variable, Ints]]:
    """The same tables over classes of values that none of them tells apart, and what the values of each class count for
    together; `held`: what each value of an attribute counts for.
    """
    found = dict(tables)
    sizes: dict[Variable, Ints] = {}
    for name in {each: None for table in tables.values() for each in table.scope if isinstance(each, str)}:
        mine = {leaf: table for leaf, table in found.items() if name in table.scope}
        kinds, number = np.zeros(len(held[name]), dtype=np.int64), 1
        for table in mine.values():
            kinds, number = _refine(kinds, number, np.moveaxis(table.holds, table.scope.index(name), 0))
        sizes[name] = np.zeros(number, dtype=np.int64)
        np.add.at(sizes[name], kinds, held[name])
        first = np.zeros(number, dtype=np.int64)
        first[kinds[::-1]] = np.arange(len(kinds))[::-1]
        for leaf, table in mine.items():
            found[leaf] = Table(table.scope, table.holds.take(first, axis=table.scope.index(name)))
    return found, sizes


def _refine(kinds: Ints, number: int, truths: Bools) -> tuple[Ints, int]:
    """Classes, split further by the rows of a table."""
    rows, most = _rows(truths.reshape(len(kinds), -1))
    keys = kinds * most + rows
    if number * most > 4 * len(keys) + 65_536:
        present, keys = np.unique(keys, return_inverse=True)
        return keys.astype(np.int64), len(present)
    present = np.flatnonzero(np.bincount(keys, minlength=number * most))
    renamed = np.zeros(number * most, dtype=np.int64)
    renamed[present] = np.arange(len(present))
    return renamed[keys], len(present)


def _rows(truths: Bools) -> tuple[Ints, int]:
    """A number for each row, the same for the same row, and how many numbers there may be."""
    if truths.shape[1] == 1:
        return truths[:, 0].astype(np.int64), 2
    packed = np.packbits(truths, axis=1)
    packed = np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))))
    kind = np.dtype(np.uint64) if packed.shape[1] == 8 else np.dtype((np.void, packed.shape[1]))
    present, numbers = np.unique(packed.view(kind)[:, 0], return_inverse=True)
    return numbers.astype(np.int64), len(present)


def _fit(scopes: Mapping[Atom, Sequence[str]], encodings: Mapping[str, Encoding]) -> None:
    """Refuse what has too many values, or combinations of them, to be decided."""
    held = 0
    for scope in scopes.values():
        combinations = math.prod(len(encodings[name]) for name in scope)
        held += combinations
        if combinations > MOST_COMBINATIONS:
            raise QueryError(
                f"the predicate on {' and '.join(scope)} has {combinations:,} combinations of values to decide, at "
                f"most {MOST_COMBINATIONS:,} are; use smaller domains"
            )
    if held > _MOST_HELD:
        raise QueryError(f"the predicates have {held:,} combinations of values, at most {_MOST_HELD:,}; use fewer")
    columns = dict.fromkeys(name for scope in scopes.values() for name in scope)
    if (values := sum(len(encodings[name]) for name in columns)) > _MOST_VALUES:
        raise QueryError(
            f"{' and '.join(columns)} must have at most {_MOST_VALUES:,} values together in a condition, and have "
            f"{values:,}; use smaller domains"
        )


def _decide(
    scopes: Mapping[Atom, tuple[str, ...]], encodings: Mapping[str, Encoding], engine: Database | None
) -> dict[Atom, Decided]:
    found: dict[Atom, Decided] = {}
    aside: list[Atom] = []
    groups: dict[tuple[str, ...], list[Atom]] = defaultdict(list)
    for atom, scope in scopes.items():
        if (known := lookup(atom, encodings)) is not None:
            found[atom] = known()
        elif not scope or (len(scope) == 1 and len(encodings[scope[0]]) <= _SMALL):
            aside.append(atom)
        else:
            groups[scope].append(atom)
    if engine is not None:
        if aside:
            found |= _by_value(aside, scopes, encodings, engine)
        for group, atoms in groups.items():
            found |= _by_combination(atoms, group, encodings, engine)
    return found


def _by_value(
    atoms: Sequence[Atom], scopes: Mapping[Atom, tuple[str, ...]], encodings: Mapping[str, Encoding], engine: Database
) -> dict[Atom, Decided]:
    """Predicates on small columns, all in one pass: the values stand side by side, short columns filled with NULL."""
    cells = {name: cells_of(encodings[name]) for atom in atoms for name in scopes[atom]}
    longest = max(map(len, cells.values()), default=1)
    columns = {name: pa.concat_arrays([each, pa.nulls(longest - len(each), each.type)]) for name, each in cells.items()}
    found = {}
    for atom, (true, false) in _decided(atoms, columns, longest, engine).items():
        size = math.prod(len(cells[name]) for name in scopes[atom])
        found[atom] = (true[:size], None if false is None else false[:size])
    return found


def _by_combination(
    atoms: Sequence[Atom], scope: Sequence[str], encodings: Mapping[str, Encoding], engine: Database
) -> dict[Atom, Decided]:
    """Predicates on the cross product of the same columns, in batches."""
    cells = {name: cells_of(encodings[name]) for name in scope}
    shape = tuple(map(len, cells.values()))
    rows = math.prod(shape)
    found = {atom: (np.zeros(rows, dtype=np.bool_), np.zeros(rows, dtype=np.bool_)) for atom in atoms}
    for start in range(0, rows, BATCH):
        places = np.unravel_index(np.arange(start, min(start + BATCH, rows)), shape)
        columns = {name: cells[name].take(column_of(place)) for name, place in zip(scope, places, strict=True)}
        for atom, (true, false) in _decided(atoms, columns, len(places[0]), engine).items():
            found[atom][0][start : start + BATCH] = true
            found[atom][1][start : start + BATCH] = ~true if false is None else false
    return dict(found)


def _decided(atoms: Sequence[Atom], columns: dict[str, pa.Array], rows: int, engine: Database) -> dict[Atom, Decided]:
    """Predicates on rows in memory, in their order."""
    place = "".join(columns) + " place"  # longer than any name
    engine.register(_RELATION, pa.table({**columns, place: column_of(np.arange(rows))}))
    try:
        return dict(decide_rows(atoms, _RELATION, engine, order=identifier(place)))
    finally:
        engine.forget(_RELATION)
