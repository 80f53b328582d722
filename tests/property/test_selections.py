"""All selections at once are those one by one, and every perturbation is undone without bias."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.evaluate.perturbation import FRAPP, Perturbation, Replacing, alpha_beta, frapp
from discreet.evaluate.selections import Selections
from discreet.mechanism.alphabeta.making.codes import Radix, distinct


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4), data=st.data())
@settings(max_examples=few(100), deadline=None)
def test_every_selection_is_counted(sizes, data):
    """Against plain loops over attributes, values and tuples; n_D is the count over the whole domain."""
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), max_size=12))
    queries = Selections(tuple(sizes))

    def one_by_one(tuples):
        found = []
        for subset in queries.subsets:
            for values in product(*(range(sizes[i]) for i in subset)):
                found.append(sum(all(row[i] == v for i, v in zip(subset, values, strict=True)) for row in tuples))
        return found

    columns = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(len(sizes))]
    assert queries.count(columns).tolist() == one_by_one(rows)
    assert queries.possible.tolist() == one_by_one(list(product(*map(range, sizes))))
    assert len(queries) == len(one_by_one([]))


RADIX = Radix(sizes=(6, 5, 4))
METHODS: dict[str, Perturbation] = {
    **alpha_beta(Fraction(1, 10), Fraction(2, 5)),
    FRAPP: frapp(Fraction(1, 4), Fraction(3, 5), 30, RADIX.domain),
}


def spread_of(method: Perturbation, undone: Perturbation, runs: int = 4_000) -> float:
    """The largest distance of a mean estimate from the truth, in its standard errors, over all selections."""
    own = distinct(np.random.default_rng(1).choice(RADIX.domain, 30, replace=False)[None, :])
    queries = Selections(RADIX.sizes)
    truth = queries.count(RADIX.unpack(own))
    coins = np.random.default_rng(2)
    found = np.array(
        [
            undone.estimate(queries.count(RADIX.unpack(method.draw(own, RADIX, coins))), queries.possible)
            for _ in range(runs)
        ]
    )
    error = np.maximum(found.std(axis=0) / np.sqrt(runs), 1e-9)
    return float((np.abs(found.mean(axis=0) - truth) / error).max())


@pytest.mark.parametrize("label", list(METHODS))
def test_every_method_is_undone_without_bias(label):
    """Every selection's mean over 4,000 draws is within 5 standard errors of the truth (fixed coins: never flaky)."""
    assert spread_of(METHODS[label], METHODS[label]) < 5


def test_a_wrong_probability_is_noticed():
    """The same check fails where FRAPP is undone as if it kept a fifth more."""
    right = METHODS[FRAPP]
    assert isinstance(right, Replacing)
    wrong = Replacing(guarantee=replace(right.guarantee, keep=right.guarantee.keep * Fraction(6, 5)))
    assert spread_of(right, wrong) > 5


def test_frapp_on_adult():
    """g = 0.024336 at (10 n/m, 0.2) for 30,162 rows of 648,023,040."""
    n, m = 30_162, 648_023_040
    assert float(frapp(10 * Fraction(n, m), Fraction(1, 5), n, m).guarantee.keep) == pytest.approx(0.024336, abs=5e-7)
