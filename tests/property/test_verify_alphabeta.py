"""The rules that alpha-beta's verifier has for itself: held against every world of a tiny domain, and the publisher's.

Brute force shares nothing with either side: it lists tables, histories and releases, and multiplies coins in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import CASES, Case, few, ward_schema
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mutations import Step, restated
from tampering import Releases, broken, copy_of, manifest_of, table_of, write_table

from discreet import Frapp, Infeasible, PolicyError, ReleaseError
from discreet.engine.encoding import Encoding
from discreet.ground.exact import fraction_text
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.guarantee.source import source_of as published_source
from discreet.mechanism.alphabeta.planning.parameters import keep_and_insert
from discreet.mechanism.alphabeta.planning.several import several_views
from discreet.verifier.alphabeta.bayes import Weighed, keeps
from discreet.verifier.alphabeta.size import Count, counts_of, counts_of_records, misfit, noise_of
from discreet.verifier.alphabeta.source import EVEN, extremes, source_of
from discreet.verifier.alphabeta.stated import Records, Stated, Tuples
from discreet.verifier.alphabeta.tuning import UNITS, chosen, coins_have, tuned
from discreet.verifier.alphabeta.walk import Walk, columns_of

Block = dict[str, Any]
UNIT = Fraction(1, UNITS)
ADVERSARIES = st.sampled_from(["independent", "exclusive"])
percents = st.integers(1, 99).map(lambda each: Fraction(each, 100))
low_weights = st.integers(10, 100).map(lambda each: Fraction(each, 100))
high_weights = st.integers(100, 400).map(lambda each: Fraction(each, 100))


@st.composite
def bounds(draw: st.DrawFn) -> tuple[Fraction, Fraction]:
    d, gamma = sorted((draw(percents), draw(percents)))
    assume(d < gamma)
    return d, gamma


def stated_tuples(promise: DGammaPrivacy) -> Tuples:
    """What the verifier would read of a promise of the publisher's."""
    return Tuples(
        d=promise.d,
        gamma=promise.gamma,
        adversary=promise.adversary,
        keep=promise.keep,
        inserts=promise.inserts,
        again=promise.again if promise.later else None,
        weights=promise.weights,
        slots=promise.slots,
        candidates=promise.candidates,
    )


def one_view(
    d: Fraction, gamma: Fraction, adversary: str, keep: Fraction, insert: Fraction, weights=EVEN
) -> DGammaPrivacy:
    return DGammaPrivacy(d=d, gamma=gamma, adversary=adversary, keep=keep, insert=insert, candidates=1, weights=weights)


# --- Against every world --------------------------------------------------------------------------------------------


def posteriors(law: dict[tuple[int, ...], Fraction], keep: Fraction, insert: Fraction):
    """Prior and posterior of every tuple after every view: the law says how probable each table is."""
    size = len(next(iter(law)))
    for view in product((0, 1), repeat=size):
        joint = {}
        for table, chance in law.items():
            for seen, there in zip(view, table, strict=True):
                shown = keep if there else insert
                chance *= shown if seen else 1 - shown
            joint[table] = chance
        whole = sum(joint.values())
        for t in range(size):
            before = sum((chance for table, chance in law.items() if table[t]), Fraction(0))
            yield before, sum((chance for table, chance in joint.items() if table[t]), Fraction(0)) / whole


def independent(priors: list[Fraction]) -> dict[tuple[int, ...], Fraction]:
    law = {}
    for table in product((0, 1), repeat=len(priors)):
        law[table] = math.prod(p if there else 1 - p for p, there in zip(priors, table, strict=True))
    return law


def exclusive(priors: list[Fraction]) -> dict[tuple[int, ...], Fraction]:
    size = len(priors)
    return {tuple(int(i == t) for i in range(size)): prior for t, prior in enumerate(priors)}


def worlds(d: Fraction, adversary: str):
    """Beliefs that the promise is for, among them the worst ones: priors of d, and ones that are next to nothing."""
    if adversary == "independent":
        yield from (independent([d / scale, d]) for scale in (1, 2, 10**4, 10**9, 10**30))
    else:
        others = math.ceil((1 - d) / d)
        yield exclusive([d, *[(1 - d) / others] * others])


@given(
    d=st.integers(15, 60).map(lambda each: Fraction(each, 100)),
    rise=percents,
    adversary=ADVERSARIES,
    steps=st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
)
@settings(max_examples=few(200), deadline=None)
def test_probabilities_are_accepted_just_where_no_world_breaks_the_promise(d, rise, adversary, steps):
    """As they are chosen and up to two units beside, every table and view of a tiny domain enumerated."""
    gamma = d + (1 - d) * rise
    assume(adversary == "independent" or d <= Fraction(1, 2))
    keep, insert = keep_and_insert(d, gamma, adversary, "optimal")
    promised = stated_tuples(one_view(d, gamma, adversary, keep + steps[0] * UNIT, insert + steps[1] * UNIT))
    fine = all(
        after <= gamma and (adversary == "exclusive" or after * gamma >= before * d)
        for law in worlds(d, adversary)
        for before, after in posteriors(law, promised.keep, promised.inserts[0])
    )
    assert keeps(promised) is fine


@given(
    keep=percents,
    inserts=st.lists(percents, min_size=1, max_size=3),
    again=percents,
    weight=st.sampled_from([Fraction(1), Fraction(1, 2)]),
)
@settings(max_examples=few(200), deadline=None)
def test_the_worst_history_is_found_view_by_view(keep, inserts, again, weight):
    """Every history of a tuple and everything that may be shown of it, listed; whatever the probabilities are."""
    assume(all(each < keep for each in inserts))
    promised = Tuples(
        d=Fraction(1, 10),
        gamma=Fraction(1, 2),
        adversary="independent",
        keep=keep,
        inserts=tuple(inserts),
        again=again if len(inserts) > 1 else None,
        weights=EVEN,
        slots=1,
        candidates=1,
    )
    fresh = [insert * weight for insert in inserts]
    kept = keep - inserts[0] + inserts[0] * weight

    def chance(seen: tuple[int, ...], there: tuple[int, ...]) -> Fraction:
        found, before = Fraction(1), False
        for view, (appears, real) in enumerate(zip(seen, there, strict=True)):
            shown = kept if real else again if before else fresh[view]
            found *= shown if appears else 1 - shown
            before = before or bool(appears)
        return found

    every = list(product((0, 1), repeat=len(inserts)))
    never = (0,) * len(inserts)
    ratios = [chance(seen, there) / chance(seen, never) for seen in every for there in every]
    weighed = Weighed(promised, weight)
    assert (weighed.likelihood(max), weighed.likelihood(min)) == (max(ratios), min(ratios))


def frapp_posterior(times: int, prior: Fraction, keep: Fraction, rows: int, domain: int) -> Fraction:
    """Of tuple 0, shown so often, where the first record may have it and no other has: every release listed."""
    other = (1 - keep) / (domain - 1)
    joint = {}
    for first in (0, 1):
        joint[first] = Fraction(0)
        table = (first, *[1] * (rows - 1))
        for release in product(range(domain), repeat=rows):
            if release.count(0) == times:
                joint[first] += math.prod(
                    keep if own == shown else other for own, shown in zip(table, release, strict=True)
                )
    return prior * joint[0] / (prior * joint[0] + (1 - prior) * joint[1])


@given(
    rows=st.integers(1, 3),
    domain=st.integers(2, 4),
    d=percents,
    rise=percents,
    step=st.sampled_from([0, 1, -1, 2**40, -(2**40)]),
)
@settings(max_examples=few(150), deadline=None)
def test_frapps_probability_is_accepted_just_where_no_release_breaks_the_promise(rows, domain, d, rise, step):
    """The most that is kept, and a little beside: one unit more breaks it, and less is not what the rule gives."""
    gamma = d + (1 - d) * rise
    try:
        keep = Frapp(prior=d, posterior=gamma).parameters(n=rows, m=domain)
    except Infeasible:
        assume(False)
        raise
    promised = Records(d=d, gamma=gamma, keep=keep + step * UNIT, rows=rows, domain=domain, candidates=1)
    assume(Fraction(1, domain) < promised.keep < 1)
    fine = frapp_posterior(1, d, promised.keep, rows, domain) <= gamma and all(
        frapp_posterior(0, d / scale, promised.keep, rows, domain) * gamma >= d / scale * d for scale in (1, 10**30)
    )
    assert keeps(promised) is fine
    assert (keeps(promised) and tuned(promised, "optimal")) is (step == 0)


# --- Against the publisher's side -----------------------------------------------------------------------------------


@given(
    promise=bounds(),
    adversary=ADVERSARIES,
    tuning=st.sampled_from(["optimal", "paper"]),
    weights=st.one_of(st.just(EVEN), st.tuples(low_weights, high_weights)),
    steps=st.tuples(st.integers(-1, 1), st.integers(-1, 1)),
)
@settings(max_examples=few(400), deadline=None)
def test_one_view_is_judged_and_tuned_alike_on_both_sides(promise, adversary, tuning, weights, steps):
    """What the publisher chooses is what the verifier asks for, and a unit more or less is held for the same."""
    d, gamma = promise
    try:
        keep, insert = keep_and_insert(d, gamma, adversary, tuning, weights)
    except Infeasible:
        keep, insert = chosen(stated_tuples(one_view(d, gamma, adversary, Fraction(0), Fraction(0), weights)), tuning)
        theirs = one_view(d, gamma, adversary, keep, insert, weights)
        assert not theirs.holds
        assert not keeps(stated_tuples(theirs))
        return
    theirs = one_view(d, gamma, adversary, keep + steps[0] * UNIT, insert + steps[1] * UNIT, weights)
    ours = stated_tuples(theirs)
    assert keeps(ours) is theirs.holds
    assert coins_have(ours)
    assert tuned(ours, tuning) is (steps == (0, 0))


@given(
    promise=bounds(),
    adversary=ADVERSARIES,
    weights=st.tuples(low_weights, high_weights),
    keep=percents,
    insert=percents,
)
@settings(max_examples=few(400), deadline=None)
def test_any_probabilities_are_judged_alike_on_both_sides(promise, adversary, weights, keep, insert):
    """Also those that nobody would choose."""
    theirs = one_view(*promise, adversary, keep, insert, weights)
    assert keeps(stated_tuples(theirs)) is theirs.holds


VIEWS = [
    several_views(d, gamma, adversary, views)
    for d, gamma in ((Fraction(1, 50), Fraction(3, 10)), (Fraction(1, 10**6), Fraction(1, 5)))
    for adversary, views in (("independent", 2), ("independent", 5), ("exclusive", 2), ("exclusive", 4))
]


@pytest.mark.parametrize("promise", VIEWS, ids=lambda each: f"{float(each.d):.2g} {each.adversary} {each.views}")
def test_several_views_are_judged_alike_and_only_as_tuned(promise):
    """What is published is accepted; one probability that is another one, or noise that is more, is not."""
    assert keeps(stated_tuples(promise))
    assert tuned(stated_tuples(promise), "optimal")
    near = (1 + Fraction(1, 10**6), 1 - Fraction(1, 10**6), Fraction(1001, 1000), Fraction(1, 2))
    single = [{name: getattr(promise, name) * by} for name in ("keep", "insert", "again") for by in near]
    single += [
        {"later": (*promise.later[:at], promise.later[at] * by, *promise.later[at + 1 :])}
        for at in range(len(promise.later))
        for by in near
    ]
    for change in single:
        theirs = replace(promise, **change)
        assert keeps(stated_tuples(theirs)) is theirs.holds
        assert not tuned(stated_tuples(theirs), "optimal"), change
    for by in (Fraction(102, 100), Fraction(998, 1000)):
        rounded = [Fraction(math.ceil(each * by * UNITS), UNITS) for each in promise.inserts]
        scaled = replace(promise, insert=rounded[0], later=tuple(rounded[1:]))
        ours = stated_tuples(scaled)
        assert keeps(ours) is scaled.holds
        assert not (keeps(ours) and tuned(ours, "optimal"))


@given(promise=bounds(), rows=st.integers(1, 10**6), domain=st.integers(2, 10**12), keep=st.integers(1, UNITS - 1))
@settings(max_examples=few(400), deadline=None)
def test_frapp_is_judged_alike_on_both_sides(promise, rows, domain, keep):
    """Any probability; and the one that is chosen is the only one that is accepted."""
    d, gamma = promise
    numbers = {"d": d, "gamma": gamma, "rows": rows, "domain": domain, "candidates": 1}
    for each in (Fraction(keep, UNITS), Fraction(1, domain), 1 - UNIT):
        assert keeps(Records(keep=each, **numbers)) is FrappPrivacy(keep=each, **numbers).holds
    try:
        most = Frapp(prior=d, posterior=gamma).parameters(n=rows, m=domain)
    except Infeasible:
        return
    for step in (-1, 0, 1):
        if most + step * UNIT < 1:
            ours = Records(keep=most + step * UNIT, **numbers)
            assert (keeps(ours) and tuned(ours, "optimal")) is (step == 0)


# --- A public source ------------------------------------------------------------------------------------------------

SHARES = st.integers(1, 30).map(lambda each: str(Fraction(each, 7)))


@given(ages=st.tuples(SHARES, SHARES, SHARES), diseases=st.tuples(SHARES, SHARES, SHARES, SHARES))
@settings(max_examples=few(100), deadline=None)
def test_the_weights_of_a_source_are_those_of_its_tuples(ages, diseases):
    """Multiplied out over the domain: their mean is 1, and the least and the largest are those that both sides say."""
    schema = ward_schema()
    source = {
        "age": dict(zip(("0-17", "18", "19-110"), ages, strict=True)),
        "disease": dict(zip(schema.domains["disease"], diseases, strict=True)),
    }
    by_age = [Fraction(ages[0]) / 18] * 18 + [Fraction(ages[1])] + [Fraction(ages[2]) / 92] * 92
    every = [age * Fraction(disease) for age, disease in product(by_age, diseases)]
    mean = sum(every) / len(every)
    own = source_of(source, schema)
    assert extremes(own) == (min(every) / mean, max(every) / mean) == published_source(source, schema).range
    assert [weight for places, weight in own["age"] for _ in places] == [age * 111 / sum(by_age) for age in by_age]
    assert extremes(source_of({}, schema)) == EVEN


@pytest.mark.parametrize(
    "source",
    [
        {"height": {"1": "1"}},
        {"gender": {"M": "1"}},
        {"gender": {"M": "1", "F": "0"}},
        {"gender": {"M": "1", "F": "1", "X": "1"}},
        {"age": {"0-17": "1", "17-110": "1"}},
        {"age": {"0-17": "1", "19-110": "1"}},
        {"age": {"0-111": "1"}},
        {"age": {"110-0": "1"}},
        {"gender": {"M": "1", "F": f"1/{2**60}"}},
        {"disease": {"Measles": "1/1000003", "Asthma": "1/1000033", "HIV": "1/1000037", "Flu": "1/1000039"}},
        {"gender": {"M": "one", "F": "1"}},
    ],
)
def test_a_source_that_does_not_fit_is_refused_on_both_sides(source):
    """One sentence each."""
    with pytest.raises(PolicyError):
        published_source(source, ward_schema())
    with pytest.raises(ReleaseError):
        source_of(source, ward_schema())


# --- How many tuples there are --------------------------------------------------------------------------------------


def viewed(promise: DGammaPrivacy, tuples: int, view: int = 1, earlier: int = 0, source: dict | None = None) -> Stated:
    return Stated(
        prior=promise.d,
        posterior=promise.gamma,
        adversary=promise.adversary,
        tuning="optimal",
        views=promise.views,
        slots=1,
        source=source or {},
        promised=stated_tuples(promise),
        tuples=tuples,
        view=view,
        earlier=earlier,
    )


def odd(stated: Stated, rows: int | None = 1_000, walked: Walk | None = None, domain: int = 100_000) -> str | None:
    """What is wrong with the numbers of a view, if something is."""
    return misfit(list(counts_of(stated, stated.promised, domain, rows, walked or Walk(()))))


def test_views_that_coins_give_are_accepted_and_others_are_not():
    """Five views of 1,000 tuples in a domain of 100,000, tossed 20 times, and what a forger restates of them."""
    promise, coins = VIEWS[1], np.random.default_rng(11)
    keep, again, inserts = float(promise.keep), float(promise.again), [float(each) for each in promise.inserts]
    for _ in range(20):
        real, before = np.arange(100_000) < 1_000, np.zeros(100_000, dtype=bool)
        for view, insert in enumerate(inserts, 1):
            shown = coins.random(100_000) < np.where(real, keep, np.where(before, again, insert))
            earlier = int(before.sum())
            true = viewed(promise, int(shown.sum()), view, earlier)
            assert odd(true) is None
            assert odd(true, rows=None) is None
            if view > 1:
                assert odd(replace(true, earlier=earlier // 2)) is not None
            if view < 5:
                assert odd(replace(true, view=view + 1)) is not None
            assert odd(replace(true, tuples=true.tuples * 2)) is not None
            assert odd(true, domain=130_000) is not None
            before |= shown


AGES, KINDS = Encoding(range(4_000)), Encoding(("a", "b", "c", "d"))
HEAVY = {"kind": tuple((range(at, at + 1), Fraction(weight, 10)) for at, weight in enumerate((1, 9, 10, 20)))}


@pytest.mark.parametrize("source", [{}, HEAVY], ids=["even", "of a source"])
def test_noise_must_be_where_the_domains_and_the_source_say(source):
    """20 tosses over 4,000 ages and four kinds; noise that leaves out a kind or half of the ages is found."""
    weights = extremes(source)
    keep, insert = keep_and_insert(Fraction(1, 50), Fraction(1, 5), "independent", "optimal", weights)
    promise = one_view(Fraction(1, 50), Fraction(1, 5), "independent", keep, insert, weights)
    shares = [float(weight) for _, weight in HEAVY["kind"]] if source else [1.0] * 4
    coins = np.random.default_rng(5)

    def seen(table: np.ndarray) -> str | None:
        tuples = int(table.sum())
        walked = Walk(columns_of((("age", AGES), ("kind", KINDS)), tuples))
        age, kind = np.nonzero(table)
        walked.on(pa.record_batch([pa.array(age), pa.array(kind)], names=["age", "kind"]))
        assert walked.rows == tuples
        return odd(viewed(promise, tuples, source=source), 800, walked, 16_000)

    for _ in range(20):
        table = coins.random((4_000, 4)) < float(insert) * np.array(shares)
        table[::5, 1] |= coins.random(800) < float(keep)
        assert seen(table) is None
        without = table.copy()
        without[:, 3] = without[:, 2]
        without[:, 2] = False
        assert seen(without) is not None
        clustered = table.copy()
        clustered[:2_000] |= table[2_000:]
        clustered[2_000:] = False
        assert seen(clustered) is not None


def test_a_false_alarm_is_as_rare_as_it_says():
    """Bernstein's bound is no smaller than the tail of the binomial law itself, at both ends."""
    mean, domain = 300, 3_000
    least = next(
        seen for seen in range(domain) if misfit([Count("tuples", seen, Fraction(mean), Fraction(mean))]) is None
    )
    most = next(
        seen for seen in range(domain, 0, -1) if misfit([Count("tuples", seen, Fraction(mean), Fraction(mean))]) is None
    )
    assert least < mean < most

    def law(seen: int) -> Fraction:
        p = Fraction(mean, domain)
        return math.comb(domain, seen) * p**seen * (1 - p) ** (domain - seen)

    outside = sum(map(law, range(least))) + sum(map(law, range(most + 1, most + 400)))
    assert Fraction(1, 10**13) < outside < Fraction(1, 10**9)


# --- Forged manifests -----------------------------------------------------------------------------------------------


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def units_more(units: Fraction | int, *names: str) -> Callable[[Block], object]:
    """Probabilities of the guarantee that are so many units more."""

    def change(block: Block) -> None:
        for name in names:
            block["guarantee"][name] = fraction_text(Fraction(block["guarantee"][name]) + units * UNIT)

    return change


def more_noise(block: Block) -> None:
    """A hundredth more in every view, in the same proportions but for rounding."""
    keep, again = (Fraction(block["guarantee"][name]) for name in ("keep", "again"))
    last, views = Fraction(block["guarantee"]["later"][-1]) * Fraction(101, 100), block["mechanism"]["views"]
    noise = [Fraction(math.ceil(last * (keep / again) ** (views - at) * UNITS), UNITS) for at in range(1, views + 1)]
    first, *later = map(fraction_text, noise)
    block["guarantee"].update(insert=first, later=later)


def set_in(part: str, **other: Any) -> Callable[[Block], object]:
    return lambda block: block[part].update(other)


def both(**other: Any) -> Callable[[Block], object]:
    """Of the mechanism and of the guarantee."""
    return lambda block: [block[part].update(other) for part in ("mechanism", "guarantee")]


FORGED: dict[str, tuple[str, Callable[[Block], object], str]] = {
    "a unit more kept": ("alphabeta", units_more(1, "keep"), "promise"),
    "a unit less kept": ("alphabeta", units_more(-1, "keep"), "promise"),
    "a unit more inserted": ("alphabeta", units_more(1, "insert"), "promise"),
    "a unit less inserted": ("alphabeta", units_more(-1, "insert"), "promise"),
    "half a unit less kept of records": ("frapp", units_more(-Fraction(1, 2), "keep"), "promise"),
    "the paper's tuning": ("alphabeta", set_in("mechanism", tuning="paper"), "promise"),
    "the paper's tuning of views": ("several views", set_in("mechanism", tuning="paper"), "promise"),
    "another adversary": ("alphabeta", both(adversary="independent"), "promise"),
    "another adversary of views": ("several views", both(adversary="exclusive"), "promise"),
    "candidates": ("alphabeta", set_in("guarantee", candidates=5), "promise"),
    "a source": (
        "alphabeta",
        lambda block: block["mechanism"].update(source={"gender": {"M": "1", "F": "2"}}),
        "promise",
    ),
    "a value more": ("alphabeta", lambda block: block["schema"]["domains"]["gender"]["values"].append("X"), "size"),
    "more noise in every view": ("several views", more_noise, "promise"),
    "shown again a little more": ("several views", units_more(2**10, "again"), "promise"),
    "a later view": ("several views", lambda block: block.update(view=2), "size"),
    "a view too many": ("several views", lambda block: block.update(view=4), "schema"),
    "more slots": ("records", lambda block: [both(slots=16)(block), set_in("guarantee", candidates=64)(block)], "size"),
    "a unit less kept of records": ("frapp", units_more(-1, "keep"), "promise"),
    "a unit more kept of records": ("frapp", units_more(1, "keep"), "promise"),
    "rows": ("frapp", set_in("guarantee", rows=121), "promise"),
    "the domain": ("frapp", set_in("guarantee", domain="2665"), "promise"),
    "candidates of records": ("frapp", set_in("guarantee", candidates=3), "promise"),
}


@pytest.mark.parametrize(("name", "change", "check"), FORGED.values(), ids=FORGED)
def test_a_forger_who_restates_everything_is_found(name: str, change, check: str, releases: Releases):
    """Facts, README, columns and hashes are made anew; only what the numbers say together can give him away."""
    with copy_of(releases.plain(case_of(name))) as folder:
        manifest = manifest_of(folder)
        change(manifest["discreet"])
        assert restated(folder, Step("forged", (), manifest))
        assert broken(folder)[0] == check


def test_earlier_tuples_are_as_many_as_are_stated_and_as_views_show(releases: Releases):
    """Of the second view: fewer than stated, and none where one view has shown some."""
    with copy_of(releases.later(case_of("several views"))) as folder:
        assert broken(folder) == []
        manifest = manifest_of(folder)
        manifest["discreet"]["earlier"] += 1
        assert restated(folder, Step("forged", (), manifest))
        assert broken(folder) == ["tuples"]
        write_table(folder, "earlier", table_of(folder, "earlier").slice(0, 0))
        manifest["discreet"]["earlier"] = 0
        assert restated(folder, Step("forged", (), manifest))
        assert broken(folder) == ["size"]


@pytest.mark.parametrize("kept", [(range(4_000), range(1)), (range(1_000), range(4))], ids=["one kind", "some ages"])
def test_records_without_the_noise_that_they_state_are_found(kept):
    """20 tosses of 1,000 records over 4,000 ages and four kinds; a table of one kind or of few ages is none of them."""
    promised = Records(
        d=Fraction(1, 20), gamma=Fraction(1, 2), keep=Fraction(1, 2), rows=1_000, domain=16_000, candidates=4
    )
    stated = replace(viewed(VIEWS[1], 1_000), promised=promised)
    coins = np.random.default_rng(5)

    def seen(tuples: np.ndarray) -> str | None:
        walked = Walk(columns_of((("age", AGES), ("kind", KINDS)), int(noise_of(promised))))
        age, kind = np.divmod(np.sort(tuples), 4)
        walked.on(pa.record_batch([pa.array(age), pa.array(kind)], names=["age", "kind"]))
        return misfit(list(counts_of_records(stated, promised, walked)))

    ages, kinds = kept
    for _ in range(20):
        table = coins.choice(ages, 1_000) * 4 + coins.choice(kinds, 1_000)
        assert seen(np.where(coins.random(1_000) < 0.5, table, coins.integers(0, 16_000, 1_000))) is None
        assert seen(table) is not None


def test_records_that_stand_in_few_tuples_are_found(releases: Releases):
    """Every column as even as noise makes it, and all of a hundred people in one of six tuples."""
    with copy_of(releases.plain(case_of("frapp"))) as folder:
        table = table_of(folder, "view")
        places = np.sort(np.arange(table.num_rows) % 6 * (table.num_rows // 6))
        write_table(folder, "view", table.take(pa.array(places)))
        assert broken(folder) == ["size"]
