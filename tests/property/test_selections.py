"""Selections stand for all of them, are answered in their order, and every perturbation is undone without bias."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.estimate.alphabeta.law import undo
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.evaluate.selections import selections_of
from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import Ints, Radix, distinct
from discreet.mechanism.alphabeta.making.exchange import perturbed
from discreet.mechanism.alphabeta.making.make import view_of
from discreet.mechanism.alphabeta.papers.tight import Tight
from discreet.series.coins import Coins

SIZES = {"a": 5, "b": 3, "c": 2, "d": 4}


def people(rows: int = 60) -> pa.Table:
    """Distinct tuples over few values, every value among them."""
    coins = np.random.default_rng(4)
    codes = coins.permutation(list(product(*map(range, SIZES.values()))))[:rows]
    names = [f"{name}{value}" for name, size in SIZES.items() for value in range(size)]
    columns = {name: [f"{name}{value}" for value in codes[:, i]] for i, name in enumerate(SIZES)}
    found = pa.table(columns)
    assert {cell for name in SIZES for cell in found[name].to_pylist()} == set(names)
    return found


def test_all_slices_are_all_queries_and_some_stand_for_all():
    """Against plain loops over attributes, values and rows; weights add up to the number of queries either way."""
    rows = people()
    schema = schema_of(rows, "d")
    queries = selections_of(rows, schema, np.random.default_rng(0), sliced=10**6)
    expected = {}
    for k in (1, 2, 3):
        for names in combinations(SIZES, k):
            for values in product(*(schema.domains[name] for name in names)):
                chosen = dict(zip(names, values, strict=True))
                count = sum(all(row[name] == value for name, value in chosen.items()) for row in rows.to_pylist())
                expected[frozenset(f"\"{name}\" = '{value}'" for name, value in chosen.items())] = count
    found = dict(zip((frozenset(each.split(" AND ")) for each in queries.conditions), queries.truth, strict=True))
    assert found == expected
    assert set(queries.weight) == {1.0}
    some = selections_of(rows, schema, np.random.default_rng(0), sliced=5)
    assert len(some.truth) < len(queries.truth)
    guesses = [selections_of(rows, schema, np.random.default_rng(each), sliced=5) for each in range(12)]
    assert all(each.weight.sum() == pytest.approx(len(expected)) for each in guesses)
    ones = [(each.truth * each.weight).sum() for each in guesses]
    assert np.mean(ones) == pytest.approx(queries.truth.sum(), rel=0.1)


@pytest.mark.parametrize("source", [{}, {"b": {"b0": 3, "b1": 1, "b2": 2}}], ids=["even", "weighed"])
def test_answers_come_in_the_order_of_the_queries(source):
    """What GROUP BY says slice by slice is what each condition says alone, by either estimator."""
    rows = people()
    schema = schema_of(rows, "d", public_rows=len(rows))
    queries = selections_of(rows, schema, np.random.default_rng(0), sliced=6)
    mechanism = discreet.AlphaBeta(prior="0.1", posterior="0.4", source=source)
    policy = discreet.Policy(schema=schema, mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 0) as release:
        plain, leaning = (queries.answers(release, estimator) for estimator in ("unbiased", "best"))
        assert plain == release.count_many(queries.conditions)
        assert leaning == release.count_many(queries.conditions, estimator="best")
        apart = release.count_by("a", "b", where="a <> 'a1' OR c = 'c0'", estimator="best")
        for (a, b), answer in apart:
            alone = f"a = '{a}' AND b = '{b}' AND (a <> 'a1' OR c = 'c0')"
            assert answer == release.count(alone, estimator="best")
    for unbiased, answer in zip(plain, leaning, strict=True):
        assert answer.design == unbiased.design
        assert np.clip(answer.design.value, *answer.bounds) == pytest.approx(unbiased.value, abs=1e-6)
    assert queries.mean(np.ones(len(queries.truth)), 1) == 1.0


RADIX = Radix(sizes=(6, 5, 4))
D, GAMMA = Fraction(1, 10), Fraction(2, 5)
PROMISES: dict[str, DGammaPrivacy | FrappPrivacy] = {
    "as printed": discreet.AlphaBeta(prior=D, posterior=GAMMA, adversary="independent", tuning="paper").choose(D, EVEN),
    "tight": Tight(prior=D, posterior=GAMMA).choose(D, EVEN),
    "exclusive": discreet.AlphaBeta(prior=D, posterior=GAMMA).choose(D, EVEN),
    "independent": discreet.AlphaBeta(prior=D, posterior=GAMMA, adversary="independent").choose(D, EVEN),
    "FRAPP": FrappPrivacy(
        d=Fraction(1, 4),
        gamma=Fraction(3, 5),
        keep=discreet.Frapp(prior=Fraction(1, 4), posterior=Fraction(3, 5)).parameters(n=30, m=RADIX.domain),
        rows=30,
        domain=RADIX.domain,
        candidates=1,
    ),
}


def view(own: Ints, promise: DGammaPrivacy | FrappPrivacy, seed: int) -> Ints:
    """What the product makes of packed tuples."""
    coins = Coins.from_seed(seed)
    if isinstance(promise, FrappPrivacy):
        return perturbed(own, promise.keep, RADIX, coins.stream("keep"), coins.stream("noise"))
    return view_of(own, own[:, :0], promise, 1, RADIX, None, coins)


def counts(packed: Ints) -> np.ndarray:
    """How many tuples have each value, and each pair of values, in one long row."""
    columns = RADIX.unpack(packed)
    found = [np.bincount(column, minlength=size) for column, size in zip(columns, RADIX.sizes, strict=True)]
    for i, j in combinations(range(3), 2):
        sizes = RADIX.sizes[i], RADIX.sizes[j]
        found.append(np.bincount(columns[i] * sizes[1] + columns[j], minlength=sizes[0] * sizes[1]))
    return np.concatenate(found)


def spread_of(made: DGammaPrivacy | FrappPrivacy, undone: DGammaPrivacy | FrappPrivacy, runs: int = 1_000) -> float:
    """The largest distance of a mean estimate from the truth, in its standard errors, over all selections."""
    own = distinct(np.random.default_rng(1).choice(RADIX.domain, 30, replace=False)[None, :])
    possible = counts(np.arange(RADIX.domain)[None, :])
    found = np.array([undo(counts(view(own, made, seed)), possible, undone)[0] for seed in range(runs)])
    error = np.maximum(found.std(axis=0) / np.sqrt(runs), 1e-9)
    return float((np.abs(found.mean(axis=0) - counts(own)) / error).max())


@pytest.mark.parametrize("label", list(PROMISES))
def test_every_method_is_undone_without_bias(label):
    """Every selection's mean over 1,000 draws is within 5 standard errors of the truth (fixed coins: never flaky)."""
    assert spread_of(PROMISES[label], PROMISES[label]) < 5


def test_a_wrong_probability_is_noticed():
    """The same check fails where FRAPP is undone as if it kept a fifth more."""
    right = PROMISES["FRAPP"]
    assert spread_of(right, replace(right, keep=right.keep * Fraction(6, 5))) > 5


def test_the_tight_choice_keeps_its_promise_and_no_more():
    """s = 1/2 and the least beta: a tuple that is seen reaches gamma, but for rounding, and never passes it."""
    found = PROMISES["tight"]
    assert (found.keep, found.holds) == (Fraction(1, 2), True)
    assert GAMMA * (1 - Fraction(1, 10**12)) < found.posterior <= GAMMA
    assert found.insert < PROMISES["as printed"].insert
