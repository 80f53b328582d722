"""An attacker who learns from a release as its analysts do, and takes every row for its most probable value.

Whoever knows a person's quasi-identifiers and finds them in one row knows the row's bucket. How often he is right only
the custodian can tell, who has the rows and can toss the coins of a seed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

import discreet
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.release import BucketRelease
from discreet.evaluate.scratch import released
from discreet.mechanism.buckets.making import near
from discreet.mechanism.buckets.making.slots import draw_slots, hand_out
from discreet.mechanism.buckets.making.write import write_rows
from discreet.release.buckets.manifest import QIT
from discreet.series.coins import Coins

Ints = NDArray[np.int64]
Weights = NDArray[np.floating]


def right_guesses(release: BucketRelease, table: discreet.Table, mechanism: discreet.Buckets, seed: int) -> float:
    """The share of all rows whose most probable value, by the release's posterior, is their true one."""
    guesses = guessed(release.composition, release.posterior)
    return float((guesses == true_values(release, table, mechanism, seed)).mean())


def guessed(composition: Composition, weights: Weights) -> Ints:
    """The most probable value of each published row, by its position among those that occur.

    `weights` has a number for each row and each value of its bucket: bucket by bucket, within it value by value, and of
    each value row by row, in the order of both tables.
    """
    sizes, kinds = composition.sizes, np.bincount(composition.bucket)
    bucket = np.repeat(np.arange(len(sizes)), sizes)
    inside = np.arange(len(bucket)) - _begins(sizes)[bucket]
    first, entry = _begins(sizes * kinds)[bucket] + inside, _begins(kinds)[bucket]
    best, found = np.full(len(bucket), -1.0), np.zeros(len(bucket), dtype=np.int64)
    for nth in range(int(kinds.max())):
        rows = np.flatnonzero(kinds[bucket] > nth)
        weight = weights[first[rows] + nth * sizes[bucket[rows]]]
        better = weight > best[rows]
        best[rows[better]] = weight[better]
        found[rows[better]] = composition.value[entry[rows[better]] + nth]
    return found


def right_from_counts(composition: Composition) -> float:
    """The share that is right by the ST alone: in every bucket its most frequent value."""
    starts = np.flatnonzero(np.diff(composition.bucket, prepend=-1))
    return float(np.maximum.reduceat(composition.count, starts).sum() / composition.count.sum())


def true_values(release: BucketRelease, table: discreet.Table, mechanism: discreet.Buckets, seed: int) -> Ints:
    """The true value of each published row, by its position among those that occur.

    Rows that share bucket and quasi-identifiers are alike to everybody; any order of theirs counts the same guesses,
    for a posterior treats them alike.
    """
    names = table.schema.quasi_identifiers
    columns = [np.concatenate(parts) for parts in zip(*table.codes(*names, table.schema.sensitive), strict=True)]
    given = [_handed_out(table, columns[-1], mechanism, seed), *columns[:-1]]
    shown = pq.read_table(release.path / QIT)
    published = [shown["BID"].to_numpy(), *(_codes(shown[name], table.schema.domains[name]) for name in names)]
    before, after = _order(given), _order(published)
    if any((one[before] != two[after]).any() for one, two in zip(given, published, strict=True)):
        raise AssertionError("the coins of this seed must give the release that is asked; hand in its own mechanism")
    place = {value: position for position, value in enumerate(release.composition.values)}
    positions = np.array([place.get(value, -1) for value in table.histogram])
    found = np.empty(len(after), dtype=np.int64)
    found[after] = positions[columns[-1][before]]
    return found


def _handed_out(table: discreet.Table, codes: Ints, mechanism: discreet.Buckets, seed: int) -> Ints:
    """The bucket that each row of the table went to."""
    if mechanism.assignment == "near":
        return _written(table, mechanism, seed)
    histogram = table.histogram
    slots = draw_slots(mechanism.plan_of(histogram), tuple(histogram), mechanism.composition, Coins.from_seed(seed))
    return next(hand_out(slots.shuffled(), slots.starts, [codes]))


def _written(table: discreet.Table, mechanism: discreet.Buckets, seed: int) -> Ints:
    """The same of near buckets: what publishing with the coins of the seed writes, noted on the way."""
    noted: list[Ints] = []

    def note(table: discreet.Table, ids: Ints, *rest: Any, **named: Any) -> None:
        noted.append(np.array(ids))
        write_rows(table, ids, *rest, **named)

    with patch.object(near, "write_rows", note), released(table, mechanism, seed):
        return noted[0]


def _begins(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths


def _codes(column: pa.ChunkedArray, domain: Sequence[object]) -> Ints:
    return pc.index_in(column.combine_chunks(), value_set=pa.array(list(domain), type=column.type)).to_numpy()


def _order(columns: Sequence[Ints]) -> Ints:
    return np.lexsort(columns[::-1])
