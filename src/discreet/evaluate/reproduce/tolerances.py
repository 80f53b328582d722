"""The tolerances of the bucket papers' experiments, and the planners that are compared on them."""

from __future__ import annotations

from fractions import Fraction

FLOOR = Fraction(2, 100)
PLANS = (("two", "TwoSize"), ("multi", "MultiSize"), ("optimal", "Optimal"))
