"""DiffGen as published: every choice by the exponential mechanism, noise on the leaves, or on every node.

Paper: [MCFY], and [QSL] section III for noise on every node of the DiffGen tree.
Symbols: eps' the cost of a choice; h specializations; the levels of the tree are what one record's path costs.
Departs: [QSL] calls the tree's height the sensitivity and does not add up selection, split points and counts; here they
    are added up. What choices were not needed (categorical values need no split point) stays unspent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.guarantee.epsilon import laplace_variance
from discreet.mechanism.diffgen.making.consistency import consistent
from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.making.measurements import Measurements
from discreet.mechanism.diffgen.making.noise import Noise
from discreet.mechanism.diffgen.papers.consistency import consistent_by_paper
from discreet.mechanism.diffgen.planning.budget import ExponentialBudget, levels_of, path_shares
from discreet.mechanism.diffgen.planning.cuts import Cuts, diffgen_tree, replay, topmost
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.mechanism.diffgen.planning.score import halves, private_score, sensitivity
from discreet.mechanism.diffgen.planning.tree import Step, Tree
from discreet.schema.taxonomy import Node, Taxonomy

MOST_LEAVES = 250_000  # leaves x classes; a specialization that would give more ends the run
RULES = {"exact": "geometric", "paper": "uniform"}


@dataclass
class _Choices:
    """The choices of one run: what may be specialized, where, and how many split points were paid for."""

    rows: Rows
    score: str
    epsilon: Fraction
    noise: Noise
    tables: list[Floats] = field(default_factory=list)
    points: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)
    splits: int = 0

    def __post_init__(self) -> None:
        self.tables = [self.rows.table(each).astype(np.float64) for each in range(len(self.rows.cells))]

    def pick(self, scores: Floats) -> int:
        own = sensitivity(self.score, self.rows.number_of_classes)
        return self.noise.choose(scores.tolist(), self.epsilon, own, monotone=self.score == "max")

    def split_points(self, attribute: int, nodes: Sequence[Node]) -> None:
        """Choose where each interval would be cut; intervals without common records cost as much as one."""
        taxonomy = self.rows.taxonomies[attribute]
        found = [node for node in nodes if taxonomy.ordered and taxonomy.can_split(node)]
        for node in found:
            scores = private_score(halves(self.tables[attribute][list(node.cells)]), self.score)
            self.points[attribute, node.cells] = 1 + self.pick(scores)
        self.splits += bool(found)

    def candidates(self, cuts: Cuts) -> list[tuple[Step, float]]:
        """Every current value that can be specialized, with its score."""
        found = []
        for attribute, cut in enumerate(cuts.values):
            taxonomy = cuts.taxonomies[attribute]
            for position, node in enumerate(cut):
                if taxonomy.can_split(node):
                    after = self.points.get((attribute, node.cells), 0)
                    children = taxonomy.split(node, after or None)
                    counts = np.array([self.tables[attribute][list(child.cells)].sum(axis=0) for child in children])
                    found.append(((attribute, position, after), float(private_score(counts, self.score))))
        return found


def measure_exponential(
    rows: Rows, budget: ExponentialBudget, noise: Noise, score: str, steps: int, consistency: str
) -> Measurements:
    """`steps` specializations (fewer where the taxonomies end), and counts of leaves or of every node."""
    choices = _Choices(rows, score, budget.choice, noise)
    cuts, taken, selections = topmost(rows.taxonomies), [], 0
    for attribute in range(len(rows.taxonomies)):
        choices.split_points(attribute, cuts.values[attribute])
    for _ in range(steps):
        found = choices.candidates(cuts)
        if not found:
            break
        step, _ = found[choices.pick(np.array([score for _, score in found]))]
        selections += 1
        new = cuts.after(step)
        if new.leaves * rows.number_of_classes > MOST_LEAVES:
            break
        attribute = step[0]
        fresh = [node for node in new.values[attribute] if node not in cuts.values[attribute]]
        choices.split_points(attribute, fresh)
        cuts = new
        taken.append(step)
    counts = leaf_counts(rows, cuts)
    if consistency != "none":
        counts = _every_node(rows.taxonomies, taken, counts, budget.counts, noise, consistency)
    else:
        counts = noise.laplace(counts, budget.counts)
    leaves = tuple(counts.ravel().tolist())
    return Measurements(steps=tuple(taken), leaves=leaves, splits=choices.splits, selections=selections)


def estimated_leaves(
    measured: Measurements, taxonomies: Sequence[Taxonomy], classes: int, counts: Fraction, consistency: str
) -> tuple[Floats, Cuts, int]:
    """The leaves of measurements, negative ones too: as measured, or made consistent in the way that was named.

    With their cuts, and how many of the counts one record's path is in.
    """
    cuts = replay(taxonomies, measured.steps)
    shape = [*(cuts.shape[axis] for axis in cuts.axes), classes]
    noisy = np.array(measured.leaves, dtype=np.float64)
    if consistency == "none":
        return noisy.reshape(shape), cuts, 1
    tree, nodes, places = diffgen_tree(taxonomies, measured.steps)
    seen = noisy.reshape(len(tree), classes)
    if consistency == "paper":
        agreed = consistent_by_paper(tree, seen)
    else:
        agreed = consistent(tree, seen, _variances(tree, counts, consistency))
    leaves = np.zeros((cuts.leaves, classes))
    leaves[places] = agreed[nodes]
    return leaves.reshape(shape), cuts, levels_of(tree)


def _every_node(
    taxonomies: Sequence[Taxonomy],
    steps: Sequence[Step],
    leaves: Ints,
    counts: Fraction,
    noise: Noise,
    consistency: str,
) -> Ints:
    """Noisy counts of every node of the DiffGen tree: each path from the root to a leaf costs the counts' share."""
    tree, nodes, places = diffgen_tree(taxonomies, steps)
    own = np.zeros((len(tree), leaves.size // len(nodes)))
    own[nodes] = leaves.reshape(len(nodes), -1)[places]
    exact = tree.sum_up(own).astype(np.int64)
    shares = path_shares(tree, counts, RULES[consistency])
    found = np.zeros_like(exact)
    for share in set(shares):
        chosen = np.array([each == share for each in shares])
        found[chosen] = noise.laplace(exact[chosen], share)
    return found


def _variances(tree: Tree, counts: Fraction, consistency: str) -> Floats:
    shares = path_shares(tree, counts, RULES[consistency])
    known = {share: laplace_variance(share) for share in set(shares)}
    return np.array([known[share] for share in shares])
