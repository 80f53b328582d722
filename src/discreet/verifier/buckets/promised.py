"""Whether the promised tolerances are those that the stated parameters give, and are kept in every bucket.

Symbols: c_x of n rows have value x; f'_x = min(ceiling, theta c_x / n + floor), or as named. Everything is compared in
    whole numbers and fractions.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.schema.domain import key_of
from discreet.verifier.buckets.held import counts, entries
from discreet.verifier.buckets.stated import in_order, stated
from discreet.verifier.files import Files


def broken_tolerance(files: Files) -> str | None:
    """The first bucket in which a value has more of the rows that are left beside those known than its tolerance."""
    own = files.once(stated)
    for each in sorted(files.once(entries), key=lambda each: each.first):
        limit = own.limits.get(each.value)
        if limit is None:
            return f"bucket {each.first}: {each.value} has no tolerance in the promise"
        if not within(limit, each.often, each.size - own.known):
            of = f"{each.size} records beside {own.known} known" if own.known else f"{each.size} records"
            return f"bucket {each.first}: {each.value} is {each.often} of {of}, more than its tolerance {limit} allows"
    return None


def within(limit: Fraction, often: int, left: int) -> bool:
    """Whether a value that occurs so often keeps its tolerance among the rows that are left beside those known."""
    return limit == 1 or often * limit.denominator <= limit.numerator * left


def broken_promise(files: Files) -> str | None:
    """What is wrong with the promised tolerances, and with who is stated to have none."""
    own, held = files.once(stated), files.once(counts)
    domain = files.schema.domains[files.schema.sensitive]
    if not in_order(domain, [value for value, _ in own.tolerance]):
        return "the values of the promised tolerances must be in the order of their domain, each once"
    if not set(own.rule.named) <= {key_of(value) for value, _ in own.tolerance}:
        return "the mechanism must name values of the sensitive domain only"
    given = (own.rule.gives(limit, value, held.get(value, 0), own.rows) for value, limit in own.tolerance)
    floor, theta = own.rule.floor > 0, own.rule.theta > 0
    promised = len(domain) if floor else sum(key_of(x) in own.rule.named or (theta and x in held) for x in domain)
    if not all(given) or len(own.tolerance) != promised:
        return "the promised tolerances are not those that the stated parameters give"
    unprotected = tuple((value, held.get(value, 0)) for value, limit in own.tolerance if limit == 1)
    if own.unprotected is not None and (
        own.unprotected != unprotected or not in_order(domain, [value for value, _ in own.unprotected])
    ):
        return "the values with tolerance 1, or how many people have them, are not those that are stated"
    return None
