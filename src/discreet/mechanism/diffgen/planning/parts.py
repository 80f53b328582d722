"""The parts of epsilon, by what each was for: they add up exactly, and a release states them."""

from __future__ import annotations

from discreet.guarantee.spent import For, Part
from discreet.mechanism.diffgen.planning.budget import ExponentialBudget, HistogramBudget
from discreet.schema.taxonomy import Taxonomy

Parts = tuple[Part, ...]


def histogram_parts(budget: HistogramBudget, taxonomies: tuple[Taxonomy, ...], *, again: bool) -> Parts:
    """What each table and the leaves cost."""
    tables = [
        Part(paid=For.TABLE, column=each.name, share=share)
        for each, share in zip(taxonomies, budget.tables, strict=True)
    ]
    return (*tables, Part(paid=For.AGAIN if again else For.LEAVES, share=budget.leaves))


def exponential_parts(budget: ExponentialBudget, splits: int, selections: int) -> Parts:
    """What choices and counts cost; what was reserved for choices that were not needed is a part of its own."""
    left = budget.choice * (budget.splits - splits + budget.selections - selections)
    parts = (
        Part(paid=For.SELECTIONS, share=budget.choice * selections),
        Part(paid=For.SPLITS, share=budget.choice * splits),
        Part(paid=For.LEAVES, share=budget.counts),
    )
    return (*parts, Part(paid=For.UNSPENT, share=left)) if left else parts
