"""Several views, a public source and FRAPP: adversaries who compute everything, in exact fractions.

Nothing here shares code with the mechanism or the guarantee: likelihoods are multiplied out view by view.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from cases import few
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import AlphaBeta, Frapp, Infeasible, PolicyError
from discreet.guarantee.conversions import (
    delta_of_gamma,
    epsilon_of_delta,
    epsilon_of_gamma,
    gamma_of_delta,
    gamma_of_epsilon,
)
from discreet.guarantee.dgamma import DGammaPrivacy, dgamma_from_json
from discreet.guarantee.frapp import FrappPrivacy, frapp_from_json
from discreet.mechanism.alphabeta.planning.parameters import keep_and_insert
from discreet.mechanism.alphabeta.planning.several import several_views
from discreet.release.alphabeta.facts_1 import facts_1

ADULT = 72 * 7 * 16 * 7 * 14 * 5 * 2 * 41 * 2
MORE = Fraction(1002, 1000)
percents = st.integers(1, 60).map(lambda each: Fraction(each, 100))


def likelihood(seen: tuple[int, ...], there: tuple[int, ...], promise: DGammaPrivacy) -> Fraction:
    """How probable a tuple's appearances are, given in which tables it was."""
    found, shown = Fraction(1), False
    for view, (appears, real) in enumerate(zip(seen, there, strict=True)):
        chance = promise.keep if real else promise.again if shown else promise.inserts[view]
        found *= chance if appears else 1 - chance
        shown = shown or bool(appears)
    return found


def histories(views: int) -> list[tuple[int, ...]]:
    return list(product((0, 1), repeat=views))


@st.composite
def promises(draw: st.DrawFn) -> tuple[Fraction, Fraction, int]:
    d, gamma = sorted((draw(percents), draw(percents)))
    assume(d < gamma and d < Fraction(1, 2))
    return d, gamma, draw(st.integers(2, 4))


def made(d: Fraction, gamma: Fraction, adversary: str, views: int) -> DGammaPrivacy:
    try:
        return several_views(d, gamma, adversary, views)
    except Infeasible:
        assume(False)
        raise


@given(promise=promises(), weights=st.lists(st.integers(0, 9), min_size=15, max_size=15))
@settings(max_examples=few(80), deadline=None)
def test_whatever_changes_between_views_an_independent_adversary_learns_no_more(promise, weights):
    """Any belief over the histories of a tuple (joins, leaves, comes back) that puts at most d on it being there."""
    d, gamma, views = promise
    given_views = made(d, gamma, "independent", views)
    ever = [each for each in histories(views) if any(each)]
    shares = weights[: len(ever)]
    assume(sum(shares))
    prior = {history: d * Fraction(share, sum(shares)) for history, share in zip(ever, shares, strict=True)}
    never = (0,) * views
    for seen in histories(views):
        there = sum(chance * likelihood(seen, history, given_views) for history, chance in prior.items())
        after = there / (there + (1 - d) * likelihood(seen, never, given_views))
        assert after <= gamma
        assert after * gamma >= d * d


@given(promise=promises(), history=st.integers(1, 15), other=st.integers(1, 15))
@settings(max_examples=few(60), deadline=None)
def test_whatever_changes_between_views_a_linking_adversary_learns_no_more(promise, history, other):
    """Candidates of which one is the person's, in every table or in some of them: no posterior passes gamma.

    The worst he can see is the likeliest appearances of one candidate and the unlikeliest of all others.
    """
    d, gamma, views = promise
    given_views = made(d, gamma, "exclusive", views)
    ever = [each for each in histories(views) if any(each)]
    mine, his = ever[history % len(ever)], ever[other % len(ever)]
    never = (0,) * views

    def ratios(there: tuple[int, ...]) -> list[Fraction]:
        return [
            likelihood(seen, there, given_views) / likelihood(seen, never, given_views) for seen in histories(views)
        ]

    most, least = max(ratios(mine)), min(ratios(his))
    assert d * most / (d * most + (1 - d) * least) <= gamma


@pytest.mark.parametrize("adversary", ["independent", "exclusive"])
@pytest.mark.parametrize("views", [2, 3, 5])
def test_probabilities_for_several_views_are_tight(adversary, views):
    """0.2 % more alpha, or 0.2 % less noise, breaks the promise; views and promises beyond reach are refused."""
    d, gamma = Fraction(1, 50), Fraction(1, 2)
    promise = several_views(d, gamma, adversary, views)
    assert promise.holds
    assert promise.views == views
    alpha = promise.keep - promise.insert
    for change in (
        {"keep": promise.insert + alpha * MORE},
        {"insert": promise.insert / MORE},
        {"later": (*promise.later[:-1], promise.later[-1] / MORE)},
    ):
        assert not replace(promise, **change).holds
    assert dgamma_from_json(promise.as_json()) == promise


@pytest.mark.parametrize(
    ("adversary", "costs"),
    [("independent", {2: 0.0051, 3: 0.014, 5: 0.070, 8: 0.34}), ("exclusive", {2: 0.026, 3: 0.062, 5: 0.22, 8: 0.77})],
)
def test_what_a_view_more_costs_on_adult_is_what_the_docs_say(adversary, costs):
    """The variance of the worst view for each tuple of the domain, from the two parts that are undone apart."""
    d, gamma = 10 * Fraction(30_162, ADULT), Fraction(1, 5)
    for views, documented in costs.items():
        promise = several_views(d, gamma, adversary, views)
        keep, again = float(promise.keep), float(promise.again)
        worst, unseen = 0.0, 1.0
        for insert in map(float, promise.inserts):
            shown = (1 - unseen) * again * (1 - again) / (keep - again) ** 2
            worst = max(worst, shown + unseen * insert * (1 - insert) / (keep - insert) ** 2)
            unseen *= 1 - insert
        assert worst == pytest.approx(documented, rel=0.02)


def test_the_printed_choice_for_several_views_fails_those_who_join_later():
    """[RSH] Algorithm 7 on Adult: a tuple that joins for the third view passes gamma; never seen fails from view 9."""
    d, gamma = 10 * Fraction(30_162, ADULT), Fraction(1, 5)
    keep, insert = Fraction(1, 2), d / gamma
    for views, fails in ((8, False), (9, True)):
        again = Fraction(math.exp(-1 / views)) * keep
        printed = DGammaPrivacy(
            d=d,
            gamma=gamma,
            adversary="independent",
            keep=keep,
            insert=insert,
            candidates=14,
            later=tuple((1 - keep) ** view * insert for view in range(1, views)),
            again=again,
        )
        assert (printed.fall * gamma < d) is fails
        joins = likelihood((0, 0, 1), (0, 0, 1), printed) / likelihood((0, 0, 1), (0, 0, 0), printed)
        assert d * joins / (d * joins + 1 - d) > gamma


@pytest.mark.parametrize("adversary", ["independent", "exclusive"])
def test_one_view_with_more_alpha_breaks_the_promise(adversary):
    """0.2 % more alpha at the same beta: the adversary it is tuned for passes gamma, or learns what is missing."""
    d, gamma = Fraction(1, 20), Fraction(2, 5)
    keep, insert = keep_and_insert(d, gamma, adversary, "optimal")
    more = insert + (keep - insert) * MORE
    rise, fall = more / insert, (1 - more) / (1 - insert)
    if adversary == "independent":
        assert d * rise / (d * rise + 1 - d) > gamma
        assert fall * gamma < d
    else:
        others = (1 / d - 1) * fall
        assert rise / (rise + others) > gamma


# A public source


@given(promise=promises(), low=percents, high=st.integers(101, 900).map(lambda each: Fraction(each, 100)))
@settings(max_examples=few(100), deadline=None)
def test_with_a_source_every_tuple_keeps_its_own_promise(promise, low, high):
    """Whatever its weight w: prior d w gives at most gamma, and at least d w / gamma of itself."""
    d, gamma, _ = promise
    weights = (low, high)
    try:
        keep, insert = keep_and_insert(d, gamma, "independent", "optimal", weights)
    except Infeasible:
        assume(False)
        raise
    alpha = keep - insert
    for weight in (low, Fraction(1), (low + high) / 2, high):
        beta, prior = insert * weight, d * weight
        rise, fall = (alpha + beta) / beta, (1 - alpha - beta) / (1 - beta)
        assert prior * rise / (prior * rise + 1 - prior) <= gamma
        assert fall / (prior * fall + 1 - prior) >= prior / gamma
    exclusive_keep, exclusive_insert = None, None
    try:
        exclusive_keep, exclusive_insert = keep_and_insert(d, gamma, "exclusive", "optimal", weights)
    except Infeasible:
        return
    alpha = exclusive_keep - exclusive_insert
    least = min((1 - alpha - exclusive_insert * w) / (1 - exclusive_insert * w) for w in (low, high))
    for weight in (low, Fraction(1), high):
        rise, prior = alpha / (exclusive_insert * weight) + 1, d * weight
        assert prior * rise / (prior * rise + (1 - prior) * least) <= gamma


# FRAPP


def shown(times: int, records: int, own: int, keep: Fraction, domain: int) -> Fraction:
    """How probable it is that a tuple is shown that many times, when `own` of the records have it."""
    other = (1 - keep) / (domain - 1)
    found = Fraction(0)
    for kept in range(min(own, times) + 1):
        changed = times - kept
        if changed <= records - own:
            mine = math.comb(own, kept) * keep**kept * (1 - keep) ** (own - kept)
            rest = math.comb(records - own, changed) * other**changed * (1 - other) ** (records - own - changed)
            found += mine * rest
    return found


@given(records=st.integers(1, 30), domain=st.integers(2, 200), d=percents, rise=percents)
@settings(max_examples=few(100), deadline=None)
def test_frapp_keeps_its_promise_for_tuples_seen_once_and_no_more(records, domain, d, rise):
    """Against the binomial law itself; 0.2 % more kept breaks it, unless the missing tuple set the limit."""
    gamma = d + (1 - d) * rise
    try:
        promise = Frapp(prior=d, posterior=gamma)._guarantee(records, domain)
    except Infeasible:
        assume(False)
        raise
    keep = promise.keep

    def after(times: int, kept: Fraction) -> Fraction:
        there = d * shown(times, records, 1, kept, domain)
        return there / (there + (1 - d) * shown(times, records, 0, kept, domain))

    assert after(1, keep) <= gamma
    assert after(0, keep) * gamma >= d * d
    assert after(1, keep) == promise.posterior(1)
    if records > 1:
        assert after(2, keep) == promise.posterior(2)
    more = keep * MORE
    if more < 1:
        assert after(1, more) > gamma or (1 - more) * gamma < d * (1 - (1 - more) / (domain - 1))
    assert frapp_from_json(promise.as_json()) == promise


def test_the_parameter_of_frapp_on_adult():
    """g = .0243 at (10 n/m, .2), and g / (1 - g) = (R - 1) n / m; a tuple seen twice reaches 1/3, as the facts say."""
    n = 30_162
    keep = Frapp(prior=10, posterior="0.2").parameters(n=n, m=ADULT)
    assert float(keep) == pytest.approx(0.024336, abs=1e-6)
    d, gamma = 10 * Fraction(n, ADULT), Fraction(1, 5)
    ratio = gamma * (1 - d) / (d * (1 - gamma))
    assert float(keep / (1 - keep)) == pytest.approx(float((ratio - 1) * Fraction(n, ADULT)), rel=1e-4)
    promise = FrappPrivacy(d=d, gamma=Fraction(1, 5), keep=keep, rows=n, domain=ADULT, candidates=14)
    assert float(promise.posterior(2)) == pytest.approx(1 / 3, abs=2e-3)
    assert "33.3" in facts_1(promise, False)["not_covered"][0]


# Between notions


@given(promise=promises(), prior=percents)
@settings(max_examples=few(100), deadline=None)
def test_conversions_between_notions_say_the_least_that_follows(promise, prior):
    """A (d, gamma)-private ratio of likelihoods moves no prior up to d by more than delta, and delta is reached."""
    d, gamma, _ = promise
    delta = delta_of_gamma(d, gamma)
    keep, insert = keep_and_insert(d, gamma, "independent", "optimal")
    ratios = (keep / insert, (1 - keep) / (1 - insert))
    x = d * prior
    for ratio in ratios:
        moved = float(ratio / (x * ratio + 1 - x))
        assert math.exp(-delta) <= moved * (1 + 1e-9)
        assert moved <= math.exp(delta) * (1 + 1e-9)
    assert float(ratios[0]) == pytest.approx(math.exp(delta), rel=1e-6)
    assert epsilon_of_gamma(d, gamma) == pytest.approx(2 * epsilon_of_gamma(d, gamma, swap=False))
    assert epsilon_of_delta(delta) == epsilon_of_gamma(d, gamma)
    assert gamma_of_delta(d, delta) >= float(gamma) * (1 - 1e-12)
    assert gamma_of_epsilon(d, 0.0) == pytest.approx(float(d))


@pytest.mark.parametrize(
    "wrong",
    [
        {"views": 0},
        {"views": 51},
        {"views": True},
        {"slots": 0},
        {"slots": 2, "views": 2},
        {"views": 2, "tuning": "paper"},
        {"views": 2, "source": {"sex": {"F": 1}}},
        {"source": {"sex": 3}},
        {"source": {"sex": {"F": "x"}}},
        {"source": [1]},
    ],
)
def test_choices_that_make_no_sense_are_refused(wrong):
    """One sentence each."""
    with pytest.raises(PolicyError):
        AlphaBeta(prior=0.1, posterior=0.5, **wrong)


def test_numbers_that_make_no_sense_are_refused_by_the_calculators():
    """One sentence each."""
    for call in (
        lambda: delta_of_gamma(0.5, 0.4),
        lambda: delta_of_gamma(0, 0.4),
        lambda: gamma_of_delta(0.5, -1),
        lambda: gamma_of_epsilon(2, 1),
        lambda: epsilon_of_delta(math.inf),
    ):
        with pytest.raises(PolicyError):
            call()
