"""DiffGen, Consistent DiffGen, the histogram guide and one-way tables in memory, for comparing them.

Paper: [QSL] sections III and IV; all variants of one seed share their DiffGen tree, as there.
These are simulations: where they are drawn from a seed, anyone can draw them again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.evaluate.classify import encode, grow
from discreet.evaluate.ranges import even
from discreet.guarantee.epsilon import laplace_variance
from discreet.mechanism.diffgen.making.consistency import consistent, consistent_by_paper
from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.making.exponential import measure_exponential
from discreet.mechanism.diffgen.making.fit import fit_histogram
from discreet.mechanism.diffgen.making.measure import measure_histogram
from discreet.mechanism.diffgen.making.noise import Noise, SeededNoise
from discreet.mechanism.diffgen.making.tables import settle
from discreet.mechanism.diffgen.planning.budget import (
    TABLES,
    exponential_budget,
    histogram_budget,
    levels_of,
    path_shares,
)
from discreet.mechanism.diffgen.planning.cuts import Cuts, diffgen_tree, replay, topmost
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.mechanism.diffgen.planning.tree import Floats, Ints, Step, Tree

DIFFGEN, STATED, FORGOTTEN, EXACT = "DiffGen", "CDiffGen", "CDiffGen without the level factor", "CDiffGen, exact"
NOISELESS = "DiffGen's leaves, counted exactly"
VARIANTS = (DIFFGEN, STATED, FORGOTTEN, EXACT, NOISELESS)


@dataclass(frozen=True, eq=False)
class Simulated:
    """Leaves (an axis for each specialized attribute, classes last; negative ones too), and tables (cells x classes)
    that say how the people of a value are spread inside it.
    """

    cuts: Cuts
    leaves: Floats
    tables: Sequence[Floats]
    steps: int

    @property
    def weights(self) -> Floats:
        """Leaves x classes as weights: negative counts are set to 0."""
        return np.maximum(self.leaves, 0.0).reshape(-1, self.leaves.shape[-1])


def diffgens(
    rows: Rows, epsilon: Fraction, score: str, steps: int, seed: int, variants: Collection[str] = VARIANTS
) -> dict[str, Simulated]:
    """DiffGen and its variants over one DiffGen tree; people are spread evenly inside generalized values.

    CDiffGen counts every node at the stated sensitivity, the number of levels, and uses the paper's formula as meant.
    "Without the level factor" it costs as many times more as there are levels, so it is not private at this epsilon.
    "Exact" is least squares with budgets that grow by level and are used up on every path. "Counted exactly" shows what
    is lost without any noise on counts, and is not private either.
    """
    numeric = sum(each.ordered for each in rows.taxonomies)
    budget = exponential_budget(epsilon, numeric, steps)
    noise = SeededNoise(np.random.default_rng(seed))
    measured = measure_exponential(rows, budget, noise, score, steps, "none")
    cuts = replay(rows.taxonomies, measured.steps)
    shape = [*(cuts.shape[axis] for axis in cuts.axes), rows.number_of_classes]
    spread = even(rows.taxonomies, rows.number_of_classes)
    found: dict[str, Floats] = {}
    if DIFFGEN in variants:
        found[DIFFGEN] = np.array(measured.leaves, dtype=np.float64)
    if NOISELESS in variants:
        found[NOISELESS] = leaf_counts(rows, cuts).astype(np.float64)
    if set(variants) & {STATED, FORGOTTEN, EXACT}:
        nodes = _Nodes.of(rows, measured.steps, leaf_counts(rows, cuts))
        for variant in set(variants) & {STATED, FORGOTTEN}:
            levels = levels_of(nodes.tree) if variant == STATED else 1  # [QSL] Thm III.1
            noisy = SeededNoise(np.random.default_rng([seed, 1])).laplace(nodes.counts, budget.counts / levels)
            found[variant] = nodes.leaves(consistent_by_paper(nodes.tree.parents, noisy))
        if EXACT in variants:
            found[EXACT] = nodes.leaves(_least_squares(nodes, budget.counts, seed))
    return {
        name: Simulated(cuts, found[name].reshape(shape), spread, len(measured.steps))
        for name in VARIANTS
        if name in found
    }


def guided(rows: Rows, epsilon: Fraction, score: str, noise: Noise) -> Simulated:
    """The histogram guide: its leaves, and its tables inside them."""
    budget = histogram_budget(epsilon, [len(each) for each in rows.taxonomies])
    measured = measure_histogram(rows, budget, noise, score)
    fitted = fit_histogram(measured, rows.taxonomies, rows.number_of_classes, budget)
    return Simulated(fitted.cuts, fitted.people, fitted.people_in_tables, len(measured.steps))


def one_way(rows: Rows, epsilon: Fraction, noise: Noise) -> Simulated:
    """The attribute x class tables alone, with the whole epsilon."""
    budget = histogram_budget(epsilon / TABLES, [len(each) for each in rows.taxonomies])
    tables = [noise.laplace(rows.table(place), share) for place, share in enumerate(budget.tables)]
    settled = settle(tables, [laplace_variance(share) for share in budget.tables])
    return Simulated(topmost(rows.taxonomies), settled.totals, settled.tables, 0)


def generalized_accuracy(release: Simulated, test: Rows) -> float:
    """Percent right of a tree trained on the leaves, on test rows generalized to the same values ([QSL] IV-A)."""
    cuts, weights = release.cuts, release.weights
    if not cuts.axes or not weights.any():
        return majority_accuracy(release.weights.sum(axis=0), test)
    places = np.unravel_index(np.arange(len(weights)), release.leaves.shape[:-1])
    leaf, own = np.nonzero(weights)
    sizes = [cuts.shape[axis] for axis in cuts.axes]
    ordered = [cuts.taxonomies[axis].ordered for axis in cuts.axes]
    tree = grow(encode([column[leaf] for column in places], sizes, ordered), own, weights[leaf, own])
    tests = encode([cuts.groups(axis)[test.cells[axis]] for axis in cuts.axes], sizes, ordered)
    return tree.accuracy(tests, test.classes)


def raw_accuracy(
    release: Simulated, test: Rows, attributes: Sequence[int], number: int, coins: np.random.Generator
) -> float:
    """Percent right of a tree trained on rows drawn from the release down to cells, on test rows as they are."""
    if not attributes or not release.weights.any():
        return majority_accuracy(release.weights.sum(axis=0), test)
    cells, classes = drawn(release, attributes, number, coins)
    sizes = [len(test.taxonomies[each]) for each in attributes]
    ordered = [test.taxonomies[each].ordered for each in attributes]
    tree = grow(encode(cells, sizes, ordered), classes)
    return tree.accuracy(encode([test.cells[each] for each in attributes], sizes, ordered), test.classes)


def majority_accuracy(totals: NDArray[np.generic], test: Rows) -> float:
    """Percent right of one who always names the largest class: the lower bound of [QSL]."""
    return float((test.classes == int(np.argmax(totals))).mean() * 100)


def baseline_accuracy(train: Rows, test: Rows) -> float:
    """Percent right of a tree trained on the rows as they are: the baseline of [QSL]."""
    sizes = [len(each) for each in train.taxonomies]
    ordered = [each.ordered for each in train.taxonomies]
    return grow(encode(train.cells, sizes, ordered), train.classes).accuracy(
        encode(test.cells, sizes, ordered), test.classes
    )


def drawn(
    release: Simulated, attributes: Sequence[int], number: int, coins: np.random.Generator
) -> tuple[list[Ints], Ints]:
    """Rows drawn from a release: the cells of these attributes, and the classes."""
    weights, classes = release.weights.ravel(), release.leaves.shape[-1]
    places = np.repeat(np.arange(len(weights)), coins.multinomial(number, weights / weights.sum()))
    *values, own = np.unravel_index(places, release.leaves.shape)
    held = dict(zip(release.cuts.axes, values, strict=True))
    columns = []
    for attribute in attributes:
        group = held.get(attribute, np.zeros(number, dtype=np.int64))
        column = np.zeros(number, dtype=np.int64)
        for value, node in enumerate(release.cuts.values[attribute]):
            cells = np.array(node.cells)
            for label in range(classes):
                chosen = np.flatnonzero((group == value) & (own == label))
                shares = release.tables[attribute][cells, label]
                sizes = shares if shares.sum() > 0 else release.cuts.taxonomies[attribute].sizes[cells]
                column[chosen] = coins.choice(cells, len(chosen), p=sizes / sizes.sum())
        columns.append(column)
    return columns, np.asarray(own, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The DiffGen tree with the exact count of every node; `ends` are its leaves and `places` where they stand."""

    tree: Tree
    counts: Ints
    ends: Ints
    places: Ints

    @staticmethod
    def of(rows: Rows, steps: Sequence[Step], leaves: Ints) -> _Nodes:
        tree, ends, places = diffgen_tree(rows.taxonomies, steps)
        own = np.zeros((len(tree), rows.number_of_classes))
        own[ends] = leaves.reshape(len(ends), -1)[places]
        return _Nodes(tree, tree.sum_up(own).astype(np.int64), ends, places)

    def leaves(self, counts: Floats) -> Floats:
        """The counts of the leaves alone, where they stand."""
        found = np.zeros((len(self.ends), counts.shape[1]))
        found[self.places] = counts[self.ends]
        return found


def _least_squares(nodes: _Nodes, epsilon: Fraction, seed: int) -> Floats:
    tree, noise = nodes.tree, SeededNoise(np.random.default_rng([seed, 2]))
    shares = path_shares(tree, epsilon, "geometric")
    noisy, variances = np.zeros_like(nodes.counts), np.zeros(len(tree))
    for level in tree.levels:
        for alike in (level[tree.leaf[level]], level[~tree.leaf[level]]):
            if len(alike):
                share = shares[alike[0]]
                noisy[alike] = noise.laplace(nodes.counts[alike], share)
                variances[alike] = laplace_variance(share)
    return consistent(tree.parents, noisy, variances)
