"""The fit of Pairs, piece by piece against oracles that write everything out."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from whole import PEOPLE, Whole, levels_of, seeds

from discreet.guarantee.epsilon import laplace_variance
from discreet.release.diffgen.pairs.groups import groups_of
from discreet.release.diffgen.pairs.margins import FLOOR, projected, settled
from discreet.release.diffgen.pairs.rake import scaled, widened
from discreet.release.diffgen.pairs.shrink import LEAST, raked, shrunk
from discreet.release.diffgen.pairs.tables import pair_tables

# Groups


def split(noisy, ordered):
    """The rule in fractions: the heaviest group at the most even cut, until there are eight or no more cells."""
    number = len(noisy)
    cells = list(range(number))
    if not ordered:
        cells.sort(key=lambda cell: -noisy[cell])  # a stable sort
    parts = [cells]

    def weight(part):
        return sum(Fraction(max(noisy[cell], 0)) + Fraction(1, number) for cell in part)

    while len(parts) < min(8, number):
        large = [part for part in parts if len(part) > 1]
        heaviest = next(part for part in large if weight(part) == max(map(weight, large)))
        cuts = [(heaviest[:cut], heaviest[cut:]) for cut in range(1, len(heaviest))]
        uneven = [abs(weight(one) - weight(other)) for one, other in cuts]
        place = parts.index(heaviest)
        parts[place : place + 1] = cuts[uneven.index(min(uneven))]
    return [next(group for group, part in enumerate(parts) if cell in part) for cell in range(number)]


@given(
    st.one_of(st.lists(each, min_size=1, max_size=20) for each in (st.integers(0, 1), st.integers(-1000, 10**9))),
    st.booleans(),
)
def test_groups_are_halves_of_the_heaviest(noisy, ordered):
    """As the rule says in fractions; each group has a cell, and neighbours where the column is ordered."""
    found = groups_of(np.array(noisy), ordered=ordered).tolist()
    assert found == split(noisy, ordered)
    assert set(found) == set(range(min(8, len(noisy))))
    assert not ordered or found == sorted(found)


# Margins


def nearest(wanted, total):
    """The nearest numbers that are not negative and add up: the best over all sets of cells that are above zero."""
    found = []
    for size in range(1, len(wanted) + 1):
        for some in combinations(range(len(wanted)), size):
            each = np.zeros(len(wanted))
            each[list(some)] = wanted[list(some)] + (total - wanted[list(some)].sum()) / size
            if (each >= 0).all():
                found.append(each)
    return min(found, key=lambda each: ((each - wanted) ** 2).sum())


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=7), st.floats(0.01, 1000))
def test_projected_is_the_nearest(wanted, total):
    """In squares, of all that are not negative and add up."""
    found = projected(np.array(wanted), total)
    np.testing.assert_allclose(found, nearest(np.array(wanted), total), atol=1e-9 * (1 + total))


@given(seeds)
def test_margins_are_least_squares_of_all_that_is_known(seed):
    """All equations written out and solved; then projected, and no cell is impossible."""
    coins = np.random.default_rng(seed)
    size = int(coins.integers(1, 9)) if coins.random() < 0.5 else int(coins.integers(9, 12))
    groups = np.arange(size) if size <= 8 else coins.permutation(np.resize(np.arange(8), size))
    cells = [(coins.normal(50, 40, size), coins.uniform(1, 300)) for _ in range(coins.integers(1, 4))]
    sums = [(coins.normal(60, 40, groups.max() + 1), coins.uniform(1, 300)) for _ in range(coins.integers(0, 3))]
    people = int(coins.integers(1, 1000))
    below = (groups[None] == np.arange(groups.max() + 1)[:, None]).astype(float)
    equations = np.vstack([*(np.eye(size) / s2**0.5 for _, s2 in cells), *(below / s2**0.5 for _, s2 in sums)])
    solved = np.linalg.lstsq(equations, np.concatenate([y / s2**0.5 for y, s2 in (*cells, *sums)]), rcond=None)[0]
    found = settled(cells, sums, groups, people)
    assert found.sum() == pytest.approx(people)
    assert (found > 0).all()
    floored = np.maximum(nearest(solved, people) if size < 9 else projected(solved, people), FLOOR * people / size)
    np.testing.assert_allclose(found, floored / floored.sum() * people, rtol=1e-6, atol=1e-9 * people)


# Tables of two


def tables(coins, shape, low=0.1):
    return coins.uniform(low, 20, shape)


@given(seeds)
def test_raking_keeps_odds_and_reaches_both_margins(seed):
    """The last pass has the sums of columns exactly; odds ratios stay; with many passes rows are reached too."""
    coins = np.random.default_rng(seed)
    shape = tuple(coins.integers(1, 5, 2).tolist())
    table, people = tables(coins, shape), tables(coins, shape)
    rows, columns = people.sum(axis=1), people.sum(axis=0)
    found = raked(table, rows, columns)
    np.testing.assert_allclose(found.sum(axis=0), columns)
    factors = found / table
    np.testing.assert_allclose(factors * factors[0, 0], np.outer(factors[:, 0], factors[0]))
    np.testing.assert_allclose(raked(table, rows, columns, passes=2000).sum(axis=1), rows, rtol=1e-4)


@given(seeds)
def test_a_table_is_believed_as_far_as_it_strays_beyond_its_noise(seed):
    """Cell by cell as the formula has it; not at all where noise explains it, and no cell falls below its floor."""
    coins = np.random.default_rng(seed)
    shape = tuple(coins.integers(1, 5, 2).tolist())
    implied, variance = tables(coins, shape), coins.uniform(1, 100)
    counts = np.rint(implied + coins.normal(0, coins.uniform(0.1, 30), shape))
    found = shrunk(None, counts, variance, implied)
    excess = sum((counts[each] - implied[each]) ** 2 - variance for each in np.ndindex(shape))
    theta = max(0.0, excess / implied.sum())
    for each in np.ndindex(shape):
        believed = theta * implied[each] / (theta * implied[each] + variance)
        wanted = max(implied[each] + believed * (counts[each] - implied[each]), LEAST * implied[each])
        assert found.wanted(counts)[each] == pytest.approx(wanted)
    if excess <= 0:
        np.testing.assert_array_equal(found.wanted(counts), implied)


def swept(whole, wanted, sweeps):
    """Scaling over all combinations of cells: to each table in the order of the cliques, then to each margin."""
    law, tree = whole.law.copy(), whole.model.beliefs.junction
    margins = [each / PEOPLE for each in whole.model.margins]
    order = sorted(range(len(wanted)), key=lambda at: (tree.holder(whole.measured[at].columns), at))
    met = sorted({column for each in whole.measured for column in each.columns})
    for _ in range(sweeps):
        for at in order:
            chosen, place = whole.measured[at], [whole.place(*each) for each in levels_of(whole.measured[at])]
            sums = [
                np.bincount(own, weights=margins[column]) for column, own in zip(chosen.columns, place, strict=True)
            ]
            target = wanted[at] / PEOPLE
            for _ in range(4):
                target = target * (sums[0] / target.sum(axis=1))[:, None]
                target = target * (sums[1] / target.sum(axis=0))
            now = np.zeros(target.shape)
            gone = tuple(axis for axis in range(law.ndim) if axis not in chosen.columns)
            np.add.at(now, np.ix_(*place), law.sum(axis=gone))
            law = law * whole.on((target / now)[np.ix_(*place)], *chosen.columns)
        for column in met:
            now = law.sum(axis=tuple(axis for axis in range(law.ndim) if axis != column))
            values = whole.values[column]
            ratio = np.bincount(values, weights=margins[column]) / np.bincount(values, weights=now)
            law = law * whole.on(ratio[values], column)
    return law


@given(seeds, st.integers(1, 3))
def test_scaling_a_model_is_scaling_the_whole(seed, sweeps):
    """The fitted model's tables, and those that nothing measured, are those of the whole that was scaled so."""
    whole, coins = Whole(seed), np.random.default_rng(seed)
    assume(whole.measured)
    wanted = [tables(coins, found.shape) * PEOPLE / 100 for found in pair_tables(whole.model)]
    law = swept(whole, wanted, sweeps)
    fitted = scaled(whole.model, wanted, sweeps)
    belief = fitted.beliefs
    for clique, columns in enumerate(belief.junction.cliques):
        if len(columns) < 2:
            continue
        cells = law.sum(axis=tuple(axis for axis in range(law.ndim) if axis not in columns))
        expected = np.zeros(belief.belief(clique).shape)
        np.add.at(expected, np.ix_(*(whole.values[column] for column in columns)), cells)
        np.testing.assert_allclose(belief.belief(clique), expected, rtol=1e-7)
    again = type(fitted)(**{name: getattr(fitted, name) for name in ("columns", "people", "margins", "own", "pairs")})
    for one, other in zip(pair_tables(fitted), pair_tables(again), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)  # its factors are what it was scaled to


@given(seeds)
def test_room_for_one_more_table_changes_nothing(seed):
    """A model is widened by a table that nothing is known of: it says of all columns what it said."""
    whole, coins = Whole(seed), np.random.default_rng(seed)
    others = [each for each in whole.some_tables(coins) if each not in whole.measured]
    assume(others)
    chosen = others[int(coins.integers(len(others)))]
    wide = widened(whole.model, chosen)
    cells = np.zeros([whole.place(*each).max() + 1 for each in levels_of(chosen)])
    np.add.at(cells, np.ix_(*(whole.place(*each) for each in levels_of(chosen))), whole.over(*chosen.columns))
    np.testing.assert_allclose(pair_tables(wide)[-1], cells * PEOPLE, rtol=1e-9)


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "2"])
def test_the_variance_of_noise_is_that_of_its_law(epsilon):
    """Discrete Laplace, summed over whole numbers."""
    steps = np.arange(-20_000, 20_001)
    law = np.exp(-float(epsilon) * np.abs(steps))
    assert laplace_variance(Fraction(epsilon)) == pytest.approx(float((law * steps**2).sum() / law.sum()), rel=1e-6)
