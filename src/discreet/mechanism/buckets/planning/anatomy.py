"""Anatomy's bucket sizes, and which l stands in for tolerances.

Paper: [WWFW] Remark 1 and section 7.1, after Xiao and Tao's Anatomy.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.mechanism.buckets.planning.caps import Classes, smallest_size


def anatomy_classes(rows: int, l: int) -> Classes | None:  # noqa: E741 - the paper's name
    """The sizes that Anatomy gives, eligible or not: for the papers' curves. None where rows are left over."""
    buckets, larger = divmod(rows, l)
    if larger > buckets:
        return None
    return tuple((size, number) for size, number in ((l, buckets - larger), (l + 1, larger)) if number)


def modelling_l(tolerance: Mapping[object, Fraction]) -> int:
    """The l that keeps every tolerance: ceil(1 / min f').  # [WWFW] Remark 1"""
    return max(map(smallest_size, tolerance.values()))


def why_not_anatomy(counts: Mapping[object, int], tolerance: Mapping[object, Fraction]) -> str | None:
    """Why l-diversity cannot stand in for these tolerances, in one sentence; None where it can.  # [WWFW] Remark 1"""
    occurring = {value: int(count) for value, count in counts.items() if count}
    rows, wanted = sum(occurring.values()), modelling_l({value: tolerance[value] for value in occurring})
    value, most = max(occurring.items(), key=lambda each: each[1])
    if most * wanted <= rows:
        return None
    return (
        f"l-diversity keeps these tolerances only with l = {wanted}, and then no value may be more than "
        f"{1 / wanted:.2%} of the rows, but {value} is {most / rows:.2%}"
    )
