"""The tuples of a view with what each weighs under some filters, so that a question sums that up beside its count."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code, identifier
from discreet.engine.encoding import Encoding
from discreet.estimate.alphabeta.filters import Filters, filters_of
from discreet.estimate.alphabeta.law import Law
from discreet.estimate.alphabeta.margins import count_margins, count_ones
from discreet.estimate.alphabeta.model import Model, first_shares, learn
from discreet.estimate.alphabeta.shown import Weighed
from discreet.ground.arrays import Ints
from discreet.guarantee.source import Source

TABLE = "weighed"
_MEAN = 1 << 16  # of the weights of a public source


def learn_view(
    engine: Database, tuples: str, encodings: Mapping[str, Encoding], law: Law, source: Source, most: float
) -> tuple[Model, Weighed]:
    """The model of a view, in two passes over its tuples, and the tuples with their weights."""
    relation = f"{tuples}_coded"
    engine.encode(relation, tuples, {name: (name, each) for name, each in encodings.items()})
    ones = count_ones(engine, relation, encodings)
    noise = [_noise(source.weights.get(name), len(each)) for name, each in encodings.items()]
    filters = filters_of(first_shares(ones, noise, law), noise)
    ways = [list(each) for each in zip(*map(filters.factors, range(len(ones))), strict=True)]
    margins = count_margins(engine, relation, encodings, ways)
    return learn(filters, margins, law, most), _weigh(engine, tuples, relation, encodings, filters)


def _noise(weights: tuple[int, ...] | None, size: int) -> Ints:
    """How much noise falls on each value, as whole numbers."""
    if weights is None:
        return np.ones(size, dtype=np.int64)
    shares = np.array(weights, dtype=np.float64) / float(sum(weights))
    return np.maximum(1, np.rint(shares * size * _MEAN)).astype(np.int64)


def _weigh(
    engine: Database, tuples: str, relation: str, encodings: Mapping[str, Encoding], filters: Filters
) -> Weighed:
    beyond = "".join(encodings)  # names that no published column has
    found = {}
    for number in range(filters.number - 1):
        factors = []
        for place, (name, encoding) in enumerate(encodings.items()):
            own = filters.factors(place)[number]
            if (own != 1).any():
                factors.append(f"({own.tolist()}::DOUBLE[])[1 + {code(name, encoding)}]")
        found[identifier(f"{beyond} {number}")] = " * ".join(factors or ["1"])
    columns = ", ".join(f"({weight})::FLOAT AS {name}" for name, weight in found.items())
    engine.rows(
        f"CREATE OR REPLACE TABLE {TABLE} AS SELECT * FROM {tuples} POSITIONAL JOIN (SELECT {columns} FROM {relation})"
    )
    return Weighed(table=TABLE, columns=tuple(found))
