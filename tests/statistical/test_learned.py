"""Learned answers against the truth: tables of three kinds, and one in which nothing can be learned.

The coins of every release come from a fixed seed, so a test gives the same numbers on every run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.engine.duck.database import Database
from discreet.engine.encoding import Encoding
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.learned import GUARD, learned_error
from discreet.estimate.buckets.learning.calibrate import calibrated
from discreet.estimate.buckets.learning.knowledge import Knowledge
from discreet.estimate.buckets.learning.patterns import patterns_of
from discreet.estimate.buckets.learning.places import Places
from discreet.estimate.buckets.likely import Likely
from discreet.estimate.buckets.regression import Regression
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.buckets.study import Study
from discreet.evaluate.papers_form import at_least, random_queries
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.ground.arrays import Floats, Ints

BENCH = Path(__file__).parents[2] / "bench"
PROMISE = discreet.Tolerance(theta=8, floor="0.02")
HALF = discreet.Tolerance(theta=2, floor="0.1")
ROWS = 12_000


# --- Tables --------------------------------------------------------------------------------------------------------


def coded(columns: dict[str, Ints]) -> pa.Table:
    return pa.table({name: [f"{code:02d}" for code in codes.tolist()] for name, codes in columns.items()})


def survey(rows: int = ROWS, strength: float = 1.0) -> pa.Table:
    """Five answers, two of them frequent, that hang on age, sex and region; with strength 0 on nothing."""
    coins = np.random.default_rng(7)
    age, region, sex = coins.integers(0, 40, rows), coins.integers(0, 8, rows), coins.integers(0, 2, rows)
    scores = np.outer(age / 20 - 1, [2, -2, 0, 1, -1]) + np.outer(sex - 0.5, [1, -1, 0.5, -0.5, 0])
    scores = strength * (scores + coins.normal(0, 0.5, (8, 5))[region]) + np.log([0.3, 0.3, 0.2, 0.12, 0.08])
    answer = (scores + coins.gumbel(size=scores.shape)).argmax(axis=1)
    return coded({"age": age, "region": region, "sex": sex, "answer": answer})


@pytest.fixture(scope="module")
def tables() -> dict[str, tuple[pa.Table, str, discreet.Tolerance]]:
    """Three kinds of tables by name, with the sensitive column and the promise."""
    sys.path.insert(0, str(BENCH))
    made = importlib.import_module("tables")
    sys.path.remove(str(BENCH))
    return {
        "hospital": (made.hospital(ROWS), "diagnosis", PROMISE),
        "households": (made.households(ROWS), "source", PROMISE),
        "survey": (survey(), "answer", HALF),
    }


KINDS = [pytest.param("households", marks=pytest.mark.slow), "hospital", "survey"]


@contextmanager
def releases_of(
    table: pa.Table, sensitive: str, tolerance: discreet.Tolerance, seeds: Sequence[int], fakes: int = 0
) -> Iterator[Iterator[BucketRelease]]:
    """The releases of a table with the default slack, one after another."""
    mechanism = discreet.Buckets(tolerance=tolerance, fakes=fakes)
    policy = discreet.Policy(schema=schema_of(table, sensitive), mechanism=mechanism)

    def each(people: discreet.Table) -> Iterator[BucketRelease]:
        for seed in seeds:
            with released(people, mechanism, seed) as release:
                assert isinstance(release, BucketRelease)
                yield release

    with opened(table, policy) as people:
        yield each(people)


# --- Intervals cover -----------------------------------------------------------------------------------------------


def covers(answers: Sequence[discreet.Estimate], truths: Ints, width: float = 1.0) -> bool:
    """Whether at least 93 % of the 95 % intervals, of so much of their width around the value, hold the truth."""
    value, low, high = (np.array([getattr(each, name) for each in answers]) for name in ("value", "low", "high"))
    low, high = value - width * (value - low), value + width * (high - value)
    return bool(((low <= truths) & (truths <= high)).mean() >= 0.93)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_learned_intervals_cover_and_narrower_ones_would_not(kind, tables):
    """Over four releases with slack: at least .93 of 200 counts of the papers' form; with a third of the width not."""
    table, sensitive, tolerance = tables[kind]
    queries, truths = random_queries(table, sensitive, 200, seed=3, values_of=at_least)
    answers: list[discreet.Estimate] = []
    with releases_of(table, sensitive, tolerance, range(1, 5)) as releases:
        for release in releases:
            answers += release.count_many(queries)
    assert {each.estimator for each in answers if not each.exact} == {"learned"}
    every = np.tile(truths, 4)
    assert covers(answers, every)
    assert not covers(answers, every, 1 / 3)


# --- Nothing to learn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_can_be_learned_answers_are_no_worse_than_uniform_ones(kind, tables):
    """Values dealt to people at random: at most 2 % more of a mean error than the estimator that knows it, and
    intervals cover.
    """
    table, sensitive, tolerance = tables[kind]
    dealt = table[sensitive].take(pa.array(np.random.default_rng(5).permutation(len(table))))
    table = table.set_column(table.column_names.index(sensitive), sensitive, dealt)
    queries, truths = random_queries(table, sensitive, 200, seed=4, values_of=at_least)
    answers: dict[str, list[discreet.Estimate]] = {"learned": [], "uniform": []}
    with releases_of(table, sensitive, tolerance, (1, 2)) as releases:
        for release in releases:
            for name, found in answers.items():
                found += release.count_many(queries, estimator=name)
    every = np.tile(truths, 2)
    off = {
        name: np.mean([abs(each.value - true) / true for each, true in zip(found, every, strict=True)])
        for name, found in answers.items()
    }
    assert off["learned"] <= 1.02 * off["uniform"]
    assert covers(answers["learned"], every)


@pytest.mark.parametrize("kind", KINDS)
def test_where_something_can_be_learned_answers_are_better_than_uniform_ones(kind, tables):
    """By a quarter of the mean error at least, on all three kinds of tables."""
    table, sensitive, tolerance = tables[kind]
    queries, truths = random_queries(table, sensitive, 200, seed=4, values_of=at_least)
    with releases_of(table, sensitive, tolerance, (1,)) as releases:
        release = next(releases)
        off = {
            name: np.mean([abs(each.value - true) / true for each, true in zip(found, truths, strict=True)])
            for name in ("learned", "uniform")
            for found in [release.count_many(queries, estimator=name)]
        }
    assert off["learned"] < 0.75 * off["uniform"]


# --- Names and orders ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Holding:
    """What a release holds, as arrays."""

    composition: Composition
    bucket: Ints
    columns: tuple[Ints, ...]

    def renamed(self, place: Ints) -> Holding:
        """Value x under the name of another: it stands at place[x]."""
        own = self.composition
        value = place[own.value]
        order = np.lexsort((value, own.bucket))
        names = Encoding([own.values[x] for x in np.argsort(place)])
        return replace(self, composition=_listed(own, own.bucket, value, order, names))

    def moved(self, place: Ints, rows: Ints) -> Holding:
        """Bucket g at place[g], and within it rows in another order; `rows` are the old places of the new rows."""
        own = self.composition
        bucket = place[own.bucket]
        order = np.lexsort((own.value, bucket))
        return Holding(
            composition=_listed(own, bucket, own.value, order, own.encoding),
            bucket=place[self.bucket][rows].astype(np.int32),
            columns=tuple(codes[rows] for codes in self.columns),
        )


def _listed(own: Composition, bucket: Ints, value: Ints, order: Ints, names: Encoding) -> Composition:
    return Composition(ids=own.ids, encoding=names, bucket=bucket[order], value=value[order], count=own.count[order])


Question = tuple[Ints, tuple[int, ...]]  # rows and values


def questions(holding: Holding, number: int, coins: np.random.Generator) -> Iterator[Question]:
    """Random rows by one to three columns, and a random tenth of the values."""
    values = len(holding.composition.values)
    while number:
        asked = coins.choice(len(holding.columns), coins.integers(1, 4), replace=False)
        meets = np.ones(len(holding.bucket), dtype=np.bool_)
        for column in asked:
            meets &= coins.random(int(holding.columns[column].max()) + 1)[holding.columns[column]] < 0.4
        if meets.sum() > 20:
            number -= 1
            yield np.flatnonzero(meets), tuple(np.sort(coins.choice(values, max(1, values // 10), replace=False)))


def answers_of(holding: Holding, asked: Sequence[Question], name: str, folder: Path) -> tuple[Floats, Floats]:
    """Learned values and half-widths; `name` is what the release is known by, so that each is learned by itself."""
    (folder / name).write_text(name)
    with Database() as engine:
        study = Study(
            composition=holding.composition,
            regression=Regression(composition=holding.composition),
            bucket=holding.bucket.astype(np.int32),
            columns=[(str(place), False) for place in range(len(holding.columns))],
            codes=lambda place: holding.columns[int(place)],
            files=[folder / name],
            engine=engine,
        )
        knowledge = study.knowledge()
    likely = Likely(holding.composition, holding.bucket.astype(np.int32), knowledge)
    cells = [likely.cell(*each) for each in asked]
    between = [cell.value - likely.second(*each) for cell, each in zip(cells, asked, strict=True)]
    widths = [
        1.96 * learned_error([cell], apart, knowledge.excess) + 0.5 for cell, apart in zip(cells, between, strict=True)
    ]
    return np.array([cell.value for cell in cells]), np.array(widths)


@pytest.mark.parametrize("kind", [pytest.param("hospital", marks=pytest.mark.slow), *KINDS[::2]])
def test_names_and_orders_change_no_answer_by_a_tenth_of_its_half_width(kind, tables, tmp_path):
    """The same people in the same buckets: with values, columns, levels of columns, buckets or rows in another order,
    every answer is the same to a twentieth of its half-width, and most to a hundredth.
    """
    coins = np.random.default_rng(11)
    with releases_of(*tables[kind], (1,)) as releases:
        release = next(releases)
        codes = tuple(np.array(release.qit.codes(name)) for name in release.schema.quasi_identifiers)
        usual = Holding(composition=release.composition, bucket=release.qit.bucket, columns=codes)
    asked = list(questions(usual, 150, coins))
    value = coins.permutation(len(usual.composition.values))
    place = coins.permutation(len(usual.composition.ids))
    rows = np.lexsort((coins.random(len(usual.bucket)), place[usual.bucket]))
    levels = tuple(coins.permutation(int(codes.max()) + 1)[codes] for codes in usual.columns)
    others = {
        "values": (usual.renamed(value), [(rows_, tuple(np.sort(value[list(own)]))) for rows_, own in asked]),
        "columns": (replace(usual, columns=usual.columns[::-1]), asked),
        "levels": (replace(usual, columns=levels), asked),
        "rows": (usual.moved(place, rows), [(np.sort(np.argsort(rows)[own]), values) for own, values in asked]),
    }
    values, widths = answers_of(usual, asked, f"{kind} usual", tmp_path)
    for name, (holding, same) in others.items():
        found, wide = answers_of(holding, same, f"{kind} {name}", tmp_path)
        apart = np.abs(found - values) / widths
        assert apart.max() < 0.05, name
        assert np.median(apart) < 0.01, name
        assert np.abs(wide / widths - 1).max() < 0.05, name


# --- The guard -----------------------------------------------------------------------------------------------------


def as_if(release: BucketRelease, wrong: Callable[[Floats, Ints], Floats]) -> Knowledge:
    """What were known if another model had been learned: `wrong` changes log p, values by patterns, most frequent
    values first. Each bucket's rows are matched to its values by it, so that counts hold.
    """
    own, known = release.composition, release.knowledge
    bucket = release.qit.bucket
    columns = [
        (release.qit.codes(name), release.schema.domains[name].in_order) for name in release.schema.quasi_identifiers
    ]
    patterns = patterns_of(len(bucket), columns, own.marks[bucket])
    places = release._study._places(Places, patterns)
    logs = wrong(np.log(known.prior[own.order]), patterns.number)
    weights = places.match(np.ascontiguousarray(logs.T, dtype=np.float32), 200)
    likely = Likely(own, bucket, replace(known, weights=weights))
    return calibrated(
        replace(known, weights=weights), likely, release.regression, patterns, bytes(32), lambda done: None
    )


def unchanged(logs: Floats, number: Ints) -> Floats:
    return logs


def swapped(logs: Floats, number: Ints) -> Floats:
    """A wrong optimum: two values that stand side by side in most buckets were taken for each other."""
    return logs[[1, 0, *range(2, len(logs))]]


def shuffled(logs: Floats, number: Ints) -> Floats:
    """A misfit: patterns were taken for others."""
    return logs[:, np.random.default_rng(1).permutation(len(number))]


@pytest.fixture(scope="module")
def surveyed(tables) -> Iterator[BucketRelease]:
    with releases_of(*tables["survey"], (1,)) as releases:
        yield next(releases)


@pytest.mark.parametrize("wrong", [swapped, shuffled])
def test_the_guard_sees_what_was_learned_wrongly(wrong, surveyed):
    """And the unbiased answer is given, with a note; the same model as it was learned passes."""
    assert as_if(surveyed, unchanged).misfit < 1.5
    planted = as_if(surveyed, wrong)
    assert planted.misfit > GUARD
    right = surveyed.knowledge
    try:
        vars(surveyed)["knowledge"] = planted
        found = surveyed.count("sex = '00' AND answer = '00'")
    finally:
        vars(surveyed)["knowledge"] = right
    assert (found.estimator, found.conditional_on) == ("unbiased", "publisher's coins")
    assert "contradicts" in found.note


@pytest.mark.parametrize("kind", KINDS)
def test_the_guard_lets_pass_what_was_learned_rightly(kind, tables):
    """Of three releases of a table of any kind, none comes near it."""
    with releases_of(*tables[kind], (1, 2, 3)) as releases:
        assert max(release.knowledge.misfit for release in releases) < 1.5


# --- Fakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pytest.param("hospital", marks=pytest.mark.slow), "survey"])
def test_with_fakes_too_answers_are_close_and_intervals_cover(kind, tables):
    """Of two releases with a fake in every bucket: less than .6 of the mean error of unbiased answers, at least .93
    covered, and of every value as many people as are published.
    """
    queries, truths = random_queries(tables[kind][0], tables[kind][1], 200, seed=3, values_of=at_least)
    answers: list[discreet.Estimate] = []
    with releases_of(*tables[kind], (1, 2), fakes=1) as releases:
        for release in releases:
            assert release.estimators[0] == "learned"
            answers += release.count_many(queries)
            own, weights = release.composition, release.posterior
            found = np.bincount(np.repeat(own.value, own.sizes[own.bucket]), weights)
            assert np.abs(found / own.totals - 1).max() < 1e-3
    every = np.tile(truths, 2)
    assert covers(answers, every)
    designs = np.array([each.design.value for each in answers])
    values = np.array([each.value for each in answers])
    assert np.mean(np.abs(values - every) / every) < 0.6 * np.mean(np.abs(designs - every) / every)
