"""Views are what their probabilities say, and every estimator is right on average: each test also rejects a wrong law.

A statistic that passes 6 standard deviations under the true law does so once in 5e8 runs; seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.estimate.alphabeta.answer import estimate_of
from discreet.estimate.alphabeta.law import part_of, parts_of_several, with_total
from discreet.estimate.interval import Way
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, distinct, without
from discreet.mechanism.alphabeta.making.make import view_of
from discreet.mechanism.alphabeta.making.noise import every_tuple_by_weight
from discreet.mechanism.alphabeta.making.tuples import in_slots
from discreet.mechanism.alphabeta.policy.frapp import perturbed
from discreet.schema.domain import Integers, Listed
from discreet.series.coins import Coins

RUNS = 3_000
WEIGHTS = ((1, 2, 5), None, (3, 1))
SHAPE = (3, 4, 2)

WAY = Way(unit="records", estimator="unbiased", confidence=0.95)


def z_scores(found: np.ndarray, runs: int, chance: np.ndarray) -> np.ndarray:
    return (found - runs * chance) / np.sqrt(runs * chance * (1 - chance))


def test_a_source_inserts_every_tuple_with_its_own_probability():
    """24 tuples of weights .19 to 2.8; the same counts reject a law 15 % off for the heaviest tuples."""
    radix, chance = Radix(sizes=SHAPE), Fraction(3, 10)
    shares = [np.array(each) * len(each) / sum(each) if each else np.ones(4) for each in WEIGHTS]
    weight = np.einsum("i,j,k->ijk", *shares).ravel()
    assert weight.mean() == pytest.approx(1)
    found = np.zeros(24)
    for seed in range(RUNS):
        chosen = every_tuple_by_weight(chance, WEIGHTS, radix, Coins.from_seed(seed).stream("noise"))[0]
        assert len(set(chosen.tolist())) == len(chosen)
        found[chosen] += 1
    true = float(chance) * weight
    assert np.abs(z_scores(found, RUNS, true)).max() < 6
    assert np.abs(z_scores(found, RUNS, np.minimum(true * 1.15, 0.99))).max() > 6
    assert np.abs(z_scores(found, RUNS, np.full(24, float(chance)))).max() > 6


def test_copies_of_a_tuple_have_a_uniform_set_of_slots():
    """Two copies in five slots: ten sets alike; one copy: five slots alike; more copies than slots are refused."""
    radix, slotted = Radix(sizes=(2,)), Radix(sizes=(2, 5))
    rows = np.array([[0, 0, 1]])
    pairs, ones = {}, np.zeros(5)
    for seed in range(RUNS):
        packed = in_slots(rows, radix, slotted, Coins.from_seed(seed).stream("slots"))[0]
        first = tuple(sorted(int(each) for each in packed if each < 5))
        assert len(first) == 2
        pairs[first] = pairs.get(first, 0) + 1
        ones[int(packed[-1]) - 5] += 1
    counts = np.array([pairs.get((a, b), 0) for a in range(5) for b in range(a + 1, 5)])
    assert np.abs(z_scores(counts, RUNS, np.full(10, 0.1))).max() < 6
    assert np.abs(z_scores(counts, RUNS, np.full(10, 0.12))).max() > 3
    assert np.abs(z_scores(ones, RUNS, np.full(5, 0.2))).max() < 6
    with pytest.raises(discreet.TableError, match="slots"):
        in_slots(np.zeros((1, 6), dtype=np.int64), radix, slotted, Coins.from_seed(0).stream("slots"))


def test_frapp_keeps_or_changes_to_any_other_tuple_alike():
    """One record in a domain of six: its own with g, each other one with (1 - g) / 5."""
    radix, keep, found = Radix(sizes=(3, 2)), Fraction(1, 3), np.zeros(6)
    for seed in range(RUNS):
        coins = Coins.from_seed(seed)
        changed = perturbed(np.array([[4]]), keep, radix, coins.stream("keep"), coins.stream("noise"))
        found[changed[0, 0]] += 1
    law = np.full(6, 2 / 15)
    law[4] = 1 / 3
    assert np.abs(z_scores(found, RUNS, law)).max() < 6
    law[4] = 1 / 3 + 5 / 36
    assert np.abs(z_scores(found, RUNS, law)).max() > 6


# Estimators: unbiased, and as variable as they say

SCHEMA = discreet.Schema(
    quasi_identifiers=("age",),
    sensitive="disease",
    domains={"age": Integers(low=0, high=39), "disease": Listed(values=("flu", "cold", "HIV"))},
    public_rows=100,
)
RADIX = Radix(sizes=(40, 3))
VIEWS = 1_500


def rows_of(seed: int, number: int = 100) -> np.ndarray:
    """Records as packed tuples, in order."""
    coins = np.random.default_rng(seed)
    return np.sort(RADIX.pack([coins.integers(0, 40, number), coins.choice(3, number, p=[0.6, 0.3, 0.1])]))


def matching(packed: np.ndarray, radix: Radix = RADIX) -> int:
    """How many tuples have an age below 10 and the flu."""
    age, disease, *_ = radix.unpack(packed)
    return int(((age < 10) & (disease == 0)).sum())


def simulated(mechanism: discreet.AlphaBeta | discreet.Frapp, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Views of the same rows with many coins."""
    promise = mechanism.guarantee(SCHEMA)
    for seed in range(VIEWS):
        coins = Coins.from_seed(seed)
        if isinstance(promise, FrappPrivacy):
            yield perturbed(rows, promise.keep, RADIX, coins.stream("keep"), coins.stream("noise"))
            continue
        radix = RADIX if promise.slots == 1 else Radix(sizes=(40, 3, promise.slots))
        own = distinct(rows) if promise.slots == 1 else in_slots(rows, RADIX, radix, coins.stream("slots"))
        known = mechanism.public_source(SCHEMA).weights
        weights = [known.get(name) for name in SCHEMA.columns] if known else None
        yield view_of(own, own[:, :0], promise, 1, radix, weights, coins)


CASES = {
    "exclusive": discreet.AlphaBeta(prior=0.05, posterior=0.5),
    "independent": discreet.AlphaBeta(prior=0.05, posterior=0.5, adversary="independent"),
    "paper": discreet.AlphaBeta(prior=0.02, posterior=0.5, adversary="independent", tuning="paper"),
    "slots": discreet.AlphaBeta(prior=0.01, posterior=0.5, slots=8),
    "source": discreet.AlphaBeta(
        prior=0.05,
        posterior=0.6,
        adversary="independent",
        source={"disease": {"flu": 0.5, "cold": 0.3, "HIV": 0.2}, "age": {"0-19": 0.7, "20-39": 0.3}},
    ),
    "frapp": discreet.Frapp(prior=0.05, posterior=0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_unbiased_and_their_intervals_cover(name):
    """1,500 views: the mean is the truth, the spread the stated one, and 95 % intervals hold it about as often.

    One who takes the noise for two and a half times what it is gets a mean that is off.
    """
    promise, rows = CASES[name].guarantee(SCHEMA), rows_of(1)
    slots = 1 if isinstance(promise, FrappPrivacy) else promise.slots
    radix = RADIX if slots == 1 else Radix(sizes=(40, 3, slots))
    weight = 10 * Fraction(7, 5) * Fraction(3, 2) if name == "source" else Fraction(10 * slots)
    truth = matching(rows if name in ("slots", "frapp") else distinct(rows))
    values, errors, held = [], [], 0
    for view in simulated(CASES[name], rows):
        part = part_of(matching(view, radix), weight, promise)
        answer = estimate_of([part], (0, 100), WAY).design
        values.append(answer.value)
        errors.append(answer.standard_error)
        held += answer.low <= truth <= answer.high
    spread = np.std(values)
    assert abs(np.mean(values) - truth) < 6 * spread / VIEWS**0.5
    assert 0.85 < np.sqrt(np.mean(np.square(errors))) / spread < 1.2
    assert held / VIEWS > 0.92
    off = part_of(0, weight * Fraction(5, 2), promise).value - part_of(0, weight, promise).value
    assert abs(np.mean(values) + off - truth) > 6 * spread / VIEWS**0.5


def test_the_control_variate_is_unbiased_and_varies_less():
    """For a condition that half of the domain meets, it leaves less than two thirds of the variance."""
    promise, rows, radix = CASES["slots"].guarantee(SCHEMA), rows_of(1), Radix(sizes=(40, 3, 8))
    truth = int((RADIX.unpack(rows)[0] < 20).sum())
    plain, controlled, errors = [], [], []
    for view in simulated(CASES["slots"], rows):
        part = part_of(int((radix.unpack(view)[0] < 20).sum()), 20 * 3 * 8, promise)
        plain.append(part.value)
        whole = part_of(view.shape[1], 40 * 3 * 8, promise)
        answer = estimate_of([with_total(part, whole, 100)], (0, 100), WAY).design
        controlled.append(answer.value)
        errors.append(answer.standard_error)
    spread = np.std(controlled)
    assert abs(np.mean(controlled) - truth) < 6 * spread / VIEWS**0.5
    assert spread**2 < np.var(plain) * 2 / 3
    assert 0.85 < np.sqrt(np.mean(np.square(errors))) / spread < 1.2


def test_a_second_view_is_estimated_without_bias_where_the_printed_estimator_is_not():
    """Two states of a table; the printed estimator, fed with the same counts, misses by many standard errors."""
    mechanism = discreet.AlphaBeta(prior=0.02, posterior=0.5, adversary="independent", views=2)
    promise, rows = mechanism.guarantee(SCHEMA), rows_of(1)
    later = distinct(np.concatenate([rows[:, 10:], rows_of(9, 10)], axis=1))
    truth = matching(later)
    values, printed, held = [], [], 0
    for seed, before in enumerate(simulated(mechanism, rows)):
        view = view_of(later, before, promise, 2, RADIX, None, Coins.from_seed(10**6 + seed))
        fresh = without(view, before)
        counts = (matching(view) - matching(fresh), matching(fresh), matching(before))
        parts = parts_of_several(*counts, 10, 2, promise)
        answer = estimate_of(parts, (0, 10), WAY).design
        values.append(answer.value)
        held += answer.low <= truth <= answer.high
        keep, again, insert = float(promise.keep), float(promise.again), float(promise.later[0])
        printed.append((matching(view) - again * counts[2] - insert * 10) / (keep - again))
    spread = np.std(values)
    assert abs(np.mean(values) - truth) < 6 * spread / VIEWS**0.5
    assert held / VIEWS > 0.92
    assert abs(np.mean(printed) - truth) > 6 * np.std(printed) / VIEWS**0.5
