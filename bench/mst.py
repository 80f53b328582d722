"""MST's recipe, fitted with `mbi`: Gaussian noise, so (epsilon, delta), which is a weaker promise than Pairs'.

A third of the budget goes to one-way tables, whose cells under three standard deviations are joined; a third chooses a
spanning tree, an edge at a time by the exponential mechanism; a third measures its pairs. `mbi` has the estimation.
For simulations only: the noise is not safe.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
from questions import Questions
from rivals import Edge, answers_of, exact, product, spanning

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.pairs.margins import FLOOR, projected

DELTA = 1e-9
MST = f"(epsilon, {DELTA})-DP, one release" if find_spec("mbi") else None
_STEPS, _JOINED = 2_000, 3.0
Axes = tuple[int, ...]
Noisy = tuple[Floats, Floats]  # a table, and the deviation of each of its cells


def rho_of(epsilon: float, delta: float = DELTA) -> float:
    """The largest zero-concentrated budget that implies (epsilon, delta), by the best order alpha."""
    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def _delta_of(rho: float, epsilon: float) -> float:
    alpha = 1 + np.logspace(-3, 5, 20_000)
    log = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
    return math.exp(min(0.0, float(log.min())))


def mst(asked: Questions, epsilon: Fraction) -> tuple[float, float]:
    """The mean error of one release, and the CPU seconds that it took."""
    start = time.process_time()
    people, coins = asked.people, np.random.default_rng(0)
    rho, columns = rho_of(float(epsilon)) / 3, len(people.sizes)
    spread = math.sqrt(columns / (2 * rho))
    noisy = [own + coins.normal(0, spread, len(own)) for own in exact(people).ones]
    kept = [_kept(own, spread) for own in noisy]
    edges = _edges(asked, kept, noisy, math.sqrt(8 * rho / (columns - 1)), coins)
    tables: dict[Axes, Floats] = {(column,): own for column, own in enumerate(noisy)}
    known: dict[Axes, Noisy] = {axes: _joined(own, [kept[axes[0]]], spread) for axes, own in tables.items()}
    spread = math.sqrt((columns - 1) / (2 * rho))
    for edge in edges:
        true = _sums(exact(people).twos[edge].astype(np.float64), [kept[each] for each in edge])
        known[edge] = true + coins.normal(0, spread, true.shape), np.full(true.shape, spread)
    fitted = _estimated(known, kept)
    found = {axes: _spread(own, [kept[each] for each in axes]) for axes, own in fitted.items()}
    number = float(found[0,].sum())
    margins = [np.maximum(found[column,], FLOOR * number / size) for column, size in enumerate(people.sizes)]
    joint = {edge: np.maximum(found[edge], FLOOR * number / found[edge].size) for edge in edges}
    cpu = time.process_time() - start
    return asked.mean_error(answers_of(asked, product(margins, joint, max(1, round(number))))), cpu


def _kept(noisy: Floats, spread: float) -> Ints:
    """The new cell of each cell: those that may be noise alone are joined."""
    small = noisy < _JOINED * spread
    return np.where(small, (~small).sum(), np.cumsum(~small) - 1)


def _edges(
    asked: Questions, kept: Sequence[Ints], noisy: Sequence[Floats], epsilon: float, coins: np.random.Generator
) -> list[Edge]:
    """A spanning tree: each edge by the exponential mechanism, by how far one-way tables are from the truth."""
    total = float(np.mean([own.sum() for own in noisy]))
    shares = [projected(_sums(own, [where]), total) / total for own, where in zip(noisy, kept, strict=True)]
    scores = {
        (one, other): float(
            np.abs(_sums(table, [kept[one], kept[other]]) - total * np.outer(shares[one], shares[other])).sum()
        )
        for (one, other), table in exact(asked.people).twos.items()
    }
    return spanning(
        len(shares), lambda left: left[int(np.argmax([scores[each] * epsilon / 2 + coins.gumbel() for each in left]))]
    )


def _joined(table: Floats, kept: Sequence[Ints], spread: float) -> Noisy:
    """A noisy table with its small cells joined, and the deviation of each cell."""
    return _sums(table, kept), np.sqrt(_sums(np.ones_like(table), kept)) * spread


def _sums(table: Floats | Ints, kept: Sequence[Ints]) -> Floats:
    for axis, where in enumerate(kept):
        below = np.equal.outer(np.arange(where.max() + 1), where).astype(np.float64)
        table = np.moveaxis(np.tensordot(below, table, axes=(1, axis)), 0, axis)
    return table


def _spread(table: Floats, kept: Sequence[Ints]) -> Floats:
    """Joined cells, evenly."""
    for axis, where in enumerate(kept):
        each = 1 / np.bincount(where)
        shape = [-1 if place == axis else 1 for place in range(table.ndim)]
        table = (table * each.reshape(shape)).take(where, axis=axis)
    return table


def _estimated(known: Mapping[Axes, Noisy], kept: Sequence[Ints]) -> dict[Axes, Floats]:
    """The tables of the model that `mbi` fits to noisy ones."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi

    widths = [int(where.max()) + 1 for where in kept]
    domain = mbi.Domain([str(column) for column in range(len(widths))], widths)
    lines = []
    for axes, (table, deviation) in known.items():
        least = float(deviation.min())
        weights = (least / deviation).ravel()
        query = mbi.WeightedQuery(weights)
        lines.append(mbi.LinearMeasurement(table.ravel() * weights, tuple(map(str, axes)), least, query=query))
    sums = [(float(table.sum()), float((deviation**2).sum())) for table, deviation in known.values()]
    total = sum(own / variance for own, variance in sums) / sum(1 / variance for _, variance in sums)
    model = mbi.estimation.MirrorDescent().estimate(domain, lines, known_total=max(1.0, total), iters=_STEPS)
    return {
        axes: np.asarray(model.project(tuple(map(str, axes))).datavector(), dtype=np.float64).reshape(table.shape)
        for axes, (table, _) in known.items()
    }
