"""The two probabilities of alpha-beta for a promise, chosen exactly and rounded to the safe side.

Paper: [RSH] Theorems 4.2 and 6.3, section 4.2 "Choice of parameters", section 4.4.2.
Symbols: s = alpha + beta, R = gamma (1 - d) / (d (1 - gamma)).
Departs: the printed choice (s = 1/2, beta = d / gamma) is one point; the corner of both exact conditions,
    s = (1 - d / gamma) / (1 - d / (gamma R)), beta = s / R, has the least error for an independent adversary.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Infeasible
from discreet.guarantee.dgamma import EVEN, DGammaPrivacy, odds

TUNINGS = ("optimal", "paper")
UNIT = 1 << 62  # coins are 62-bit numbers, so probabilities are multiples of 1 / UNIT


def keep_and_insert(
    d: Fraction, gamma: Fraction, adversary: str, tuning: str, weights: tuple[Fraction, Fraction] = EVEN
) -> tuple[Fraction, Fraction]:
    """s and beta that keep (d, gamma) for this adversary; raises Infeasible where none do.

    Both are multiples of 2^-62, so that coins have exactly these probabilities; beta is rounded up and s down.
    `weights` are the least and the largest weight of a tuple in a public source: what keeps the promise for the
    heaviest tuple, whose prior may be d times its weight, is scaled to weight 1.
    """
    most = d * weights[1]
    if most >= gamma:
        raise _refusal(most, gamma, adversary, tuning, None)
    keep, insert = _chosen(most, gamma, adversary, tuning)
    insert = rounded_up(insert / weights[1])
    keep = rounded_down(keep - insert * (weights[1] - 1))
    guarantee = DGammaPrivacy(
        d=d, gamma=gamma, adversary=adversary, keep=keep, insert=insert, candidates=1, weights=weights
    )
    if not guarantee.holds:
        raise _refusal(most, gamma, adversary, tuning, guarantee.heaviest[2])
    return keep, insert


def _chosen(d: Fraction, gamma: Fraction, adversary: str, tuning: str) -> tuple[Fraction, Fraction]:
    ratio = odds(d, gamma)
    if adversary == "exclusive":
        return Fraction(1, 2), 1 / (1 + ratio) if tuning == "optimal" else 2 / ratio
    if tuning == "optimal":
        keep = (1 - d / gamma) / (1 - d / (gamma * ratio))
        return keep, keep / ratio
    return Fraction(1, 2), d / gamma


def rounded_down(chance: Fraction) -> Fraction:
    """The next probability below that coins can have."""
    return Fraction(int(chance * UNIT), UNIT)


def rounded_up(chance: Fraction) -> Fraction:
    """The next probability above that coins can have."""
    return Fraction(-int(-chance * UNIT // 1), UNIT)


def _refusal(d: Fraction, gamma: Fraction, adversary: str, tuning: str, insert: Fraction | None) -> Infeasible:
    if adversary == "exclusive" and d > Fraction(1, 2):
        words = f"prior ({float(d):.4g}) must be at most 1/2 for an exclusive adversary; lower it"
        return Infeasible(words, key=("prior",))
    other = ', or say tuning = "optimal"' if tuning == "paper" else ""
    noise = f": tuples would have to be inserted with probability {float(insert):.4g}" if insert else ""
    return Infeasible(
        f"posterior ({float(gamma):.4g}) must be further above prior ({float(d):.4g}){noise}; raise posterior or lower "
        f"prior{other}",
        key=("posterior",),
    )
