"""The linear model: the probability of each value is a softmax of a weight for each quasi-identifier's value.

Symbols: u a pattern, n_u its rows, T_u what they are thought to have, p_u = softmax(sum of the weights of u's values).
Every epoch passes over the patterns in random order (AdaGrad), with a ridge that is stronger for rare values, and then
matches each bucket's rows to its values anew.
"""

from __future__ import annotations

import numpy as np

from discreet.estimate.buckets.learning.places import Places
from discreet.estimate.buckets.learning.softmax import LANES, NOWHERE, Singles, Small, normalize, padded, softmax
from discreet.ground.compiled import compiled
from discreet.ground.progress import Tell

EPOCHS = 16
_RIDGE = 2.0
_STEP = 0.3
_KEPT = 0.7  # of the squared gradients, from one epoch to the next


def learn_linear(places: Places, coins: np.random.Generator, tell: Tell) -> Singles:
    """The weights of every value of every quasi-identifier, for each sensitive value."""
    weights = np.zeros((places.levels, padded(places.values)), dtype=np.float32)
    squares = np.zeros_like(weights)
    own = np.bincount(
        places.codes.ravel(), np.repeat(places.number, places.codes.shape[1]), minlength=places.levels
    ).astype(np.float32)
    matched = places.start()
    for epoch in range(EPOCHS):
        thought = places.thought(matched)
        order = coins.permutation(len(places.number)).astype(np.int32)
        step = np.float32(_STEP / np.sqrt(1 + epoch / 5))
        _pass(order, places.codes, places.number, thought, own, weights, squares, step)
        squares *= np.float32(_KEPT)
        matched = places.match(linear_logs(places.codes, weights, places.values))
        tell((epoch + 1) / EPOCHS)
    return weights


def linear_logs(codes: Small, weights: Singles, values: int) -> Singles:
    """The log of every pattern's probabilities."""
    found = np.zeros((len(codes), values), dtype=np.float32)
    for column in codes.T:
        found += weights[column, :values]
    normalize(found)
    return found


@compiled
def _pass(
    order: Small,
    codes: Small,
    number: Singles,
    thought: Singles,
    own: Singles,
    weights: Singles,
    squares: Singles,
    step: np.float32,
) -> None:
    values, wide, columns = thought.shape[1], weights.shape[1], codes.shape[1]
    z, bits, lanes = np.empty(wide, np.float32), np.empty(wide, np.int32), np.empty(LANES, np.float32)
    one, two = np.float32(1.0), np.float32(_RIDGE)
    for u in order:
        z[:] = np.float32(0.0)
        for j in range(columns):
            row = weights[codes[u, j]]
            for x in range(wide):
                z[x] += row[x]
        for x in range(values, wide):
            z[x] = NOWHERE
        _, total = softmax(z, bits, lanes)
        many, known = number[u] / total, thought[u]
        for x in range(values):
            z[x] = z[x] * many - known[x]
        for j in range(columns):
            at = codes[u, j]
            row, seen = weights[at], squares[at]
            ridge = two * number[u] / own[at]
            for x in range(values):
                slope = z[x] + ridge * row[x]
                seen[x] += slope * slope
                row[x] -= step * slope / np.sqrt(one + seen[x])
