"""The custodian's people as a rehearsal sees them: codes of what a policy would publish, and true counts among them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.columns import decoded
from discreet.engine.duck.database import Database
from discreet.errors import QueryError
from discreet.estimate.estimate import TUPLES, Group
from discreet.estimate.release import MOST_GROUPS
from discreet.ground.arrays import Ints
from discreet.ground.keys import keys_of
from discreet.query.bands import Grouping
from discreet.query.bands import groups_of as labels_of
from discreet.query.condition import Condition, render
from discreet.query.level import Key, Level
from discreet.query.parse import Query
from discreet.schema.schema import Schema
from discreet.schema.valued import Value
from discreet.table.table import Table

Codes = NDArray[np.integer[Any]]
_AT_ONCE = 100  # conditions that one pass over the rows counts


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """Rows as positions in the domains of a schema, column by column."""

    schema: Schema
    codes: Mapping[str, Codes]

    @classmethod
    def of(cls, table: Table) -> People:
        """The published columns of a table."""
        columns = zip(*table.codes(), strict=True)
        joined = {
            name: np.concatenate(parts).astype(np.int32)
            for name, parts in zip(table.schema.columns, columns, strict=True)
        }
        return cls(schema=table.schema, codes=joined)

    def __len__(self) -> int:
        return len(self.codes[self.schema.sensitive])

    def taken(self, rows: Ints) -> People:
        """Some of the rows."""
        return People(schema=self.schema, codes={name: column[rows] for name, column in self.codes.items()})

    def of_columns(self, names: Collection[str]) -> People:
        """The same rows with fewer quasi-identifiers."""
        own = self.schema
        schema = replace(own, quasi_identifiers=tuple(each for each in own.quasi_identifiers if each in names))
        return People(schema=schema, codes={name: self.codes[name] for name in schema.columns})

    @cached_property
    def distinct(self) -> People:
        """One row of each kind."""
        (key,) = keys_of(self.codes, names=self.schema.columns)
        return self.taken(np.unique(key, return_index=True)[1])

    def counted_in(self, unit: str) -> People:
        """Those whom a release counts that has this unit."""
        return self.distinct if unit == TUPLES else self

    def digest(self, key: bytes) -> bytes:
        """What tells these rows, in their order, from others; nobody without the key can try whether he knows them."""
        digest = hashlib.blake2b(key=key, digest_size=16)
        for name in self.schema.columns:
            digest.update(self.codes[name].tobytes())
        return digest.digest()

    @property
    def rows(self) -> pa.Table:
        """The rows with their values."""
        return pa.table(
            {name: decoded(self.schema.domains[name].encoding, self.codes[name]) for name in self.schema.columns}
        )

    def true_counts(self, queries: Sequence[Query]) -> list[Ints]:
        """How many meet each question: one number, or one for each group in the order of `groups_of`."""
        plain = [query.where for query in queries if not query.group_by]
        with Database() as engine:
            engine.register("people", self.rows)
            counted = iter(_counts(engine, plain))
            return [self._grouped(engine, query) if query.group_by else next(counted) for query in queries]

    def _grouped(self, engine: Database, query: Query) -> Ints:
        matching = _column(engine, f"coalesce({render(query.where)}, false)").astype(np.bool_)
        places = [self._places(engine, key)[matching] for key in query.group_by]
        sizes = [len(_values_of(key, self.schema)) for key in query.group_by]
        return np.bincount(np.ravel_multi_index(places, sizes), minlength=prod(sizes)).astype(np.int64)

    def _places(self, engine: Database, key: Grouping) -> Ints:
        """The group of each row."""
        if isinstance(key, Key):
            return self._place(key)[self.codes[key.column]]
        groups = labels_of(key, self.schema)
        labels = enumerate(_values_of(key, self.schema))
        cases = " ".join(f"WHEN {render(groups.is_label(label))} THEN {number}" for number, label in labels)
        return _column(engine, f"CASE {cases} END")

    def _place(self, key: Key) -> Ints:
        """The group of each code of a column."""
        domain = self.schema.domains[key.column]
        place = np.arange(len(domain))
        if key.level:
            labels = Level(key, domain)
            for number, label in enumerate(labels.labels):
                place[domain.labels_at(key.level)[label]] = number
            if domain.missing:
                place[-1] = len(labels.labels)
        return place


def groups_of(query: Query, schema: Schema) -> tuple[Group, ...]:
    """The groups of a question by the domains alone, in order; one without values where it has no GROUP BY."""
    values = [_values_of(key, schema) for key in query.group_by]
    if (groups := prod(map(len, values))) > MOST_GROUPS:  # before they are listed: a domain may be any size
        raise QueryError(f"GROUP BY gives {groups:,} groups, at most {MOST_GROUPS:,} are compared; use fewer columns")
    return tuple(product(*values))


def _values_of(key: Grouping, schema: Schema) -> Collection[Value]:
    if not isinstance(key, Key):
        return labels_of(key, schema).possible(schema.domains)
    domain = schema.domains[key.column]
    return domain if not key.level else [*Level(key, domain).labels, *([None] if domain.missing else [])]


def _counts(engine: Database, conditions: Sequence[Condition]) -> list[Ints]:
    found: list[int] = []
    for start in range(0, len(conditions), _AT_ONCE):
        some = [f"count(*) FILTER (WHERE {render(each)})" for each in conditions[start : start + _AT_ONCE]]
        found += engine.rows(f"SELECT {', '.join(some)} FROM people")[0]
    return [np.array([each], dtype=np.int64) for each in found]


def _column(engine: Database, number: str) -> Ints:
    """A whole number of each row."""
    batches = engine.batches(f"SELECT ({number})::BIGINT AS number FROM people")
    return np.concatenate([batch.column(0).to_numpy() for batch in batches])
