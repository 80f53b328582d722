"""How far an interval reaches where an estimate came out impossible: a normal likelihood, cut to what is possible.

Flat on the possible counts before anything was seen, and normal around the estimate: what is left of that law inside
the bounds has its highest point at the nearest bound, and an interval from there holds `confidence` of it. All lengths
are in standard errors. Far outside, both the law and what is left of it are too small for a float, but their ratio is
not: Mills' ratio m(x) = P(Z > x) / phi(x) is smooth everywhere.

Symbols: d how far outside the estimate lies, w how far apart the bounds are, t how far the interval reaches inside:
    P(d < Z < d + t) = confidence P(d < Z < d + w).
"""

from __future__ import annotations

import math

_SERIES = 30.0  # from here on four terms are right to 1e-9, and exp(x^2 / 2) would soon overflow
_ROUNDS = 50
_CLOSE = 1e-13


def reach(outside: float, apart: float, confidence: float) -> float:
    """How far from the nearest bound the interval of an estimate `outside` of the bounds goes into them: t.

    By Newton's method: the logarithm of the ratio is concave, so that every step stays on one side of it.
    """
    beyond = math.exp(_log_left(outside, apart)) if math.isfinite(apart) else 0.0
    target = math.log1p(-confidence * (1 - beyond))
    found = 0.0
    for _ in range(_ROUNDS):
        step = (_log_left(outside, found) - target) * mills(outside + found)
        found += step
        if abs(step) <= _CLOSE * found:
            break
    return min(found, apart)


def _log_left(outside: float, further: float) -> float:
    """log P(Z > d + t) - log P(Z > d)."""
    moved = -further * (outside + further / 2)
    return moved + math.log(mills(outside + further) / mills(outside))


def mills(x: float) -> float:
    """P(Z > x) / phi(x), for x of 0 or more."""
    if x < _SERIES:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))
    square = x * x
    return (1 - (1 - (3 - 15 / square) / square) / square) / x
