"""A release of tuples among random ones that answers: what its view shows, and how much of it noise is expected to be.

Paper: [RSH] Algorithm 3.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code, identifier
from discreet.engine.encoding import Encoding
from discreet.errors import PolicyError, ReleaseError
from discreet.estimate.alphabeta.law import Part, part_of
from discreet.estimate.alphabeta.shown import Seen, Shown, Weighed, show_one, show_several
from discreet.estimate.alphabeta.sums import View, view_sums
from discreet.estimate.estimate import RECORDS, TUPLES
from discreet.estimate.estimator import Asked, Groups
from discreet.estimate.learned import learned
from discreet.estimate.release import Release
from discreet.estimate.shown_rows import Evidence, ShownRows
from discreet.estimate.sums import Sums
from discreet.ground.arrays import Ints
from discreet.ground.keys import keys_of
from discreet.ground.most import MOST_ROWS
from discreet.guarantee.classic.classes import Classes, classes_of, numbered
from discreet.guarantee.source import Source, source_of
from discreet.query.condition import Condition, columns_of, render
from discreet.query.count_domain import Weights, weigh_matching
from discreet.query.figure import Sum
from discreet.release.alphabeta.manifest import (
    EARLIER,
    VIEW,
    AlphaBetaGuarantee,
    AlphaBetaManifest,
    domain_size,
)

_AT_ONCE = 200
_FAR = 8.0  # standard errors: so far chance never goes
Size = tuple[int, Fraction]  # how many tuples of the domain meet a condition, and how much they weigh


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the view shows of one condition, in parts with their laws, and the bounds of the count."""

    parts: Sequence[Part]
    bounds: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The same, with sums over the tuples of the view, the plain count first, and of the domain."""

    found: Found
    sums: tuple[float, ...]
    weights: tuple[int, ...]


class AlphaBetaRelease(Release):
    """True tuples among tuples of the domain that coins inserted, or, in FRAPP, put in the place of others."""

    _manifest: AlphaBetaManifest

    @property
    def rows(self) -> int | None:
        """FRAPP publishes one tuple a record; alpha-beta does not tell how many people there are."""
        return self.size if self.copies else None

    @property
    def size(self) -> int:
        return self._manifest.statement.numbers.tuples

    @property
    def unit(self) -> str:
        return RECORDS if self.copies or self.slots > 1 else TUPLES

    @property
    def copies(self) -> bool:
        """Whether every record is there as a tuple."""
        return self._manifest.statement.mechanism.copies

    @property
    def slots(self) -> int:
        return self._manifest.statement.mechanism.slots

    @property
    def several(self) -> bool:
        """Whether it is one of several views."""
        return self._manifest.statement.mechanism.views > 1

    @learned
    def guarantee(self) -> AlphaBetaGuarantee:
        """The probabilities that made the view."""
        found = self._manifest.statement.guarantee
        if not found.possible:
            raise ReleaseError("the guarantee must have probabilities that are possible; verify says more")
        return found

    @learned
    def encodings(self) -> dict[str, Encoding]:
        return {name: self.schema.domains[name].encoding for name in self.schema.columns}

    @learned
    def source(self) -> Source:
        """The public source whose weights the noise follows; one without weights where there is none."""
        try:
            return source_of(self._manifest.statement.mechanism.source, self.schema)
        except PolicyError as error:
            raise ReleaseError(f"release ({self.path}) has a mechanism that cannot be read: {error}") from None

    @learned
    def _shown(self) -> Shown:
        """The tuples, read with the first question."""
        if not self.several:
            with self._reading(VIEW, self.size) as view:
                return show_one(self._engine, self.schema, view, self.guarantee)
        numbers = self._manifest.statement.numbers
        with self._reading(VIEW, self.size) as view, self._reading(EARLIER, numbers.earlier) as earlier:
            return show_several(self._engine, self.schema, view, earlier, numbers.view, self.guarantee)

    @learned
    def whole(self) -> Part:
        """What the view shows of the whole domain."""
        return part_of(self.size, domain_size(self.schema, self.slots), self.guarantee)

    @property
    def tuples(self) -> tuple[Database, str]:
        """The engine, and the relation that has the tuples there."""
        table = self._shown.table
        return self._engine, table

    @learned
    def shown_rows(self) -> tuple[ShownRows, ...]:
        """The tuples of the view as they stand, and those that earlier views showed."""
        earlier = self._manifest.statement.numbers.earlier
        files = {VIEW: self.size, **({EARLIER: earlier} if self.several else {})}
        return tuple(ShownRows(file=name, codes=self._in_order(name, most)) for name, most in files.items())

    def _in_order(self, file: str, most: int) -> dict[str, NDArray[Any]]:
        """The columns of a file as codes, row after row."""
        relation = f"{Path(file).stem}_in_order"
        columns = {name: (name, each) for name, each in self.encodings.items()}
        wanted = ", ".join(f"{code(name, each)}::INTEGER AS c{i}" for i, (name, each) in enumerate(columns.values()))
        with self._reading(file, most) as read:
            self._engine.rows(f"CREATE OR REPLACE VIEW {relation} AS {read}")
            self._engine.encode(f"{relation}_coded", relation, columns)
            found = self._engine.arrow(f"SELECT {wanted} FROM {relation}_coded")
            return dict(zip(columns, map(numbers, found.columns), strict=True))

    def evidence(self, rows: Ints) -> Evidence:
        """Each tuple says its own value."""
        value = np.asarray(self.shown_rows[0].codes[self.schema.sensitive][rows], dtype=np.int64)
        return Evidence(row=np.arange(len(value)), value=value, weight=np.ones(len(value)))

    def allows(self, value: int) -> Fraction:
        """The posterior of one who knows every quasi-identifier and sees one of the candidates alone."""
        return self.guarantee.linked(self.guarantee.candidates)

    def lacks(self, people: Mapping[str, Ints]) -> bool:
        """Whether tuples of these people are shown far more seldom than keeping and noise would show them."""
        own, shown = keys_of(people, self.shown_rows[0].codes, names=self.schema.columns)
        promise, known = self.guarantee, np.unique(own)
        true = len(own) if promise.of_records else len(known)
        noise = 0 if self.source.weights else float(promise.insert) * len(known) * promise.slots * promise.times
        expected = true * float(promise.keep - promise.insert) + noise
        return int(np.isin(shown, known).sum()) < expected - _FAR * (1 + math.sqrt(expected))

    def classes(self) -> Classes:
        """Tuples of the view as classes by their quasi-identifiers; most of them may be random."""
        with self._asking():
            codes = self.shown_rows[0].codes
        *known, value = (np.asarray(codes[name], dtype=np.int64) for name in self.schema.columns)
        domain = self.schema.domains[self.schema.sensitive]
        return classes_of(
            numbered(known),
            value,
            kind="quasi-identifiers of the view's tuples",
            note="tuples of a view are true and random ones, and nobody can tell which: what is measured is of them, "
            "not of people",
            ordered=domain.in_order and not domain.missing,
        )

    def _possible(self, column: str) -> Collection[Any]:
        return self.schema.domains[column]

    def found(self, asked: Asked) -> list[Found]:
        """What the view shows of each condition."""
        seen, sizes = self._seen_of_groups(asked.groups) if asked.groups else (self._seen(asked.conditions), None)
        if sizes is None:
            sizes = [self._size(condition) for condition in asked.conditions]
        return [self._found(each, size) for each, size in zip(seen, sizes, strict=True)]

    def measured(self, asked: Asked, weighed: Weighed, measures: Sequence[Weights]) -> list[Measured]:
        """The same, with what the tuples that meet each condition weigh, in the view and in the domain."""
        if asked.groups:
            seen, sizes = self._seen_of_groups(asked.groups, weighed)
            found = self.weigh_groups(asked.groups, measures)
            if sizes is not None and found is not None:
                return [self._measured(*each) for each in zip(seen, sizes, found, strict=True)]
        else:
            seen = self._weighed(asked.conditions, weighed)
        plain = self._plain
        measured = []
        for each, condition in zip(seen, asked.conditions, strict=True):
            own = self.weigh(condition, [*plain, *measures])
            measured.append(self._measured(each, self._size_of(own[: len(plain)]), own[len(plain) :]))
        return measured

    def _found(self, seen: Seen, size: Size) -> Found:
        return Found(parts=self._shown.parts(seen, *size), bounds=self._bounds(size[0]))

    def _measured(self, seen: Sequence[float | None], size: Size, weights: Sequence[int]) -> Measured:
        count = int(seen[0] or 0)
        sums = (float(count), *(float(each or 0.0) for each in seen[1:]))
        return Measured(found=self._found((count,), size), sums=sums, weights=tuple(weights))

    def weigh(self, condition: Condition, weights: Sequence[Weights | None]) -> list[int]:
        """How many tuples of the domain meet a condition (None), or how much they weigh together, for each way."""
        self._engine.check()
        return weigh_matching(condition, self.encodings, self._engine, weights)

    def _seen(self, conditions: Sequence[Condition]) -> list[Seen]:
        counts = self._shown.counts
        seen: list[Seen] = []
        for start in range(0, len(conditions), _AT_ONCE):
            parts = [
                f"count(*) FILTER (WHERE ({render(condition)}) AND {each})"
                for condition in conditions[start : start + _AT_ONCE]
                for each in counts
            ]
            found = self._engine.rows(f"SELECT {', '.join(parts)} FROM {self._shown.table}")[0]
            seen += [found[i : i + len(counts)] for i in range(0, len(found), len(counts))]
        return seen

    def _weighed(self, conditions: Sequence[Condition], weighed: Weighed) -> list[Seen]:
        """Sums with a filter take an engine several times as long as a condition of their own."""
        sums = ", ".join(f"sum({name})" for name in weighed.columns)
        seen: list[Seen] = []
        for start in range(0, len(conditions), _AT_ONCE):
            asked = [
                f"SELECT {place}, count(*), {sums} FROM {weighed.table} WHERE {render(condition)}"
                for place, condition in enumerate(conditions[start : start + _AT_ONCE])
            ]
            seen += [row[1:] for row in sorted(self._engine.rows(" UNION ALL ".join(asked)))]
        return seen

    def _seen_of_groups(
        self, groups: Groups, weighed: Weighed | None = None
    ) -> tuple[list[tuple[Any, ...]], list[Size] | None]:
        """All groups in one pass over the tuples; their sizes too, where the condition does not tell groups apart."""
        table, sums = (weighed.table, weighed.columns) if weighed else (self._shown.table, ())
        columns = [identifier(name) for name in groups.columns]
        parts = [f"count(*) FILTER (WHERE {each})" for each in self._shown.counts]
        parts += [f"sum({name})" for name in sums]
        rows = self._engine.rows(
            f"SELECT {', '.join([*columns, *parts])} FROM {table} WHERE {render(groups.where)} GROUP BY ALL"
        )
        found: dict[tuple[Any, ...], tuple[Any, ...]] = {row[: len(columns)]: row[len(columns) :] for row in rows}
        seen = [found.get(group, (0,) * len(parts)) for group in groups.values]
        weights = self.weigh_groups(groups, self._plain)
        return seen, None if weights is None else list(map(self._size_of, weights))

    def weigh_groups(self, groups: Groups, weights: Sequence[Weights | None]) -> list[tuple[int, ...]] | None:
        """The same as `weigh` for each group at once; None where the condition tells groups apart."""
        if set(groups.columns) & set(columns_of(groups.where)):
            return None
        whole = self.weigh(groups.where, weights)
        found = [self._by_group(groups, each, own) for each, own in zip(weights, whole, strict=True)]
        return list(zip(*found, strict=True))

    def _by_group(self, groups: Groups, weights: Weights | None, whole: int) -> list[int]:
        """What each group weighs, of the weight of all together."""
        own = [(weights or {}).get(name, (1,) * len(self.encodings[name])) for name in groups.columns]
        known = [
            dict(zip(self.encodings[name], map(int, each), strict=True))
            for name, each in zip(groups.columns, own, strict=True)
        ]
        share = whole // max(1, math.prod(sum(each.values()) for each in known))
        return [
            share * math.prod(each[value] for each, value in zip(known, group, strict=True)) for group in groups.values
        ]

    def _size(self, condition: Condition) -> Size:
        """How many tuples of the domain meet a condition, and how much they weigh, both with their slots."""
        return self._size_of(self.weigh(condition, self._plain))

    def _size_of(self, weights: Sequence[int]) -> Size:
        tuples = self.slots * weights[0]
        return tuples, (self.slots * weights[-1] * self.source.scale if self.source.weights else Fraction(tuples))

    @property
    def _plain(self) -> list[Weights | None]:
        """What tells a size: how many tuples, and how much they weigh where there is a public source."""
        return [None, self._source_weights] if self.source.weights else [None]

    @property
    def _source_weights(self) -> Weights:
        """Those of the public source, and 1 for the values of attributes that it does not weigh."""
        return {**{name: (1,) * len(each) for name, each in self.encodings.items()}, **self.source.weights}

    def _sums(self, asked: Sequence[Sum], *, apart: bool = False) -> Sums:
        view = View(
            schema=self.schema, shown=self._shown, engine=self._engine, weigh=self._weighed_size, bounds=self._bounds
        )
        return view_sums(view, asked, apart=apart)

    def _weighed_size(self, condition: Condition, numbers: Weights | None) -> Size:
        """How many tuples of the domain meet a condition, and how much they weigh, each times its values' numbers."""
        if numbers is None:
            return self._size(condition)
        whole = self._source_weights
        own = {name: np.asarray(each, dtype=np.int64) * numbers.get(name, 1) for name, each in whole.items()}
        (weight,) = self.weigh(condition, [own])
        return 0, self.slots * weight * (self.source.scale if self.source.weights else Fraction(1))

    def _bounds(self, tuples: int) -> tuple[int, int]:
        """What the count can be, where so many tuples are counted: every record of FRAPP has some tuple."""
        if self.copies:
            whole = tuples == domain_size(self.schema)
            return (self.size if whole else 0), (self.size if tuples else 0)
        return 0, min(tuples, MOST_ROWS if self.schema.public_rows is None else self.schema.public_rows)
