"""Whether the fakes of a release are as the law of the draw has them: totals, balance, and how certain one can be.

Symbols: of one class, b buckets of S people and sigma fakes, p_x people with value x and m_x fakes; rho the largest of
    the odds p_x / m_x over the smallest; c how often a bucket counts a protected value at most, 1 + sigma at most.
    Every value that people have has fakes in proportion to its people, rounded down or up, but one at least: rare
    values have one, and the others share what is left. Where there are fewer fakes than values, the most frequent have
    one each. That the slots which are fakes were drawn uniformly cannot be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.verifier.buckets.held import entries
from discreet.verifier.buckets.stated import Stated, in_order, stated
from discreet.verifier.files import Files

Held = Mapping[object, tuple[int, int]]  # by value: how often all buckets of a class hold it, and one at most


def broken_fakes(files: Files) -> str | None:
    """What is wrong with the fakes, where there are any: in buckets of each size in proportion to the stated people,
    and the stated certainty what follows from both.
    """
    own = files.once(stated)
    if not own.fakes:
        return None
    if not in_order(files.schema.domains[files.schema.sensitive], [value for value, _ in own.people or ()]):
        return "the values of the stated people must be in the order of their domain, each once"
    people, held = _people(own), _held(files)
    for size, buckets in own.classes:
        if broken := unbalanced(own.fakes * buckets, size * buckets, people[size], held.get(size, {})):
            return f"buckets of {size}: {broken}"
    beliefs = (belief(own.fakes, people[size], held[size], own.limits) for size, _ in own.classes)
    return None if own.certainty == max(beliefs) else "the stated certainty is not that of the buckets"


def _people(own: Stated) -> dict[int, dict[object, int]]:
    """By size and value, how many people are stated."""
    found: dict[int, dict[object, int]] = {size: {} for size, _ in own.classes}
    for value, numbers in own.people or ():
        for (size, _), number in zip(own.classes, numbers, strict=True):
            if number:
                found[size][value] = number
    return found


def _held(files: Files) -> dict[int, dict[object, tuple[int, int]]]:
    """By size and value, how often the buckets of that size hold it, and one of them at most."""
    found: dict[int, dict[object, tuple[int, int]]] = {}
    for each in files.once(entries):
        there = found.setdefault(each.size, {})
        total, most = there.get(each.value, (0, 0))
        there[each.value] = total + each.often * each.buckets, max(most, each.often)
    return found


def unbalanced(fakes: int, rows: int, people: Mapping[object, int], held: Held) -> str | None:
    """What is wrong with the people who are stated of one class, beside what its buckets hold together."""
    if set(people) != set(held):
        return "the stated people have other values than the ST"
    if sum(people.values()) != rows:
        return "the stated people do not add up to their rows"
    made = {value: count - people[value] for value, (count, _) in held.items()}
    if min(made.values()) < 0 or sum(made.values()) != fakes:
        return f"beside the stated people there are not {fakes:,} fakes"
    if value := _unfair(people, made, fakes):
        return f"the fakes of {value[0]} are not in proportion to its people"
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


def belief(fakes: int, people: Mapping[object, int], held: Held, limits: Mapping[object, Fraction]) -> Fraction:
    """The most that one who knows all others of a bucket, and the totals, can believe of a protected value: c of its
    slots weigh rho each, and the 1 + sigma - c others one each.
    """
    most = min(1 + fakes, max((count for value, (_, count) in held.items() if limits[value] < 1), default=0))
    if not most:
        return Fraction(0)
    made = {value: count - people[value] for value, (count, _) in held.items()}
    if not all(made.values()):
        return Fraction(1)
    odds = sorted(Fraction(people[value], number) for value, number in made.items())
    return 1 / (1 + Fraction(1 + fakes - most, most) * odds[0] / odds[-1])
