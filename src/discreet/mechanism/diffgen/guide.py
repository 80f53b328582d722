"""The histogram guide: every specialization from noisy attribute x class tables, at no further cost.

Paper: [QSL] section III-B gives the scores, which see the data only through these tables.
Departs: DiffGen pays for each choice; here the tables are paid for once and all choices are post-processing, weighted
    by counts. A gain is weighed against what it costs in leaves: bits for each doubling of their number. Equal values
    of Max are told apart by information gain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.mechanism.diffgen.cuts import Cuts, Step, topmost
from discreet.mechanism.diffgen.score import gain, halves, largest
from discreet.mechanism.diffgen.tree import Floats
from discreet.schema.taxonomy import Node, Taxonomy

_EQUAL = 6  # decimals of a record in which scores are taken as equal
Merit = tuple[float, float]


def specialize(
    tables: Sequence[Floats],
    taxonomies: Sequence[Taxonomy],
    score: str,
    most_leaves: int,
    most_steps: int | None = None,
) -> tuple[tuple[Step, ...], Cuts]:
    """The best specializations in turn, skipping those with which there would be too many leaves."""
    cuts = topmost(taxonomies)
    steps: list[Step] = []
    known: dict[tuple[int, tuple[int, ...]], tuple[Merit, int, int]] = {}
    while most_steps is None or len(steps) < most_steps:
        best: tuple[Merit, Step] | None = None
        for attribute, cut in enumerate(cuts.values):
            for position, node in enumerate(cut):
                key = (attribute, node.cells)
                if key not in known:
                    known[key] = _merit(tables[attribute], taxonomies[attribute], node, score)
                merit, after, fan = known[key]
                growth = (len(cut) - 1 + fan) / len(cut)
                if fan < 2 or cuts.leaves * growth > most_leaves:
                    continue
                if score == "information_gain":
                    merit = merit[0] / math.log2(growth), merit[1]
                if best is None or merit > best[0]:
                    best = merit, (attribute, position, after)
        if best is None:
            break
        steps.append(best[1])
        cuts = cuts.after(best[1])
    return tuple(steps), cuts


def _merit(table: Floats, taxonomy: Taxonomy, node: Node, score: str) -> tuple[Merit, int, int]:
    """How good it is to specialize a value, where to cut it, and to how many values it leads."""
    if not taxonomy.can_split(node):
        return (0.0, 0.0), 0, 0
    if not taxonomy.ordered:
        children = np.array([table[list(child.cells)].sum(axis=0) for child in node.children])
        return _merits(children[None], score)[0], 0, len(node.children)
    merits = _merits(halves(table[list(node.cells)]), score)
    after = max(range(len(merits)), key=lambda place: merits[place])
    return merits[after], after + 1, 2


def _merits(children: Floats, score: str) -> list[Merit]:
    gains = gain(children)
    if score == "max":
        return list(zip(largest(children).round(_EQUAL).tolist(), gains.tolist(), strict=True))
    return [(each, 0.0) for each in gains.tolist()]
