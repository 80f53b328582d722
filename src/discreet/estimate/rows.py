"""The published rows as codes in memory, column by column as questions need them, and what conditions hold on them.

A predicate on one column is decided once for each value of the column's domain, by the engine, and then looked up for
each row. A predicate on several columns, or on a very large domain, is decided by the engine row by row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.engine.duck import Engine, identifier, listing
from discreet.errors import ReleaseError
from discreet.estimate.composition import Ints
from discreet.query.condition import Atom, Condition, Every, Not, atoms
from discreet.schema.schema import Schema

Bools = NDArray[np.bool_]
Codes = NDArray[np.integer]
LARGEST_DOMAIN = 1 << 16
_TOGETHER = 64  # predicates decided in one pass
_REMEMBERED = 256  # predicates whose truth by value is kept between questions


class Rows:
    """The QIT: rows in the order of their buckets, columns loaded when first asked for."""

    def __init__(self, engine: Engine, schema: Schema, relation: str, ids: Ints) -> None:
        self._engine, self._schema, self._relation = engine, schema, relation
        columns = {name: (name, schema.domains[name].encoding) for name in schema.quasi_identifiers}
        engine.encode(f"{relation}_coded", relation, columns)
        self._columns: dict[str, Codes] = {}
        bucket = engine.arrow(f"SELECT BID FROM {relation}")["BID"].to_numpy()
        starts = np.flatnonzero(np.diff(bucket, prepend=-1))
        if not np.array_equal(bucket[starts], ids):
            raise ReleaseError("the buckets of the two tables must be the same and in order; verify says more")
        self._starts, self._rows = starts, len(bucket)

    def matches(self, conditions: Iterable[Condition]) -> dict[Condition, Ints]:
        """For each condition on the quasi-identifiers, how many rows of each bucket meet it."""
        distinct = list(dict.fromkeys(conditions))
        found: dict[Condition, Ints] = {}
        for start in range(0, len(distinct), _REMEMBERED):
            some = distinct[start : start + _REMEMBERED]
            truth = self._decide([atom for condition in some for atom in atoms(condition)])
            for condition in some:
                held = self._hold(condition, truth)[0]
                found[condition] = np.add.reduceat(held, self._starts, dtype=np.int64)
        return found

    def occurring(self, column: str) -> set[int | str]:
        """The values of a column that some row has."""
        return {row[0] for row in self._engine.rows(f"SELECT DISTINCT {identifier(column)} FROM {self._relation}")}

    def _codes(self, column: str) -> Codes:
        """A column as positions in its domain, in the smallest type that holds them."""
        if column not in self._columns:
            encoding = self._schema.domains[column].encoding
            kind = "UTINYINT" if len(encoding) <= 256 else "USMALLINT"
            sql = f"SELECT {self._engine.code(column, encoding)}::{kind} AS code FROM {self._relation}_coded"
            codes = self._engine.arrow(sql)["code"]
            if codes.null_count:
                raise ReleaseError(f"{column} must lie in its domain in every row; verify says more")
            self._columns[column] = codes.to_numpy()
        return self._columns[column]

    def _decide(self, wanted: Sequence[Atom]) -> dict[Atom, tuple[Bools, Bools | None]]:
        """Where each predicate is true and where it is false (None: wherever it is not true): by value, or by row."""
        by_column: dict[str, list[Atom]] = defaultdict(list)
        by_row: list[Atom] = []
        for atom in dict.fromkeys(wanted):
            columns = list(atom.columns)
            small = len(columns) == 1 and len(self._schema.domains[columns[0]]) <= LARGEST_DOMAIN
            (by_column[columns[0]] if small else by_row).append(atom)
        truth = dict(self._evaluate(by_row, self._relation))
        for column, some in by_column.items():
            encoding = self._schema.domains[column].encoding
            truth.update(self._evaluate(some, listing(column, encoding), order="position_"))
        return truth

    def _evaluate(
        self, wanted: Sequence[Atom], relation: str, order: str = ""
    ) -> Iterable[tuple[Atom, tuple[Bools, Bools | None]]]:
        by = f" ORDER BY {order}" if order else ""
        for start in range(0, len(wanted), _TOGETHER):
            some = wanted[start : start + _TOGETHER]
            flags = ", ".join(f"{atom.sql} AS t{i}" for i, atom in enumerate(some))
            answer = self._engine.arrow(f"SELECT {flags} FROM {relation}{by}")
            for i, atom in enumerate(some):
                column = answer[f"t{i}"]
                true = column.fill_null(False).to_numpy().astype(np.bool_)
                false = ~column.fill_null(True).to_numpy().astype(np.bool_) if column.null_count else None
                yield atom, (true, false)

    def _hold(self, condition: Condition, truth: dict[Atom, tuple[Bools, Bools | None]]) -> tuple[Bools, Bools | None]:
        """Where the condition is true and where it is false, row by row, in SQL's three-valued logic."""
        if isinstance(condition, Atom):
            true, false = truth[condition]
            columns = list(condition.columns)
            if len(columns) != 1 or len(self._schema.domains[columns[0]]) > LARGEST_DOMAIN:
                return true, false
            codes = self._codes(columns[0])
            return true[codes], None if false is None else false[codes]
        if isinstance(condition, Not):
            true, false = self._hold(condition.part, truth)
            return (~true, None) if false is None else (false, true)
        every = isinstance(condition, Every)
        held = np.full(self._rows, every)
        refuted: Bools | None = None
        for part in condition.parts:
            true, false = self._hold(part, truth)
            if false is not None or refuted is not None:
                refuted = ~held if refuted is None else refuted
                false = ~true if false is None else false
                refuted = refuted | false if every else refuted & false
            held = held & true if every else held | true
        return held, refuted
