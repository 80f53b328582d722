"""From one notion to another: (d, gamma)-privacy, (d, delta)-relative privacy and epsilon-indistinguishability.

Paper: [RSH] Definitions A.1 and A.2, Propositions A.3 and A.5.
Symbols: (d, delta)-relative: posterior / prior of every tuple of prior at most d lies within e^-delta and e^delta.
    epsilon-indistinguishable: the release is at most e^epsilon times likelier for one table than for another that has
    one other tuple in place of one of its own (swap), or one tuple more (add or remove).
Departs: Proposition A.5 gives epsilon = 2 delta + 2 ln 2; the 2 ln 2 is not needed.

All are for adversaries who hold tuples for independent, and say the least that follows; a release may do better.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.ground.exact import Number, exact
from discreet.guarantee.dgamma import odds


def delta_of_gamma(d: Number, gamma: Number) -> float:
    """The delta for which a (d, gamma)-private release is (d, delta)-relative: the log of the odds that it allows."""
    return _log(odds(*_promise(d, gamma)))


def gamma_of_delta(d: Number, delta: float) -> float:
    """The gamma for which a (d, delta)-relative release is (d, gamma)-private; 1 or more promises nothing."""
    return float(_prior(d)) * math.exp(_positive("delta", delta))


def epsilon_of_delta(delta: float) -> float:
    """The epsilon for which a (d, delta)-relative release is epsilon-indistinguishable (swap)."""
    return 2 * _positive("delta", delta)


def epsilon_of_gamma(d: Number, gamma: Number, *, swap: bool = True) -> float:
    """The epsilon for which a (d, gamma)-private release is epsilon-indistinguishable; by half for add or remove."""
    delta = delta_of_gamma(d, gamma)
    return epsilon_of_delta(delta) if swap else delta


def gamma_of_epsilon(d: Number, epsilon: float) -> float:
    """The gamma for which a release that is epsilon-indistinguishable (add or remove) is (d, gamma)-private.

    The posterior alone stays below d e^eps / (1 - d + d e^eps); that no tuple becomes less than d / gamma times as
    probable needs gamma = d e^eps. An epsilon for swapped tuples says nothing of a tuple that is added.
    """
    return float(_prior(d)) * math.exp(_positive("epsilon", epsilon))


def _promise(d: Number, gamma: Number) -> tuple[Fraction, Fraction]:
    prior, posterior = _prior(d), exact("posterior", gamma)
    if not prior < posterior < 1:
        raise PolicyError("prior and posterior must be probabilities with prior below posterior")
    return prior, posterior


def _prior(d: Number) -> Fraction:
    prior = exact("prior", d)
    if not 0 < prior < 1:
        raise PolicyError(f"prior ({d}) must be between 0 and 1; it is a probability")
    return prior


def _positive(name: str, number: float) -> float:
    if not 0 <= number < math.inf:
        raise PolicyError(f"{name} ({number}) must be 0 or more")
    return float(number)


def _log(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)
