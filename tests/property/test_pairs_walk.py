"""The walk of Pairs: shares add up to epsilon exactly whatever comes out, and only what could have come is accepted."""

import json
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from cases import few
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import ReleaseError, SeriesRefusal
from discreet.ground.exact import fraction_text
from discreet.guarantee.epsilon import EpsilonPrivacy, epsilon_from_json
from discreet.guarantee.spent import For
from discreet.release.diffgen.pairs.candidates import Graph
from discreet.release.diffgen.pairs.course import course_of
from discreet.release.diffgen.pairs.elimination import MOST_CLIQUE, largest_clique
from discreet.release.diffgen.pairs.groups import groups_of
from discreet.release.diffgen.pairs.measured import Candidate, Level, Measured, Round, measured_from_json
from discreet.release.diffgen.pairs.shares import MOST_STATED, shares_of
from discreet.release.diffgen.pairs.walk import Setting, begin, most_cells
from discreet.schema.taxonomy import Node, Taxonomy
from discreet.verifier.diffgen.pairs import cliques
from discreet.verifier.diffgen.pairs.found import Found
from discreet.verifier.diffgen.pairs.groups import grouped
from discreet.verifier.diffgen.pairs.stated import Choice, Stated
from discreet.verifier.diffgen.pairs.walk import parts_of
from discreet.verifier.diffgen.stated import Spent

epsilons = st.fractions(min_value=Fraction(1, 10_000), max_value=20, max_denominator=10_000)
sizes_of = st.lists(st.sampled_from([1, 2, 3, 7, 8, 9, 16, 70, 257]), min_size=1, max_size=6).map(tuple)


def walked(setting, total, coins, *, stops=0.2):
    """Any measurements that could have been made: tables of any numbers, choices by a coin."""
    ones = tuple(coins.integers(-50, 2 * max(total, 1), size) for size in setting.sizes)
    found, stage = Measured(total=total, ones=ones), begin(setting, total, ones)
    while (offer := stage.next) is not None:
        one = Round()
        if coins.random() > stops:
            chosen = offer.candidates[coins.integers(len(offer.candidates))]
            one = Round(chosen, coins.integers(-10, 1000, setting.shape(chosen)))
        found, stage = found.after(one), stage.after(one)
    again = tuple(coins.integers(-50, 50, size) for size in setting.sizes) if stage.left else None
    return Measured(total=found.total, ones=ones, rounds=found.rounds, again=again)


def setting_of(epsilon, sizes):
    return Setting(epsilon=epsilon, sizes=sizes, ordered=tuple(size % 2 == 0 for size in sizes))


@settings(max_examples=200, deadline=None)
@given(epsilons, sizes_of, st.integers(-100, 10**7), st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 1.0]))
def test_all_parts_add_up_to_epsilon_and_can_be_stated(epsilon, sizes, total, seed, stops):
    """Whatever comes out, every part is above zero, and a release can state it and read it back."""
    setting = setting_of(epsilon, sizes)
    measured = walked(setting, total, np.random.default_rng(seed), stops=stops)
    parts = course_of(setting, measured).parts([f"c{each}" for each in range(len(sizes))], measured)
    guarantee = EpsilonPrivacy(epsilon=epsilon, parts=parts)
    assert guarantee.holds
    assert guarantee.counts_cost
    assert all(part.share > 0 for part in parts)
    assert sum(part.paid is For.PAIR for part in parts) == len(measured.pairs)
    assert epsilon_from_json(json.loads(json.dumps(guarantee.as_json()))) == guarantee
    longest = max(len(fraction_text(part.share)) for part in parts)
    assert longest <= len(fraction_text(epsilon)) + MOST_STATED


@settings(max_examples=50, deadline=None)
@given(epsilons, sizes_of, st.integers(1, 10**6), st.integers(0, 2**32))
def test_measurements_come_back_from_their_text(epsilon, sizes, total, seed):
    """A series keeps text, and the text is all of it."""
    measured = walked(setting_of(epsilon, sizes), total, np.random.default_rng(seed))
    again = measured_from_json(measured.as_json())
    assert again.as_json() == measured.as_json()
    for one, other in zip(measured.rounds, again.rounds, strict=True):
        assert one.chosen == other.chosen
        assert one.chosen is None or np.array_equal(one.counts, other.counts)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"total":1,"ones":[[1.5]],"rounds":[],"again":null}', "null"])
def test_another_text_is_refused(text):
    """Nothing is guessed of what was paid for."""
    with pytest.raises(SeriesRefusal, match="restore the series"):
        measured_from_json(text)


@given(epsilons, sizes_of, st.integers(-(10**9), 10**12))
@example(Fraction(171031, 8583), (1,), 86_717_752_922)  # of which less than a thousandth would be left for the tables
def test_shares_follow_the_rule(epsilon, sizes, total):
    """Roots in whole numbers are the roots, cut to thousandths."""
    shares = shares_of(epsilon, sizes, total)
    x = max(1.0, float(total * epsilon))
    assert shares.epsilon == epsilon
    assert float(sum(shares.ones) / epsilon) == pytest.approx(min(0.85, 12 * x ** (-1 / 3)), abs=1.01e-3)
    assert float(shares.choosing) == pytest.approx(min(max(0.15 * (15_000 / x) ** 0.5, 0.08), 0.3), abs=1.01e-3)
    assert abs(shares.rounds - min(max(1.9 * (x / 1000) ** 0.5, 3), 20)) <= 0.5 + 1e-9
    for one, size in zip(shares.ones, sizes, strict=True):
        assert float(one / shares.ones[0]) == pytest.approx((size / sizes[0]) ** 0.25, rel=2e-3)


def as_found(setting, measured):
    """The same measurements as the verifier finds them in files."""
    rounds = [
        each.chosen and Choice(each.chosen.columns, tuple(level is Level.GROUPS for level in each.chosen.levels))
        for each in measured.rounds
    ]
    spent = Spent(epsilon=setting.epsilon, asked=setting.epsilon, parts=[], before=Fraction(0))
    return Found(
        stated=Stated(spent=spent, total=measured.total, rounds=tuple(rounds)),
        taxonomies=tuple(
            Taxonomy(f"c{at}", ("x",) * size, np.arange(size), ordered, Node("*", tuple(range(size))))
            for at, (size, ordered) in enumerate(zip(setting.sizes, setting.ordered, strict=True))
        ),
        ones=measured.ones,
        groups=(),
        again=measured.again,
        rounds=tuple(each.counts for each in measured.rounds),
        columns=(),
        pairs=(),
    )


@settings(max_examples=few(500), deadline=None)
@given(epsilons, sizes_of, st.integers(-100, 10**7), st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_verifier_walks_the_same_way(epsilon, sizes, total, seed, stops):
    """By rules of its own: every part and its share, in order."""
    setting = setting_of(epsilon, sizes)
    measured = walked(setting, total, np.random.default_rng(seed), stops=stops)
    parts = course_of(setting, measured).parts([f"c{each}" for each in range(len(sizes))], measured)
    assert parts_of(as_found(setting, measured)) == [(part.name, part.share) for part in parts]


@given(
    st.lists(st.integers(-3, 60) | st.integers(-(2**40), 2**52), min_size=1, max_size=40),
    st.booleans(),
)
def test_the_verifier_puts_cells_into_the_same_groups(noisy, ordered):
    """Equal counts and equally even halves too."""
    known = np.array(noisy, dtype=np.int64)
    assert np.array_equal(grouped(known, ordered=ordered), groups_of(known, ordered=ordered))


@given(
    st.lists(st.sampled_from([2, 3, 8, 9, 30]), min_size=2, max_size=7),
    st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12),
)
def test_the_verifier_finds_the_same_largest_clique(sizes, pairs):
    """Of any columns that were measured together."""
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1] and max(pair) < len(sizes)}
    assert cliques.largest(dict(enumerate(sizes)), edges) == largest_clique(sizes, edges)


SETTING = setting_of(Fraction(1), (2, 16, 70, 5))


def sound():
    return walked(SETTING, 20_000, np.random.default_rng(3), stops=0.1)


def test_a_walk_that_could_be_is_accepted():
    """So that the next test refuses for its own reason."""
    measured = sound()
    assert len(measured.pairs) > 3
    course_of(SETTING, measured)


@pytest.mark.parametrize("wrong", ["fewer", "more", "twice", "shape", "coarse", "again", "ones", "backwards"])
def test_what_the_walk_does_not_ask_for_is_refused(wrong):
    """Each a small change of measurements that are accepted."""
    good = sound()
    rounds, ones, again = list(good.rounds), good.ones, good.again
    at = next(place for place, each in enumerate(rounds) if each.chosen is not None)
    first = rounds[at]
    match wrong:
        case "fewer":
            rounds = rounds[:-1]
        case "more":
            rounds.append(Round())
        case "twice":
            rounds[at + 1] = first
        case "shape":
            rounds[at] = Round(first.chosen, first.counts[:, :-1])
        case "coarse":
            rounds[at] = Round(Candidate(0, 3, (Level.GROUPS, Level.CELLS)), np.zeros((8, 5), dtype=np.int64))
        case "again":
            again = ones if again is None else None
        case "ones":
            ones = (*ones[:-1], ones[-1][:-1])
        case "backwards":
            rounds[at] = Round(
                Candidate(first.chosen.second, first.chosen.first, first.chosen.levels[::-1]), first.counts.T
            )
    changed = Measured(total=good.total, ones=ones, rounds=tuple(rounds), again=again)
    with pytest.raises(ReleaseError):
        course_of(SETTING, changed)
    if wrong not in ("shape", "ones", "backwards"):  # which the verifier refuses when it reads them
        with pytest.raises(ReleaseError):
            parts_of(as_found(SETTING, changed))


def test_a_stop_doubles_what_a_round_costs_until_nothing_larger_is_left():
    """Then the columns' tables are measured again with the rest."""
    measured = walked(SETTING, 20_000, np.random.default_rng(0), stops=1.0)
    course = course_of(SETTING, measured)
    shares = [offer.share for offer in course.offers]
    assert all(later == 2 * earlier for earlier, later in pairwise(shares[:-1]))
    assert shares[-1] > shares[-2]
    assert measured.again is not None
    assert sum(course.last.again) == course.last.left > SETTING.epsilon / 4


def offered(sizes, measured, most):
    """All tables of two columns, one by one, held against the limits of a table and of a whole model with it."""
    for first, second in combinations(range(len(sizes)), 2):
        for levels in product(Level, repeat=2):
            if any(level is Level.GROUPS and sizes[at] <= 8 for at, level in zip((first, second), levels, strict=True)):
                continue
            each = Candidate(first, second, levels)
            by_cells = {
                column
                for table in (*measured, each)
                for column, level in zip(table.columns, table.levels, strict=True)
                if level is Level.CELLS
            }
            widths = [size if column in by_cells else min(size, 8) for column, size in enumerate(sizes)]
            cells = np.prod(
                [sizes[at] if level is Level.CELLS else 8 for at, level in zip((first, second), levels, strict=True)]
            )
            fits = largest_clique(widths, {table.columns for table in (*measured, each)}) <= MOST_CLIQUE
            if each not in measured and min(sizes[first], sizes[second]) > 1 and cells <= most and fits:
                yield each


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 9, 70, 257]), min_size=2, max_size=5), st.integers(0, 70_000), st.integers(0, 99)
)
def test_candidates_are_all_tables_within_the_limits(sizes, most, seed):
    """From round to round, until nothing is left: each step offers what going through all tables one by one does."""
    coins, graph = np.random.default_rng(seed), Graph()
    for _ in range(12):
        found = graph.candidates(sizes, most)
        assert set(found) == set(offered(sizes, graph.measured, min(most, MOST_CLIQUE)))
        assert len(set(found)) == len(found)
        if not found:
            return
        graph = graph.after(found[int(coins.integers(len(found)))])


@settings(deadline=None)
@given(epsilons, sizes_of, st.integers(1, 10**6), st.integers(0, 2**32), st.sampled_from([0.0, 0.5]))
def test_a_round_costs_the_least_share_that_something_is_worth(epsilon, sizes, total, seed, stops):
    """At half of it, and of that, nothing would be; what would not be enough for another round goes with it."""
    setting = setting_of(epsilon, sizes)
    course = course_of(setting, walked(setting, total, np.random.default_rng(seed), stops=stops))
    for stage, offer in zip(course.stages, course.offers, strict=False):
        share = stage.each
        while 2 * share <= stage.left and share < offer.share:
            measuring = share * (1 - stage.shares.choosing)
            assert not stage.graph.candidates(sizes, most_cells(stage.people, measuring))
            share *= 2
        assert offer.share == stage.left if stage.left < 2 * share else offer.share == share
        noise = [np.prod(setting.shape(each)) * 0.7 / float(offer.measuring) for each in offer.candidates]
        assert max(noise) <= stage.people / 4 * (1 + 1e-9)
        assert offer.choosing == offer.share * stage.shares.choosing
