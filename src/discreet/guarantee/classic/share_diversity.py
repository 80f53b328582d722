"""l-diversity in the share form: no value is more than 1/l of a class.

Paper: [W14] Definition 3, after Xiao and Tao; [WWFW] Remark 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from discreet.errors import TableError
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.measured import Measured, largest, percent, rows, worst_place


def share_diversity(classes: Classes) -> Measured:
    """The largest l, which need not be whole: one over the largest share of a value in a class.

    Of a class with fakes it is the share of its people, as if all of the value's rows were theirs.
    """
    people = classes.people[classes.owner]
    counts = np.minimum(classes.count, people)
    entry = largest(counts, people)
    place, count = int(classes.owner[entry]), int(counts[entry])
    size = int(classes.people[place])
    return Measured(
        notion="l-diversity by shares",
        symbol="l",
        number=Fraction(size, count),
        keeps="at least",
        count=count,
        why=f"one value has {count:,} of {rows(size)}, {percent(Fraction(count, size))}",
        **worst_place(classes, place),
    )


def eligible_diversity(counts: Iterable[int]) -> Fraction:
    """The largest l that classes of any sizes can have, by how often each value occurs: one class of all rows has it.

    Paper: [W14] section 2.3.1, the eligibility condition.
    """
    found = [int(count) for count in np.asarray(list(counts)).tolist()]
    if not any(found) or min(found) < 0:
        raise TableError("counts must be whole numbers from 0 on, and one of them above it")
    return Fraction(sum(found), max(found))
