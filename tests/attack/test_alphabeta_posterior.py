"""Posteriors of tuples: as enumeration of all worlds and all views finds them; promises hold inside, and end there.

The enumerations below share no code with the package: a world is a set of tuples, a view is a set of tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, prod

import pytest
from cases import few
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import AlphaBeta, Frapp, Infeasible
from discreet.attack.alphabeta.posterior import (
    another_shown,
    correlated,
    evidence_of,
    exclusive,
    extremes,
    frapp_ratio,
    history_ratio,
    independent,
    linked,
    pair_ratios,
)
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy

World = tuple[int, ...]
F = Fraction
ADULT = 72 * 7 * 16 * 7 * 14 * 5 * 2 * 41 * 2
ROWS = 30_162
EPS = F(1, 1000)
chances = st.integers(1, 99).map(lambda percent: Fraction(percent, 100))


def shown_by(world: World, view: World, keep: Fraction, insert: Fraction) -> Fraction:
    """How probable a view is of a world."""
    each = [keep if there else insert for there in world]
    return prod((p if seen else 1 - p for p, seen in zip(each, view, strict=True)), start=F(1))


def after(prior: dict[World, Fraction], seen: Callable[[World], Fraction], tuple_: int) -> Fraction:
    """The posterior of one tuple by going through all worlds; `seen` says how probable the view is."""
    joint = {world: chance * seen(world) for world, chance in prior.items()}
    return sum((chance for world, chance in joint.items() if world[tuple_]), F(0)) / sum(joint.values())


def worlds_of(priors: Sequence[Fraction]) -> dict[World, Fraction]:
    """All sets of independent tuples."""
    return {
        world: prod((p if there else 1 - p for p, there in zip(priors, world, strict=True)), start=F(1))
        for world in product((0, 1), repeat=len(priors))
    }


def one_of(priors: Sequence[Fraction]) -> dict[World, Fraction]:
    """Exactly one of the tuples."""
    return {tuple(int(i == t) for i in range(len(priors))): p for t, p in enumerate(priors)}


def views_of(tuples: int) -> Iterable[World]:
    return product((0, 1), repeat=tuples)


def promise_of(prior: Fraction, posterior: Fraction, adversary: str, views: int = 1) -> DGammaPrivacy:
    return AlphaBeta(prior=prior, posterior=posterior, adversary=adversary, views=views).choose(prior, (F(1), F(1)))


@given(priors=st.lists(chances, min_size=2, max_size=4), both=st.tuples(chances, chances))
@settings(max_examples=few(60), deadline=None)
def test_independent_tuples_are_judged_one_by_one(priors, both):
    """For every view of up to four tuples, the posterior is that of all worlds together."""
    insert, keep = sorted(both)
    for view in views_of(len(priors)):
        for t, prior in enumerate(priors):
            ratio = keep / insert if view[t] else (1 - keep) / (1 - insert)
            exact = after(worlds_of(priors), lambda world, view=view: shown_by(world, view, keep, insert), t)
            assert independent(prior, ratio) == exact


@given(weights=st.lists(chances, min_size=2, max_size=4), both=st.tuples(chances, chances))
@settings(max_examples=few(60), deadline=None)
def test_exclusive_tuples_are_judged_together(weights, both):
    """One of up to four tuples is true: for every view the posteriors are those of all worlds together."""
    insert, keep = sorted(both)
    priors = [each / sum(weights) for each in weights]
    for view in views_of(len(priors)):
        found = exclusive(priors, [keep / insert if each else (1 - keep) / (1 - insert) for each in view])
        for t, each in enumerate(found):
            assert each == after(one_of(priors), lambda world, view=view: shown_by(world, view, keep, insert), t)


@given(prior=chances, given_=chances, both=st.tuples(chances, chances))
@settings(max_examples=few(60), deadline=None)
def test_brothers_are_judged_by_four_worlds(prior, given_, both):
    """Two tuples of one prior, the second there with some probability where the first is."""
    assume(1 - 2 * prior + prior * given_ >= 0)
    insert, keep = sorted(both)
    one = prior * (1 - given_)
    worlds = {(1, 1): prior * given_, (1, 0): one, (0, 1): one, (0, 0): 1 - prior * given_ - 2 * one}
    exact = after(worlds, lambda world: shown_by(world, (1, 1), keep, insert), 0)
    assert correlated(prior, given_, ((keep / insert) ** 2, keep / insert, keep / insert)) == exact


@given(bounds=st.tuples(chances, chances), adversary=st.sampled_from(["exclusive", "independent"]))
@settings(max_examples=few(100), deadline=None)
def test_the_promise_holds_up_to_d_and_ends_there(bounds, adversary):
    """At d no posterior passes gamma nor falls too far; the tight one passes it at d (1 + eps)."""
    d, gamma = sorted(bounds)
    assume(d < gamma)
    assume(d * (1 + EPS) < 1)
    try:
        promise = promise_of(d, gamma, adversary)
    except Infeasible:
        return
    own = evidence_of(promise)
    assert independent(d, own.rise) <= gamma
    if adversary == "independent":
        assert independent(d, own.fall) >= d * d / gamma
        assert independent(d * (1 + EPS), own.rise) > gamma
    else:
        priors = [d, *[(1 - d) / 3] * 3]
        assert exclusive(priors, [own.rise, own.fall, own.fall, own.fall])[0] <= gamma
        more = d * (1 + EPS)
        assert exclusive([more, 1 - more], [own.rise, own.fall])[0] > gamma


@pytest.mark.parametrize("candidates", [2, 3, 4, 10, 50])
def test_a_linker_with_fewer_than_one_over_d_candidates_passes_gamma(candidates):
    """With 1/d candidates he is stopped at gamma, to 12 digits; with one less he is not."""
    promise = promise_of(F(1, candidates), F(3, 4), "exclusive")
    own = evidence_of(promise)
    assert F(3, 4) - F(1, 10**12) < linked(candidates, own) <= F(3, 4)
    assert linked(candidates - 1, own) > F(3, 4)
    if candidates <= 4:
        even, view = [F(1, candidates)] * candidates, (1, *[0] * (candidates - 1))
        exact = after(one_of(even), lambda world: shown_by(world, view, promise.keep, promise.insert), 0)
        assert linked(candidates, own) == exact


@pytest.mark.parametrize("candidates", [2, 3, 5])
def test_joe_has_hardly_malaria_where_diabetes_is_shown(candidates):
    """[RSH] Example 6.4: one disease of so many, equally likely; the one that is shown is within gamma, and how much
    less probable another becomes is found by going through all worlds.
    """
    promise = promise_of(F(1, candidates), F(1, candidates) + F(1, 10), "exclusive")
    even, view = [F(1, candidates)] * candidates, (1, *[0] * (candidates - 1))
    shown, another = (
        after(one_of(even), lambda world: shown_by(world, view, promise.keep, promise.insert), t) for t in (0, 1)
    )
    assert F(1, candidates) < shown <= promise.gamma
    assert another_shown(candidates, evidence_of(promise)) == another < F(1, candidates)


def test_of_two_candidates_the_other_falls_further_than_gamma_over_d():
    """Nothing bounds what a linker of few candidates rules out: at d = .02 and gamma = .8 it falls 98.5 times."""
    promise = promise_of(F(1, 50), F(4, 5), "exclusive")
    found = F(1, 2) / another_shown(2, evidence_of(promise))
    assert float(found) == pytest.approx(98.5)
    assert found > promise.gamma / promise.d


def test_a_linker_passes_gamma_where_tuples_were_to_be_independent():
    """The optimal corner stops one who holds tuples for independent, and not one who knows that one is true."""
    own = evidence_of(promise_of(F(1, 4), F(1, 2), "independent"))
    assert independent(F(1, 4), own.rise) <= F(1, 2)
    assert linked(4, own) > F(1, 2)


def test_brothers_pass_gamma():
    """Two tuples of prior d that stand or fall together; where they are independent, they do not."""
    promise = promise_of(F(1, 20), F(1, 4), "exclusive")
    d = promise.d
    assert correlated(d, F(1), pair_ratios(promise)) > promise.gamma
    assert correlated(d, d, pair_ratios(promise)) == independent(d, evidence_of(promise).rise) <= promise.gamma


@given(
    keep=chances,
    again=chances,
    inserts=st.lists(chances, min_size=1, max_size=4),
)
@settings(max_examples=few(60), deadline=None)
def test_the_extremes_are_those_of_all_histories(keep, again, inserts):
    """The best and the worst of every way to be shown and every way to be there, enumerated."""
    promise = DGammaPrivacy(
        d=F(1, 100),
        gamma=F(1, 2),
        adversary="independent",
        keep=keep,
        insert=inserts[0],
        candidates=1,
        later=tuple(inserts[1:]),
        again=again,
    )
    found = []
    for there in product((0, 1), repeat=len(inserts)):
        for history in product((0, 1), repeat=len(inserts)):
            mine, never, seen = F(1), F(1), False
            for present, shown, insert in zip(there, history, inserts, strict=True):
                other = again if seen else insert
                chance = keep if present else other
                mine *= chance if shown else 1 - chance
                never *= other if shown else 1 - other
                seen = seen or bool(shown)
            found.append(mine / never)
            assert history_ratio(keep, inserts, again, history, [bool(each) for each in there]) == mine / never
    assert extremes(promise, len(inserts)) == (max(found), min(found))


@pytest.mark.parametrize("adversary", ["exclusive", "independent"])
@pytest.mark.parametrize("views", [2, 3, 4])
def test_several_views_keep_the_promise_up_to_the_declared_number(views, adversary):
    """All histories by the declared views stay below gamma, by fewer views too; one more view passes it."""
    promise = promise_of(F(1, 1000), F(1, 5), adversary, views)
    for some in range(1, views + 1):
        most, least = extremes(promise, some)
        assert independent(promise.d, most) <= promise.gamma
        if promise.holds_for_independent:
            assert least >= promise.d / promise.gamma
    more = replace(promise, later=(*promise.later, promise.later[-1]))
    most = extremes(more, views + 1)[0]
    reached = [independent(promise.d, most), linked(1 / promise.d, evidence_of(more))]
    assert reached[adversary == "exclusive"] > promise.gamma


def test_two_releases_with_fresh_coins_pass_gamma():
    """By all worlds: both releases show the tuple."""
    promise = promise_of(F(1, 50), F(1, 5), "exclusive")
    d, own = promise.d, evidence_of(promise)
    exact = after(worlds_of([d, d]), lambda world: shown_by(world, (1, 0), promise.keep, promise.insert) ** 2, 0)
    assert independent(d, own.rise, own.rise) == exact > promise.gamma


MECHANISMS = [
    {"prior": "0.01", "posterior": "0.2"},
    {"prior": "0.01", "posterior": "0.2", "adversary": "independent"},
    {"prior": "0.01", "posterior": "0.2", "adversary": "independent", "tuning": "paper"},
    {"prior": "0.001", "posterior": "0.2", "views": 3},
    {"prior": "0.001", "posterior": "0.2", "views": 4, "adversary": "independent"},
]


@pytest.mark.parametrize("parameters", MECHANISMS, ids=str)
@pytest.mark.parametrize("weights", [(F(1), F(1)), (F(1, 3), F(4))], ids=["even", "weighed"])
def test_the_numbers_are_those_that_a_release_states(parameters, weights):
    """Posterior, fall, and what one reaches who has candidates: found in another way, they are the guarantee's."""
    if "views" in parameters and weights != (1, 1):
        weights = (F(1), F(1))
    promise = AlphaBeta(**parameters).choose(F(parameters["prior"]), weights)
    own = evidence_of(promise)
    assert independent(own.prior, own.rise) == promise.posterior
    assert own.fall == promise.fall
    if weights == (1, 1):
        assert linked(7, own) == promise.linked(7)
        assert linked(1 / promise.d, own) == promise.linked(1 / promise.d)


RECORDS, TUPLES, KEEP = 3, 4, F(2, 5)
OTHER = (1 - KEEP) / (TUPLES - 1)
PERTURBED = FrappPrivacy(d=F(1, 10), gamma=F(1, 2), keep=KEEP, rows=RECORDS, domain=TUPLES, candidates=2)


def perturbed(table: World, counts: dict[int, int]) -> Fraction:
    """How probable it is that FRAPP shows these tuples so often, by all releases of these records."""
    found = F(0)
    for release in product(range(TUPLES), repeat=RECORDS):
        if all(release.count(each) == times for each, times in counts.items()):
            found += prod(
                (KEEP if own == became else OTHER for own, became in zip(table, release, strict=True)), start=F(1)
            )
    return found


@pytest.mark.parametrize("times", range(RECORDS + 1))
def test_frapps_ratio_is_that_of_all_releases(times):
    """Three records in a domain of four tuples; what the other records are does not matter."""
    for others in product((1, 2, 3), repeat=2):
        for last in (1, 2, 3):
            there, not_there = perturbed((0, *others), {0: times}), perturbed((last, *others), {0: times})
            assert frapp_ratio(PERTURBED, times) == there / not_there
    if times:
        assert frapp_ratio(PERTURBED, times) == PERTURBED.rise(times)
    else:
        assert frapp_ratio(PERTURBED, 0) == PERTURBED.fall


def test_frapps_pairs_are_those_of_all_releases():
    """Two tuples shown once each, where two records, one or none have them."""
    both, first, second = pair_ratios(PERTURBED)
    seen = {0: 1, 1: 1}
    none = perturbed((2, 3, 3), seen)
    assert (both, first, second) == tuple(perturbed(table, seen) / none for table in ((0, 1, 3), (0, 2, 3), (1, 2, 3)))


def promise_for_adult(adversary: str = "exclusive", tuning: str = "optimal") -> DGammaPrivacy:
    """(10 n/m, 0.2) on Adult's nine columns."""
    mechanism = AlphaBeta(prior=10, posterior="0.2", adversary=adversary, tuning=tuning)
    return mechanism.choose(F(10 * ROWS, ADULT), (F(1), F(1)))


def test_what_linkers_reach_on_adult():
    """.991 at the independent corner, .166 with the printed numbers, gamma with ours; .976 for one who knows eight."""
    corner, own = (evidence_of(promise_for_adult(each)) for each in ("independent", "exclusive"))
    printed = evidence_of(promise_for_adult("independent", "paper"))
    least = 1 / F(10 * ROWS, ADULT)
    assert ceil(least) == 2_149
    assert float(linked(least, corner)) == pytest.approx(0.991, abs=5e-4)
    assert float(linked(least, printed)) == pytest.approx(0.166, abs=5e-4)
    assert float(linked(least, own)) == pytest.approx(0.2, abs=1e-9)
    assert float(linked(14, own)) == pytest.approx(0.976, abs=5e-4)


def test_two_hits_with_the_printed_numbers_reach_956():
    """Adult published twice with fresh coins."""
    own = evidence_of(promise_for_adult("independent", "paper"))
    assert float(independent(own.prior, own.rise, own.rise)) == pytest.approx(0.956, abs=5e-4)


def test_frapp_on_adult_reaches_a_third_at_two_times():
    """Gamma at one."""
    promise = Frapp(prior=10, posterior="0.2")._guarantee(ROWS, ADULT)
    assert float(independent(promise.d, frapp_ratio(promise, 1))) == pytest.approx(0.2, abs=1e-9)
    assert float(independent(promise.d, frapp_ratio(promise, 2))) == pytest.approx(1 / 3, abs=1e-3)


def test_theorem_6_3_asks_for_twice_what_is_needed():
    """At d = .1 and gamma = .3 its beta is above s = 1/2; 1/(1 + R) does, and nothing less."""
    d, gamma = F(1, 10), F(3, 10)
    assert 2 * d / gamma * (1 - gamma) / (1 - d) > F(1, 2)
    needed = 1 / (1 + gamma * (1 - d) / (d * (1 - gamma)))
    own = evidence_of(promise_of(d, gamma, "exclusive"))
    assert linked(10, own) <= gamma

    def reached(insert: Fraction) -> Fraction:
        ratio = F(1, 2) / insert
        return exclusive([d] * 10, [ratio, *[F(1, 2) / (1 - insert)] * 9])[0]

    assert reached(needed) == gamma
    assert reached(needed * (1 - EPS)) > gamma


def test_what_the_two_views_of_table_1_say_of_a_tuple():
    """[RSH] section 1.4 at n/m = 6/1200: alpha = 2/3 and beta = 1/150 give .3367."""
    s, insert = F(2, 3) + F(1, 150), F(1, 150)
    assert float(independent(F(6, 1200), s / insert)) == pytest.approx(0.3367, abs=1e-4)
