"""Budgets: how epsilon is divided, in exact fractions that add up.

Paper: [QSL] section III-C; the division of DiffGen is that of [MCFY]: half for counts, and
    eps' = eps / (2 (numeric attributes + 2 h)) for each choice.
Departs: the number of levels, not h, is what a record's path costs where every node is counted; here each path from the
    root to a leaf spends its whole share, so a short path's leaf is counted better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.mechanism.diffgen.planning.tree import Tree

TABLES = Fraction(4, 5)  # of epsilon, for the attribute x class tables; the rest counts leaves
_DIGITS = 1000


@dataclass(frozen=True, kw_only=True)
class HistogramBudget:
    """The tables' shares, one for each attribute, and the leaves' share; where there are no leaves, the same tables are
    measured again with it.
    """

    tables: tuple[Fraction, ...]
    leaves: Fraction

    @property
    def again(self) -> tuple[Fraction, ...]:
        """The leaves' share, divided as the tables' is."""
        whole = sum(self.tables)
        return tuple(self.leaves * share / whole for share in self.tables)


@dataclass(frozen=True, kw_only=True)
class ExponentialBudget:
    """What one choice costs, how many are paid for, and the counts' share."""

    choice: Fraction
    splits: int  # paid for: the first of each numeric attribute, and one a specialization
    selections: int
    counts: Fraction


def histogram_budget(epsilon: Fraction, cells: Sequence[int]) -> HistogramBudget:
    """Shares by the cube root of an attribute's cells: that has the least sum of squared errors over all cells."""
    weights = [round(_DIGITS * number ** (1 / 3)) for number in cells]
    total = sum(weights)
    shares = tuple(epsilon * TABLES * Fraction(weight, total) for weight in weights)
    return HistogramBudget(tables=shares, leaves=epsilon * (1 - TABLES))


def exponential_budget(epsilon: Fraction, numeric: int, specializations: int) -> ExponentialBudget:
    """DiffGen's: half for counts, the other half in equal parts for every choice that may be needed."""
    number = numeric + 2 * specializations
    return ExponentialBudget(
        choice=epsilon / (2 * number), splits=numeric + specializations, selections=specializations, counts=epsilon / 2
    )


def path_shares(tree: Tree, total: Fraction, rule: str) -> tuple[Fraction, ...]:
    """A share for each node so that every path from the root to a leaf adds up to the total, exactly.

    "uniform" gives each level the same; "geometric" gives deeper levels more, by 2^(1/3) a level, which has the least
    error for sums of many leaves. A leaf above the last level gets all that is left of its path.
    """
    depth = len(tree.levels)
    if rule not in ("uniform", "geometric"):
        raise PolicyError(f"rule ({rule}) must be uniform or geometric")
    weights = [1 if rule == "uniform" else round(_DIGITS * 2 ** (level / 3)) for level in range(depth)]
    spent = Fraction(0)
    shares = [Fraction(0)] * len(tree)
    for level, nodes in enumerate(tree.levels):
        share = total * Fraction(weights[level], sum(weights))
        for node in nodes:
            shares[node] = total - spent if tree.leaf[node] else share
        spent += share
    return tuple(shares)


def levels_of(tree: Tree) -> int:
    """How many counts one record changes where every node is counted: edges of the longest path, and 1."""
    return len(tree.levels)
