"""Range counts: random conditions over a few attributes, their true counts, and what leaves and tables say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.evaluate.labelled import Halves, Labelled, halve
from discreet.mechanism.diffgen.making.tables import grouped
from discreet.mechanism.diffgen.planning.cuts import Cuts
from discreet.schema.domain import Domain, Integers
from discreet.schema.taxonomy import Taxonomy

MOST_ATTRIBUTES = 3

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Condition = tuple[tuple[int, Floats], ...]  # an attribute and, for each of its cells, the share of values that match


@dataclass(frozen=True, eq=False)
class Ranges:
    """Rows to be published and to be classified, and conditions with their true counts among the first."""

    halves: Halves
    conditions: tuple[Condition, ...]
    truth: Ints


def ranges_of(source: Labelled, number: int = 600, seed: int = 0) -> Ranges:
    """Conditions over 1 to 3 attributes: an interval between two uniform values of a numeric attribute, or a value of
    any level of a categorical one's taxonomy. The same for the same seed.
    """
    coins = np.random.default_rng(seed)
    halves = halve(source, coins)
    taxonomies = halves.train.taxonomies
    most = min(MOST_ATTRIBUTES, len(taxonomies))
    conditions, truth = [], []
    for _ in range(number):
        picked = coins.choice(len(taxonomies), coins.integers(1, most + 1), replace=False)
        met, condition = np.ones(len(halves.train.classes), dtype=np.bool_), []
        for position in picked.tolist():
            taxonomy = taxonomies[position]
            wanted = _matching(taxonomy, source.domains[taxonomy.name], coins)
            met &= wanted[halves.codes[taxonomy.name]]
            condition.append((position, np.bincount(taxonomy.cell_of, weights=wanted) / taxonomy.sizes))
        conditions.append(tuple(condition))
        truth.append(int(met.sum()))
    return Ranges(halves, tuple(conditions), np.array(truth))


def answers(conditions: Sequence[Condition], cuts: Cuts, leaves: Floats, tables: Sequence[Floats]) -> Floats:
    """What leaves (an axis for each specialized attribute, classes last) and tables (cells x classes, how the people of
    a value are spread inside it) say of every condition.
    """
    groups = [cuts.groups(position) for position in range(len(tables))]
    sums = [grouped(table, own, size) for table, own, size in zip(tables, groups, cuts.shape, strict=True)]
    known: dict[tuple[int, ...], Floats] = {}  # the leaves summed over all other axes
    found = []
    for condition in conditions:
        inside = tuple(sorted(position for position, _ in condition if position in cuts.axes))
        if inside not in known:
            known[inside] = leaves.sum(axis=tuple(a for a, own in enumerate(cuts.axes) if own not in inside))
        left = known[inside]
        for position, share in condition:
            part = grouped(tables[position] * share[:, None], groups[position], cuts.shape[position])
            part = np.divide(part, sums[position], out=np.zeros_like(part), where=sums[position] > 0)
            shape = [1] * len(inside) + [left.shape[-1]]
            if position in inside:
                shape[inside.index(position)] = cuts.shape[position]
            left = left * part.reshape(shape)
        found.append(float(left.sum()))
    return np.array(found)


def even(taxonomies: Sequence[Taxonomy], classes: int) -> list[Floats]:
    """Tables that spread people evenly over the values of a domain."""
    return [np.repeat(each.sizes[:, None].astype(np.float64), classes, axis=1) for each in taxonomies]


def _matching(taxonomy: Taxonomy, domain: Domain, coins: np.random.Generator) -> NDArray[np.bool_]:
    """Which values of a domain a random condition asks for."""
    if isinstance(domain, Integers):
        low, high = np.sort(coins.integers(0, len(domain), 2))
        return np.asarray((np.arange(len(domain)) >= low) & (np.arange(len(domain)) <= high))
    nodes = list(taxonomy.root.walk())[1:]
    return np.isin(taxonomy.cell_of, nodes[coins.integers(len(nodes))].cells)
