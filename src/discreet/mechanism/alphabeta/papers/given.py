"""A view that a paper shows, with the probabilities that it states, as a release that can be asked.

Paper: [RSH] Table 1(d), Example 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.exact import exact
from discreet.ground.progress import Steps
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import distinct, no_tuples
from discreet.mechanism.alphabeta.making.make import Made
from discreet.mechanism.alphabeta.making.tuples import radix_of
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Given(AlphaBeta):
    """Nothing is drawn: `view` is published as it is. For worked examples."""

    view: tuple[tuple[int | str, ...], ...]
    keep: Fraction
    insert: Fraction

    def choose(self, d: Fraction, weights: tuple[Fraction, Fraction]) -> DGammaPrivacy:
        gamma = exact("posterior", self.posterior)
        return DGammaPrivacy(
            d=d, gamma=gamma, adversary="independent", keep=self.keep, insert=self.insert, candidates=1
        )

    def draw(self, table: Table, place: Place, coins: Coins, steps: Steps) -> Made:
        schema, radix = table.schema, radix_of(table.schema)
        codes = []
        for name, cells in zip(schema.columns, zip(*self.view, strict=True), strict=True):
            places = {value: place for place, value in enumerate(schema.domains[name])}
            codes.append(np.array([places[cell] for cell in cells], dtype=np.int64))
        view = distinct(radix.pack(codes))
        return Made(view=view, earlier=no_tuples(radix), number=1, radix=radix, guarantee=self.guarantee(schema))
