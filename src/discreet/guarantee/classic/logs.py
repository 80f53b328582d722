"""Products of powers compared exactly: is b_1^e_1 b_2^e_2 ... above, at or below 1? No float decides.

Decimals with more and more digits decide where the two differ; whether they do is known before, from factors that have
no divisor in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd

_DIGITS = 50


def sign_of_powers(powers: Mapping[int, int]) -> int:
    """1, 0 or -1: whether the product of all b^e is above, at or below 1; every b is above 0."""
    left = {base: power for base, power in powers.items() if power and base != 1}
    if _is_one(left):
        return 0
    digits = _DIGITS
    while True:
        found = sum_of_logs(left, digits)
        beyond = Decimal(10) ** (8 - digits) * sum(abs(power) * base.bit_length() for base, power in left.items())
        if abs(found) > beyond:
            return 1 if found > 0 else -1
        digits *= 2


def sum_of_logs(powers: Mapping[int, int], digits: int = _DIGITS) -> Decimal:
    """sum e ln b, reckoned with so many digits."""
    with localcontext() as context:
        context.prec = digits
        return sum((power * Decimal(base).ln() for base, power in powers.items()), Decimal(0))


def exceeds_log(number: Fraction, share: Fraction) -> bool:
    """Whether a number is above -ln of a share: exactly, for e to a fraction is no fraction, but at 0."""
    if number <= 0 or share == 1:
        return number > 0
    digits = _DIGITS
    while True:
        with localcontext() as context:
            context.prec = digits
            exact = Decimal(number.numerator) / number.denominator
            found = exact + Decimal(share.numerator).ln() - Decimal(share.denominator).ln()
            beyond = Decimal(10) ** (8 - digits) * (1 + exact + share.denominator.bit_length())
            if abs(found) > beyond:
                return found > 0
        digits *= 2


def _is_one(powers: Mapping[int, int]) -> bool:
    """Whether the product is 1: split until no two bases share a divisor; then every power must be 0."""
    done: dict[int, int] = {}
    waiting = dict(powers)
    while waiting:
        base, power = waiting.popitem()
        shares = next((other for other in done if gcd(base, other) > 1), None)
        if shares is None:
            done[base] = power
            continue
        common, own = gcd(base, shares), done.pop(shares)
        for each, exponent in ((base // common, power), (shares // common, own), (common, power + own)):
            if each > 1 and exponent:
                waiting[each] = waiting.get(each, 0) + exponent
    return not any(done.values())
