"""Who knows others in a bucket: closed forms against every way to fill it, and what a release gives him."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from attack.slots import Ways, by_totals, injections
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.attack.buckets.corruption import Corruption
from discreet.attack.buckets.knowing import (
    believed,
    believed_without,
    expected_right,
    most_believed,
)
from discreet.attack.rate import computed
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.guarantee.certainty import certainty

F = {"a": Fraction(4, 10), "b": Fraction(3, 10), "c": Fraction(2, 10), "d": Fraction(1, 10)}


def people(rows: int, values: int, seed: int, alike: int = 1) -> pa.Table:
    """People of whom `alike` share every quasi-identifier; by themselves they are known for certain."""
    coins = np.random.default_rng(seed)
    drawn = coins.choice(values, rows, p=np.linspace(2, 1, values) / np.linspace(2, 1, values).sum())
    return pa.table(
        {"number": [f"{i // alike:05d}" for i in range(rows)], "value": [f"v{each}" for each in drawn.tolist()]}
    )


def report(rows: pa.Table, mechanism: object, seed: int = 1, **options: object) -> discreet.AuditReport:
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, seed) as release:
        return discreet.audit(release, table, attacks=[Corruption()], **options)


@pytest.mark.parametrize(
    ("slots", "wanted"),
    [("ABCD", "1/4 1/3 1/2 1"), ("ABCDE", "1/5 1/4 1/3 1/2"), ("ABCDEF", "1/6 1/5 1/4 1/3")],
)
def test_each_other_who_is_known_takes_a_slot_away(slots, wanted):
    """Four people and 0, 1 or 2 fakes, drawn uniformly: the closed form is what all injections say."""
    for others, share in enumerate(map(Fraction, wanted.split())):
        known = "BCD"[:others]
        assert injections(slots, 4).knowing(known).of("A") == share == believed(1, len(slots), others)


@pytest.mark.parametrize("rows", [8, 7])
def test_a_repeated_value_is_believed_by_what_is_left_of_it(rows):
    """H2 F3 C3: 1/4, 2/7, 1/3, 2/5, 1/2, 2/3, 1 for q others without H, for 8 people, and for 7 and a fake."""
    wanted = [Fraction(each) for each in ["1/4", "2/7", "1/3", "2/5", "1/2", "2/3", "1"]]
    ways = injections("HHFFFCCC", rows)
    assert [ways.knowing("FFFCCC"[:others]).of("H") for others in range(7)] == wanted
    assert [believed(2, 8, others) for others in range(7)] == wanted


def test_of_those_known_the_ones_with_the_value_count_against_it():
    """Two slots of H, one known: 1/7 is left; the most that q others may give away is where none has it."""
    ways = injections("HHFFFC", 6)
    assert ways.knowing("H").of("H") == believed(2, 6, 1, 1) == Fraction(1, 5)
    for others in range(6):
        worst = max(ways.knowing("".join(each)).of("H") for each in {w[1 : 1 + others] for w, _ in ways.worlds})
        assert most_believed(2, 6, others) == worst


def test_fakes_hold_only_if_the_union_is_drawn_first():
    """ST {a, b, d}, b known: 4/5 by uniform fakes, 2/3 by fakes drawn by frequency, 1/2 where the union comes first."""

    def uniform(world: tuple[str, ...]) -> Fraction:
        return F[world[0]] * F[world[1]] / 2

    def by_frequency(world: tuple[str, ...]) -> Fraction:
        (fake,) = set("abd") - set(world)
        return F[world[0]] * F[world[1]] * F[fake] / (1 - F[world[0]] - F[world[1]])

    assert injections("abd", 2, uniform).knowing("b").of("a") == Fraction(4, 5)
    assert injections("abd", 2, by_frequency).knowing("b").of("a") == Fraction(2, 3)
    assert injections("abd", 2).knowing("b").of("a") == believed(1, 3, 1) == Fraction(1, 2)


def test_exact_totals_undo_fakes_of_values_that_are_rare():
    """Two buckets abcde with one fake each, real 2, 2, 2, 1, 1: a, b, d known leave c with 1; a, b, c leave 1/2."""
    ways = by_totals(["abcde", "abcde"], 4, {"a": 2, "b": 2, "c": 2, "d": 1, "e": 1})
    assert ways.knowing("abd").of("c") == 1 == certainty(1, 2, None)
    assert ways.knowing("abc").of("d") == Fraction(1, 2)
    assert believed(1, 5, 3) == Fraction(1, 2)  # what the law says that does not look at totals


def test_exact_totals_reach_beyond_the_product_form_in_tiny_tables():
    """x3y2, x2y3, four real of each: 15/26, and y 3/5 beside x, x, y, 8/15 beside x. By the form 3/5, 1/2, 1/2."""
    ways, even = by_totals(["xxxyy", "xxyyy"], 4, {"x": 4, "y": 4}), Fraction(1)
    assert ways.of("x") == Fraction(15, 26) <= certainty(3, 5, even) == Fraction(3, 5)
    assert ways.knowing("xxy").of("y") == Fraction(3, 5) > certainty(1, 2, even) == Fraction(1, 2)
    assert ways.knowing("x").of("y") == Fraction(8, 15) > certainty(2, 4, even) == Fraction(1, 2)


def test_uneven_odds_move_the_law_of_totals_between_one_over_the_slots_and_certainty():
    """rho = 1 is the law without totals, and Pr grows with rho to 1."""
    assert certainty(1, 5, Fraction(1)) == believed(1, 5)
    found = [certainty(1, 5, Fraction(odds)) for odds in (1, 2, 8, 1000)]
    assert found == sorted(found)
    assert found[1] == Fraction(2, 6)
    assert 1 - found[-1] < Fraction(1, 200)
    assert certainty(0, 5, None) == 0


def test_beliefs_about_others_that_do_not_depend_on_the_person_stay_within_the_law():
    """Any weights over the values of q others: an exact Bayes attacker never passes c / (S + sigma - q)."""
    coins = np.random.default_rng(3)
    for slots, rows in (("AABCD", 5), ("AABCDE", 5)):
        for others in (1, 2, 3):
            weights: dict[tuple[str, ...], Fraction] = {}
            ways = injections(slots, rows)
            for world, _ in ways.worlds:
                weights.setdefault(world[1 : 1 + others], Fraction(int(coins.integers(0, 50)) ** 3 + 1))
            believing = reweighed(ways, weights, others)
            assert all(believing.of(value) <= most_believed(slots.count(value), len(slots), others) for value in "ABCD")
            sure = {each: Fraction(each == tuple("BCD"[:others])) for each in weights}
            assert (
                reweighed(ways, sure, others).of("A") == most_believed(2, len(slots), others) > believed(2, len(slots))
            )


def reweighed(ways: Ways, weights: dict[tuple[str, ...], Fraction], others: int) -> Ways:
    """What is left for one who believes this of the values of the others, whatever the person has."""
    return Ways([(world, weights[world[1 : 1 + others]]) for world, _ in ways.worlds])


def test_beliefs_that_tie_others_to_the_person_are_outside():
    """HHFC, and "B has what A has": H with certainty, where one bucket says 1/2 and one other known 2/3."""
    tied = injections("HHFC", 4).given(lambda world: world[0] == world[1])
    assert tied.of("H") == 1
    assert (believed(2, 4), most_believed(2, 4, 1)) == (Fraction(1, 2), Fraction(2, 3))


def test_values_that_the_person_cannot_have_are_taken_out_of_the_slots():
    """c / (S + sigma - c(E)), with fakes and without."""
    for slots, rows in (("AABCC", 5), ("AABCCD", 5)):
        ways = injections(slots, rows).given(lambda world: world[0] != "C")
        assert ways.of("A") == believed_without(2, len(slots), 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_expected_right_guesses_are_the_mean_over_everybody_who_may_be_known(counts, data):
    """Against every choice of the slots that are left."""
    slots = [value for value, count in enumerate(counts) for _ in range(count)]
    left = data.draw(st.integers(1, len(slots)))
    chosen = list(combinations(slots, left))
    mean = sum((Fraction(max(map(each.count, each)), left) for each in chosen), Fraction(0)) / len(chosen)
    assert expected_right(counts, [left]) == [mean]


def test_a_share_that_equals_its_bound_never_beats_it():
    """As decimal numbers 1/5 and many others lie above themselves; rounded down none does, and by a hair at most."""
    assert Fraction(0.2) > Fraction(1, 5)
    for below in range(1, 200):
        for above in range(below, 200):
            share = Fraction(below, above)
            assert 0 <= share - Fraction(computed(share, 1).low) < Fraction(1, 2**52)


@pytest.mark.parametrize("l", [2, 3, 5, 7])
def test_nobody_known_keeps_the_promise_and_one_other_passes_it(l):  # noqa: E741
    """Distinct values in buckets of l: 1/l, then 1/(l - 1), up to 1 for all others."""
    found = report(people(210 * l, 3 * l, l), discreet.Anatomy(l=l))
    assert found.holds
    known = found["corruption, the most that nobody may give away"]
    beyond = found["corruption, the most that 1 other may give away"]
    assert known.covered
    assert known.rate.rate <= known.bound == Fraction(1, l)
    assert not beyond.covered
    assert beyond.rate.rate == pytest.approx(1 / (l - 1))
    assert beyond.rate.low > beyond.bound
    for others in {0, 1, 2, 3, 5} & set(range(l - 1)):
        name = "nobody known" if not others else f"{others} other{'s' * (others > 1)} known"
        assert found[f"corruption, {name}"].rate.rate == pytest.approx(1 / (l - others))
    assert found["corruption, all others"].rate.rate == 1


def test_larger_buckets_hold_against_one_known_other():
    """Shares up to 1/4 in buckets of 5: who knows one other has 1/4, as was promised to those who know nobody."""
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"), min_size=5, max_size=5)
    found = report(people(1_000, 12, 2), mechanism)
    assert found["corruption, the most that 1 other may give away"].rate.rate == 0.25


@pytest.mark.parametrize(
    "tolerance",
    [
        discreet.Tolerance(floor="1/5"),
        discreet.Tolerance(theta=3, floor="0.1"),
        discreet.Tolerance(theta=2, floor="1/3"),
    ],
)
def test_what_is_measured_is_what_the_files_say(tolerance):
    """Where everybody is certain, rates over random others are those that follow from the ST, and the promise holds."""
    found = report(people(1_500, 9, 4), discreet.Buckets(tolerance=tolerance))
    assert found.holds
    measured = [each for each in found.findings if each.variant.endswith("measured")]
    assert len(measured) >= 2
    for each in measured:
        exact = found[f"corruption, {each.variant.removesuffix(', measured')}"].rate.rate
        assert each.rate.low <= exact <= each.rate.high
        assert each.details["share_certain"] == 1
        assert each.rate.attempts == 1_500


@pytest.mark.parametrize(
    "weaker", [discreet.Tolerance(floor="1/2"), discreet.Tolerance(floor="1/4", values={"v0": "1/2"})]
)
def test_a_publisher_who_plans_for_more_than_he_promises_is_found(monkeypatch, weaker):
    """He states 1/4 and plans for 1/2, for all values or for one of eight: the covered findings beat their bound."""
    mechanism, rows = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4")), people(1_200, 8, 6)
    assert report(rows, mechanism, unverified=True).holds
    loose = discreet.Buckets(tolerance=weaker)
    real = discreet.Buckets.plan_of
    monkeypatch.setattr(discreet.Buckets, "plan_of", lambda self, counts, progress=None: real(loose, counts, progress))
    found = report(rows, mechanism, unverified=True)
    assert not found.holds
    assert found["corruption, the most that nobody may give away"].beats


def test_a_stranger_finds_all_but_what_is_measured():
    """Without the table the rates of the ST remain; people who are alike leave nothing certain to measure."""
    rows, mechanism = people(800, 9, 7), discreet.Anatomy(l=4)
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        found = discreet.audit(release, attacks=[Corruption()])
    assert not [each for each in found.findings if each.variant.endswith("measured")]
    assert found["corruption, 1 other known"].rate.rate == pytest.approx(1 / 3)
    alike = report(people(800, 9, 7, alike=800), mechanism)
    assert not [each for each in alike.findings if each.variant.endswith("measured")]
