"""Methods that hide tuples among random ones, drawn and undone in memory, for comparing them on all queries at once.

Paper: [RSH] sections 4.1 to 4.3 and 5.
Symbols: n tuples, m in the domain, d = k n / m, R = gamma (1 - d) / (d (1 - gamma)); s = alpha + beta; g the
    probability that FRAPP keeps a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.estimate.alphabeta.independence import best
from discreet.estimate.alphabeta.law import model_of, undo
from discreet.evaluate.selections import Floats, Ints, Selections
from discreet.guarantee.dgamma import DGammaPrivacy, odds
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, merged, without
from discreet.mechanism.alphabeta.making.exchange import perturbed
from discreet.mechanism.alphabeta.making.noise import every_tuple_with
from discreet.mechanism.alphabeta.planning.parameters import keep_and_insert
from discreet.mechanism.alphabeta.policy.frapp import Frapp


class Perturbation(Protocol):
    """A method: its view of a set of packed tuples, and unbiased estimates from that view."""

    def draw(self, own: Ints, radix: Radix, coins: np.random.Generator) -> Ints: ...

    def estimate(self, seen: ArrayLike, possible: ArrayLike) -> Floats: ...


@dataclass(frozen=True, kw_only=True)
class Inserting:
    """Alpha-beta: keep each tuple with s, insert every other with beta."""

    guarantee: DGammaPrivacy

    def draw(self, own: Ints, radix: Radix, coins: np.random.Generator) -> Ints:
        kept = own[:, coins.random(own.shape[1]) < float(self.guarantee.keep)]
        return merged(kept, without(every_tuple_with(self.guarantee.insert, radix, coins), own))

    def estimate(self, seen: ArrayLike, possible: ArrayLike) -> Floats:
        return undo(seen, possible, self.guarantee)[0]

    def best(self, seen: Ints, queries: Selections) -> Floats:
        """The estimates of estimator="best" for all queries."""
        value, variance = undo(seen, queries.possible, self.guarantee)
        model = model_of(queries.margins(seen), self.guarantee)
        return best(value, np.sqrt(variance), queries.expected(model), model.spread, queries.possible)


@dataclass(frozen=True, kw_only=True)
class Replacing:
    """FRAPP: keep each record with g, else put a uniform other tuple of the domain in its place."""

    guarantee: FrappPrivacy

    def draw(self, own: Ints, radix: Radix, coins: np.random.Generator) -> Ints:
        return perturbed(own, self.guarantee.keep, radix, coins, coins)

    def estimate(self, seen: ArrayLike, possible: ArrayLike) -> Floats:
        return undo(seen, possible, self.guarantee)[0]


PRINTED, TIGHT, EXCLUSIVE, INDEPENDENT, FRAPP = "as printed", "tight", "exclusive", "independent", "FRAPP"


def alpha_beta(d: Fraction, gamma: Fraction) -> dict[str, Inserting]:
    """Four choices of s and beta for the same (d, gamma), by name.

    As printed: s = 1/2, beta = d / gamma. Tight: s = 1/2, beta = s / R, the least that Theorem 4.2 allows there. The
    others are the optima for an exclusive and for an independent adversary.
    """
    half = Fraction(1, 2)
    chosen = {
        PRINTED: ("independent", keep_and_insert(d, gamma, "independent", "paper")),
        TIGHT: ("independent", (half, half / odds(d, gamma))),
        EXCLUSIVE: ("exclusive", keep_and_insert(d, gamma, "exclusive", "optimal")),
        INDEPENDENT: ("independent", keep_and_insert(d, gamma, "independent", "optimal")),
    }
    return {
        label: Inserting(
            guarantee=DGammaPrivacy(d=d, gamma=gamma, adversary=who, keep=keep, insert=insert, candidates=1)
        )
        for label, (who, (keep, insert)) in chosen.items()
    }


def frapp(d: Fraction, gamma: Fraction, rows: int, domain: int) -> Replacing:
    """FRAPP with the g that keeps (d, gamma) for tuples that are seen once."""
    keep = Frapp(prior=d, posterior=gamma).parameters(n=rows, m=domain)
    guarantee = FrappPrivacy(d=d, gamma=gamma, keep=keep, rows=rows, domain=domain, candidates=1)
    return Replacing(guarantee=guarantee)
