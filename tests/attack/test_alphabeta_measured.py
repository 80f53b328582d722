"""Attacks on alpha-beta and FRAPP, measured with the table: right releases stand, publishers who cheat are found.

A leak is planted in the publisher: his coins are others than those that the release states. The attacks see what
everybody sees. Seeds are fixed; where a key is fresh, intervals are so wide that one run in ten million fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.attack.alphabeta.bayes import Bayes
from discreet.attack.alphabeta.candidates import alone, few_enough
from discreet.attack.alphabeta.correlated import Correlated, neighbours
from discreet.attack.alphabeta.link import Link
from discreet.attack.alphabeta.pool import pool_of
from discreet.attack.alphabeta.posterior import evidence_of, independent, linked
from discreet.attack.alphabeta.seen import Seen, less_probable, measured, plain, posterior, sole
from discreet.attack.alphabeta.views import Views
from discreet.attack.attack import Finding
from discreet.attack.report import AuditReport
from discreet.attack.target import Target
from discreet.evaluate.scratch import opened, released, released_views
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import merged, without
from discreet.mechanism.alphabeta.making.exchange import perturbed
from discreet.mechanism.alphabeta.making.make import view_of
from discreet.release.folder import read_manifest
from discreet.schema.domain import Integers, Listed

ROWS = 8_000
VALUES = tuple(f"ill{each}" for each in range(8))
ATTACKS = (Bayes(), Link(), Correlated(), Views())
SURE = 1 - 1e-7
PUBLISHER = "discreet.mechanism.alphabeta.policy"


def schema_of(public_rows: int = ROWS) -> discreet.Schema:
    return discreet.Schema(
        quasi_identifiers=("age", "zone", "sort"),
        sensitive="ill",
        domains={
            "age": Integers(low=0, high=99),
            "zone": Integers(low=0, high=39),
            "sort": Listed(values=tuple(f"s{each}" for each in range(10))),
            "ill": Listed(values=VALUES),
        },
        public_rows=public_rows,
    )


def rows_of(seed: int = 1, rows: int = ROWS, ages: int = 100) -> pa.Table:
    """People of whom some are alike, and whose columns hang together."""
    coins = np.random.default_rng(seed)
    age = np.minimum(coins.geometric(0.04, rows), ages) - 1
    zone = (age // 3 + coins.integers(0, 14, rows)) % 40
    sort = coins.integers(0, 10, rows)
    ill = np.where(coins.random(rows) < 0.6, (sort + zone) % 8, coins.integers(0, 8, rows))
    return pa.table({"age": age, "zone": zone, "sort": [f"s{x}" for x in sort], "ill": [VALUES[x] for x in ill]})


def exclusive(**more: object) -> discreet.AlphaBeta:
    return discreet.AlphaBeta(**{"prior": "0.002", "posterior": "0.2", **more})


def corner(**more: object) -> discreet.AlphaBeta:
    return exclusive(adversary="independent", **more)


FRAPP = discreet.Frapp(prior="0.01", posterior="0.2")
SOURCE = {"ill": dict(zip(VALUES, (0.3, 0.2, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05), strict=True))}
VARIANTS = {
    "exclusive": exclusive(),
    "independent": corner(),
    "paper": corner(tuning="paper"),
    "records": exclusive(slots=12),
    "source": exclusive(source=SOURCE),
    "frapp": FRAPP,
}


@contextmanager
def target_of(mechanism: object, seed: int = 1, rows: pa.Table | None = None) -> Iterator[Target]:
    with (
        opened(rows_of() if rows is None else rows, discreet.Policy(schema=schema_of(), mechanism=mechanism)) as table,
        released(table, mechanism, seed) as release,
    ):
        yield Target(release=release, manifest=read_manifest(release.path), table=table)


def audited(mechanism: object, seed: int = 1, **options: object) -> AuditReport:
    with target_of(mechanism, seed) as target:
        return discreet.audit(target.release, target.table, attacks=ATTACKS, unverified=True, **options)


def found_in(mechanism: object, seed: int = 1) -> dict[str, Finding]:
    """What the attacks find of a release, whoever made it and however: an audit may refuse one that is far off."""
    with target_of(mechanism, seed) as target:
        return {each.title: each for attack in ATTACKS for each in attack.run(target, lambda _: None)}


def promise_in(target: Target) -> DGammaPrivacy | FrappPrivacy:
    return target.manifest.statement.guarantee


@pytest.mark.parametrize("name", VARIANTS)
def test_measured_numbers_are_those_that_follow_from_the_files(name):
    """On a right release every measured interval holds what the law says, and nothing covered is beaten."""
    report = audited(VARIANTS[name], confidence=0.9999)
    assert report.holds, report.verdict
    pairs = {
        "bayes, shown, measured": "bayes, shown, as stated",
        "bayes, shown once, measured": "bayes, shown once, as stated",
        "bayes, not shown, measured": "bayes, not shown, as stated",
        "link, 1/d candidates left, measured": "link, 1/d candidates left, largest posterior",
        "correlated, always together, measured": "correlated, always together",
    }
    found = {each.title: each.rate for each in report.findings}
    compared = [(found[ours], found[law]) for ours, law in pairs.items() if ours in found]
    assert len(compared) == {"frapp": 2, "records": 3, "source": 3}.get(name, 4)
    for ours, law in compared:
        assert ours.low <= law.rate <= ours.high
        assert ours.low < ours.rate < ours.high


@pytest.mark.parametrize("name", ["exclusive", "independent", "frapp", "records"])
def test_a_linkers_belief_is_how_often_he_is_right(name):
    """His guesses of people whose quasi-identifiers he knows; and of those whose tuple alone is shown."""
    with target_of(VARIANTS[name], seed=3) as target:
        left = alone(target, pool_of(target), target.schema.quasi_identifiers)
        believed, right = left.guessed(promise_in(target))
        assert left.people > 1_000
        assert left.candidates == len(VALUES) * promise_in(target).slots
        for which in (np.ones(left.people, dtype=bool), left.kinds == 1):
            error = np.sqrt((believed[which] * (1 - believed[which])).sum()) / which.sum() + 1e-3
            assert abs(believed[which].mean() - right[which].mean()) < 5 * error
        only = believed[left.kinds == 1]
        if name != "records":
            assert only.min() == pytest.approx(float(linked(8, evidence_of(promise_in(target)))), abs=1e-9)


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_publisher_who_keeps_too_much_is_found(monkeypatch, strength):
    """Tuples kept with .75 instead of .5: a linker passes gamma, also at a quarter of it."""

    def plant(own, earlier, guarantee, *rest):
        return view_of(own, earlier, replace(guarantee, keep=guarantee.keep + Fraction(strength) / 4), *rest)

    assert audited(exclusive()).holds
    monkeypatch.setattr(f"{PUBLISHER}.alphabeta.view_of", plant)
    assert found_in(exclusive())["link, 1/d candidates left, measured"].beats


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_publisher_with_too_little_noise_is_found(monkeypatch, strength):
    """Half of the noise is missing: one who holds tuples for independent passes gamma, also at a quarter of it."""

    def plant(own, earlier, guarantee, *rest):
        return view_of(own, earlier, replace(guarantee, insert=guarantee.insert * (1 - Fraction(strength) / 2)), *rest)

    monkeypatch.setattr(f"{PUBLISHER}.alphabeta.view_of", plant)
    assert found_in(corner(prior="0.02", posterior="0.3"))["bayes, shown, measured"].beats


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_publisher_who_drops_too_much_is_not_taken_for_one_who_leaks(monkeypatch, strength):
    """More noise and fewer true tuples promise more than is stated: that is no attack."""

    def plant(own, earlier, guarantee, *rest):
        more = guarantee.insert * (1 + Fraction(strength))
        return view_of(
            own, earlier, replace(guarantee, insert=more, keep=guarantee.keep - Fraction(strength) / 4), *rest
        )

    monkeypatch.setattr(f"{PUBLISHER}.alphabeta.view_of", plant)
    assert not any(each.beats for each in found_in(exclusive()).values())


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_publisher_who_favours_some_people_is_found(monkeypatch, strength):
    """The noise spares one of ten sorts: hardly seen in all tuples together, seen by value, also at a quarter."""

    def plant(own, earlier, guarantee, number, radix, weights, coins):
        view = view_of(own, earlier, guarantee, number, radix, weights, coins)
        noise = without(view, own)
        spared = (radix.unpack(noise)[2] == 4) & (np.random.default_rng(9).random(noise.shape[1]) < strength)
        return merged(without(view, noise), noise[:, ~spared])

    monkeypatch.setattr(f"{PUBLISHER}.alphabeta.view_of", plant)
    assert found_in(corner(prior="0.02", posterior="0.3"))["bayes, shown, measured by value"].beats
    if strength == 1:  # where s = 1/2, so few tuples tell less of it
        assert found_in(exclusive())["link, 1/d candidates left, measured by value"].beats


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_frapp_that_keeps_too_much_is_found(monkeypatch, strength):
    """Records kept with up to twice the probability that is stated."""

    def plant(rows, keep, *rest):
        return perturbed(rows, keep * (1 + Fraction(strength)), *rest)

    assert audited(FRAPP).holds
    monkeypatch.setattr(f"{PUBLISHER}.frapp.perturbed", plant)
    assert found_in(FRAPP)["bayes, shown once, measured"].beats


@pytest.mark.parametrize("value", [posterior(0.01), less_probable, sole(50.0)], ids=["posterior", "loss", "sole"])
@pytest.mark.parametrize("law", [(0.5, 0.01), (0.98, 0.2), (0.06, 0.05)], ids=str)
def test_intervals_cover(value, law):
    """Of 2,000 draws the 95 % interval misses at most 100, and five standard errors more."""
    coins, held = np.random.default_rng(3), 0
    hits, stray = coins.binomial(200, law[0], 2_000), coins.binomial(5_000, law[1], 2_000)
    for hit, other in zip(hits.tolist(), stray.tolist(), strict=True):
        found = measured(plain(hit, 200, other, 5_000), 0.95, value)
        held += found.low <= value(*law) <= found.high
    assert held >= 1_900 - 49


def test_intervals_cover_where_true_tuples_hide_among_slots():
    """Of 40 tuples with 3 copies in 10 slots each only the number of shown slots is known."""
    coins, held, s, insert = np.random.default_rng(5), 0, 0.6, 0.05
    for _ in range(1_000):
        hits = coins.binomial(120, s) + coins.binomial(280, insert)
        seen = Seen(
            hits=int(hits), places=400, true=120, weight=400.0,
            stray=int(coins.binomial(6_000, insert)), others=6_000, weight_of_others=6_000.0,
        )  # fmt: skip
        found = measured(seen, 0.95, posterior(0.02))
        held += found.low <= posterior(0.02)(s, insert) <= found.high
    assert held >= 950 - 35


def test_right_frapps_of_tiny_domains_beat_nothing():
    """40 records in a domain of 12 tuples, 400 times: tuples hang together there more than anywhere."""
    promise = FrappPrivacy(
        d=Fraction(1, 10), gamma=Fraction(1, 2), keep=Fraction(1, 4), rows=40, domain=12, candidates=2
    )
    coins, bound = np.random.default_rng(6), float(independent(promise.d, evidence_of(promise).rise))
    above = 0
    for _ in range(400):
        table = np.concatenate([np.arange(6), coins.integers(6, 9, 34)])  # six tuples once, three never
        kept = coins.random(40) < float(promise.keep)
        other = (table + coins.integers(1, 12, 40)) % 12
        times = np.bincount(np.where(kept, table, other), minlength=12)
        seen = plain(int((times[:6] == 1).sum()), 6, int((times[9:] == 1).sum()), 3)
        above += measured(seen, 0.95, posterior(0.1)).low > bound
    assert above <= 400 * 0.05


@pytest.mark.parametrize("columns", [("age", "zone", "sort"), ("zone", "sort"), ("sort",), ()])
def test_who_is_alone_is_counted_as_by_hand(columns):
    """Groups with one row, their candidates, and which of these are shown."""
    rows = rows_of(2, 300)
    schema = schema_of(300)
    with (
        opened(rows, discreet.Policy(schema=schema, mechanism=exclusive())) as table,
        released(table, exclusive(), 4) as release,
    ):
        target = Target(release=release, manifest=read_manifest(release.path), table=table)
        left = alone(target, pool_of(target), columns)
        shown = [tuple(each.values()) for each in pq.read_table(release.path / "data" / "view.parquet").to_pylist()]
    names = ("age", "zone", "sort", "ill")
    known = [names.index(each) for each in columns]

    def key(each: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(each[place] for place in known)

    people = [tuple(each[name] for name in names) for each in rows.to_pylist()]
    counts = Counter(map(key, people))
    single = {key(each): each for each in people if counts[key(each)] == 1}
    assert left.people == len(single)
    assert sum(left.kinds) == sum(key(each) in single for each in shown)
    assert int(left.true.sum()) == sum(single.get(key(each)) == each for each in shown)
    sizes = {"age": 100, "zone": 40, "sort": 10, "ill": 8}
    assert left.candidates == np.prod([size for name, size in sizes.items() if name not in columns])


def test_as_much_is_forgotten_as_leaves_enough_candidates():
    """No more columns than needed where any would do, none where all values are enough, all of them at the most."""
    with target_of(exclusive()) as target:
        pool = pool_of(target)
        names, sizes = target.schema.quasi_identifiers, {"age": 100, "zone": 40, "sort": 10}
        assert few_enough(target, pool, 8) == names
        for least in (9, 100, 500, 5_000, 320_000):
            known = few_enough(target, pool, least)
            left = 8 * np.prod([sizes[each] for each in names if each not in known])
            assert left >= least
            assert set(known) < set(names)
        assert few_enough(target, pool, 320_000) == ()
        assert few_enough(target, pool, 320_001) is None


def test_pairs_are_of_different_tuples_and_each_tuple_is_in_one():
    with target_of(exclusive()) as target:
        pool = pool_of(target)
        first, second = neighbours(pool)
    both = np.concatenate([first, second])
    assert len(np.unique(both)) == len(both) == pool.real.sum() // 2 * 2
    assert pool.real[both].all()


def test_two_releases_with_fresh_coins_are_far_more_than_one():
    """What both show is right as often as two hits say, and the promise does not speak of it."""
    mechanism = exclusive()
    with target_of(mechanism, 1) as target, released(target.table, mechanism, 2) as other:
        report = discreet.audit(target.release, target.table, attacks=[Views()], others=[other], confidence=0.9999)
    law = report["views, shown by both, a second release with fresh coins"]
    found = report["views, shown by this release and further release 1, measured"]
    assert found.rate.low <= law.rate.rate <= found.rate.high
    assert found.rate.low > 2 * float(found.bound)
    assert not found.covered
    assert report.holds


def test_a_release_with_other_columns_is_no_further_release():
    other = discreet.Schema(
        quasi_identifiers=("age",), sensitive="ill", domains={n: schema_of().domains[n] for n in ("age", "ill")}
    )
    with target_of(exclusive()) as target:
        policy = discreet.Policy(schema=other, mechanism=exclusive())
        with opened(rows_of().select(["age", "ill"]), policy) as table, released(table, exclusive(), 1) as release:
            report = discreet.audit(target.release, target.table, attacks=[Views()], others=[release])
    assert not any("further" in each.title for each in report.findings)


@pytest.mark.parametrize("mechanism", [exclusive(views=3), corner(views=3)], ids=["exclusive", "independent"])
def test_views_of_a_table_that_changes_stay_below_gamma(mechanism):
    """Three states: people come and go; what several views show is never more right than promised."""
    with (
        opened(rows_of().slice(0, 6_000), discreet.Policy(schema=schema_of(), mechanism=mechanism)) as first,
        opened(rows_of(), discreet.Policy(schema=schema_of(), mechanism=mechanism)) as second,
        opened(rows_of().slice(1_500), discreet.Policy(schema=schema_of(), mechanism=mechanism)) as third,
        released_views((first, second, third), mechanism) as views,
    ):
        reports = []
        for table, release in zip((first, second, third), views, strict=False):
            reports.append(discreet.audit(release, table, attacks=ATTACKS, confidence=SURE))
    for report in reports:
        assert report.holds, report.verdict
    titles = [{each.title for each in report.findings} for report in reports]
    assert "views, shown by this view and an earlier one, measured" not in titles[0]
    for number, report in enumerate(reports[1:], start=2):
        found = report["views, shown by this view and an earlier one, measured"]
        assert found.covered
        assert found.rate.low <= report[f"views, best history, {number} of 3 views"].rate.rate
        assert found.rate.rate > 4 * float(found.baseline)
    assert all("bayes" in dict(report.left_out) for report in reports)


@contextmanager
def third_view(mechanism: discreet.AlphaBeta) -> Iterator[Target]:
    """The third view of a table of which one row goes each time, with both views before it."""
    with ExitStack() as stack:
        states = [
            stack.enter_context(opened(rows_of().slice(gone), discreet.Policy(schema=schema_of(), mechanism=mechanism)))
            for gone in range(3)
        ]
        views = stack.enter_context(released_views(states, mechanism))
        found = [stack.enter_context(closing(discreet.open_release(next(views).path))) for _ in states]
        yield Target(
            release=found[2],
            manifest=read_manifest(found[2].path),
            table=states[2],
            others=tuple(found[:2]),
            confidence=SURE,
        )


ALL_THREE = "views, shown by this view and 2 further ones, measured"


@pytest.mark.parametrize("mechanism", [exclusive(views=3), corner(views=3)], ids=["exclusive", "independent"])
def test_earlier_views_of_the_series_are_covered(mechanism):
    """They are known by their tuples. What all views show is what the best history says, and within the promise."""
    with third_view(mechanism) as target:
        found = {each.title: each for each in Views().run(target, lambda _: None)}
    assert not any(each.beats for each in found.values())
    further = [each for title, each in found.items() if "further" in title]
    assert len(further) == 3
    assert all(each.covered for each in further)
    law, rate = found["views, best history, 3 of 3 views"].rate.rate, found[ALL_THREE].rate
    assert rate.low <= law <= rate.high


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_publisher_who_shows_noise_again_too_seldom_is_found(monkeypatch, strength):
    """Noise that is not shown again is told from truth by all views together, also where it is only a quarter."""

    def plant(own, earlier, guarantee, *rest):
        return view_of(own, earlier, replace(guarantee, again=guarantee.again * (1 - Fraction(strength))), *rest)

    monkeypatch.setattr(f"{PUBLISHER}.alphabeta.view_of", plant)
    with third_view(corner(views=3)) as target:
        found = {each.title: each for each in Views().run(target, lambda _: None)}
    assert found[ALL_THREE].beats


@pytest.mark.parametrize("name", VARIANTS)
def test_strangers_get_what_follows_from_the_files_alone(name):
    """Without the table nothing is measured, and every number is without chance."""
    with target_of(VARIANTS[name]) as target:
        report = discreet.audit(target.release, attacks=ATTACKS)
    assert report.holds
    assert len(report.findings) >= 7
    assert all(each.rate.low == each.rate.rate == each.rate.high for each in report.findings)
    assert not report.left_out


def test_no_cell_of_the_table_is_told():
    """Neither values of columns nor a person's."""
    report = audited(exclusive())
    told = f"{report}{report.as_json()}"
    assert not any(each in told for each in (*VALUES, *(f"s{each}'" for each in range(10))))


def test_what_is_covered():
    """As the facts say: independent up to d always, linkers with 1/d candidates where it is made for them, no more."""
    covered: dict[str, Callable[[str], bool]] = {
        "exclusive": lambda title: title.startswith(("bayes", "link, 1/d")),
        "independent": lambda title: title.startswith("bayes"),
        "frapp": lambda title: title.startswith("bayes") and "twice" not in title and "all other" not in title,
    }
    for name, holds in covered.items():
        for each in audited(VARIANTS[name]).findings:
            assert each.covered == holds(each.title), each.title


def test_absence_is_not_covered_where_the_numbers_for_linkers_do_not_bound_it():
    """Kept with .9, a tuple falls to a tenth by not being shown; d / gamma would allow less than half."""
    promise = DGammaPrivacy(
        d=Fraction(9, 20),
        gamma=Fraction(19, 20),
        adversary="exclusive",
        keep=Fraction(9, 10),
        insert=Fraction(1, 20),
        candidates=8,
    )
    with target_of(exclusive()) as target:
        manifest = target.manifest
        stated = replace(manifest, statement=replace(manifest.statement, guarantee=promise))
        found = {each.variant: each for each in Bayes().run(replace(target, manifest=stated, table=None), print)}
    assert not promise.holds_for_independent
    assert not found["not shown, as stated"].covered
    assert found["not shown, as stated"].rate.rate > found["not shown, as stated"].bound


def test_with_a_source_a_rare_tuple_of_few_candidates_is_not_covered():
    """Eight candidates are 1/d for the most common tuple, and too few for the rarest, which stands out far more."""
    report = audited(exclusive(prior="0.06", posterior="0.5", source=SOURCE), confidence=0.9999)
    known = report["link, all quasi-identifiers known, largest posterior"]
    assert (known.covered, known.rate.rate > known.bound) == (False, True)
    left = report["link, 1/d candidates left, largest posterior"]
    assert (left.covered, left.rate.rate <= left.bound) == (True, True)
    assert report.holds


def test_every_combination_of_attack_and_variant_is_named_once():
    for mechanism in VARIANTS.values():
        titles = [each.title for each in audited(mechanism).findings]
        assert len(set(titles)) == len(titles)


def test_all_worlds_of_the_mixture_have_prior_d():
    """What `measured` takes for the posterior at d is the share of true ones among the shown of every mixture.

    Two true tuples and four others; each true one is mixed with one of the others, so the prior is 1/2.
    """
    s, insert = Fraction(3, 5), Fraction(1, 5)
    true_shown, shown = Fraction(0), Fraction(0)
    for others in product(range(4), repeat=2):
        for there in product((0, 1), repeat=2):
            for noise in product((0, 1), repeat=4):
                chance = Fraction(1)
                for each in there:
                    chance *= s if each else 1 - s
                for each in noise:
                    chance *= insert if each else 1 - insert
                true_shown += chance * sum(there)
                shown += chance * (sum(there) + sum(noise[each] for each in others))
    assert posterior(0.5)(float(s), float(insert)) == pytest.approx(float(true_shown / shown))
