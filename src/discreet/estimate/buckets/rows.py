"""The published rows as codes in memory, column by column as questions need them, and what conditions hold on them.

A predicate on one column is decided once for each value of the column's domain and then looked up for each row. A
predicate on several columns, or on a very large domain, is decided by the engine row by row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code, identifier
from discreet.errors import ReleaseError
from discreet.ground.arrays import Bools, Ints
from discreet.query.condition import Atom, Condition, Every, Not, atoms
from discreet.query.decide import Decided, decide_rows, decide_values
from discreet.schema.schema import Schema
from discreet.schema.valued import Value

BYTE = 256  # domains up to this size are looked up byte by byte
LARGEST_DOMAIN = 1 << 16
_REMEMBERED = 256  # conditions answered with the same decided predicates


class Rows:
    """The QIT: rows in the order of their buckets, columns loaded when first asked for.

    `ids` are the buckets of the ST and `sizes` their records; raises ReleaseError where rows are not in these buckets.
    """

    def __init__(self, engine: Database, schema: Schema, relation: str, ids: Ints, sizes: Ints) -> None:
        self._engine, self._schema, self._relation = engine, schema, relation
        columns = {name: (name, schema.domains[name].encoding) for name in schema.quasi_identifiers}
        engine.encode(f"{relation}_coded", relation, columns)
        self._columns: dict[str, bytes | NDArray[np.uint16]] = {}
        bucket = numbers(engine.arrow(f"SELECT BID FROM {relation}")["BID"])
        steps = np.diff(bucket, prepend=-1)
        if (steps < 0).any() or not np.array_equal(bucket[steps > 0], ids):
            raise ReleaseError("the buckets of the two tables must be the same and in order; verify says more")
        self._bucket = (np.cumsum(steps > 0) - 1).astype(np.int32)
        self._buckets = len(ids)
        if not np.array_equal(np.bincount(self._bucket, minlength=len(ids)), sizes):
            raise ReleaseError("each bucket must have as many rows as records; verify says more")

    @property
    def bucket(self) -> NDArray[np.int32]:
        """The bucket of each row, by position."""
        return self._bucket

    def matching(self, conditions: Iterable[Condition]) -> Iterator[tuple[Condition, Ints]]:
        """For each distinct condition on the quasi-identifiers the rows that meet it."""
        distinct = list(dict.fromkeys(conditions))
        for start in range(0, len(distinct), _REMEMBERED):
            some = distinct[start : start + _REMEMBERED]
            decided = self._decide([atom for condition in some for atom in atoms(condition)])
            for condition in some:
                self._engine.check()
                true, _ = self._hold(condition, decided)
                yield condition, np.flatnonzero(true)

    def per_bucket(self, rows: Ints) -> Ints:
        """How many of some rows each bucket has."""
        return np.bincount(self._bucket[rows], minlength=self._buckets)

    def codes(self, column: str) -> NDArray[np.integer[Any]]:
        """The position of each row's value in the column's domain."""
        if len(self._schema.domains[column].encoding) > LARGEST_DOMAIN:
            return self._read(column, "INTEGER")
        codes = self._codes(column)
        return np.frombuffer(codes, dtype=np.uint8) if isinstance(codes, bytes) else codes

    def occurring(self, column: str) -> set[Value]:
        """The values of a column that some row has."""
        return {row[0] for row in self._engine.rows(f"SELECT DISTINCT {identifier(column)} FROM {self._relation}")}

    def _by_value(self, atom: Atom) -> str | None:
        """The one column of a predicate whose domain is small enough to decide it value by value."""
        columns = list(atom.columns)
        small = len(columns) == 1 and len(self._schema.domains[columns[0]]) <= LARGEST_DOMAIN
        return columns[0] if small else None

    def _decide(self, wanted: Sequence[Atom]) -> dict[Atom, Decided]:
        by_column: dict[str | None, list[Atom]] = defaultdict(list)
        for atom in dict.fromkeys(wanted):
            by_column[self._by_value(atom)].append(atom)
        decided: dict[Atom, Decided] = dict(decide_rows(by_column.pop(None, []), self._relation, self._engine))
        for column, some in by_column.items():
            if column is not None:
                decided |= decide_values(some, column, self._schema.domains[column].encoding, self._engine)
        return decided

    def _hold(self, condition: Condition, decided: dict[Atom, Decided]) -> Decided:
        """Where the condition is true and where it is false, row by row, in SQL's three-valued logic."""
        if isinstance(condition, Atom):
            true, false = decided[condition]
            if (column := self._by_value(condition)) is None:
                return true, false
            return self._look_up(column, true), None if false is None else self._look_up(column, false)
        if isinstance(condition, Not):
            true, false = self._hold(condition.part, decided)
            return (~true, None) if false is None else (false, true)
        every = isinstance(condition, Every)
        held, refuted = np.full(len(self._bucket), every), None
        for part in condition.parts:
            true, false = self._hold(part, decided)
            if false is not None or refuted is not None:
                one = ~held if refuted is None else refuted
                other = ~true if false is None else false
                refuted = one | other if every else one & other
            held = held & true if every else held | true
        return held, refuted

    def _look_up(self, column: str, truth: Bools) -> Bools:
        """The truth of each row from the truth of each value."""
        codes = self._codes(column)
        if isinstance(codes, bytes):
            return np.frombuffer(codes.translate(truth.tobytes().ljust(BYTE, b"\0")), dtype=np.bool_)
        return truth[codes]

    def _codes(self, column: str) -> bytes | NDArray[np.uint16]:
        """A column as positions in its domain: as bytes where they fit, which are the fastest to look up."""
        if column not in self._columns:
            small = len(self._schema.domains[column].encoding) <= BYTE
            found = self._read(column, "UTINYINT" if small else "USMALLINT")
            self._columns[column] = found.tobytes() if small else found
        return self._columns[column]

    def _read(self, column: str, kind: str) -> NDArray[Any]:
        """A column as positions in its domain, as whole numbers of some kind."""
        codes = f"{code(column, self._schema.domains[column].encoding)}::{kind}"
        found = self._engine.arrow(f"SELECT {codes} AS code FROM {self._relation}_coded")["code"]
        if found.null_count:
            raise ReleaseError(f"{column} must lie in its domain in every row; verify says more")
        return numbers(found)
