"""The parameter that all mechanisms of this family have: what a release may cost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.exact import exact
from discreet.ground.shown import shown
from discreet.guarantee.epsilon import LEAST, MOST
from discreet.schema.json_schema import NUMBER

MISSING = "epsilon is missing; give what the release may cost, such as epsilon = 0.5"
EPSILON: dict[str, Any] = {  # for a policy's JSON Schema
    "description": "What the release may cost: the log of the largest factor by which one record may change its "
    "probability."
} | NUMBER


def read_epsilon(given: object) -> Fraction:
    """Epsilon, exactly; raises PolicyError where it is none that a release can have."""
    epsilon = exact("epsilon", given)
    if epsilon <= 0:
        raise PolicyError(f"epsilon ({shown(given)}) must be above 0; write it such as 0.5", key=("epsilon",))
    if not LEAST <= epsilon <= MOST:
        raise PolicyError(
            f"epsilon ({shown(given)}) must be between {LEAST} and {MOST}; beyond, the promise says nothing; below, "
            "the noise leaves nothing",
            key=("epsilon",),
        )
    return epsilon
