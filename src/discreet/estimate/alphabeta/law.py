"""The law of what a view shows of a count, its mean and its variance, so that insertion and deletion can be undone.

The unbiased count that follows is a Horvitz-Thompson estimate: what was seen above the noise, divided by how probable
it was to be seen.

Paper: [RSH] Algorithm 3; sections 4.4.1 and 4.4.2.
Symbols: n_V tuples of the view meet a condition, n_D tuples of the domain do (with a source: their weight), Q tuples of
    the table do. E[n_V] = expected + slope Q and Var[n_V] = noise + more Q:
    beta n_D, alpha, n_D beta (1 - beta) and s (1 - s) - beta (1 - beta) for alpha-beta;
    n b, g - e, n b (1 - b) and a (1 - a) - b (1 - b) for FRAPP, with b = e n_D and a = b + g - e.
Departs: the paper gives no interval. Here the score interval follows from this law (`discreet.estimate.interval`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.ground.arrays import Floats
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy

Noisy = tuple[Floats, Floats]  # unbiased counts and their variances


@dataclass(frozen=True, kw_only=True)
class Law:
    """The law of a sum over the tuples that a view shows, each with a weight of its own.

    Noise has the mean `rate` times the weight of the tuples of the domain, and the covariance `rate * thin` times that
    of the products of two weights, less `once` times the product of both means. A tuple of the table counts `slope`
    times on average, and `more` is the variance that it adds to a plain count.
    """

    rate: float
    thin: float
    once: float
    slope: float
    more: float


def law_of(guarantee: DGammaPrivacy | FrappPrivacy) -> Law:
    """The law where the weights of the noise are 1 on average."""
    slope, _, more = _law(np.float64(0), guarantee)
    rate = guarantee.times * guarantee.insert * guarantee.slots
    if isinstance(guarantee, FrappPrivacy):
        return Law(rate=float(rate), thin=1.0, once=1 / guarantee.rows, slope=slope, more=float(more) / slope**2)
    thin = 1 - guarantee.insert * guarantee.weights[0]
    return Law(rate=float(rate), thin=float(thin), once=0.0, slope=slope, more=max(0.0, float(more) / slope**2))


@dataclass(frozen=True, kw_only=True)
class Part:
    """What was seen of a count above the expected noise, and its law: slope Q on average, noise + more Q around it."""

    surplus: float
    slope: float
    noise: float
    more: float

    @property
    def value(self) -> float:
        return self.surplus / self.slope


def part_of(seen: int, weight: Fraction | int, guarantee: DGammaPrivacy | FrappPrivacy) -> Part:
    """The part of a count that one view shows; `weight` is that of the tuples of the domain, with their slots."""
    noisy = guarantee.insert * weight
    slope, noise, more = _law(np.float64(float(noisy)), guarantee)
    return Part(surplus=float(seen - guarantee.times * noisy), slope=slope, noise=float(noise), more=float(more))


def parts_of_several(
    both: int, fresh: int, before: int, possible: int, view: int, guarantee: DGammaPrivacy
) -> list[Part]:
    """The parts of a count that a later view shows: among tuples that were shown before, and among the others."""
    insert = guarantee.inserts[view - 1]
    shown = [_view_part(both, before, guarantee.keep, guarantee.again)] if before else []
    return [*shown, _view_part(fresh, possible - before, guarantee.keep, insert)]


def _view_part(seen: int, weight: int, keep: Fraction, insert: Fraction) -> Part:
    slope, noise, more = _inserting(np.float64(float(insert * weight)), keep, insert, insert)
    return Part(surplus=float(seen - insert * weight), slope=slope, noise=float(noise), more=float(more))


def with_total(part: Part, whole: Part, rows: int) -> Part:
    """The control variate: what the view shows of all tuples, against how many there are, corrects each count.

    Q - f (n - n_public), with f the share of the noise that falls on the condition.
    """
    share = part.noise / whole.noise
    return Part(
        surplus=part.surplus - share * (whole.surplus - part.slope * rows),
        slope=part.slope,
        noise=(1 - share) ** 2 * part.noise + share**2 * (whole.noise - part.noise + rows * max(part.more, 0.0)),
        more=(1 - 2 * share) * part.more,
    )


def undo(seen: ArrayLike, possible: ArrayLike, guarantee: DGammaPrivacy | FrappPrivacy) -> Noisy:
    """Many counts at once: the unbiased estimates and their variances at those counts, cut to what is possible."""
    weight: Floats = np.asarray(possible, dtype=np.float64)
    noisy = float(guarantee.insert) * weight
    slope, noise, more = _law(noisy, guarantee)
    value: Floats = (np.asarray(seen, dtype=np.float64) - guarantee.times * noisy) / slope
    at = np.clip(value, 0.0, guarantee.times if isinstance(guarantee, FrappPrivacy) else weight)
    variance: Floats = (noise + more * at) / slope**2
    return value, np.maximum(variance, 0.0)


def _law(noisy: Floats | np.float64, guarantee: DGammaPrivacy | FrappPrivacy) -> tuple[float, Floats, Floats]:
    """slope, noise and more; `noisy` is the probability of noise, summed over the tuples that meet a condition."""
    if isinstance(guarantee, FrappPrivacy):
        slope = float(guarantee.keep - guarantee.other)
        return slope, np.asarray(guarantee.rows * noisy * (1 - noisy)), np.asarray(slope * (1 - slope - 2 * noisy))
    return _inserting(noisy, guarantee.keep, guarantee.insert, guarantee.insert * guarantee.weights[0])


def _inserting(
    noisy: Floats | np.float64, keep: Fraction, insert: Fraction, least: Fraction
) -> tuple[float, Floats, Floats]:
    """The same, where tuples are kept and inserted; `least` is the smallest probability to insert one."""
    s, low = float(keep), float(least)
    more = np.full_like(np.asarray(noisy), s * (1 - s) - low * (1 - low))
    return float(keep - insert), np.asarray(noisy * (1 - low)), more
