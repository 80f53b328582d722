"""Fakes: values that nobody has, beside those of a bucket's people, so that whoever knows all others stays unsure.

Paper: [WWFW] section 6.
Departs: the paper adds values drawn at random, and those stand out, for people's values are not equally frequent. Real
    and fake are exchangeable, given what is published, if and only if the pair could be made by drawing all slots first
    and then a uniform choice of sigma in every bucket as fakes. So in every class the fakes of a value are in
    proportion to its people (`balanced`), people and fakes are composed into buckets together, and then it is drawn
    which of each bucket's slots are fakes, uniformly among all choices with these totals (flags.py). Swaps stay within
    a class, so that its people stay the planned ones.
Symbols: v_x people and m_x fakes with value x in a class of b buckets of S people and sigma fakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.errors import Infeasible
from discreet.ground.arrays import Bools, Ints
from discreet.ground.progress import Tell
from discreet.guarantee.certainty import class_certainty
from discreet.mechanism.buckets.making.compose import Counts, Ids, compose, meetings
from discreet.mechanism.buckets.making.flags import drawn_flags
from discreet.mechanism.buckets.making.free import compose_freely
from discreet.mechanism.buckets.planning.caps import Classes, Defence, caps_of
from discreet.series.coins import Coins

_TRIES = 200  # compositions of a class, of which nearly every one has a choice of fakes with the right totals


def balanced(people: Ints, size: int, fakes: int, coins: np.random.Generator) -> Ints:
    """m_x: in proportion to the people of each value, rounded at random; one at least for each value that people have.

    What rare values get more than their share is taken from all others in proportion. Where there are fewer fakes than
    values, the most frequent have one each, ties by coins.
    """
    total = int(people.sum()) // size * fakes
    held = np.flatnonzero(people)
    made = np.zeros_like(people)
    if len(held) > total:
        order = held[np.lexsort((coins.permutation(len(held)), -people[held]))]
        made[order[:total]] = 1
        return made
    once = np.zeros(len(people), dtype=np.bool_)
    while True:
        others = held[~once[held]]
        top, bottom = total - int(once.sum()), int(people[others].sum())
        rare = others[people[others] * top < bottom]
        if not len(rare):
            break
        once[rare] = True
    made[once] = 1
    order = coins.permutation(others)
    down, rest = np.divmod(people[order] * top, max(bottom, 1))
    upto = np.cumsum(rest) + coins.integers(0, max(bottom, 1))
    made[order] = down + (upto // max(bottom, 1) > (upto - rest) // max(bottom, 1))
    return made


def compose_with_fakes(
    classes: Classes,
    people: Ints,
    limits: Sequence[Fraction],
    composition: str,
    names: Ids,
    coins: Coins,
    defence: Defence,
    tell: Tell = lambda done: None,
) -> tuple[Ids, Counts, Counts, Ints, Fraction]:
    """The buckets that hold each value, value after value, how often with fakes, how often people do, and how many
    buckets they are; and how certain one can be of a protected value who knows all others, and the totals.

    `people` has a row for each value and a column for each class; `names` are the buckets' ids.
    """
    parts, first, sure = [], 0, Fraction(0)
    protected = np.array([limit < 1 for limit in limits])
    for j, (size, buckets) in enumerate(classes):
        caps = caps_of(limits, np.array([size]), defence)
        own = coins.derive(b"class with fakes", size.to_bytes(8, "big"))
        made = balanced(people[:, j], size, defence.fakes, own.stream("how many fakes"))
        bucket, count, flags, held = _one_class(people[:, j], made, buckets, caps, composition, own, defence.fakes)
        sure = max(sure, _certainty(count, held, people[:, j], made, protected, defence.fakes))
        parts.append((names[first : first + buckets][bucket], count, count - flags, held))
        first += buckets
        tell(first / len(names))
    bucket, count, real = (np.concatenate([part[place] for part in parts]) for place in range(3))
    held = np.array([part[3] for part in parts])
    value = np.concatenate([np.repeat(np.arange(len(each)), each) for each in held])
    order = np.argsort(value.astype(np.min_scalar_type(len(people))), kind="stable")
    return bucket[order], count[order], real[order], held.sum(axis=0), sure


def _certainty(count: Counts, held: Ints, people: Ints, made: Ints, protected: Bools, fakes: int) -> Fraction:
    """What one who knows all others of a bucket, and the totals, can believe at most of a class' protected values."""
    there = np.flatnonzero(held)
    most = np.maximum.reduceat(count, (np.cumsum(held) - held)[there])
    pairs = zip(people[there].tolist(), made[there].tolist(), strict=True)
    return class_certainty(int(most[protected[there]].max(initial=0)), pairs, fakes)


def _one_class(
    people: Ints, made: Ints, buckets: int, caps: Ints, composition: str, coins: Coins, fakes: int
) -> tuple[Ids, Counts, Counts, Ints]:
    """Buckets from 0, counts, and how many of them are fakes, value after value; and in how many buckets each is."""
    slots, names = people + made, np.arange(buckets, dtype=np.int32)
    for attempt in range(_TRIES):
        own = coins.derive(b"try", attempt.to_bytes(8, "big"))
        if composition == "free":
            bucket, count, held = compose_freely(slots[:, None], np.array([buckets]), caps, names, own)
        else:
            held = meetings(slots, buckets)
            bucket, count = np.empty(int(held.sum()), dtype=np.int32), np.empty(int(held.sum()), dtype=np.uint8)
            into = bucket, count, np.cumsum(held) - held
            compose(slots, buckets, composition, own.stream("composition"), into)
        if (flags := drawn_flags(bucket, count, held, made, buckets, fakes, own)) is not None:
            return bucket, count, flags, held
    raise Infeasible(
        f"fakes ({fakes}) must be such that some in every bucket add up to what each value is to have, and in the "
        f"{buckets:,} buckets of one size no such choice was found; give another number, or leave fakes out",
        key=("fakes",),
    )
