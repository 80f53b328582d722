"""The small tables of the bucket papers: what a setting loses, whether it is valid, and the best there is.

Paper: [WWFW] Remark 2, Ex. 3 to 5, section 6; [W14] Ex. 3 to 13.
"""

from __future__ import annotations

import numpy as np

from discreet.evaluate.reproduce.item import Cell
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.caps import Classes, caps_of, most_buckets
from discreet.mechanism.buckets.planning.flow import fill, route
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets

Counts = dict[object, int]


def _table(*counts: int) -> Counts:
    return {f"x{i}": count for i, count in enumerate(counts, start=1)}


EXAMPLE_5 = _table(2, 2, 2, 4, 4, 4, 4, 7, 7)
EXAMPLE_8 = _table(*[1] * 8, *[6] * 4, 9, 9)
EXAMPLE_10 = _table(4, 4, 4, 8, 8)
EXAMPLE_13 = _table(2, 2, 2, 2, 4, 4, 4, 4, 7, 8)
TOLERANCES = {  # theta and floor of f' = theta f + floor
    "5": (EXAMPLE_5, Tolerance(theta=3, floor="0.02")),
    "8": (EXAMPLE_8, Tolerance(theta=2, floor="0.05")),
    "10": (EXAMPLE_10, Tolerance(theta=2)),
    "13": (EXAMPLE_13, Tolerance(theta=3, floor="0.02")),
}
WOMEN = ("Flu", "HIV", "HIV", "Flu")  # of [W14] Table 2.1
VALID, NOT_VALID = "valid", "not valid"


def best(example: str, sizes: str, max_size: int = 50) -> int:
    """The least loss on an example, proved."""
    counts, tolerance = TOLERANCES[example]
    return plan_buckets(counts, tolerance.of(counts), sizes=sizes, max_size=max_size, gap=0, seconds=30).loss


def unplaced(example: str, classes: Classes) -> int:
    """How many records of an example find no place in a setting, whatever is tried: 0 where it is valid."""
    counts, tolerance = TOLERANCES[example]
    sizes, buckets = (np.array(column, dtype=np.int64) for column in zip(*classes, strict=True))
    held = np.array(list(counts.values()), dtype=np.int64)
    caps = caps_of(list(tolerance.of(counts).values()), sizes)
    return int(held.sum() - fill(caps, held, sizes, buckets).records.sum())


def loss_if_valid(example: str, classes: Classes) -> Cell:
    """The loss of a setting, or that it is none."""
    return NOT_VALID if unplaced(example, classes) else loss_of(classes)


def top_down(*, reverse: bool) -> int:
    """The heuristic's loss on Example 13, with records moved in the order of the list or in the reverse."""
    counts, tolerance = TOLERANCES["13"]
    held, sizes = np.array(list(counts.values()), dtype=np.int64), np.arange(2, 51)
    caps = caps_of(list(tolerance.of(counts).values()), sizes)
    way = slice(None, None, -1 if reverse else 1)
    classes = best_top_down(caps[way], held[way], sizes, order="listed")
    return 0 if classes is None else loss_of(classes)


def three_classes() -> int:
    """How many of 70 records three classes of 20, 20 and 30 can take in [WWFW] Ex. 5 = [W14] Ex. 12."""
    most = np.array([[0, 0, 5]] * 10 + [[20, 20, 20]])
    return int(route(most, np.array([5] * 10 + [20]), np.array([20, 20, 30])).records.sum())


def pairs(rows: int, small: int, large: int) -> str:
    """All numbers of buckets of two sizes that hold so many records together."""
    found = [((rows - b * large) // small, b) for b in range(rows // large + 1) if (rows - b * large) % small == 0]
    return ", ".join(f"{b1} {b2}" for b1, b2 in found)


def settings_of_two(rows: int, sizes: range) -> int:
    """How many settings of two sizes hold so many records, empty classes allowed."""
    found = 0
    for small in sizes:
        for large in range(small + 1, sizes.stop):
            found += int(((rows - np.arange(0, rows + 1, large)) % small == 0).sum())
    return found


def most_of_two() -> int:
    """The largest number of buckets of two that Example 10 can fill."""
    counts, tolerance = TOLERANCES["10"]
    held, sizes = np.array(list(counts.values()), dtype=np.int64), np.array([2])
    return int(most_buckets(caps_of(list(tolerance.of(counts).values()), sizes), held, sizes)[0])


def validity(example: str, classes: Classes) -> str:
    """Whether a setting is valid, in words."""
    return NOT_VALID if unplaced(example, classes) else VALID


def one_size_at_three_tenths() -> int:
    """The only size that works where every f' is 0.3 and the counts are 30, 30, 20 and 20."""
    counts = _table(30, 30, 20, 20)
    ((size, _),) = plan_buckets(counts, dict.fromkeys(counts, "0.3"), sizes="two").classes
    return size
