"""Ranges of one width, aligned to its multiples: the same width gives the same ranges for any domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def aligned(values: range, widths: Sequence[int], text: Callable[[int], str]) -> list[tuple[str, ...]]:
    """The paths, below the root, of whole numbers that are multiples of their step: a level for each width, which is
    such a multiple too.

    `text` writes a number; a range is the text of its first and of its last number.
    """
    paths: list[tuple[str, ...]] = []
    narrowest, step = widths[0], values.step
    for start in range(values[0] - values[0] % narrowest, values[-1] + 1, narrowest):
        starts = [start - start % width for width in widths]
        above = [f"{text(one)}-{text(one + width - step)}" for one, width in zip(starts, widths, strict=True)]
        members = range(max(start, values[0]), min(start + narrowest - step, values[-1]) + 1, step)
        paths.extend((text(value), *above) for value in members)
    return paths
