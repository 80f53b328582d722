"""A release of tuples among random ones that answers: undo the insertion and the deletion.

Paper: [RSH] Algorithm 3.
Symbols: n_V tuples of the view meet the condition, n_D tuples of the domain do; s = alpha + beta.
    E[n_V] = beta n_D + alpha Q, Var[n_V] = n_D beta (1 - beta) + Q (s (1 - s) - beta (1 - beta)).
Departs: the paper gives no interval. Here it is the score interval: all Q whose expectation is within z standard
    deviations, at that Q, of what was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from discreet.engine.encoding import identifier
from discreet.errors import ReleaseError
from discreet.estimate.estimate import COINS, Estimate
from discreet.estimate.independence import Independence
from discreet.estimate.lean import expect, lean
from discreet.estimate.margins import count_margins
from discreet.estimate.release import Release, width_of
from discreet.estimate.undo import model_of
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.query.condition import Condition, render
from discreet.query.count_domain import count_matching
from discreet.release.manifest import VIEW

_AT_ONCE = 200


class ViewRelease(Release):
    """True tuples, each kept with a coin, among tuples of the domain that other coins inserted."""

    estimators: ClassVar[tuple[str, ...]] = ("unbiased", "clipped", "best")

    @property
    def rows(self) -> int:
        rows: int = self._manifest.block["tuples"]
        return rows

    @cached_property
    def _promise(self) -> DGammaPrivacy:
        if not isinstance(self._manifest.guarantee, DGammaPrivacy):
            raise ReleaseError("the guarantee must be (d, gamma)-privacy; verify says more")
        return self._manifest.guarantee

    @cached_property
    def _view(self) -> str:
        """The relation of the view, in the domains' encoding."""
        with self._reading(VIEW) as read:
            self._engine.rows(f"CREATE VIEW view AS {read}")
            columns = {name: (name, self.schema.domains[name].encoding) for name in self.schema.columns}
            self._engine.encode("view_coded", "view", columns)
            kept = ", ".join(identifier(name) for name in self.schema.columns)
            self._engine.rows(f"CREATE TABLE tuples AS SELECT {kept} FROM view")
        return "tuples"

    def _occurring(self, column: str) -> list[Any]:
        return list(self.schema.domains[column])

    def _answers(self, conditions: Sequence[Condition], estimator: str, confidence: float) -> list[Estimate]:
        encodings = {name: self.schema.domains[name].encoding for name in self.schema.columns}
        answers = []
        for start in range(0, len(conditions), _AT_ONCE):
            some = conditions[start : start + _AT_ONCE]
            parts = [f"count(*) FILTER (WHERE {render(condition)})" for condition in some]
            seen = self._engine.rows(f"SELECT {', '.join(parts)} FROM {self._view}")[0]
            possible = [count_matching(condition, encodings, self._engine) for condition in some]
            answers += [self._answer(n_v, n_d, estimator, confidence) for n_v, n_d in zip(seen, possible, strict=True)]
        if estimator == "best":
            expected = [expect(self._model, condition, encodings, self._engine) for condition in conditions]
            return [lean(each, mean, self._model.spread) for each, mean in zip(answers, expected, strict=True)]
        return answers

    @cached_property
    def _model(self) -> Independence:
        """Independent attributes as the view shows them, for estimator="best"."""
        encodings = {name: self.schema.domains[name].encoding for name in self.schema.columns}
        self._engine.encode("tuples_coded", self._view, {name: (name, each) for name, each in encodings.items()})
        return model_of(count_margins(self._engine, "tuples_coded", encodings), self._promise)

    def _answer(self, seen: int, possible: int, estimator: str, confidence: float) -> Estimate:
        keep, insert = float(self._promise.keep), float(self._promise.insert)
        alpha = keep - insert
        most = possible if self.schema.public_rows is None else min(possible, self.schema.public_rows)
        surplus = float(seen - self._promise.insert * possible)
        value = surplus / alpha
        noise, more = possible * insert * (1 - insert), keep * (1 - keep) - insert * (1 - insert)
        low, high = _score_interval(surplus, alpha, noise, more, width_of(confidence))
        at = min(max(value, 0.0), float(most))
        return Estimate(
            value=at if estimator == "clipped" else value,
            standard_error=math.sqrt(max(0.0, noise + more * at)) / alpha,
            low=min(max(low, 0.0), float(most)),
            high=min(max(high, 0.0), float(most)),
            confidence=confidence,
            bounds=(0, most),
            conditional_on=COINS,
        )


def _score_interval(surplus: float, alpha: float, noise: float, more: float, width: float) -> tuple[float, float]:
    """All Q with (surplus - alpha Q)^2 <= width^2 (noise + more Q)."""
    middle = 2 * alpha * surplus + width**2 * more
    root = math.sqrt(max(0.0, middle**2 - 4 * alpha**2 * (surplus**2 - width**2 * noise)))
    return (middle - root) / (2 * alpha**2), (middle + root) / (2 * alpha**2)
