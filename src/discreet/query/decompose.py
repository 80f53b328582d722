"""Counting the tuples of a cross product that meet a formula, without enumerating them.

Every predicate is a table over its own attributes. A part of the formula that is too wide for one table becomes a gate:
a variable with two values that a table ties to the part's truth, so every tuple has exactly one value of every gate.
What is left is a product of tables, summed by eliminating one variable after the other: tree decomposition, with the
formula's partial truth carried along.

Paper: [RSH] section 4.1, Algorithms 4 to 6.
Departs: counts instead of probabilities, so nothing is rounded; gates instead of disjunctive normal form with inclusion
and exclusion, whose terms double with each disjunct; values that no predicate tells apart are one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import QueryError
from discreet.ground.arrays import Ints
from discreet.query.condition import Atom, Condition, Every, Not, Some
from discreet.query.tables import Leaf, Table, Variable

MOST_CELLS = 2 * 10**7  # of one table of counts
MOST_STEPS = 2 * 10**9  # products that eliminating one variable takes
_TOGETHER = 1 << 12  # cells up to which parts of a formula become one table anyway
_EXACT = 2**62  # counts below are machine integers
_GATE = np.array([False, True])


@dataclass(frozen=True, eq=False)
class _Factor:
    """Counts for each value of the variables in its scope, none above `most`."""

    scope: tuple[Variable, ...]
    counts: NDArray[Any]
    most: int


def count_formula(formula: Condition, tables: Mapping[Leaf, Table], sizes: Mapping[Variable, Ints]) -> int:
    """The number of tuples that meet a formula of leaves; `sizes`: what the attributes' classes of values count for."""
    gates: list[Table] = []
    if not isinstance(formula, Some):
        conjuncts = formula.parts if isinstance(formula, Every) else (formula,)
        return _count([_table(part, tables, gates) for part in conjuncts], gates, sizes)
    refuted = [_table(part, tables, gates) for part in formula.parts]
    refuted = [Table(table.scope, ~table.holds) for table in refuted]
    return math.prod(int(each.sum()) for each in sizes.values()) - _count(refuted, gates, sizes)


def _table(formula: Condition, tables: Mapping[Leaf, Table], gates: list[Table]) -> Table:
    """Where a part of the formula holds; what is too wide for one table is tied to gates."""
    if isinstance(formula, Atom | Not):
        return tables[formula]
    every = isinstance(formula, Every)
    if not formula.parts:
        return Table((), np.array(every))
    parts = _merged([_table(part, tables, gates) for part in formula.parts], every)
    return reduce(lambda one, other: _join(_gated(one, gates), _gated(other, gates), every), parts)


def _gated(table: Table, gates: list[Table]) -> Table:
    """A gate that is open exactly where the table holds."""
    gate = len(gates)
    gates.append(Table((*table.scope, gate), np.stack([~table.holds, table.holds], axis=-1)))
    return Table((gate,), _GATE)


def _merged(tables: Iterable[Table], every: bool) -> list[Table]:
    """Tables joined where that costs nothing or little: the same scope, part of another's, or few cells."""
    same: dict[frozenset[Variable], Table] = {}
    for table in tables:
        scope = frozenset(table.scope)
        same[scope] = _join(same[scope], table, every) if scope in same else table
    kept: dict[frozenset[Variable], Table] = {}
    for scope, table in sorted(same.items(), key=lambda item: -item[1].holds.size):
        for other in kept:
            if scope <= other or _cells(table, kept[other]) <= _TOGETHER:
                joined = _join(kept.pop(other), table, every)
                kept[frozenset(joined.scope)] = joined
                break
        else:
            kept[scope] = table
    return list(kept.values())


def _cells(one: Table, other: Table) -> int:
    lengths: dict[Variable, int] = dict(zip(other.scope, other.holds.shape, strict=True))
    return one.holds.size * math.prod(length for name, length in lengths.items() if name not in one.scope)


def _join(one: Table, other: Table, every: bool) -> Table:
    """Where both hold, or where either does."""
    scope = tuple(dict.fromkeys((*one.scope, *other.scope)))
    left, right = (_spread(each.holds, each.scope, scope) for each in (one, other))
    return Table(scope, left & right if every else left | right)


def _spread(array: NDArray[Any], scope: tuple[Variable, ...], wider: tuple[Variable, ...]) -> NDArray[Any]:
    """The same array with an axis for each variable of a wider scope."""
    ordered = array.transpose([scope.index(name) for name in wider if name in scope])
    return ordered[tuple(slice(None) if name in scope else None for name in wider)]


def _count(tables: Sequence[Table], gates: Sequence[Table], sizes: Mapping[Variable, Ints]) -> int:
    """The sum, over all values of all variables, of the product of tables and class sizes."""
    every = [*_merged_conjuncts(tables), *gates]
    order = _order([table.scope for table in every], {**_lengths(sizes), **dict.fromkeys(range(len(gates)), 2)})
    factors = [_Factor(table.scope, table.holds.astype(np.int64), 1) for table in every]
    for name in order:
        mine = [factor for factor in factors if name in factor.scope]
        factors = [factor for factor in factors if name not in factor.scope]
        factors.append(_eliminated(name, mine, sizes.get(name)))
    return math.prod(int(factor.counts.item()) for factor in factors)


def _merged_conjuncts(tables: Sequence[Table]) -> list[Table]:
    """Conjuncts of the same scope as one table; others stay apart."""
    same: dict[frozenset[Variable], Table] = {}
    for table in tables:
        scope = frozenset(table.scope)
        same[scope] = _join(same[scope], table, True) if scope in same else table
    return list(same.values())


def _lengths(sizes: Mapping[Variable, Ints]) -> dict[Variable, int]:
    return {name: len(each) for name, each in sizes.items()}


def _eliminated(name: Variable, factors: Sequence[_Factor], sizes: Ints | None) -> _Factor:
    """The product of the factors, summed over one variable; a gate has one value in every tuple, so it adds nothing to
    the bound.
    """
    if sizes is not None:
        factors = [*factors, _Factor((name,), sizes, int(sizes.sum()))]
    while len(factors) > 2:  # the smallest first, so that only the last product, which is not held, is large
        one, two, *rest = sorted(factors, key=lambda factor: factor.counts.size)
        if one.counts.size * two.counts.size > MOST_CELLS:
            break
        scope = tuple(dict.fromkeys((*one.scope, *two.scope)))
        most = one.most * two.most
        left, right = (_spread(_wide(each.counts, most), each.scope, scope) for each in (one, two))
        factors = [*rest, _Factor(scope, left * right, most)]
    most = math.prod(factor.most for factor in factors)
    labels: dict[Variable, int] = {}
    for factor in factors:
        for each in factor.scope:
            labels.setdefault(each, len(labels))
    left_over = tuple(each for each in labels if each != name)
    operands: list[Any] = []
    for factor in factors:
        operands += [_wide(factor.counts, most), [labels[each] for each in factor.scope]]
    return _Factor(left_over, np.asarray(np.einsum(*operands, [labels[each] for each in left_over])), most)


def _wide(counts: NDArray[Any], most: int) -> NDArray[Any]:
    """Counts as integers of any size where they may not fit a machine's."""
    return counts if most < _EXACT else counts.astype(object)


def _order(scopes: Iterable[Sequence[Variable]], lengths: Mapping[Variable, int]) -> list[Variable]:
    """An order of elimination whose largest table is small: always the variable whose table is the smallest."""
    near: dict[Variable, set[Variable]] = {name: {name} for name in lengths}
    for scope in scopes:
        for name in scope:
            near[name].update(scope)
    cost = {name: math.prod(lengths[each] for each in near[name]) for name in lengths}
    order = []
    while cost:
        name = min(cost, key=cost.__getitem__)
        steps = cost.pop(name)
        rest = near.pop(name) - {name}
        if steps > MOST_STEPS or steps // lengths[name] > MOST_CELLS:
            raise QueryError(_too_wide({name, *rest}))
        for each in rest:
            near[each] = (near[each] | rest) - {name}
            cost[each] = math.prod(lengths[other] for other in near[each])
        order.append(name)
    return order


def _too_wide(names: Iterable[Variable]) -> str:
    listed = ", ".join(sorted(name for name in names if isinstance(name, str)))
    return f"the condition ties too many values of {listed} together to be counted; ask for its parts"
