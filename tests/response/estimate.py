"""Counts from randomized responses: what was seen, less what lies add, turned around."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from discreet.estimate.estimate import COINS, PEOPLE, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Spread, Way
from discreet.estimate.learned import learned
from discreet.estimate.release import Release
from discreet.query.condition import render
from discreet.query.split import split_by
from response.release import ROWS, ResponseManifest


class ResponseRelease(Release):
    """Rows whose sensitive value is true with a known probability."""

    _manifest: ResponseManifest

    @property
    def rows(self) -> int:
        return self._manifest.statement.numbers.rows

    @property
    def size(self) -> int:
        return self.rows

    @property
    def unit(self) -> str:
        return PEOPLE

    @learned
    def _table(self) -> str:
        with self._reading(ROWS, self.rows) as read:
            self._engine.rows(f"CREATE TABLE responses AS {read}")
        return "responses"

    def _possible(self, column: str) -> Collection[Any]:
        return self.schema.domains[column]

    def seen(self, asked: Asked) -> list[list[tuple[int, int, int]]]:
        """For each condition and part: rows that meet it but for the value, those with a shown value, and how many
        values that is.
        """
        sensitive = self.schema.sensitive
        values = list(self.schema.domains[sensitive])
        found = []
        for parts in split_by(asked.conditions, sensitive, self.schema.domains[sensitive].encoding, self._engine):
            counted = []
            for part in parts:
                chosen = [values[place] for place in part.values]
                own = self._engine.rows(
                    f"SELECT {_name(sensitive)}, count(*) FROM {self._table} WHERE {render(part.condition)} GROUP BY 1"
                )
                by_value = dict(own)
                counted.append((sum(by_value.values()), sum(by_value.get(v, 0) for v in chosen), len(chosen)))
            found.append(counted)
        return found

    @property
    def guarantee(self):
        return self._manifest.statement.guarantee


class Unbiased:
    """E[seen] = n b + (keep - other) Q, with b = other times the number of values that are asked for."""

    name: ClassVar[str] = "unbiased"
    needs: ClassVar[str] = ""

    def __init__(self, release: ResponseRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: ResponseRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        guarantee = self._release.guarantee
        other, slope = float(guarantee.other), float(guarantee.keep - guarantee.other)
        answers = []
        for parts in self._release.seen(asked):
            value = noise = more = 0.0
            most = 0
            for rows, seen, values in parts:
                if values == guarantee.values:  # the sensitive value does not matter
                    value += rows
                else:
                    b = other * values
                    a = b + slope
                    value += (seen - rows * b) / slope
                    noise += rows * b * (1 - b) / slope**2
                    more = max(more, (a * (1 - a) - b * (1 - b)) / slope**2)
                most += rows
            known = all(values == guarantee.values for _, _, values in parts)
            bounds = (most, most) if known else (0, most)
            answers.append(way.estimate(value, Spread(noise=noise, more=more), bounds, over=COINS))
        return answers


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
