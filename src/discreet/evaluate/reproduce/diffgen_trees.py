"""The small tables and trees of Consistent DiffGen, computed: counts, covers, consistency in four ways, variances.

Paper: [QSL] Tables I and II, Figures 2 and 3, Example 3, Algorithms 1 and 2, Theorem III.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from discreet.ground.arrays import Floats
from discreet.mechanism.diffgen.making.consistency import consistent
from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.papers.consistency import consistent_by_paper
from discreet.mechanism.diffgen.papers.cover import minimum_cover
from discreet.mechanism.diffgen.planning.budget import levels_of
from discreet.mechanism.diffgen.planning.cuts import diffgen_tree, replay
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.mechanism.diffgen.planning.tree import tree_of
from discreet.schema.domain import Integers, Listed
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import taxonomy_of

OWNERS = (
    ("<20", "No"), ("20-30", "Yes"), ("30-40", "No"), ("20-30", "No"),
    ("40-50", "Yes"), ("30-40", "Yes"), ("<20", "No"), ("30-40", "No"),
)  # fmt: skip
AGES = ("<20", "20-30", "30-40", "40-50")
INTERVIEWED = (
    ("China", 18, "N"), ("Korea", 21, "Y"), ("Canada", 27, "N"), ("USA", 35, "N"),
    ("USA", 29, "Y"), ("China", 39, "Y"), ("Korea", 22, "N"), ("China", 28, "N"),
)  # fmt: skip
COUNTRIES = (
    ("China", "Asian Country", "*"), ("Korea", "Asian Country", "*"),
    ("Canada", "American Country", "*"), ("USA", "American Country", "*"),
)  # fmt: skip
STEPS = ((0, 0, 0), (1, 0, 10))  # Country to two regions, then Age, from 15, after ten years

NAMES = ("A", "B", "C", "D", "AB", "CD", "ABCD")
PARENTS = (4, 4, 5, 5, 6, 6, -1)
TRUE = (3, 1, 2, 0, 4, 2, 6)
NOISY = (2, 3, 0, 3, 6, 0, 7)
TREES, SEED = 2_000, 0


def frequency_matrix() -> list[tuple[int, int]]:
    """Table I(b): YesCount and NoCount of each age."""
    return [(OWNERS.count((age, "Yes")), OWNERS.count((age, "No"))) for age in AGES]


def generalized_table() -> dict[tuple[str, str], int]:
    """Table II(b): the people of each combination after both specializations."""
    rows = _interviewed()
    cuts = replay(rows.taxonomies, STEPS)
    counts = leaf_counts(rows, cuts).reshape(*cuts.shape, 2).sum(axis=-1)
    return {
        (one.label, other.label): int(counts[i, j])
        for i, one in enumerate(cuts.values[0])
        for j, other in enumerate(cuts.values[1])
    }


def _interviewed() -> Rows:
    schema = Schema(
        quasi_identifiers=("Country", "Age"),
        sensitive="Class",
        domains={
            "Country": Listed(values=tuple(path[0] for path in COUNTRIES), paths=COUNTRIES),
            "Age": Integers(low=15, high=39),
            "Class": Listed(values=("Y", "N")),
        },
    )
    taxonomies = tuple(taxonomy_of(schema, name) for name in ("Country", "Age"))
    codes = [[list(schema.domains[name]).index(row[place]) for row in INTERVIEWED] for place, name in
             enumerate(("Country", "Age", "Class"))]  # fmt: skip
    cells = tuple(each.cell_of[np.array(own)] for each, own in zip(taxonomies, codes, strict=False))
    return Rows(cells, np.array(codes[2]), taxonomies, 2)


def changed_by_one_record() -> int:
    """By how much one more record moves the counts of all nodes of Figure 2's tree: its sensitivity."""
    tree, leaves, _ = diffgen_tree(_interviewed().taxonomies, STEPS)
    moves = []
    for leaf in leaves.tolist():
        more = np.zeros(len(tree))
        more[leaf] = 1.0
        moves.append(int(tree.sum_up(more).sum()))
    return max(moves)


def edges() -> int:
    """The height of Figure 2's tree."""
    return levels_of(diffgen_tree(_interviewed().taxonomies, STEPS)[0]) - 1


def by_the_letter(parents: Sequence[int], counts: Sequence[float], *, at_parent: bool = False) -> list[float]:
    """Algorithm 2 as printed: raw counts in both passes, the root as it was, ChildNum counted at the node itself.

    A leaf has no children, so its adjustment is a division by zero: nan. With `at_parent`, ChildNum is the parent's.
    """
    tree = tree_of(parents)
    raw, found = [float(count) for count in counts], [float(count) for count in counts]
    below = [sum(count for count, above in zip(raw, parents, strict=True) if above == node) for node in range(len(raw))]
    for level in tree.levels[1:]:
        for node in level.tolist():
            above = parents[node]
            number = int(tree.children[above if at_parent else node])
            found[node] = raw[node] + (found[above] - below[above]) / number if number else math.nan
    return found


def inconsistency(parents: Sequence[int], counts: Sequence[float] | Floats) -> float:
    """The largest difference between a node and the sum of its children; nan where a count is."""
    tree = tree_of(parents)
    own = np.asarray(counts, dtype=np.float64)
    sums = np.zeros(len(own))
    np.add.at(sums, tree.parents[tree.parents >= 0], own[tree.parents >= 0])
    return float(np.abs(own - sums)[~tree.leaf].max())


def squared_error(counts: Sequence[float] | Floats) -> float:
    """Summed over the seven nodes of Figure 3."""
    return float(((np.asarray(counts) - np.array(TRUE)) ** 2).sum())


def cover(letters: str) -> str:
    """Algorithm 1 as meant: the fewest nodes of Figure 3 for these letters."""
    return " + ".join(NAMES[node] for node in minimum_cover(PARENTS, [NAMES.index(letter) for letter in letters]))


def variance(letters: str, how: str) -> float:
    """Of a count of these letters times eps^2: from leaves alone, from the cover, or from exact consistency.

    Leaves alone have sensitivity 1 and so variance 2 / eps^2 each; all nodes together have the levels as sensitivity.
    """
    leaves = [NAMES.index(letter) for letter in letters]
    if how == "leaves":
        return 2.0 * len(leaves)
    each = 2.0 * levels_of(tree_of(PARENTS)) ** 2
    if how == "cover":
        return each * len(minimum_cover(PARENTS, leaves))
    weights = consistent(PARENTS, np.eye(len(PARENTS)))[leaves].sum(axis=0)
    return float(each * (weights**2).sum())


@cache
def differing_trees(number: int = TREES, seed: int = SEED) -> int:
    """On how many random trees the paper's formula is not least squares."""
    coins = np.random.default_rng(seed)
    differ = 0
    for _ in range(number):
        size = int(coins.integers(3, 16))
        parents = [-1, *(int(coins.integers(node)) for node in range(1, size))]
        counts = coins.normal(size=size)
        differ += not np.allclose(consistent(parents, counts), consistent_by_paper(parents, counts), atol=1e-9)
    return differ
