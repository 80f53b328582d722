"""Fakes in audits: who knows all others and the totals, by laws, on made-up tables and on Adult."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from attack.slots import injections
from cases import SHARED, needs_shared
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.attack.buckets.beliefs import shares
from discreet.attack.buckets.beliefs_about_all import matched
from discreet.attack.buckets.corruption import Corruption
from discreet.attack.buckets.knowing import most_of_people
from discreet.attack.buckets.negative import left_over
from discreet.attack.buckets.totals import fake
from discreet.engine.encoding import Encoding
from discreet.errors import PolicyError, ReleaseError
from discreet.estimate.buckets.composition import Composition
from discreet.evaluate.reproduce.data import ADULT, Sources
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.guarantee.certainty import certainty, odds_ratio
from discreet.mechanism.buckets.papers.uniform_fakes import UniformFakes, compose_with_uniform_fakes
from discreet.verifier.verify import verify

QUARTER = discreet.Tolerance(floor="1/4")
ALL = "corruption, all others and the totals, measured"
STATED = "corruption, the most that all others and the totals may give away"


def people(rows: int, shares: list[int], seed: int) -> pa.Table:
    """Everybody is like no other, so that it is certain who has what."""
    coins = np.random.default_rng(seed)
    drawn = coins.choice(len(shares), rows, p=np.array(shares) / sum(shares))
    return pa.table({"number": [f"{i:05d}" for i in range(rows)], "value": [f"v{each:02d}" for each in drawn.tolist()]})


SKEWED = people(6_000, [17, 17, 16, 14, 10, 8, 6, 5, 4, 2, 1], 1)


@contextmanager
def published(rows: pa.Table, mechanism: object, seed: int = 1) -> Iterator[tuple[discreet.Release, discreet.Table]]:
    policy = discreet.Policy(schema=schema_of(rows, rows.column_names[-1]), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, seed) as release:
        yield release, table


def audited(rows: pa.Table, mechanism: object, **options: object) -> discreet.AuditReport:
    with published(rows, mechanism) as (release, table):
        return discreet.audit(release, table, attacks=[Corruption()], **options)


def test_fakes_that_can_be_excluded_give_away_what_nobody_else_can_have():
    """Man, woman, woman; prostate, ovarian, flu. A fake that nobody can exclude, flu, leaves prostate real: 1. Drawn
    from the union of all four it is real with 3/5.
    """
    fits = injections("PFOf", 3).given(
        lambda world: world[0] != "O" and "P" not in world[1:]
    )  # f: the flu that nobody has
    total = sum(weight for _, weight in fits.worlds)
    assert sum(weight for world, weight in fits.worlds if "P" in world) / total == Fraction(3, 5)
    planted = fits.given(lambda world: "f" not in world)
    assert all("P" in world for world, _ in planted.worlds)
    assert planted.of("P") == 1


@pytest.mark.parametrize(
    ("left", "slots", "odds", "wanted"),
    [
        (1, 2, 1, "1/2"),
        (1, 3, 1, "1/3"),
        (2, 3, 1, "2/3"),
        (1, 2, "9/8", "9/17"),
        (1, 2, 4, "4/5"),
        (1, 2, None, "1"),
        (0, 2, None, "0"),
    ],
)
def test_certainty_is_its_formula(left, slots, odds, wanted):
    """rho c / (rho c + T - c); 4/5 where a rare value has one fake at S = 4, sigma = 1; 1 where a value has none."""
    assert certainty(left, slots, None if odds is None else Fraction(odds)) == Fraction(wanted)


def test_the_odds_of_a_class_are_the_largest_over_the_smallest():
    """4 people a fake everywhere: 1; a single person with a fake of his own: 4; somebody without one: none."""
    assert odds_ratio([(40, 10), (4, 1)]) == 1
    assert odds_ratio([(40, 10), (1, 1)]) == 4
    assert odds_ratio([(40, 10), (1, 0)]) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=4).filter(lambda left: sum(left) > 1), st.data())
def test_by_weights_of_product_form_a_slot_is_a_fake_as_often_as_all_choices_say(left, data):
    """Against every choice of the slots that are fakes, in fractions."""
    fakes = data.draw(st.integers(1, min(3, sum(left) - 1)))
    beside = [Fraction(data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))) for _ in left]
    slots = [x for x, number in enumerate(left) for _ in range(number)]
    total, often = Fraction(0), [Fraction(0)] * len(left)
    for chosen in combinations(range(len(slots)), fakes):
        weight = Fraction(1)
        for place in chosen:
            weight *= beside[slots[place]]
        total += weight
        for x in {slots[place] for place in chosen}:
            often[x] += weight * sum(slots[place] == x for place in chosen)
    found = fake(np.array([left]), np.array([[float(each) for each in beside]]), fakes)[0]
    for x, number in enumerate(left):
        if number:
            assert found[x] == pytest.approx(float(often[x] / total / number), abs=1e-9)


def with_a_fake() -> Composition:
    """One bucket of five people and a fake: A twice, B once, C twice, D once; nine of all people have each."""
    return Composition(
        ids=np.array([1]),
        encoding=Encoding(list("ABCD")),
        bucket=np.zeros(4, dtype=np.int64),
        value=np.arange(4),
        count=np.array([2, 1, 2, 1]),
        fakes=1,
        people=np.array([[2], [1], [1], [1]]),
    )


class OneBucket:
    """What attacks ask of a release, of one bucket."""

    composition = with_a_fake()

    class qit:  # noqa: N801 - stands for an attribute
        bucket = np.zeros(5, dtype=np.int64)


def test_who_knows_nothing_of_fakes_believes_shares_of_the_slots():
    """c / (S + sigma), and beside values that a person cannot have c / (S + sigma - c(E))."""
    rows = np.arange(5)
    assert shares(OneBucket)(rows).tolist() == [[2 / 6, 1 / 6, 2 / 6, 1 / 6]] * 5
    struck = np.array([[0.0, 0, 1, 0]] * 5)
    assert left_over(OneBucket, lambda some: struck[some])(rows).tolist() == [[2 / 4, 1 / 4, 0, 1 / 4]] * 5


def test_beliefs_about_everybody_take_fakes_for_rows_of_which_the_totals_tell():
    """Against all injections, each with the weight of the beliefs of its people and of its fake."""
    coins = np.random.default_rng(4)
    beliefs = coins.random((5, 4)) + 0.05
    found = matched(OneBucket, lambda rows: beliefs[rows]).reshape(4, 5).T
    made = {"C": 1.0}  # C is the only value of which the ST counts more than people have

    def weight(world: tuple[str, ...]) -> Fraction:
        rest = list("AABCCD")
        for value in world:
            rest.remove(value)
        own = np.prod([beliefs[i, "ABCD".index(value)] for i, value in enumerate(world)])
        return Fraction(float(own * made.get(rest[0], 0)))

    ways = injections("AABCCD", 5, weight)
    assert [float(ways.of(value)) for value in "ABCD"] == pytest.approx(found[0].tolist(), abs=1e-4)


def test_every_attack_fits_a_release_with_fakes_and_known_others(tmp_path):
    """None refuses, none beats its bound, and both kinds of guesses are within what is promised."""
    rows = SKEWED.slice(0, 800).append_column("sex", pa.array([f"s{i % 2}" for i in range(800)]))
    rows = rows.select(["number", "sex", "value"])
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(theta=2, floor="1/5"), known=1, fakes=1)
    with published(rows, mechanism) as (release, table), released(table, mechanism, 2) as again:
        report = discreet.audit(release, table, others=[again])
        measured = discreet.measure(release)
    assert report.holds
    assert not report.left_out
    names = {each.name for each in report.findings}
    assert {"within-bucket", "beliefs", "intersection", "low-prior", "minimality", "negative-association"} <= names
    assert {each.covered for each in report.findings if each.variant == "1 other known"} == {True}
    assert {each.covered for each in report.findings if each.variant == "2 others known"} == {False}
    sizes = [size for size, _ in release._manifest.statement.numbers.classes]
    assert measured["k-anonymity"].number == min(sizes)
    assert measured["(alpha, k)-anonymity"].as_json()["k"] == min(sizes)
    assert measured.rows == 800


@pytest.mark.parametrize("fakes", [1, 2])
def test_union_fakes_leave_one_who_knows_all_others_and_the_totals_as_unsure_as_there_are_slots(fakes):
    """Right in 1 of 1 + sigma on a skewed table, below the stated certainty, and no more often than without totals."""
    found = audited(SKEWED, discreet.Buckets(tolerance=QUARTER, slack=0, fakes=fakes))
    assert found.holds
    rate = found[ALL].rate
    assert rate.low <= 1 / (1 + fakes) <= rate.high
    assert rate.rate == pytest.approx(1 / (1 + fakes), abs=0.02)
    assert rate.rate < found[ALL].bound < 1
    assert found[STATED].rate.rate == pytest.approx(float(found[ALL].bound))
    assert not found[ALL].covered
    assert not found[STATED].covered
    assert "approximate" in found[STATED].note


@pytest.mark.parametrize(("fakes", "least"), [(1, 0.7), (2, 0.55)])
def test_the_papers_fakes_are_found_out(monkeypatch, fakes, least):
    """A publisher who draws them from the domain: totals tell them from people, and the certainty is near 1."""
    monkeypatch.setattr(discreet.Buckets, "with_fakes", staticmethod(compose_with_uniform_fakes))
    mechanism = discreet.Buckets(tolerance=QUARTER, slack=0, fakes=fakes)
    with pytest.raises(ReleaseError, match="must verify before it is audited; fakes"):
        audited(SKEWED, mechanism)
    found = audited(SKEWED, mechanism, unverified=True)
    assert found[ALL].rate.low > least > found[ALL].baseline
    assert found[STATED].rate.rate > 0.95
    assert found["corruption, all others, measured"].rate.rate == pytest.approx(1 / (1 + fakes), abs=0.05)


@needs_shared(ADULT)
@pytest.mark.parametrize(
    ("mechanism", "least", "most"),
    [(discreet.Buckets, 0.48, 0.52), (UniformFakes, 0.7, 0.85)],
)
def test_on_adult_union_fakes_hold_at_a_half_and_the_papers_do_not(mechanism, least, most):
    """Occupation, shares up to 1/4, S = 4, one fake: .50 +- .02 right with all others and the totals; above .7."""
    rows = Sources(folder=SHARED, quick=False).adult()
    numbers = pa.array([f"{i:05d}" for i in range(len(rows))])
    alone = pa.table({"number": numbers, "occupation": rows["occupation"]})
    found = audited(alone, mechanism(tolerance=QUARTER, slack=0, fakes=1), unverified=mechanism is UniformFakes)
    assert found.holds
    assert least < found[ALL].rate.rate < most
    assert found[ALL].details["share_certain"] == 1


def test_the_papers_fakes_cannot_be_published_for_people(tmp_path):
    """Without a seed they are refused, no policy names them, and what was published with a seed does not verify."""
    mechanism = UniformFakes(tolerance=QUARTER, fakes=1)
    with published(SKEWED.slice(0, 400), mechanism) as (release, table):
        assert not verify(release.path, allow_seeded=True).holds
        policy = discreet.Policy(schema=table.schema, mechanism=mechanism)
        with pytest.raises(PolicyError, match="seed must be given"):
            discreet.publish(table, policy, to=tmp_path / "release", series=tmp_path / "a.series")
        saved = discreet.Policy.load(policy.save(tmp_path / "policy.toml"))
    assert type(saved.mechanism) is discreet.Buckets


def test_the_papers_fakes_are_as_the_paper_has_them():
    """Distinct in every bucket and none of its people's values, each as often as a domain's value, over all buckets."""
    with published(SKEWED, UniformFakes(tolerance=QUARTER, slack=0, fakes=1)) as (release, table):
        composition = release.composition
        assert composition.count.tolist() == [1] * len(composition.count)
        assert (composition.slots == composition.sizes + 1).all()
        assert composition.totals.tolist() == list(table.histogram.values())
        made = np.bincount(composition.value, composition.count) - composition.totals
    absent = 1 - composition.totals / len(composition.ids)  # the buckets that a value can be a fake of
    assert made.sum() == len(composition.ids)
    assert np.corrcoef(made, absent)[0, 1] > 0.9 > 0 > np.corrcoef(made, composition.totals)[0, 1]


def test_what_files_bound_is_whatever_is_known_of_fakes():
    """min(c, S) / (S - q), whoever the others are: more than who knows nothing of fakes has, and never above 1."""
    for slots, rows in (("AABCD", 4), ("AABCDE", 4), ("AAAAAB", 4)):
        for others in range(rows):
            worst = Fraction(0)
            for real in combinations(range(len(slots)), rows):
                ways = injections("".join(slots[i] for i in real), rows)
                for known in {world[1 : 1 + others] for world, _ in ways.worlds}:
                    worst = max(worst, ways.knowing("".join(known)).of("A"))
            assert worst == most_of_people(slots.count("A"), rows, others)
