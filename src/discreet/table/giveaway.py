"""What a column, or a pair of them, gives away of the sensitive one: how often a row's value is guessed right from
other rows that are alike.

Symbols: n rows; a group has the rows with the same cell (or pair of cells); a and b are how often its most frequent and
    its second sensitive value occur in it.

A row is guessed from the *other* rows of its group (leave one out): the most frequent value among them. Without others
the guess is the most frequent value of the whole table. So a column that is different in every row is not blamed for
telling rows apart, and a code that fixes the value is found however many codes there are. A group of one value, or
nearly of one, is counted beyond what chance would give groups of its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Floats, Ints

# From here on a column counts as giving the sensitive one away, and a draft leaves it out:
HALF = (
    0.5  # of the rows that nobody could guess before are guessed right: then the column is a second copy of the secret
)
FIXED = 0.1  # of all rows stand in groups of one value, beyond chance, though that value is not what most people have
ONE_VALUE = 0.5  # of the people with one value do: a column may give one disease away and tell nothing of the others
ENOUGH_ROWS = 50  # below, no share says anything
ENOUGH_PEOPLE = 10  # with one value
PAIR_ROWS = 100_000  # by which columns are compared two by two
MOST_PAIRS = 300  # that are compared: all of 25 columns
_ADVICE = "take it out, unless everyone may know that of these people"
_COMMON = 0.5  # a value that most people have is no discovery
_NEARLY, _LARGE = 0.9, 10  # this share of a group of so many rows or more is as good as all of it
_EXPECTED = 200  # values for which chance is worked out, the most frequent; others are too rare to agree by chance
_DENSE = 1 << 22  # cells of a table that is counted whole
_LARGEST = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Giveaway:
    """How much is given away: shares of rows `guessed` right with and without the columns (`before`), the share `fixed`
    beyond chance, and the largest share `caught` of the people with one value.
    """

    guessed: float
    before: float
    fixed: float
    caught: float

    @property
    def gain(self) -> float:
        """Of the rows that were guessed wrong before, the share that is guessed right now."""
        return (self.guessed - self.before) / (1 - self.before) if self.before < 1 else 0.0

    @property
    def too_much(self) -> bool:
        return self.gain >= HALF or self.fixed >= FIXED or self.caught >= ONE_VALUE

    def words(self, sensitive: str, *, several: bool = False) -> str:
        """What a column, or `several`, give away, in names and numbers: no cell is in it."""
        them, give, fix = ("them", "they give", "they fix") if several else ("it", "it gives", "it fixes")
        if self.gain >= HALF:
            right = f"{100 * self.guessed:.0f} % of the rows are guessed right"
            return f"{give} {sensitive} away: with {them} {right}, without {100 * self.before:.0f} %"
        if self.fixed >= FIXED:
            return f"{fix} {sensitive} in {100 * self.fixed:.0f} % of the rows"
        return f"{give} one value of {sensitive} away: that of {100 * self.caught:.0f} % of the people who have it"


def giveaway(cells: Ints, values: Ints, unknown: Iterable[int] = ()) -> Giveaway | None:
    """What cells (numbers, equal where cells are) tell of sensitive values (numbers from 0); None for too few rows.

    Values that are `unknown`, such as a missing cell, are no secret: that they can be told counts for nothing.
    """
    rows = len(values)
    if rows < ENOUGH_ROWS:
        return None
    own = np.bincount(values)
    group, value, count = _counted(cells, values, len(own))
    total, a, b, first = _tops(group, value, count)
    common = int(own.argmax())
    alone = total == 1
    right = np.where(a - 1 > b, a, np.where(a - 1 == b, a / 2, 0.0))
    guessed = float(right[~alone].sum() + np.count_nonzero(first[alone] == common)) / rows
    agreed = ~alone & ((a == total) | ((a >= _NEARLY * total) & (total >= _LARGE)))
    fixed = np.bincount(first[agreed], weights=a[agreed], minlength=len(own)) - _by_chance(own, total[~alone])
    secret = (own <= _COMMON * rows) & (own > 0)
    secret[[each for each in unknown if each < len(own)]] = False
    people = secret & (own >= ENOUGH_PEOPLE)
    caught = (fixed[people] / own[people]).max(initial=0.0)
    return Giveaway(
        guessed=guessed,
        before=float(own.max()) / rows,
        fixed=max(0.0, float(fixed[secret].sum()) / rows),
        caught=float(caught),
    )


def together(one: Ints, two: Ints) -> Ints:
    """Two columns as one: equal where both cells are."""
    width = int(two.max(initial=0)) + 1
    return one.astype(np.int64) * width + two


def numbered(cells: NDArray[Any]) -> Ints:
    """Any numbers as numbers from 0, equal where they were."""
    return np.unique(cells, return_inverse=True)[1].astype(np.int64)


def _counted(cells: Ints, values: Ints, width: int) -> tuple[Ints, Ints, Ints]:
    """How often each cell goes with each value: cell, value and count, by cell and then by value."""
    most = int(cells.max(initial=0)) + 1
    if most * width > _LARGEST:
        cells = numbered(cells)
    joint = cells.astype(np.int64) * width + values
    if most * width <= _DENSE:
        dense = np.bincount(joint)
        found = np.flatnonzero(dense)
        return found // width, found % width, dense[found]
    found, count = np.unique(joint, return_counts=True)
    return found // width, found % width, count


def _tops(group: Ints, value: Ints, count: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """For each group its rows, how often its first and second value occur, and which the first is."""
    order = np.lexsort((count, group))
    group, value, count = group[order], value[order], count[order]
    last = np.flatnonzero(np.append(group[1:] != group[:-1], True))
    starts = np.insert(last[:-1] + 1, 0, 0)
    second = np.where(last > starts, count[np.maximum(last - 1, 0)], 0)
    return np.add.reduceat(count, starts), count[last], second, value[last]


def _by_chance(own: Ints, sizes: Ints) -> Floats:
    """For each value, how many rows would stand in groups of that value alone if groups of these sizes were drawn."""
    expected = np.zeros(len(own))
    size, groups = np.unique(sizes, return_counts=True)
    frequent = np.argsort(own)[-_EXPECTED:]
    share: Floats = own[frequent] / own.sum()
    expected[frequent] = (share[:, None] ** size * (groups * size)).sum(axis=1)
    return expected


def given_away(columns: Mapping[str, Ints], sensitive: str, secret: Ints, unknown: Sequence[int]) -> dict[str, str]:
    """What to think of each column that gives the sensitive one away."""
    found = {name: giveaway(column, secret, unknown) for name, column in columns.items()}
    return {
        name: f"column {name}: {told.words(sensitive)}; {_ADVICE}"
        for name, told in found.items()
        if told is not None and told.too_much
    }


def given_together(columns: Mapping[str, Ints], sensitive: str, secret: Ints, unknown: Sequence[int]) -> Iterator[str]:
    """The same of pairs of columns."""
    some = _rows_for_pairs(len(secret))
    few = [(name, numbered(column[some])) for name, column in columns.items()]
    for number, ((one, first), (two, second)) in enumerate(combinations(few, 2)):
        if number == MOST_PAIRS:
            yield f"only {MOST_PAIRS} pairs of columns were compared; publish fewer columns"
            return
        found = giveaway(together(first, second), secret[some], unknown)
        if found is not None and found.too_much:
            told = found.words(sensitive, several=True)
            yield f"columns {one} and {two}: together {told}; {_ADVICE.replace('it', 'one of them', 1)}"


def _rows_for_pairs(rows: int) -> Ints:
    if rows <= PAIR_ROWS:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, PAIR_ROWS, replace=False))
