"""Questions that are worked out from several sums over one release: differences, ratios, shares, sums and means.

All of them stand on one thing that a family can do: `sums`, which answers several sums with their covariance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from discreet.engine.duck.sql import identifier
from discreet.errors import QueryError
from discreet.estimate.crosstab import Crosstab, common_width, table_of
from discreet.estimate.estimate import Counts, Estimate, Origin
from discreet.estimate.evaluating import evaluating
from discreet.estimate.histogram import bands_of
from discreet.estimate.interval import Way
from discreet.estimate.numeric import numeric
from discreet.estimate.quantile import quantile
from discreet.estimate.sums import MOST_SUMS, Sums
from discreet.estimate.work_out import over, work_out
from discreet.ground.confidence import why_not
from discreet.ground.exact import fraction_of
from discreet.ground.shown import shown
from discreet.query.bands import Cases, Grouping, groups_of
from discreet.query.condition import Condition, Every, of_release_alone
from discreet.query.figure import (
    DEEPEST,
    Asked,
    Figure,
    Number,
    Quantile,
    Sign,
    Sum,
    Worked,
    depth,
    mean,
    share,
    sums_of,
)
from discreet.schema.nearest import did_you_mean

if TYPE_CHECKING:
    from discreet.query.parse import Query
    from discreet.schema.schema import Schema

COUNTS_ALONE = "this kind of release answers counts alone; ask SELECT COUNT(*) FROM release WHERE ..."
_AT_ONCE = 8  # sums of several figures that are answered together
By = str | tuple[str, int]  # a column, or a column and a level of its hierarchy
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

    @abstractmethod
    def _groups(self, query: Query) -> list[Collection[Any]]:
        """The labels of each thing that is grouped by."""

    @abstractmethod
    def _by(self, key: Grouping, where: Condition, estimator: str | None, confidence: float) -> Counts:
        """Counts by one thing."""

    def _sums(self, asked: Sequence[Sum], *, apart: bool = False) -> Sums:
        """Several sums together; a family that can answer them says how. `apart`: no row is in two of them."""
        raise QueryError(COUNTS_ALONE)

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

    def histogram(
        self,
        column: str,
        *,
        width: object = None,
        edges: Sequence[object] = (),
        where: str = "",
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Counts:
        """How many of those meeting a condition have a number in each band: of one `width` from the least number of the
        column's domain on, or between `edges`, each band without its upper end.
        """
        name = self._numeric(column)
        bands, inside = bands_of(name, self.schema.domains[name], width, edges)
        with self._asking():
            (condition,) = self._conditions([where], aux)
            found = self._by(Cases(branches=bands, name=name), Every((condition, inside)), estimator, confidence)
        return replace(found, rows=tuple(row for row in found if row[0][0] is not None))

    def crosstab(
        self,
        rows: By,
        columns: By,
        *,
        where: str = "",
        together: bool = False,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Crosstab:
        """A table of counts by two things, each a column or ("age", 1), the first level of its hierarchy.

        Intervals are each by itself; `together` asks for such that all hold at once with the confidence.
        """
        if wrong := why_not(confidence):
            raise QueryError(wrong)
        grouped = ", ".join(map(grouped_by, (rows, columns)))
        with self._asking():
            (condition,) = self._conditions([where], aux)
            (query,) = self._parsed([f"SELECT COUNT(*) FROM release GROUP BY {grouped}"], None)
            self._checked(Sum(where=condition))
            labels = [tuple(each) for each in self._groups(query)]
            if len(labels[0]) * len(labels[1]) > MOST_SUMS:
                raise QueryError(f"a table must have at most {MOST_SUMS:,} cells; count by levels of a hierarchy")
            own, other = (
                [groups_of(key, self.schema).is_label(label) for label in listed]
                for key, listed in zip(query.group_by, labels, strict=True)
            )
            asked = [Sum(where=Every((*each, condition))) for each in product(own, other)]
            sums = self._answered(asked, apart=True)
            margins = [Sum(where=Every((each, condition))) for each in (*own, *other)] + [Sum(where=condition)]
            totals = self._worked_out(margins, confidence)
        times = common_width(sums, confidence) if together else None
        way = Way(unit=self.unit, estimator=UNBIASED, confidence=confidence, times=times)
        places = {each: place for place, each in enumerate(asked)}
        cells = [replace(work_out(each, sums, places, {}, way), origin=self._origin(each)) for each in asked]
        return table_of(str(query.group_by[0]), str(query.group_by[1]), labels, cells, totals, sums, together=together)

    def combined(self, left: Figure, sign: Sign, right: Figure | Fraction, confidence: float) -> Estimate:
        """Two figures, or one and a number, and what is done with them."""
        other = Number(right) if isinstance(right, Fraction) else right
        return self.work_out(Worked(left, sign, other), confidence)

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


def grouped_by(column: By) -> str:
    """What a question says in its GROUP BY."""
    if isinstance(column, str):
        return identifier(column)
    match column:
        case (str(name), int(level)):
            return f"level({identifier(name)}, {level})"
    raise QueryError('what is counted by must be the name of a column, or a name and a level such as ("age", 1)')
