"""`estimator="best"`: the unbiased answer where it is sure, one that leans on a model of the table where it is not.

The value comes from the model; the interval does not. It stays the unbiased answer's, over the publisher's coins, and
is widened to hold the value where it does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.engine.duck import Engine
from discreet.engine.encoding import Encoding
from discreet.estimate.alphabeta.independence import Independence, best
from discreet.estimate.estimate import MODEL, Estimate
from discreet.query.condition import Condition
from discreet.query.count_domain import count_matching

NOTE = (
    "the value leans on a model where noise is large; the interval holds over the publisher's coins, whatever the model"
)


def expect(model: Independence, condition: Condition, encodings: Mapping[str, Encoding], engine: Engine) -> float:
    """How many tuples the model expects to meet a condition, without enumerating them."""
    weights = dict(zip(encodings, model.weights, strict=True))
    return model.expected(count_matching(condition, encodings, engine, weights))


def lean(estimate: Estimate, expected: float, spread: float) -> Estimate:
    """The best value for an unbiased answer; its interval and standard error stay those of the unbiased one."""
    if estimate.value is None or estimate.standard_error is None:
        return estimate
    value = float(best(estimate.value, estimate.standard_error, expected, spread, np.float64(estimate.bounds[1])))
    return replace(
        estimate,
        value=value,
        low=min(estimate.low, value),
        high=max(estimate.high, value),
        conditional_on=MODEL,
        note=NOTE,
    )
