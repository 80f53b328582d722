"""Making a view: from the rows and the coins to the tuples that are published.

Paper: [RSH] Algorithms 1, 2, 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, digest_of, merged, without
from discreet.mechanism.alphabeta.making.noise import (
    Weights,
    every_tuple_by_weight,
    every_tuple_with,
    shares_of,
    weights_of,
)
from discreet.mechanism.alphabeta.planning.parameters import UNIT
from discreet.series.coins import Coins

_SAFE = 1 + Fraction(1, 2**40)  # more than what floating point can be off by, so that weights never weaken the promise


@dataclass(frozen=True, kw_only=True)
class Made:
    """The tuples of a view, packed and in order, and those that earlier views showed."""

    view: Ints
    earlier: Ints
    number: int
    radix: Radix
    guarantee: DGammaPrivacy | FrappPrivacy

    @property
    def digest(self) -> bytes:
        """What the series remembers of it."""
        return digest_of(self.view, self.earlier)


def view_of(
    own: Ints, earlier: Ints, guarantee: DGammaPrivacy, number: int, radix: Radix, weights: Weights | None, coins: Coins
) -> Ints:
    """The tuples of a view: true ones that were kept, some that earlier views showed, and others of the domain.

    `weights` are those of the attributes' values in a public source, if there is one.
    """
    insert = guarantee.inserts[number - 1]
    units: Ints | int = int(guarantee.keep * UNIT)
    if weights is None:
        noise = every_tuple_with(insert, radix, coins.stream("noise"))
    else:
        noise = every_tuple_by_weight(insert * _SAFE, weights, radix, coins.stream("noise"))
        more = weights_of(radix.unpack(own), shares_of(weights, radix)) - 1
        units = units + np.floor(float(insert) * more * UNIT).astype(np.int64)
    kept = own[:, coins.stream("keep").integers(0, UNIT, size=own.shape[1]) < units]
    shown = without(earlier, own)
    again = shown[:, coins.stream("again").integers(0, UNIT, size=shown.shape[1]) < int(guarantee.again * UNIT)]
    return merged(merged(kept, again), without(without(noise, own), earlier))
