"""The histogram guide: every specialization from noisy attribute x class tables, at no further cost.

Paper: [QSL] section III-B gives the scores, which see the data only through these tables.
Departs: DiffGen pays for each choice; here the tables are paid for once and all choices are post-processing, weighted
    by counts. From a gain, what noise alone would give is taken off, and it is weighed against what it costs in leaves:
    bits for each doubling of their number. Equal values of Max are told apart by information gain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Floats
from discreet.mechanism.diffgen.planning.cuts import Cuts, topmost
from discreet.mechanism.diffgen.planning.score import gain, halves, largest
from discreet.mechanism.diffgen.planning.tree import Step
from discreet.schema.taxonomy import Node, Taxonomy

_EQUAL = 6  # decimals of a record in which scores are taken as equal
Merit = tuple[float, float]


def specialize(
    tables: Sequence[Floats],
    taxonomies: Sequence[Taxonomy],
    score: str,
    most_leaves: int,
    most_steps: int | None = None,
    variances: Sequence[float] | None = None,
) -> tuple[tuple[Step, ...], Cuts]:
    """The best specializations in turn, skipping those with which there would be too many leaves.

    Unless a number of steps is asked for, it ends where information is gained from noise alone; `variances` are those
    of a cell of each table.
    """
    noise = [0.0] * len(tables) if variances is None else variances
    cuts = topmost(taxonomies)
    steps: list[Step] = []
    known: dict[tuple[int, tuple[int, ...]], tuple[Merit, int, int]] = {}
    while most_steps is None or len(steps) < most_steps:
        best: tuple[Merit, Step] | None = None
        for attribute, cut in enumerate(cuts.values):
            for position, node in enumerate(cut):
                key = (attribute, node.cells)
                if key not in known:
                    known[key] = _merit(tables[attribute], taxonomies[attribute], node, score, noise[attribute])
                merit, after, fan = known[key]
                growth = (len(cut) - 1 + fan) / len(cut)
                if fan < 2 or cuts.leaves * growth > most_leaves:
                    continue
                if score == "information_gain":
                    if merit[0] <= 0 and most_steps is None:
                        continue
                    merit = merit[0] / math.log2(growth), merit[1]
                if best is None or merit > best[0]:
                    best = merit, (attribute, position, after)
        if best is None:
            break
        steps.append(best[1])
        cuts = cuts.after(best[1])
    return tuple(steps), cuts


def _merit(table: Floats, taxonomy: Taxonomy, node: Node, score: str, variance: float) -> tuple[Merit, int, int]:
    """How good it is to specialize a value, where to cut it, and to how many values it leads."""
    if not taxonomy.can_split(node):
        return (0.0, 0.0), 0, 0
    if not taxonomy.ordered:
        children = np.array([table[list(child.cells)].sum(axis=0) for child in node.children])
        sizes = np.array([len(child.cells) for child in node.children])
        return _merits(children[None], sizes[None] * variance, score)[0], 0, len(node.children)
    left = np.arange(1, len(node.cells))
    sizes = np.stack([left, len(node.cells) - left], axis=1)
    merits = _merits(halves(table[list(node.cells)]), sizes * variance, score)
    after = max(range(len(merits)), key=lambda place: merits[place])
    return merits[after], after + 1, 2


def _merits(children: Floats, variances: Floats, score: str) -> list[Merit]:
    gains = gain(children) - _gained_from_noise(children, variances)
    if score == "max":
        return list(zip(largest(children).round(_EQUAL).tolist(), gains.tolist(), strict=True))
    return [(each, 0.0) for each in gains.tolist()]


def _gained_from_noise(children: Floats, variances: Floats) -> Floats:
    """The information that noise of these variances (cuts x children) would seem to give, in bits times records.

    Gain is about chi-square / (2 ln 2), and noise of variance v on a count of expectation e adds v / e to chi-square.
    """
    whole = children.sum(axis=-2, keepdims=True)
    shares = whole / np.maximum(whole.sum(axis=-1, keepdims=True), 1.0)
    expected = children.sum(axis=-1, keepdims=True) * shares
    spread = variances[..., None] * (1 - shares)
    ratio = spread / np.maximum(expected, np.sqrt(np.maximum(variances, 1.0))[..., None])
    return np.asarray(ratio.sum(axis=(-1, -2)) / (2 * math.log(2)))
