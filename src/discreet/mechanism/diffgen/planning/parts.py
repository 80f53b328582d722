"""The parts of epsilon, by what each was for: they add up exactly, and a release states them."""

from __future__ import annotations

from fractions import Fraction

from discreet.guarantee.epsilon import UNSPENT
from discreet.mechanism.diffgen.planning.budget import ExponentialBudget, HistogramBudget
from discreet.release.diffgen.manifest import AGAIN
from discreet.schema.taxonomy import Taxonomy

Parts = tuple[tuple[str, Fraction], ...]


def histogram_parts(budget: HistogramBudget, taxonomies: tuple[Taxonomy, ...], *, again: bool) -> Parts:
    """What each table and the leaves cost."""
    tables = [(f"table of {each.name}", share) for each, share in zip(taxonomies, budget.tables, strict=True)]
    return (*tables, (AGAIN if again else "leaves", budget.leaves))


def exponential_parts(budget: ExponentialBudget, splits: int, selections: int) -> Parts:
    """What choices and counts cost; what was reserved for choices that were not needed is a part of its own."""
    left = budget.choice * (budget.splits - splits + budget.selections - selections)
    parts = (
        ("selections", budget.choice * selections),
        ("split points", budget.choice * splits),
        ("leaves", budget.counts),
    )
    return (*parts, (UNSPENT, left)) if left else parts
