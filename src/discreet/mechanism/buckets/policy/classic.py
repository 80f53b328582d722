"""Which classic notion a tolerance is: said where it is exactly that one, and of which values.

Paper: [W14] section 2.3; [WWFW] Remark 1 and section 3.2.
Symbols: f' = min(ceiling, theta f + floor). With theta 0 all f' are the same 1/l: l-diversity in the share form,
    where l is one over the largest share. With floor 0 and theta 1 + beta a share is at most (1 + beta) f: basic
    beta-likeness; cutting f' at 1 takes nothing away, for no share is larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from discreet.ground.exact import exact
from discreet.guarantee.tolerance import Tolerance


def classic_notes(tolerance: Tolerance, values: int) -> Iterator[str]:
    """What a tolerance is called elsewhere; `values` is how many the sensitive column may have."""
    theta, floor, ceiling = (exact("tolerance", each) for each in (tolerance.theta, tolerance.floor, tolerance.ceiling))
    own = [exact("tolerance", each) for each in tolerance.values.values()]
    rest = len(own) < values  # whether some value has none of its own
    alike = not (rest and theta)  # then tolerances do not hang on shares
    limits = {*own, *([min(ceiling, floor) if alike else ceiling] if rest else [])} - {Fraction(0)}  # no value has 0
    if limits and max(limits) < 1:
        yield _diversity(max(limits), same=alike and len(limits) == 1)
    if rest and theta > 1 and not floor:
        yield _likeness(theta - 1, ceiling, others=bool(own))


def _diversity(largest: Fraction, *, same: bool) -> str:
    verb, more = ("is", "") if same else ("includes", "; it may be stricter for some values")
    return (
        f"this tolerance {verb} l-diversity in the share form with l = {1 / largest}: no value is more than {largest} "
        f"of a bucket{more}"
    )


def _likeness(beta: Fraction, ceiling: Fraction, *, others: bool) -> str:
    whom = " of all values but those with a tolerance of their own" if others else ""
    verb = "is" if ceiling == 1 else "includes"
    cut = "" if ceiling == 1 else ", and its ceiling cuts off larger shares"
    return (
        f"this tolerance {verb} basic beta-likeness with beta = {beta}{whom}: no share of a bucket is more "
        f"than {1 + beta} times the value's share of the table{cut}"
    )
