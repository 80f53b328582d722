"""A bucket release that answers: matches in each bucket, and what its sensitive values say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code
from discreet.engine.encoding import Encoding
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.inverses import numbers_of
from discreet.estimate.buckets.learning.knowledge import Knowledge, Singles
from discreet.estimate.buckets.likely import Likely
from discreet.estimate.buckets.matched import Matched, matched_of
from discreet.estimate.buckets.near import NearRegression
from discreet.estimate.buckets.regression import Regressed, Regression
from discreet.estimate.buckets.rows import Rows
from discreet.estimate.buckets.rule import shows_learned
from discreet.estimate.buckets.study import Study
from discreet.estimate.buckets.sums import BucketSums, Tables
from discreet.estimate.buckets.windows import windows_of
from discreet.estimate.estimate import PEOPLE
from discreet.estimate.learned import learned
from discreet.estimate.release import Release
from discreet.estimate.shown_rows import Evidence, ShownRows
from discreet.estimate.sums import Sums
from discreet.ground.arrays import Ints
from discreet.ground.progress import Progress
from discreet.guarantee.classic.classes import Classes, classes_of
from discreet.query.condition import Condition, Every
from discreet.query.figure import Sum
from discreet.query.split import Part, split_by
from discreet.release.buckets.manifest import QIT, ST, BucketManifest
from discreet.release.plain import plain_file
from discreet.release.statement import MANIFEST
from discreet.schema.domain import Integers, key_of

_MOST_PARTS = 24  # parts of one question whose covariances are estimated; beyond, they are bounded
_MOST_MATCHES = 1 << 26  # numbers of matching rows, by bucket and condition, that are held at a time: 512 MB
_SHARE = 32  # bytes of a limited memory for each of them: a quarter of it
_COLUMN = 40  # bytes of a row for its bucket, while it is read
WITH_FAKES = (
    "; fakes are not among them, and l by shares and alpha take them for real; all else is of the values with the fakes"
)
_SQUARES = 4  # tables of values by values that the decomposition takes


class BucketRelease(Release):
    """Quasi-identifiers and sensitive values in two tables joined by a bucket id."""

    _manifest: BucketManifest

    @property
    def rows(self) -> int:
        return self._manifest.statement.numbers.rows

    @property
    def size(self) -> int:
        return self.rows

    @property
    def unit(self) -> str:
        return PEOPLE

    @property
    def estimators(self) -> tuple[str, ...]:
        """The ways to an answer that this release has, the default first (rule.py)."""
        found = super().estimators
        first = "learned" if shows_learned(self._manifest.statement) else "unbiased"
        return tuple(sorted(found, key=lambda name: name != first))

    @learned
    def composition(self) -> Composition:
        """The ST, read with the first question."""
        sensitive = self.schema.sensitive
        encoding = self.schema.domains[sensitive].encoding
        fakes = self._manifest.statement.mechanism.fakes * self._manifest.statement.numbers.buckets
        with self._reading(ST, self.rows + fakes) as read:
            self._engine.rows(f"CREATE OR REPLACE VIEW st AS {read}")
            whole = Encoding(range(1, 2**53))
            columns = {"BID": ("BID", whole), sensitive: (sensitive, encoding), "COUNT": ("COUNT", whole)}
            self._engine.encode("st_coded", "st", columns)
            entries = self._engine.arrow(
                f"SELECT BID, {code(sensitive, encoding)}::INTEGER AS code, COUNT FROM st_coded"
            )
            if any(column.null_count for column in entries.columns) or not len(entries):
                raise ValueError
            bucket, codes, count = map(numbers, entries.columns)
            if (np.diff(bucket) < 0).any() or count.sum(dtype=np.float64) != self.rows + fakes:
                raise ValueError
            ids, position = np.unique(bucket, return_inverse=True)
            occurring, value = np.unique(codes, return_inverse=True)
            own = encoding.only(occurring.tolist())  # of a domain of any size
            found = Composition(ids=ids, encoding=own, bucket=position, value=value, count=count)
            return self._with_fakes(found) if self._manifest.statement.mechanism.fakes else found

    def _with_fakes(self, found: Composition) -> Composition:
        """The same with what the manifest states of people; raises ValueError where the table does not fit it."""
        stated = {key_of(value): numbers for value, numbers in self._manifest.statement.numbers.people or ()}
        if set(stated) != set(map(key_of, found.values)):
            raise ValueError
        people = np.array([stated[key_of(value)] for value in found.values], dtype=np.int64)
        fakes = self._manifest.statement.mechanism.fakes
        sizes = np.unique(found.sizes - fakes)
        if sizes.tolist() != [size for size, _ in self._manifest.statement.numbers.classes]:
            raise ValueError
        return replace(found, fakes=fakes, people=people)

    @learned
    def regression(self) -> Regressed:
        """The regression on the ST: its decomposition is made with the first question and serves every other."""
        stated = self._manifest.statement.numbers.windows
        if stated is None or len(stated) == 1:
            whole = Regression(composition=self.composition)
            if whole.fits:
                self._engine.afford(_SQUARES * 8 * len(self.composition.values) ** 2)
            return whole
        windows = windows_of(self.composition, [(each.first, each.last) for each in stated])
        near = NearRegression(windows=windows)
        if near.fits:
            self._engine.afford(2 * 8 * numbers_of(windows))
        return near

    @learned
    def qit(self) -> Rows:
        """The rows of quasi-identifiers, opened with the first question."""
        own = self.composition
        self._engine.afford(_COLUMN * self.rows)
        with self._reading(QIT, self.rows) as read:
            self._engine.rows(f"CREATE OR REPLACE VIEW qit AS {read}")
            return Rows(self._engine, self.schema, "qit", own.ids, own.sizes)

    @learned
    def _study(self) -> Study:
        """What can be learned of the rows, or was and is remembered."""
        rows = self.qit
        return Study(
            composition=self.composition,
            regression=self.regression,
            bucket=rows.bucket,
            columns=[(name, self.schema.domains[name].in_order) for name in self.schema.quasi_identifiers],
            codes=rows.codes,
            files=[plain_file(self._manifest.folder, name) for name in (MANIFEST, QIT, ST)],
            engine=self._engine,
        )

    @learned
    def knowledge(self) -> Knowledge:
        """What was learned of who has which value: with the first question to a learned estimator, or ahead of it."""
        return self._study.knowledge(self._progress)

    @learned
    def likely(self) -> Likely:
        """Sums over what was learned."""
        return Likely(self.composition, self.qit.bucket, self.knowledge)

    @property
    def posterior(self) -> Singles:
        """How probable each value of a bucket is for each of its rows, by what was learned: bucket after bucket, within
        it value after value, and of each value row after row, in the order of both tables.
        """
        return self.knowledge.weights

    def learn(self, progress: Progress | None = None) -> None:
        super().learn(progress)
        with self._asking():
            _ = self.likely

    @learned
    def shown_rows(self) -> tuple[ShownRows, ...]:
        """Both files as they stand, in the order of the buckets' ids."""
        entries, bucket, sensitive = self.composition, self.qit.bucket, self.schema.sensitive
        encoding = self.schema.domains[sensitive].encoding
        held = [encoding.values.index(each) for each in entries.encoding.values]  # type: ignore[arg-type]
        codes = np.array([*held, *[len(encoding.values)] * entries.encoding.missing], dtype=np.int64)
        windows = self._manifest.statement.numbers.windows
        window = np.searchsorted([each.first for each in windows], entries.ids, side="right") if windows else None
        return tuple(
            ShownRows(
                file=file,
                codes=cells,
                group=entries.ids[at].astype(np.int64),
                window=None if window is None else window[at],
                people=file == QIT,
            )
            for file, cells, at in (
                (QIT, {name: self.qit.codes(name) for name in self.schema.quasi_identifiers}, bucket),
                (ST, {sensitive: codes[entries.value]}, entries.bucket),
            )
        )

    def evidence(self, rows: Ints) -> Evidence:
        """Each row has a value with its share of the row's bucket."""
        entries, bucket = self.composition, self.qit.bucket[rows]
        held = np.bincount(entries.bucket, minlength=len(entries.ids))
        begins, often = np.cumsum(held) - held, held[bucket]
        entry = np.repeat(begins[bucket] - np.cumsum(often) + often, often) + np.arange(often.sum())
        own = np.asarray(self.shown_rows[1].codes[self.schema.sensitive], dtype=np.int64)
        share = entries.expected[entry] / entries.sizes[entries.bucket[entry]]
        return Evidence(row=np.repeat(np.arange(len(bucket)), often), value=own[entry], weight=share)

    def allows(self, value: int) -> Fraction:
        """The tolerance of a value, 1 where it has none: it is about one bucket, and not about several together."""
        wanted = self.schema.domains[self.schema.sensitive].encoding[value]
        stated = self._manifest.statement.guarantee.tolerance
        return next((limit for each, limit in stated if each == wanted), Fraction(1))  # 4.1 is 4.10

    def classes(self) -> Classes:
        """Its buckets as classes of people: within one, nobody can be told from another."""
        with self._asking():
            found = self.composition
        domain = self.schema.domains[self.schema.sensitive]
        ordered = domain.in_order and None not in found.values
        return classes_of(
            found.ids[found.bucket],
            found.value,
            found.count,
            kind="buckets",
            note="quasi-identifiers are published as they are, so people can be found in the release; k counts those "
            "among whom nobody's value can be told" + (WITH_FAKES if found.fakes else ""),
            ordered=ordered,
            fakes=found.fakes,
        )

    def known(self) -> dict[str, Ints]:
        """The quasi-identifiers of every row, which are published as they are: positions in their domains."""
        with self._asking():
            return {name: self.qit.codes(name).astype(np.int64) for name in self.schema.quasi_identifiers}

    def _sums(self, asked: Sequence[Sum], *, apart: bool = False) -> Sums:
        tables = Tables(
            schema=self.schema,
            qit=self.qit,
            composition=self.composition,
            regression=self.regression,
            engine=self._engine,
        )
        return BucketSums(tables, asked).answer()

    def _possible(self, column: str) -> list[Any]:
        if column == self.schema.sensitive:
            return list(self.composition.values)
        with self._reading(QIT, self.rows):
            found = self.qit.occurring(column)
        domain = self.schema.domains[column]
        if isinstance(domain, Integers):  # which may be any size
            return sorted((value for value in found if value in domain), key=lambda value: (value is None, value))
        return [value for value in domain if value in found]

    def matched(self, conditions: Sequence[Condition], *, with_rows: bool = False) -> Iterator[Matched]:
        """What each condition asks of the buckets, in order; some at a time, so that the matches fit in memory."""
        split = split_by(conditions, self.schema.sensitive, self.composition.encoding, self._engine)
        most = min(_MOST_MATCHES, self._engine.memory // _SHARE) if self._engine.memory else _MOST_MATCHES
        for some in _batches(split, most // (self.rows if with_rows else len(self.composition.ids))):
            wanted = [each for parts in some for each in (*_conditions(parts), *_pairs(parts).values())]
            asked = {condition for parts in some for condition in _conditions(parts)} if with_rows else set()
            matches, rows = {}, {}
            for condition, found in self.qit.matching(wanted):
                matches[condition] = self.qit.per_bucket(found)
                if condition in asked:
                    rows[condition] = found
            for parts in some:
                joint = {pair: matches[condition] for pair, condition in _pairs(parts).items()}
                own = [matches[condition] for condition in _conditions(parts)]
                where = [rows[condition] for condition in _conditions(parts)] if with_rows else ()
                yield matched_of(self.composition, [part.values for part in parts], own, joint, where)


def _batches(split: Sequence[Sequence[Part]], most: int) -> Iterator[list[Sequence[Part]]]:
    """Conditions in their order, so many at a time that their matches in each bucket fit in memory."""
    some: list[Sequence[Part]] = []
    held = 0
    for parts in split:
        number = len(parts) + len(_pairs(parts))
        if some and held + number > most:
            yield some
            some, held = [], 0
        some.append(parts)
        held += number
    if some:
        yield some


def _conditions(parts: Sequence[Part]) -> list[Condition]:
    return [part.condition for part in parts]


def _pairs(parts: Sequence[Part]) -> dict[tuple[int, int], Condition]:
    """The conditions that pairs of parts meet together, while there are few."""
    if len(parts) > _MOST_PARTS:
        return {}
    pairs = combinations(range(len(parts)), 2)
    return {(one, two): Every((parts[one].condition, parts[two].condition)) for one, two in pairs}
