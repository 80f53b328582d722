"""Questions that are worked out from several sums over one release: differences, ratios, shares, sums and means.

All of them stand on one thing that a family can do: `sums`, which answers several sums with their covariance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.errors import QueryError
from discreet.estimate.estimate import Estimate, Origin
from discreet.estimate.evaluating import evaluating
from discreet.estimate.interval import Way
from discreet.estimate.numeric import numeric
from discreet.estimate.quantile import quantile
from discreet.estimate.sums import MOST_SUMS, Sums
from discreet.estimate.work_out import over, work_out
from discreet.ground.confidence import why_not
from discreet.ground.exact import fraction_of
from discreet.ground.shown import shown
from discreet.query.condition import Condition, of_release_alone
from discreet.query.figure import DEEPEST, Asked, Figure, Quantile, Sum, Worked, depth, mean, share, sums_of
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema

if TYPE_CHECKING:
    from discreet.query.parse import Query

COUNTS_ALONE = "this kind of release answers counts alone; ask SELECT COUNT(*) FROM release WHERE ..."
_AT_ONCE = 8  # sums of several figures that are answered together
UNBIASED = "unbiased"  # what every family calls the answer without a model beyond its own


class Asks(ABC):
    """What an open release can be asked beyond counts. All of it holds over the publisher's coins, as `design` does."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The published columns and their public domains."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """What its counts count."""

    @abstractmethod
    def _asking(self) -> AbstractContextManager[None]:
        """Answer one question inside."""

    @abstractmethod
    def _parsed(self, questions: Sequence[str], aux: Mapping[str, Any] | None) -> list[Query]:
        """Questions as values."""

    def _sums(self, asked: Sequence[Sum], *, apart: bool = False) -> Sums:
        """Several sums together; a family that can answer them says how. `apart`: no row is in two of them."""
        raise NotImplementedError(COUNTS_ALONE)

    def difference(self, a: str, b: str, *, confidence: float = 0.95, aux: Mapping[str, Any] | None = None) -> Estimate:
        """How many more meet the condition `a` than `b`; below 0 where `b` has more."""
        with self._asking():
            one, other = self._conditions([a, b], aux)
            return self.work_out(Worked(Sum(where=one), "-", Sum(where=other)), confidence)

    def ratio(self, a: str, b: str, *, confidence: float = 0.95, aux: Mapping[str, Any] | None = None) -> Estimate:
        """How many meet `a` for each that meets `b`."""
        with self._asking():
            one, other = self._conditions([a, b], aux)
            return self.work_out(Worked(Sum(where=one), "/", Sum(where=other)), confidence)

    def share(
        self, a: str, of: str = "", *, confidence: float = 0.95, aux: Mapping[str, Any] | None = None
    ) -> Estimate:
        """The share of those meeting `of` that also meet `a`; of everybody where `of` is empty."""
        with self._asking():
            part, whole = self._conditions([a, of], aux)
            return self.work_out(share(part, whole), confidence)

    def sum(
        self, column: str, where: str = "", *, confidence: float = 0.95, aux: Mapping[str, Any] | None = None
    ) -> Estimate:
        """The sum of a column of numbers over those meeting the condition; a missing cell adds nothing."""
        with self._asking():
            (condition,) = self._conditions([where], aux)
            return self.work_out(Sum(where=condition, column=self._numeric(column)), confidence)

    def mean(
        self, column: str, where: str = "", *, confidence: float = 0.95, aux: Mapping[str, Any] | None = None
    ) -> Estimate:
        """The mean of a column of numbers over those meeting the condition, missing cells aside."""
        with self._asking():
            (condition,) = self._conditions([where], aux)
            name = self._numeric(column)
            return self.work_out(mean(name, condition, missing=self.schema.domains[name].missing), confidence)

    def quantile(
        self,
        column: str,
        share: object,
        where: str = "",
        *,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """The least number of a column that a share of those meeting the condition have or stay below: 0.5 is the
        median. Missing cells are left out.
        """
        name, part = self._numeric(column), fraction_of(share)
        if part is None or not 0 < part < 1:
            raise QueryError(f"share ({shown(share)}) must be a number between 0 and 1, such as 0.5 for the median")
        with self._asking():
            (condition,) = self._conditions([where], aux)
            return self._quantile(Quantile(column=name, share=part, where=condition), confidence)

    def _quantile(self, asked: Quantile, confidence: float) -> Estimate:
        """The number, with the numbers that it may be."""
        if wrong := why_not(confidence):
            raise QueryError(wrong)
        self._checked(asked)
        unit = f"{asked.column}{over(self.unit)}"
        way = Way(unit=unit, estimator=UNBIASED, confidence=confidence, half=0.0)
        return quantile(asked, self.schema.domains[asked.column], lambda sums: self._answered(sums, apart=True), way)

    def work_out(self, figure: Figure, confidence: float = 0.95) -> Estimate:
        """A figure that was put together from several sums."""
        with self._asking():
            return self._worked_out([figure], confidence)[0]

    def _worked_out(self, figures: Sequence[Figure], confidence: float) -> list[Estimate]:
        """Several figures, some at a time: only within one does it matter how sums vary together."""
        if wrong := why_not(confidence):
            raise QueryError(wrong)
        found: list[Estimate] = []
        waiting: list[Figure] = []
        asked: dict[Sum, int] = {}
        for figure in figures:
            own = self._checked(figure)
            if waiting and len(asked.keys() | own) > _AT_ONCE:
                found += self._from_sums(waiting, asked, confidence)
                waiting, asked = [], {}
            waiting.append(figure)
            for each in own:
                asked.setdefault(each, len(asked))
        return found + self._from_sums(waiting, asked, confidence) if waiting else found

    def _checked(self, figure: Asked) -> list[Sum]:
        """The sums of a figure; raises QueryError where it cannot be answered."""
        if type(self)._sums is Asks._sums:
            raise QueryError(COUNTS_ALONE)
        if isinstance(figure, Quantile):
            numeric(self.schema, figure.column)
            return []
        if depth(figure) > DEEPEST:
            raise QueryError(f"a figure must take at most {DEEPEST} steps to be worked out; ask for its parts")
        found = sums_of(figure)
        if len(found) > MOST_SUMS:
            raise QueryError(f"a figure must be of at most {MOST_SUMS:,} sums, this is of {len(found):,}; ask less")
        for name in {each.column for each in found if each.column is not None}:
            numeric(self.schema, name)
        return found

    def _from_sums(self, figures: Sequence[Figure], places: Mapping[Sum, int], confidence: float) -> list[Estimate]:
        """Figures, from the sums of all of them together."""
        names = {each.column for each in places if each.column is not None}
        ranges = {name: numeric(self.schema, name).ends for name in names}
        sums = self._answered(list(places))
        way = Way(unit=self.unit, estimator=UNBIASED, confidence=confidence)
        return [replace(work_out(each, sums, places, ranges, way), origin=self._origin(each)) for each in figures]

    def _answered(self, asked: Sequence[Sum], *, apart: bool = False) -> Sums:
        """The sums; whatever makes them fail is one sentence."""
        with evaluating():
            return self._sums(asked, apart=apart)

    def _origin(self, figure: Figure) -> Origin | None:
        """What an estimate of it can be worked with: nothing where a table of the asker's is needed again."""
        return Origin(self, figure) if all(of_release_alone(each.where) for each in sums_of(figure)) else None

    def _conditions(self, texts: Sequence[str], aux: Mapping[str, Any] | None) -> list[Condition]:
        """Conditions as values; a whole SELECT is refused."""
        queries = self._parsed(texts, aux)
        if any(query.group_by or query.figure is not None for query in queries):
            raise QueryError("a condition was expected, such as age > 30; ask a whole SELECT with query")
        return [query.where for query in queries]

    def _numeric(self, column: str) -> str:
        """The name of a column of numbers as the schema spells it."""
        for name in self.schema.columns:
            if isinstance(column, str) and name.casefold() == column.casefold():
                numeric(self.schema, name)
                return name
        raise QueryError(f"column {shown(column)} does not exist{did_you_mean(column, self.schema.columns)}")
