"""A release of tuples among random ones that answers: undo the insertion and the deletion.

Paper: [RSH] Algorithm 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from discreet.engine.encoding import Encoding, identifier
from discreet.errors import PolicyError, QueryError, ReleaseError
from discreet.estimate.alphabeta.independence import Independence
from discreet.estimate.alphabeta.lean import expect, lean
from discreet.estimate.alphabeta.margins import count_margins
from discreet.estimate.alphabeta.undo import Part, Promise, estimate_of, model_of, part_of, with_total
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.release import Release
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.guarantee.source import Source, source_of
from discreet.query.condition import Condition, columns_of, render
from discreet.query.count_domain import count_matching
from discreet.query.parse import Query
from discreet.release.manifest import VIEW

_AT_ONCE = 200
_TOTAL = "the answer trusts that public_rows is exactly the number of records"
Seen = tuple[int, ...]  # what a view shows of a condition
Group = tuple[Any, ...]


class ViewRelease(Release):
    """True tuples, each kept with a coin, among tuples of the domain that other coins inserted."""

    estimators: ClassVar[tuple[str, ...]] = ("unbiased", "clipped", "best", "control")
    _table: ClassVar[str] = "tuples"

    @property
    def rows(self) -> int:
        rows: int = self._manifest.block["tuples"]
        return rows

    @cached_property
    def _promise(self) -> Promise:
        found = self._manifest.guarantee
        if not isinstance(found, DGammaPrivacy | FrappPrivacy) or not found.possible:
            raise ReleaseError("the guarantee must be (d, gamma)-privacy with its probabilities; verify says more")
        return found

    @cached_property
    def _encodings(self) -> dict[str, Encoding]:
        return {name: self.schema.domains[name].encoding for name in self.schema.columns}

    @cached_property
    def _source(self) -> Source:
        """The public source whose weights the noise follows; one without weights where there is none."""
        stated = self._manifest.block["mechanism"].get("source", {})
        try:
            return source_of(stated if isinstance(stated, dict) else {}, self.schema)
        except PolicyError as error:
            raise ReleaseError(f"release ({self.path}) has a mechanism that cannot be read: {error}") from None

    @property
    def _slots(self) -> int:
        return self._promise.slots if isinstance(self._promise, DGammaPrivacy) else 1

    @cached_property
    def _view(self) -> str:
        """The relation of the view, in the domains' encoding."""
        with self._reading(VIEW) as read:
            self._engine.rows(f"CREATE VIEW view AS {read}")
            self._engine.encode("view_coded", "view", {name: (name, each) for name, each in self._encodings.items()})
            self._engine.rows(f"CREATE TABLE {self._table} AS SELECT {self._columns} FROM view")
        return self._table

    @property
    def _columns(self) -> str:
        return ", ".join(identifier(name) for name in self.schema.columns)

    @property
    def _counts(self) -> tuple[str, ...]:
        """What is counted of the rows that meet a condition: SQL conditions."""
        return ("TRUE",)

    def _occurring(self, column: str) -> list[Any]:
        return list(self.schema.domains[column])

    def _answers(self, conditions: Sequence[Condition], estimator: str, confidence: float) -> list[Estimate]:
        seen: list[Seen] = []
        for start in range(0, len(conditions), _AT_ONCE):
            parts = [
                f"count(*) FILTER (WHERE ({render(condition)}) AND {each})"
                for condition in conditions[start : start + _AT_ONCE]
                for each in self._counts
            ]
            found = self._engine.rows(f"SELECT {', '.join(parts)} FROM {self._view}")[0]
            step = len(self._counts)
            seen += [found[i : i + step] for i in range(0, len(found), step)]
        sizes = [self._size(condition) for condition in conditions]
        return self._estimates_of(conditions, seen, sizes, estimator, confidence)

    def _grouped_answers(
        self, query: Query, groups: Sequence[Group], conditions: Sequence[Condition], estimator: str, confidence: float
    ) -> list[Estimate]:
        """All groups in one pass over the tuples."""
        columns = [identifier(name) for name in query.group_by]
        parts = [f"count(*) FILTER (WHERE ({render(query.where)}) AND {each})" for each in self._counts]
        rows = self._engine.rows(f"SELECT {', '.join([*columns, *parts])} FROM {self._view} GROUP BY ALL")
        found: dict[Group, Seen] = {row[: len(columns)]: row[len(columns) :] for row in rows}
        seen = [found.get(group, (0,) * len(parts)) for group in groups]
        if set(query.group_by) & set(columns_of(query.where)):
            sizes = [self._size(condition) for condition in conditions]
        else:
            sizes = self._even_sizes(query, groups)
        return self._estimates_of(conditions, seen, sizes, estimator, confidence)

    def _even_sizes(self, query: Query, groups: Sequence[Group]) -> list[tuple[int, Fraction]]:
        """The sizes of groups that the condition does not tell apart: shares of the whole."""
        tuples, weight = self._size(query.where)
        places = [{value: place for place, value in enumerate(self._encodings[name])} for name in query.group_by]
        number = math.prod(len(self._encodings[name]) for name in query.group_by)
        found = []
        for group in groups:
            share = Fraction(1, number)
            for name, place, value in zip(query.group_by, places, group, strict=True):
                if (weights := self._source.weights.get(name)) is not None:
                    share *= Fraction(weights[place[value]] * len(weights), sum(weights))
            found.append((tuples // number, weight * share))
        return found

    def _size(self, condition: Condition) -> tuple[int, Fraction]:
        """How many tuples of the domain meet a condition, and how much they weigh, both with their slots."""
        tuples = self._slots * count_matching(condition, self._encodings, self._engine)
        if not self._source.weights:
            return tuples, Fraction(tuples)
        ones = {name: (1,) * len(each) for name, each in self._encodings.items()}
        weight = count_matching(condition, self._encodings, self._engine, {**ones, **self._source.weights})
        return tuples, self._slots * weight * self._source.scale

    def _estimates_of(
        self,
        conditions: Sequence[Condition],
        seen: Sequence[Seen],
        sizes: Sequence[tuple[int, Fraction]],
        estimator: str,
        confidence: float,
    ) -> list[Estimate]:
        answers = []
        for each, (tuples, weight) in zip(seen, sizes, strict=True):
            parts = self._parts(each, tuples, weight)
            if estimator == "control":
                parts = [with_total(parts[0], self._whole, self._public_rows)]
            answer = estimate_of(parts, self._most(tuples), clipped=estimator == "clipped", confidence=confidence)
            answers.append(self._trusting(answer) if estimator == "control" else answer)
        if estimator == "best":
            expected = [expect(self._model, condition, self._encodings, self._engine) for condition in conditions]
            return [lean(each, mean, self._model.spread) for each, mean in zip(answers, expected, strict=True)]
        return answers

    def _parts(self, seen: Seen, tuples: int, weight: Fraction) -> list[Part]:
        return [part_of(seen[0], weight, self._promise)]

    def _most(self, tuples: int) -> int:
        """The largest count that is possible."""
        return tuples if self.schema.public_rows is None else min(tuples, self.schema.public_rows)

    @property
    def _public_rows(self) -> int:
        if self.schema.public_rows is None or self._slots == 1:
            raise QueryError(
                "estimator (control) needs a release of records in slots that states public_rows, the number of "
                "records; use unbiased"
            )
        return self.schema.public_rows

    @cached_property
    def _whole(self) -> Part:
        """What the view shows of the whole domain."""
        domain = self._slots * math.prod(len(each) for each in self._encodings.values())
        return part_of(self.rows, domain, self._promise)

    def _trusting(self, answer: Estimate) -> Estimate:
        """An answer that holds if the public number of rows is right."""
        return replace(answer, conditional_on=MODEL, note=_TOTAL)

    @cached_property
    def _coded(self) -> str:
        """The tuples in the domains' encoding."""
        relation = f"{self._table}_coded"
        columns = {name: (name, each) for name, each in self._encodings.items()}
        self._engine.encode(relation, self._view, columns)
        return relation

    @cached_property
    def _model(self) -> Independence:
        """Independent attributes as the view shows them, for estimator="best"."""
        weights = [self._source.weights.get(name) for name in self.schema.columns]
        return model_of(count_margins(self._engine, self._coded, self._encodings), self._promise, weights)
