"""The linear model: the probability of each value is a softmax of a weight for each quasi-identifier's value.

Symbols: u a pattern, n_u its rows, T_u what they are thought to have, p_u = softmax(sum of the weights of u's values).
Every epoch passes over the patterns in random order (AdaGrad), with a ridge that is stronger for rare values, and then
matches each bucket's rows to its values anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.estimate.buckets.learning.compiled import compiled
from discreet.estimate.buckets.learning.places import Places, Singles, Small

EPOCHS = 16
_RIDGE = 2.0
_STEP = 0.3
_KEPT = 0.7  # of the squared gradients, from one epoch to the next


def learn_linear(places: Places, coins: np.random.Generator, tell: Any) -> Singles:
    """The weights of every value of every quasi-identifier, for each sensitive value."""
    weights = np.zeros((places.levels, places.values), dtype=np.float32)
    squares = np.zeros_like(weights)
    own = np.zeros(places.levels, dtype=np.float32)
    np.add.at(own, places.codes, places.number[:, None])
    matched = places.start()
    for epoch in range(EPOCHS):
        totals = places.totals(matched)
        order = coins.permutation(len(places.number)).astype(np.int32)
        step = np.float32(_STEP / np.sqrt(1 + epoch / 5))
        _pass(order, places.codes, places.number, totals, own, weights, squares, step)
        squares *= np.float32(_KEPT)
        matched = places.match(linear_logs(places, weights))
        tell((epoch + 1) / EPOCHS)
    return weights


def linear_logs(places: Places, weights: Singles) -> Singles:
    """The log of every pattern's probabilities."""
    found = np.zeros((len(places.number), places.values), dtype=np.float32)
    for column in places.codes.T:
        found += weights[column]
    normalize(found)
    return found


@compiled
def normalize(logs: Singles) -> None:
    """Logs of probabilities that add up to one, row by row."""
    rows, values = logs.shape
    for u in range(rows):
        top = logs[u].max()
        total = np.float32(0.0)
        for x in range(values):
            total += np.exp(logs[u, x] - top)
        shift = top + np.log(total)
        for x in range(values):
            logs[u, x] -= shift


@compiled
def _pass(
    order: Small,
    codes: Small,
    number: Singles,
    totals: Singles,
    own: Singles,
    weights: Singles,
    squares: Singles,
    step: np.float32,
) -> None:
    values, columns = weights.shape[1], codes.shape[1]
    z = np.empty(values, dtype=np.float32)
    one, two = np.float32(1.0), np.float32(_RIDGE)
    for u in order:
        z[:] = np.float32(0.0)
        for j in range(columns):
            row = weights[codes[u, j]]
            for x in range(values):
                z[x] += row[x]
        top = z.max()
        total = np.float32(0.0)
        for x in range(values):
            z[x] = np.exp(z[x] - top)
            total += z[x]
        many = number[u] / total
        for x in range(values):
            z[x] = z[x] * many - totals[u, x]
        for j in range(columns):
            at = codes[u, j]
            row, seen = weights[at], squares[at]
            ridge = two * number[u] / own[at]
            for x in range(values):
                slope = z[x] + ridge * row[x]
                seen[x] += slope * slope
                row[x] -= step * slope / np.sqrt(one + seen[x])
