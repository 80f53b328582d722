"""A release of tuples among random ones that answers: what its view shows, and how much of it noise is expected to be.

Paper: [RSH] Algorithm 3.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.engine.duck.sql import identifier
from discreet.engine.encoding import Encoding
from discreet.errors import PolicyError, ReleaseError
from discreet.estimate.alphabeta.law import Part, law_of, part_of
from discreet.estimate.alphabeta.model import Model
from discreet.estimate.alphabeta.shown import Seen, Shown, show_one, show_several
from discreet.estimate.alphabeta.weighed import Weighed, learn_view
from discreet.estimate.estimate import RECORDS, TUPLES
from discreet.estimate.estimator import Asked, Groups
from discreet.estimate.learned import learned
from discreet.estimate.release import Release
from discreet.guarantee.source import Source, source_of
from discreet.query.condition import Condition, columns_of, render
from discreet.query.count_domain import Weights, weigh_matching
from discreet.release.alphabeta.manifest import (
    EARLIER,
    VIEW,
    AlphaBetaGuarantee,
    AlphaBetaManifest,
    domain_size,
)
from discreet.schema.schema import MOST_ROWS

_AT_ONCE = 200
Size = tuple[int, Fraction]  # how many tuples of the domain meet a condition, and how much they weigh


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the view shows of one condition, in parts with their laws, and the bounds of the count."""

    parts: Sequence[Part]
    bounds: tuple[int, int]
    weights: tuple[float, ...]  # the plain count, and what was asked for beside it


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

    @learned
    def learnt(self) -> tuple[Model, Weighed]:
        """What one view tells of its table, and its tuples with their weights."""
        most = self.schema.public_rows or MOST_ROWS
        return learn_view(
            self._engine, self._shown.table, self.encodings, law_of(self.guarantee), self.source, float(most)
        )

    def _possible(self, column: str) -> Collection[Any]:
        return self.schema.domains[column]

    def found(self, asked: Asked, weighed: Weighed | None = None) -> list[Found]:
        """What the view shows of each condition; with `weighed`, what the tuples that meet it weigh too."""
        seen, sizes = self._seen_of_groups(asked.groups, weighed) if asked.groups else self._seen(asked, weighed)
        if sizes is None:
            sizes = [self._size(condition) for condition in asked.conditions]
        counts = len(self._shown.counts)
        return [
            Found(
                parts=self._shown.parts(each[:counts], *size),
                bounds=self._bounds(size[0]),
                weights=(each[0], *(weight or 0.0 for weight in each[counts:])),
            )
            for each, size in zip(seen, sizes, strict=True)
        ]

    def weigh(self, condition: Condition, weights: Weights | None = None) -> int:
        """How many tuples of the domain meet a condition, or how much they weigh together."""
        return self.weigh_all(condition, [weights])[0]

    def weigh_all(self, condition: Condition, weights: Sequence[Weights | None]) -> list[int]:
        """The same by several weights."""
        self._engine.check()
        return weigh_matching(condition, self.encodings, self._engine, weights)

    def _summed(self, weighed: Weighed | None) -> tuple[str, list[tuple[str, str]]]:
        """The relation to ask, and each number that is asked for, with the tuples that it is of."""
        counts = [("count(*)", each) for each in self._shown.counts]
        if weighed is None:
            return self._shown.table, counts
        return weighed.table, [*counts, *((f"sum({name})", "TRUE") for name in weighed.columns)]

    def _seen(self, asked: Asked, weighed: Weighed | None) -> tuple[list[Seen], None]:
        table, summed = self._summed(weighed)
        seen: list[Seen] = []
        for start in range(0, len(asked.conditions), _AT_ONCE):
            parts = [
                f"{number} FILTER (WHERE ({render(condition)}) AND {each})"
                for condition in asked.conditions[start : start + _AT_ONCE]
                for number, each in summed
            ]
            found = self._engine.rows(f"SELECT {', '.join(parts)} FROM {table}")[0]
            seen += [found[i : i + len(summed)] for i in range(0, len(found), len(summed))]
        return seen, None

    def _seen_of_groups(self, groups: Groups, weighed: Weighed | None) -> tuple[list[Seen], list[Size] | None]:
        """All groups in one pass over the tuples; their sizes too, where the condition does not tell groups apart."""
        table, summed = self._summed(weighed)
        columns = [identifier(name) for name in groups.columns]
        parts = [f"{number} FILTER (WHERE {each})" for number, each in summed]
        rows = self._engine.rows(
            f"SELECT {', '.join([*columns, *parts])} FROM {table} WHERE {render(groups.where)} GROUP BY ALL"
        )
        found: dict[tuple[Any, ...], Seen] = {row[: len(columns)]: row[len(columns) :] for row in rows}
        seen = [found.get(group, (0,) * len(parts)) for group in groups.values]
        return seen, self._sizes(groups)

    def weigh_groups(self, groups: Groups, weights: Weights | None = None) -> list[int] | None:
        """The same as `weigh` for each group at once; None where the condition tells groups apart."""
        if set(groups.columns) & set(columns_of(groups.where)):
            return None
        return self._by_group(groups, weights, self.weigh(groups.where, weights))

    def weigh_groups_all(self, groups: Groups, weights: Sequence[Weights]) -> list[list[int]] | None:
        """The same by several weights, a list each."""
        if set(groups.columns) & set(columns_of(groups.where)):
            return None
        whole = self.weigh_all(groups.where, weights)
        return [self._by_group(groups, each, own) for each, own in zip(weights, whole, strict=True)]

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

    def _sizes(self, groups: Groups) -> list[Size] | None:
        """The sizes of all groups, where the condition does not tell them apart."""
        tuples = self.weigh_groups(groups)
        weighed = self.weigh_groups(groups, self._source_weights) if self.source.weights else tuples
        if tuples is None or weighed is None:
            return None
        scale = self.slots * (self.source.scale if self.source.weights else Fraction(1))
        return [(self.slots * each, weight * scale) for each, weight in zip(tuples, weighed, strict=True)]

    def _size(self, condition: Condition) -> Size:
        """How many tuples of the domain meet a condition, and how much they weigh, both with their slots."""
        tuples = self.slots * self.weigh(condition)
        if not self.source.weights:
            return tuples, Fraction(tuples)
        return tuples, self.slots * self.weigh(condition, self._source_weights) * self.source.scale

    @property
    def _source_weights(self) -> Weights:
        """Those of the public source, and 1 for the values of attributes that it does not weigh."""
        return {**{name: (1,) * len(each) for name, each in self.encodings.items()}, **self.source.weights}

    def _bounds(self, tuples: int) -> tuple[int, int]:
        """What the count can be, where so many tuples are counted: every record of FRAPP has some tuple."""
        if self.copies:
            whole = tuples == domain_size(self.schema)
            return (self.size if whole else 0), (self.size if tuples else 0)
        return 0, min(tuples, MOST_ROWS if self.schema.public_rows is None else self.schema.public_rows)
