"""The two probabilities of alpha-beta for a promise, chosen exactly and rounded to the safe side.

Paper: [RSH] Theorems 4.2 and 6.3, section 4.2 "Choice of parameters".
Symbols: s = alpha + beta, R = gamma (1 - d) / (d (1 - gamma)).
Departs: the printed choice (s = 1/2, beta = d / gamma) is one point; the corner of both exact conditions,
    s = (1 - d / gamma) / (1 - d / (gamma R)), beta = s / R, has the least error for an independent adversary.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Infeasible
from discreet.guarantee.dgamma import DGammaPrivacy, odds

TUNINGS = ("optimal", "paper")
UNIT = 1 << 62  # coins are 62-bit numbers, so probabilities are multiples of 1 / UNIT


def keep_and_insert(d: Fraction, gamma: Fraction, adversary: str, tuning: str) -> tuple[Fraction, Fraction]:
    """s and beta that keep (d, gamma) for this adversary; raises Infeasible where none do.

    Both are multiples of 2^-62, so that coins have exactly these probabilities; beta is rounded up and s down.
    """
    ratio = odds(d, gamma)
    if adversary == "exclusive":
        keep = Fraction(1, 2)
        insert = 1 / (1 + ratio) if tuning == "optimal" else 2 / ratio
    elif tuning == "optimal":
        keep = (1 - d / gamma) / (1 - d / (gamma * ratio))
        insert = keep / ratio
    else:
        keep, insert = Fraction(1, 2), d / gamma
    keep, insert = Fraction(int(keep * UNIT), UNIT), Fraction(-int(-insert * UNIT // 1), UNIT)
    promise = DGammaPrivacy(d=d, gamma=gamma, adversary=adversary, keep=keep, insert=insert, candidates=1)
    if not promise.holds:
        raise Infeasible(_why(d, gamma, adversary, tuning, insert))
    return keep, insert


def _why(d: Fraction, gamma: Fraction, adversary: str, tuning: str, insert: Fraction) -> str:
    if adversary == "exclusive" and d > Fraction(1, 2):
        return f"prior ({float(d):.4g}) must be at most 1/2 for an exclusive adversary; lower it"
    other = ', or say tuning = "optimal"' if tuning == "paper" else ""
    return (
        f"posterior ({float(gamma):.4g}) must be further above prior ({float(d):.4g}): tuples would have to be "
        f"inserted with "
        f"probability {float(insert):.4g}; raise posterior or lower prior{other}"
    )
