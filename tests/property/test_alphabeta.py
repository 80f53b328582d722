"""Alpha-beta: the promise against an adversary who computes everything, and the law of the noise.

The adversary below enumerates every table and every view of a small domain in exact fractions; it shares no code with
the mechanism.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from cases import few
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import AlphaBeta, Infeasible, PolicyError
from discreet.guarantee.dgamma import DGammaPrivacy, dgamma_from_json
from discreet.mechanism.alphabeta.making.codes import Radix, distinct, merged, without
from discreet.mechanism.alphabeta.making.noise import every_tuple_with
from discreet.mechanism.alphabeta.planning.parameters import UNIT, keep_and_insert
from discreet.series.coins import Coins

ADULT = 72 * 7 * 16 * 7 * 14 * 5 * 2 * 41 * 2
Law = dict[tuple[int, ...], Fraction]  # probabilities of tables, each a tuple of 0 and 1


def view_given(view: tuple[int, ...], table: tuple[int, ...], keep: Fraction, insert: Fraction) -> Fraction:
    found = Fraction(1)
    for seen, there in zip(view, table, strict=True):
        chance = keep if there else insert
        found *= chance if seen else 1 - chance
    return found


def posteriors(prior: Law, keep: Fraction, insert: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Prior and posterior of every tuple, for every view."""
    size = len(next(iter(prior)))
    found = []
    for view in product((0, 1), repeat=size):
        joint = {table: chance * view_given(view, table, keep, insert) for table, chance in prior.items()}
        whole = sum(joint.values())
        for t in range(size):
            before = sum((chance for table, chance in prior.items() if table[t]), Fraction(0))
            after = sum((chance for table, chance in joint.items() if table[t]), Fraction(0)) / whole
            found.append((before, after))
    return found


def independent(chances: list[Fraction]) -> Law:
    law = {}
    for table in product((0, 1), repeat=len(chances)):
        chance = Fraction(1)
        for there, p in zip(table, chances, strict=True):
            chance *= p if there else 1 - p
        law[table] = chance
    return law


def exclusive(weights: list[Fraction]) -> Law:
    """Exactly one of the tuples is in the table."""
    whole = sum(weights)
    size = len(weights)
    return {tuple(int(i == t) for i in range(size)): weight / whole for t, weight in enumerate(weights)}


fractions = st.integers(1, 99).map(lambda percent: Fraction(percent, 100))


@st.composite
def promises(draw: st.DrawFn) -> tuple[Fraction, Fraction]:
    d, gamma = sorted((draw(fractions), draw(fractions)))
    assume(d < gamma)
    return d, gamma


@given(
    promise=promises(), shares=st.lists(fractions, min_size=1, max_size=3), tuning=st.sampled_from(["optimal", "paper"])
)
@settings(max_examples=few(150), deadline=None)
def test_no_independent_adversary_learns_more_than_promised(promise, shares, tuning):
    """Whatever priors up to d he has, no posterior passes gamma and none falls below d/gamma of its prior."""
    d, gamma = promise
    try:
        keep, insert = keep_and_insert(d, gamma, "independent", tuning)
    except Infeasible:
        assert tuning == "paper"
        return
    for prior, after in posteriors(independent([d * share for share in shares] + [d]), keep, insert):
        assert after <= gamma
        assert after * gamma >= prior * d


@given(weights=st.lists(fractions, min_size=2, max_size=5), rise=fractions)
@settings(max_examples=few(150), deadline=None)
def test_no_linking_adversary_learns_more_than_promised(weights, rise):
    """One who knows that exactly one of some tuples is there: where no prior passes d, no posterior passes gamma."""
    law = exclusive(weights)
    d = max(law.values())
    assume(d <= Fraction(1, 2))
    gamma = d + (1 - d) * rise
    keep, insert = keep_and_insert(d, gamma, "exclusive", "optimal")
    assert all(after <= gamma for _, after in posteriors(law, keep, insert))


@pytest.mark.parametrize("candidates", [2, 5, 10])
def test_the_exclusive_choice_is_tight(candidates):
    """At prior d = 1/c the posterior reaches gamma, and with a little less noise it passes it."""
    d, gamma = Fraction(1, candidates), Fraction(7, 10)
    keep, insert = keep_and_insert(d, gamma, "exclusive", "optimal")
    law = exclusive([Fraction(1)] * candidates) if candidates <= 5 else None
    promise = DGammaPrivacy(d=d, gamma=gamma, adversary="exclusive", keep=keep, insert=insert, candidates=candidates)
    assert gamma - promise.linked(candidates) < Fraction(1, 10**12)
    less = insert * Fraction(99, 100)
    assert not DGammaPrivacy(d=d, gamma=gamma, adversary="exclusive", keep=keep, insert=less, candidates=1).holds
    if law is not None:
        assert max(after for _, after in posteriors(law, keep, less)) > gamma


@given(promise=promises())
@settings(max_examples=few(200), deadline=None)
def test_probabilities_are_ones_that_coins_have_and_are_tight(promise):
    """Multiples of 2^-62; keeping a little more or inserting a little less breaks the promise."""
    d, gamma = promise
    keep, insert = keep_and_insert(d, gamma, "independent", "optimal")
    assert UNIT % keep.denominator == 0
    assert UNIT % insert.denominator == 0
    near = Fraction(1, 10**9)
    for changed in ((keep + near, insert), (keep, insert * (1 - near) - near)):
        wrong = DGammaPrivacy(
            d=d, gamma=gamma, adversary="independent", keep=changed[0], insert=changed[1], candidates=1
        )
        assert not wrong.holds


def test_the_numbers_of_adult():
    """At (10 n/m, 0.2): alpha .9958, beta .00186; a linker reaches .991 there, .166 with the printed choice."""
    mechanism = AlphaBeta(prior=10, posterior="0.2", adversary="independent")
    alpha, beta = mechanism.parameters(n=30_162, m=ADULT)
    assert (round(float(alpha), 4), round(float(beta), 5)) == (0.9958, 0.00186)
    d = 10 * Fraction(30_162, ADULT)
    assert float(d) == pytest.approx(0.000465, abs=1e-6)

    def linked(adversary: str, tuning: str, candidates: Fraction | int) -> float:
        keep, insert = keep_and_insert(d, Fraction(1, 5), adversary, tuning)
        promise = DGammaPrivacy(d=d, gamma=Fraction(1, 5), adversary=adversary, keep=keep, insert=insert, candidates=14)
        return float(promise.linked(candidates))

    assert linked("independent", "optimal", 1 / d) == pytest.approx(0.991, abs=0.001)
    assert linked("independent", "paper", 1 / d) == pytest.approx(0.166, abs=0.001)
    assert linked("exclusive", "optimal", 14) == pytest.approx(0.976, abs=0.001)
    assert float(keep_and_insert(Fraction(1, 10), Fraction(3, 10), "independent", "optimal")[0]) == pytest.approx(
        0.730, abs=5e-4
    )
    with pytest.raises(Infeasible, match='tuning = "optimal"'):
        keep_and_insert(Fraction(1, 10), Fraction(3, 10), "exclusive", "paper")


@pytest.mark.parametrize(
    "wrong",
    [
        {"prior": 0, "posterior": 0.5},
        {"prior": 0.5, "posterior": 0.5},
        {"prior": 0.1, "posterior": 1},
        {"prior": 0.1, "posterior": "x"},
        {"prior": 0.1, "posterior": 0.5, "adversary": "all"},
        {"prior": 0.1, "posterior": 0.5, "tuning": "best"},
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    """One sentence each."""
    with pytest.raises(PolicyError):
        AlphaBeta(**wrong)


def test_a_guarantee_is_read_back_from_a_release():
    """The same, or a PolicyError."""
    keep, insert = keep_and_insert(Fraction(1, 20), Fraction(1, 5), "exclusive", "optimal")
    promise = DGammaPrivacy(
        d=Fraction(1, 20), gamma=Fraction(1, 5), adversary="exclusive", keep=keep, insert=insert, candidates=20
    )
    assert dgamma_from_json(promise.as_json()) == promise
    for key, value in (
        ("d", "1/0"),
        ("gamma", "x"),
        ("keep", 3),
        ("candidates", 0),
        ("adversary", "all"),
        ("d", "9/10"),
    ):
        with pytest.raises(PolicyError):
            dgamma_from_json({**promise.as_json(), key: value})


# Codes and noise


@given(sizes=st.lists(st.integers(1, 2**40), min_size=1, max_size=7), data=st.data())
@settings(max_examples=few(200), deadline=None)
def test_tuples_are_packed_and_unpacked_without_loss_and_in_order(sizes, data):
    """Any number of words; the order of packed tuples is that of the tuples."""
    radix = Radix(sizes=tuple(sizes))
    tuples = data.draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=20))
    columns = [np.array(column, dtype=np.int64) for column in zip(*tuples, strict=True)]
    packed = radix.pack(columns)
    assert [column.tolist() for column in radix.unpack(packed)] == [column.tolist() for column in columns]
    ordered = radix.unpack(distinct(packed))
    assert list(zip(*(column.tolist() for column in ordered), strict=True)) == sorted(set(tuples))


@pytest.mark.parametrize("sizes", [(7, 5), (2**40, 2**40)])
@given(data=st.data())
@settings(max_examples=few(150), deadline=None)
def test_sets_of_tuples_are_sets(sizes, data):
    """Difference and union against Python's own sets."""
    radix = Radix(sizes=sizes)
    some = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=15)
    one, two = data.draw(some), data.draw(some)

    def packed(tuples):
        columns = [np.array([each[i] for each in tuples], dtype=np.int64) for i in range(2)]
        return distinct(radix.pack(columns))

    def plain(found):
        return list(zip(*(column.tolist() for column in radix.unpack(found)), strict=True))

    rest = without(packed(one), packed(two))
    assert plain(rest) == sorted(set(one) - set(two))
    assert plain(merged(rest, packed(two))) == sorted(set(one) | set(two))


def inclusions(radix: Radix, probability: Fraction, seeds: int) -> np.ndarray:
    """How often each tuple of a small domain was inserted."""
    found = np.zeros(radix.domain, dtype=np.int64)
    for seed in range(seeds):
        chosen = every_tuple_with(probability, radix, Coins.from_seed(seed).stream("noise"))
        found[chosen[0]] += 1
    return found


def statistic(found: np.ndarray, seeds: int, probability: float) -> float:
    """Pearson's over inserted or not, for each tuple: chi-square with as many degrees of freedom as tuples."""
    return float(((found - seeds * probability) ** 2 / (seeds * probability * (1 - probability))).sum())


def test_every_tuple_is_inserted_with_the_same_probability():
    """12 tuples, 6,000 seeds; below 62 with probability 1 - 1e-8 under the true law, far above under one 10 % off."""
    found = inclusions(Radix(sizes=(3, 4)), Fraction(1, 5), 6_000)
    assert statistic(found, 6_000, 0.2) < 62
    assert statistic(found, 6_000, 0.22) > 62
    assert statistic(found, 6_000, 0.18) > 62


def test_noise_is_distinct_in_order_and_as_much_as_it_should_be():
    """648 million tuples at one in 500: within 5 standard deviations; the same for a domain of more than 64 bits."""
    for sizes, expected in (((72, 7, 16, 7, 14, 5, 2, 41, 2), ADULT / 500), ((1_000,) * 8, 50_000)):
        radix = Radix(sizes=sizes)
        chance = Fraction(expected) / radix.domain
        chosen = every_tuple_with(chance, radix, Coins.from_seed(7).stream("noise"))
        assert abs(chosen.shape[1] - expected) < 5 * expected**0.5
        assert np.array_equal(distinct(chosen), chosen)
        for column, size in zip(radix.unpack(chosen), sizes, strict=True):
            assert 0 <= column.min() <= column.max() < size
