"""All ways in which a bucket may have been filled, one by one: oracles that share no code with the closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product


def injections(slots: str, people: int, weight: Callable[[tuple[str, ...]], Fraction | int] = lambda world: 1) -> Ways:
    """Every way to give people slots of their own; the rest are fakes."""
    return Ways([(world, Fraction(weight(world))) for world in permutations(slots, people)])


def by_totals(buckets: Sequence[str], people: int, totals: dict[str, int]) -> Ways:
    """Everybody's values in the first bucket, where the real records of all buckets add up to the totals.

    Which slots are fakes is uniform over what fits the totals; real slots are given to people uniformly.
    """
    worlds: list[tuple[tuple[str, ...], Fraction]] = []
    for real in product(*(list(combinations(bucket, people)) for bucket in buckets)):
        together = "".join("".join(each) for each in real)
        if all(together.count(value) == count for value, count in totals.items()):
            worlds += [(world, Fraction(1)) for world in permutations(real[0])]
    return Ways(worlds)


class Ways:
    """Weighed worlds: the values of the person, who comes first, and of the others."""

    def __init__(self, worlds: list[tuple[tuple[str, ...], Fraction]]) -> None:
        self.worlds = worlds

    def given(self, fits: Callable[[tuple[str, ...]], bool]) -> Ways:
        return Ways([(world, weight) for world, weight in self.worlds if fits(world)])

    def knowing(self, others: str) -> Ways:
        """Those in which the first of the others have these values."""
        return self.given(lambda world: world[1 : 1 + len(others)] == tuple(others))

    def of(self, value: str) -> Fraction:
        """How probable the person has the value."""
        return sum((w for world, w in self.worlds if world[0] == value), Fraction(0)) / sum(w for _, w in self.worlds)

    def values(self) -> Iterator[str]:
        yield from sorted({world[0] for world, _ in self.worlds})
