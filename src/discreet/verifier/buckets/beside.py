"""Whether the fakes of a release are as the law of the draw has them: totals, balance, and how certain one can be.

Symbols: of one class, b buckets of S people and sigma fakes, p_x people with value x and m_x fakes; rho, c as in
    guarantee/certainty.py. Every value that people have has fakes in proportion to its people, rounded down or up, but
    one at least: rare values have one, and the others share what is left. Where there are fewer fakes than values, the
    most frequent have one each. That the slots which are fakes were drawn uniformly cannot be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.guarantee.certainty import certainty, odds_ratio

Held = Mapping[object, tuple[int, int]]  # by value: how often all buckets of a class hold it, and one at most


def broken_fakes(
    fakes: int,
    classes: Mapping[int, int],
    people: Mapping[int, Mapping[object, int]],
    held: Mapping[int, Held],
) -> str | None:
    """What is wrong with the stated people, beside what the buckets of each size hold; None where nothing is."""
    for size, buckets in classes.items():
        own, there = people[size], held[size]
        if set(own) != set(there):
            return f"buckets of {size}: the stated people have other values than the ST"
        if sum(own.values()) != size * buckets:
            return f"buckets of {size}: the stated people do not add up to their rows"
        made = {value: count - own[value] for value, (count, _) in there.items()}
        if min(made.values()) < 0 or sum(made.values()) != fakes * buckets:
            return f"buckets of {size}: beside the stated people there are not {fakes} fakes in each"
        if value := _unfair(own, made, fakes * buckets):
            return f"buckets of {size}: the fakes of {value[0]} are not in proportion to its people"
    return None


def _unfair(people: Mapping[object, int], made: Mapping[object, int], total: int) -> tuple[object] | None:
    """A value whose fakes are not what the rule gives it."""
    ordered = sorted(people, key=lambda value: people[value])
    if len(ordered) > total:
        least = min((people[value] for value in ordered if made[value]), default=0)
        wrong = (value for value in ordered if made[value] > 1 or (not made[value] and people[value] > least))
        return next(((value,) for value in wrong), None)
    left, rows = total, sum(people.values())
    for place, value in enumerate(ordered):
        if people[value] * left >= rows:
            shares = ((each, people[each] * left) for each in ordered[place:])
            return next(((each,) for each, share in shares if abs(made[each] * rows - share) >= rows), None)
        if made[value] != 1:
            return (value,)
        left, rows = left - 1, rows - people[value]
    return None


def certainty_of(
    fakes: int,
    people: Mapping[int, Mapping[object, int]],
    held: Mapping[int, Held],
    limits: Mapping[object, Fraction],
) -> Fraction:
    """The most that one who knows all others of a bucket, and the totals, can believe of a protected value."""
    found = Fraction(0)
    for size, there in held.items():
        own = people[size]
        odds = odds_ratio((own[value], count - own[value]) for value, (count, _) in there.items())
        most = max((most for value, (_, most) in there.items() if limits[value] < 1), default=0)
        found = max(found, certainty(min(most, 1 + fakes), 1 + fakes, odds))
    return found
