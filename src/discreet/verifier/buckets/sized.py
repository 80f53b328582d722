"""Whether the sizes of buckets are those of the stated plan: as few of them, and as large, as it may have.

Anatomy leaves no choice: n rows are in n // l buckets, of which n mod l have l + 1 rows and all others l. The same
holds window by window where buckets are near.
"""

from __future__ import annotations

from discreet.verifier.buckets.held import Classes, classes
from discreet.verifier.buckets.stated import Stated, stated
from discreet.verifier.files import Files


def broken_sizes(files: Files) -> str | None:
    """What is wrong with the sizes of the buckets, of which there are any."""
    own, parts = files.once(stated), files.once(classes)
    found: dict[int, int] = {}
    for part in parts.values():
        for size, buckets in part:
            found[size] = found.get(size, 0) + buckets
    if own.classes != tuple(sorted(found.items())):
        return "the sizes of the buckets are not the declared classes, the smallest first"
    if not own.least <= min(found) <= max(found) <= own.largest:
        return "the sizes of the buckets are not between those that the mechanism states"
    if own.loss != sum(buckets * size * size for size, buckets in found.items()) - 2 * own.rows + own.buckets:
        return "the declared loss is not that of the buckets"
    return next(filter(None, (_unplanned(own, part) for part in parts.values())), None)


def _unplanned(own: Stated, found: Classes) -> str | None:
    """What no plan of the stated kind does with one window, or with a table that has none."""
    if own.diversity is None:
        if len(found) > own.most_sizes:
            return f"the buckets have {len(found)} sizes, and the mechanism states {own.most_sizes} at most"
        return None
    if are_diverse(own.diversity, found):
        return None
    return f"there are not as many buckets of {own.diversity} rows as Anatomy makes of so many"


def are_diverse(l: int, found: Classes) -> bool:  # noqa: E741 - the paper's name
    """Whether Anatomy makes these classes of their rows: as many buckets as there can be."""
    rows, buckets = sum(size * number for size, number in found), sum(number for _, number in found)
    larger = dict(found).get(l + 1, 0)
    return {size for size, _ in found} <= {l, l + 1} and (larger, buckets) == (rows % l, rows // l)
