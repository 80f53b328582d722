"""Which columns tell the people of a table apart, judged by a sample of its rows.

In a sample fewer rows are alike than in the whole table: of columns that do not even differ there, none will do. The
other way round the sample only suggests; whoever asks looks at all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 0.5  # of the rows must differ from all others
Column = NDArray[np.integer[Any]]


def candidates(sample: Mapping[str, Column], order: Sequence[str], step: int) -> Iterator[tuple[str, ...]]:
    """Sets of columns that may tell most rows apart, the smallest first; every `step`-th row is in the sample.

    Columns come in the order in which they should be taken; then those that are not needed are left out again.
    """
    number = next((each for each in range(1, len(order) + 1) if _may(sample, order[:each], step)), None)
    if number is None:
        return
    needed = list(order[:number])
    for name in reversed(order[:number]):
        fewer = [each for each in needed if each != name]
        if fewer and _may(sample, fewer, step):
            needed = fewer
    yield tuple(needed)
    for each in range(number, len(order) + 1):
        if list(order[:each]) != needed:
            yield tuple(order[:each])


def _may(sample: Mapping[str, Column], columns: Sequence[str], step: int) -> bool:
    """Whether most rows may differ in these columns: the chance that a row has its like grows with the rows, at most
    in proportion.
    """
    group = np.zeros(len(sample[columns[0]]), dtype=np.int64)
    counts = np.zeros(0, dtype=np.int64)
    for name in columns:
        values, codes = np.unique(sample[name], return_inverse=True)
        _, group, counts = np.unique(group * len(values) + codes, return_inverse=True, return_counts=True)
    alike = 1 - int((counts == 1).sum()) / max(1, len(group))
    return alike <= min(MOST, 2 * MOST / step)
