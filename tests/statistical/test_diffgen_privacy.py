"""Distinguishing tests over neighbouring tables: the true mechanism keeps its epsilon, 30 % less noise does not.

For an event fixed in advance, Pr(event | table) <= e^eps Pr(event | table without one record). The events are those at
which the two sides are farthest apart, so less noise shows: by 10.4 standard errors or more at these numbers of runs.
The line is drawn at 5.2, so each test goes wrong with a probability below 1e-6.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.making.exponential import measure_exponential
from discreet.mechanism.diffgen.making.measure import measure_histogram
from discreet.mechanism.diffgen.making.noise import OpenDpNoise
from discreet.mechanism.diffgen.planning.budget import exponential_budget, histogram_budget
from discreet.mechanism.diffgen.planning.cuts import diffgen_tree, replay
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.schema.domain import Integers, Listed
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import taxonomy_of

ERRORS = 5.2
SCHEMA = Schema(
    quasi_identifiers=("age", "sex"),
    sensitive="disease",
    domains={
        "age": Integers(low=0, high=3),
        "sex": Listed(values=("f", "m")),
        "disease": Listed(values=("flu", "hiv")),
    },
)
TAXONOMIES = tuple(taxonomy_of(SCHEMA, name) for name in SCHEMA.quasi_identifiers)


class LessNoise(OpenDpNoise):
    """The same with scales 30 % smaller than they are paid for."""

    def laplace(self, counts, epsilon):
        return super().laplace(counts, epsilon / Fraction(7, 10))

    def choose(self, scores, epsilon, sensitivity, *, monotone):
        return super().choose(scores, epsilon / Fraction(7, 10), sensitivity, monotone=monotone)


def rows(number):
    """A table whose last record is the one that is removed: age 3, sex m, hiv."""
    age, sex = np.arange(number) % 4, np.arange(number) % 2
    return Rows((age, sex), (age > 1).astype(np.int64), TAXONOMIES, 2)


def excess(with_record, without, epsilon):
    """How many standard errors log p - log q is above epsilon."""
    p, q = np.mean(with_record), np.mean(without)
    spread = math.sqrt((1 - p) / (p * len(with_record)) + (1 - q) / (q * len(without)))
    return (math.log(p / q) - float(epsilon)) / spread


@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (LessNoise(), False)])
def test_counts_keep_their_epsilon(noise, private):
    """One noisy count."""
    epsilon = Fraction(1)
    seen = [noise.laplace(np.full(20_000, count), epsilon) >= 8 for count in (8, 7)]
    assert (excess(*seen, epsilon) < ERRORS) is private


@pytest.mark.slow
@pytest.mark.parametrize(("monotone", "runs"), [(True, 20_000), pytest.param(False, 40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (LessNoise(), False)])
def test_choices_keep_their_epsilon(noise, private, monotone, runs):
    """Gumbel noisy max: one record raises a score by 1, or where it is not monotone lowers the others by 1 besides."""
    epsilon = Fraction(2)
    near = [1.0, *[0.0] * 49]
    far = [0.0] * 50 if monotone else [0.0, *[1.0] * 49]
    seen = [
        np.array([noise.choose(scores, epsilon, 1.0, monotone=monotone) == 0 for _ in range(runs)])
        for scores in (near, far)
    ]
    assert (excess(*seen, epsilon) < ERRORS) is private


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (LessNoise(), False)])
@pytest.mark.parametrize("number", [80, 8])
def test_a_histogram_release_keeps_its_epsilon(noise, private, number):
    """All that one record moves at once: a cell of each table, and its leaf, or the same cells again."""
    epsilon = Fraction(5, 2)
    budget = histogram_budget(epsilon, [len(each) for each in TAXONOMIES])
    exact = [rows(number).table(position) for position in range(2)]

    def seen(table):
        measured = measure_histogram(table, budget, noise, "information_gain")
        hit = True
        for position, cell in ((0, 3), (1, 1)):
            for found in (measured.tables, measured.again):
                hit &= not found or found[position][cell * 2 + 1] >= exact[position][cell, 1]
        if measured.leaves:
            true = leaf_counts(rows(number), replay(TAXONOMIES, measured.steps))
            hit &= measured.leaves[-1] >= true[-1]  # the last values of both attributes, the last class
        return hit

    found = [np.array([seen(rows(size)) for _ in range(8_000)]) for size in (number, number - 1)]
    assert (excess(*found, epsilon) < ERRORS) is private


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (LessNoise(), False)])
@pytest.mark.parametrize("consistency", ["none", "exact", "paper"])
def test_a_diffgen_release_keeps_its_counts_share(noise, private, consistency):
    """Every node on a record's path costs its part, and the path no more than half of epsilon."""
    epsilon = Fraction(4)
    budget = exponential_budget(epsilon, 1, 2)

    class Fixed(type(noise)):
        """Choices that do not look: what is tested is the counts."""

        def choose(self, scores, epsilon, sensitivity, *, monotone):
            return 0

    def seen(table):
        measured = measure_exponential(table, budget, Fixed(), "max", 2, consistency)
        true = leaf_counts(rows(80), replay(TAXONOMIES, measured.steps)).reshape(-1, 2)
        if consistency == "none":
            return measured.leaves[-1] >= true[-1, 1]
        tree, nodes, places = diffgen_tree(TAXONOMIES, measured.steps)
        own = np.zeros((len(tree), 2))
        own[nodes] = true[places]
        own, node, hit = tree.sum_up(own), int(nodes[list(places).index(len(true) - 1)]), True
        while node >= 0:
            hit &= measured.leaves[node * 2 + 1] >= own[node, 1]
            node = int(tree.parents[node])
        return hit

    found = [np.array([seen(rows(size)) for _ in range(8_000)]) for size in (80, 79)]
    assert (excess(*found, budget.counts) < ERRORS) is private
