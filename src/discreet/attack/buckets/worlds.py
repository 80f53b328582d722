"""Every world that two bucket releases leave open for a few people, and how probable it makes each value: exact.

A world gives each person who was found in both releases a value, so that no bucket of either has more people with a
value than it has records of it. The rest of a bucket may be anybody. A world weighs as many ways as there are to put
its people to records of both releases, over what each value was held for before. Fakes are among the records that
nobody of the world has.

Symbols: c_gx records of value x in bucket g, k_gx people of a world in g with x, p_x the share of x before. A world
    weighs prod over buckets g of both releases and values x of c_gx! / (c_gx - k_gx)!, and prod over people of 1 / p_x.
Departs: exact for people who were drawn alike and independently from p, given all that both releases show; and for one
    table whose people are all found in both, whatever p is, for then all worlds weigh the same. For one person alone it
    is the product form, c1_x c2_x / p_x.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Held = Mapping[int, Mapping[int, int]]  # of some buckets: how many records of each value
_Left = tuple[int, ...]  # records of each bucket and value that nobody has yet
_Way = tuple[int, int, int]  # a value, and where its records stand among those left, for either release


@dataclass(frozen=True, kw_only=True)
class Worlds:
    """How many worlds there are, and for each person how probable each value is; nothing where there is no world."""

    number: int
    beliefs: tuple[dict[int, Fraction], ...]


def worlds(people: Sequence[tuple[int, int]], first: Held, second: Held, prior: Mapping[int, Fraction]) -> Worlds:
    """All worlds of some people, of whom each is in a bucket of the first release and in one of the second."""
    records = [(side, g, x) for side, held in enumerate((first, second)) for g in held for x in held[g]]
    place = {record: at for at, record in enumerate(records)}
    whole = math.lcm(*(share.numerator for share in prior.values()))
    rarity = {x: int(whole / share) for x, share in prior.items()}  # in whole numbers, which are faster
    ways = [[(x, place[0, g, x], place[1, h, x]) for x in first[g] if x in second[h]] for g, h in people]
    start = tuple((first, second)[side][g][x] for side, g, x in records)

    number, ahead = Counter({start: 1}), [Counter({start: 1})]
    for some in ways:
        number = _onward(number, some)
        ahead.append(_onward(ahead[-1], some, rarity))
    behind = Counter(dict.fromkeys(ahead[-1], 1))
    found: list[dict[int, Fraction]] = []
    for some, before in zip(reversed(ways), reversed(ahead[:-1]), strict=True):
        values, behind = _back(before, behind, some, rarity)
        sum_of_all = sum(values.values())
        found.append({x: Fraction(weight, sum_of_all) for x, weight in values.items()})
    return Worlds(number=sum(number.values()), beliefs=tuple(reversed(found)))


def _steps(left: _Left, ways: Sequence[_Way]) -> list[tuple[int, int, _Left]]:
    """The values that a person may have, out of how many pairs of records, and what is left then."""
    found = []
    for x, one, two in ways:
        if left[one] and left[two]:
            then = list(left)
            then[one] -= 1
            then[two] -= 1
            found.append((x, left[one] * left[two], tuple(then)))
    return found


def _onward(before: Counter[_Left], ways: Sequence[_Way], rarity: Mapping[int, int] | None = None) -> Counter[_Left]:
    """What is left after one more person: the weight of all ways to it, or without rarity the number of worlds."""
    after: Counter[_Left] = Counter()
    for left, weight in before.items():
        for x, pairs, then in _steps(left, ways):
            after[then] += weight * pairs * rarity[x] if rarity else weight
    return after


def _back(
    before: Counter[_Left], behind: Counter[_Left], ways: Sequence[_Way], rarity: Mapping[int, int]
) -> tuple[Counter[int], Counter[_Left]]:
    """The weight of each value of a person, over all worlds, and of all ways on from each state before this person."""
    values: Counter[int] = Counter()
    onward: Counter[_Left] = Counter()
    for left, weight in before.items():
        for x, pairs, then in _steps(left, ways):
            if rest := behind[then]:
                onward[left] += pairs * rarity[x] * rest
                values[x] += weight * pairs * rarity[x] * rest
    return values, onward
