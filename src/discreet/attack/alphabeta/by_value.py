"""What is measured among the tuples with one value, where it is highest: coins that favour some people are found so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.attack.alphabeta.pool import Pool, domain_of
from discreet.attack.alphabeta.posterior import Promise, heaviest
from discreet.attack.alphabeta.seen import Seen, Value, measured
from discreet.attack.rate import Rate
from discreet.attack.target import Target
from discreet.ground.arrays import Bools, Ints

MOST_VALUES = 10_000  # of a column that is looked at value by value


@dataclass(frozen=True, kw_only=True)
class Highest:
    """The rate whose interval begins highest, of so many; with intervals wide enough for all of them together."""

    rate: Rate
    values: int

    @property
    def note(self) -> str:
        return (
            f"among the tuples with one value: of {self.values:,} values of all columns the one for which the interval "
            "begins highest; it allows for the choice"
        )


def highest_by_value(target: Target, promise: Promise, pool: Pool, value: Value) -> Highest | None:
    """What `measured` finds for the tuples of each value of each column; None where there is nothing to choose from.

    Not with a public source, under which tuples of one value differ.
    """
    if heaviest(promise) != 1:
        return None
    sizes = {name: len(target.schema.domains[name]) for name in pool.codes}
    groups = [
        each
        for name, size in sizes.items()
        if size <= MOST_VALUES
        for each in _groups(pool, pool.codes[name], size, domain_of(target) // size, promise.slots)
        if each.enough
    ]
    if len(groups) < 2:
        return None
    confidence = 1 - (1 - target.confidence) / len(groups)
    rates = (measured(each, confidence, value) for each in groups)
    return Highest(rate=max(rates, key=lambda rate: rate.low), values=len(groups))


def _groups(pool: Pool, codes: Ints, size: int, domain: int, slots: int) -> Iterator[Seen]:
    """The tuples with each value of a column, of which the domain has so many."""

    def by_value(weights: Ints | None, which: Bools) -> Ints:
        own = None if weights is None else weights[which]
        return np.bincount(codes[which], own, minlength=size).astype(np.int64)

    real, hits, stray = by_value(None, pool.real), by_value(pool.shown, pool.real), by_value(pool.shown, ~pool.real)
    rows = real if slots == 1 else by_value(pool.copies, pool.real)
    for number, hit, other, true in zip(real.tolist(), hits.tolist(), stray.tolist(), rows.tolist(), strict=True):
        others = (domain - number) * slots
        yield Seen(
            hits=hit,
            places=number * slots,
            true=true,
            weight=float(number * slots),
            stray=other,
            others=others,
            weight_of_others=float(others),
        )
