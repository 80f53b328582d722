"""What a series keeps of the people in a table: enough to notice them in another one, and nothing that lists them.

Two tables are compared by columns that tell most of their people apart: what both hold, beyond what chance gives, is
people who are in both. Where no columns do, their histograms are compared: two tables that were drawn apart differ by
chance, and tables that hardly differ were not drawn apart.

Departs: no paper has it. Both tables are thinned in thought, each row kept with a probability that makes them equally
large, at most 1/2. A combination that c rows have is then held once with probability c s (1 - s)^(c - 1), and held once
by each of two disjoint samples of one table with c (c - 1) s^2 (1 - 2 s)^(c - 2). If tables are drawn apart, the sum of
products of the first over both tables is, by Cauchy and Schwarz, expected to be at most the geometric mean of the sums
of the second over each; it is equal if they are drawn alike.
Symbols: s the share of rows kept of a table, c the rows that have a combination.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.series.sketch import ALL, Sketch
from discreet.series.words import Words, keyed

EXCESS = 0.01  # of either table: more people in common are the same people
SURE = 5.0  # standard errors beyond chance
CHANCE = 1e-6  # how seldom histograms of tables that were drawn apart are as close
_KEPT = 0.5  # of the smaller table's rows, in thought
_ONE = 0.5  # what one combination that two rows have adds to chance: there may be one more than was seen
_MANY = 255  # rows that have a combination are counted up to here
_EXPECTED = 20  # rows that a bin of a histogram has at least, in both tables together
Histogram = tuple[Words, Ints]  # digests of the values that occur, ascending, and how often each does


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """The people of one table, under the series' key; `columns` is empty where none tell them apart.

    `exact`: the columns name persons, so that one in common is the same person.
    """

    columns: tuple[str, ...]
    exact: bool
    rows: int
    limit: int
    digests: Words  # ascending
    counts: Ints  # rows that have each, at most _MANY
    histograms: Mapping[str, Histogram]

    def as_bytes(self) -> bytes:
        head = {
            "columns": self.columns,
            "exact": self.exact,
            "rows": self.rows,
            "limit": self.limit,
            "digests": len(self.digests),
            "histograms": {name: len(values) for name, (values, _) in self.histograms.items()},
        }
        arrays = [self.digests, *(each for pair in self.histograms.values() for each in pair)]
        text = json.dumps(head).encode()
        counts = self.counts.astype(np.uint8).tobytes()
        words = b"".join(each.astype("<u8").tobytes() for each in arrays)
        return len(text).to_bytes(8, "little") + text + counts + words


def people_from_bytes(content: bytes) -> People:
    """What `as_bytes` wrote; raises ValueError where it did not."""
    start = 8 + int.from_bytes(content[:8], "little")
    head = json.loads(content[8:start])
    number = head["digests"]
    counts = np.frombuffer(content, dtype=np.uint8, count=number, offset=start).astype(np.int64)
    words = np.frombuffer(content, dtype="<u8", offset=start + number).astype(np.uint64)
    digests, *rest = np.split(words, np.cumsum([number, *(n for n in head["histograms"].values() for _ in "vc")]))
    values, often = rest[:-1:2], [each.astype(np.int64) for each in rest[1::2]]
    return People(
        columns=tuple(head["columns"]),
        exact=head["exact"],
        rows=head["rows"],
        limit=head["limit"],
        digests=digests,
        counts=counts,
        histograms=dict(zip(head["histograms"], zip(values, often, strict=True), strict=True)),
    )


def keyed_people(sketch: Sketch | None, rows: int, histograms: Mapping[str, Histogram], key: bytes) -> People:
    """What is kept of a table, from its sketch (None: no columns tell people apart) and its histograms."""
    digests, counts = (np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))
    if sketch is not None:
        digests, counts = _keyed(sketch, ALL, key)
    return People(
        columns=sketch.columns if sketch else (),
        exact=sketch is not None and sketch.exact,
        rows=rows,
        limit=sketch.limit if sketch else ALL,
        digests=digests,
        counts=counts,
        histograms={name: keyed_histogram(name, found, key) for name, found in histograms.items()},
    )


def _keyed(sketch: Sketch, limit: int, key: bytes) -> tuple[Words, Ints]:
    """The digests below a limit under the key, ascending, and how many rows have each."""
    number = len(sketch.digests) if limit >= sketch.limit else int(np.searchsorted(sketch.digests, np.uint64(limit)))
    digests, counts = keyed(sketch.digests[:number], key, "a person"), np.minimum(sketch.counts[:number], _MANY)
    order = np.argsort(digests)
    return digests[order], counts[order]


def keyed_histogram(name: str, found: Histogram, key: bytes) -> Histogram:
    """A histogram under the series' key."""
    values, counts = keyed(found[0], key, f"a value of {name}"), found[1]
    order = np.argsort(values)
    return values[order], counts[order]


def shared(people: People, sketch: Sketch, key: bytes) -> int:
    """How many people are in both tables, beyond chance; 0 where that is little of either, or chance explains it.

    `sketch` is of the same columns.
    """
    limit = min(people.limit, sketch.limit)
    digests, counts = _keyed(sketch, limit, key)
    _, here, there = np.intersect1d(digests, people.digests, assume_unique=True, return_indices=True)
    least = min(people.rows, sketch.rows)
    if people.exact:  # a person may have many rows here
        common = len(here) * (ALL / limit)
        return round(min(common, least)) if common > EXCESS * least else 0
    one, two = (_KEPT * least / rows for rows in (sketch.rows, people.rows))
    found = float(_held_once(counts[here], one) @ _held_once(people.counts[there], two))
    seen = limit / people.limit  # of what was kept: which of it is below the limit, only the other table tells
    twice = (_held_twice(counts, one) + _ONE) * (_held_twice(people.counts, two) * seen + _ONE)
    chance = math.sqrt(float(twice))
    each = one * two * _alone(counts, one) * _alone(people.counts, two)  # what one person in both adds
    excess, rows = found - chance, least * (limit / ALL)
    if excess <= max(EXCESS * rows * each, SURE * math.sqrt(_KEPT * (chance + _ONE))):
        return 0
    return round(min(excess / each * (ALL / limit), least))


def _held_once(counts: Ints, share: float) -> Floats:
    """P(exactly one of c rows is kept)."""
    return np.asarray(counts * share * (1 - share) ** (counts - 1), dtype=np.float64)


def _held_twice(counts: Ints, share: float) -> float:
    """The expected number of combinations of which two disjoint samples hold one row each."""
    several = counts[counts > 1]
    return float((several * (several - 1) * share**2 * (1 - 2 * share) ** (several - 2)).sum())


def _alone(counts: Ints, share: float) -> float:
    """P(none of those that are like a row is kept), over the rows."""
    return float((counts * (1 - share) ** (counts - 1)).sum() / max(1, counts.sum()))


def closeness(people: People, histograms: Mapping[str, Histogram], key: bytes) -> float | None:
    """How seldom two tables that were drawn apart have histograms as close as these; None without a common column.

    It is the lower tail of the two-sample chi-square of the closest column, times the number of columns.
    """
    common = [name for name in histograms if name in people.histograms]
    if not common:
        return None
    tails = [_tail(people.histograms[name], keyed_histogram(name, histograms[name], key)) for name in common]
    return min(1.0, len(common) * min(tails))


def _tail(one: Histogram, two: Histogram) -> float:
    """P(X^2 <= the one found), with a correction for counts being whole: half a row more apart in every bin."""
    values = np.union1d(one[0], two[0])
    counts = np.zeros((2, len(values)))
    for row, (own, often) in enumerate((one, two)):
        counts[row, np.searchsorted(values, own)] = often
    starts = _bins(counts.sum(axis=0).tolist())
    if len(starts) < 2 or not counts.sum(axis=1).all():
        return 1.0
    a, b = np.add.reduceat(counts, starts, axis=1)
    scale = math.sqrt(float(b.sum() / a.sum()))
    apart = np.abs(a * scale - b / scale) + 0.5 * min(scale, 1 / scale)
    from scipy.special import chdtr  # it takes longer to load than most tables to read

    return float(chdtr(len(starts) - 1, float((apart**2 / (a + b)).sum())))


def _bins(counts: list[float]) -> list[int]:
    """Where bins of neighbouring values begin that each have enough rows."""
    starts: list[int] = []
    held = float(_EXPECTED)
    for place, count in enumerate(counts):
        if held >= _EXPECTED:
            starts.append(place)
            held = 0.0
        held += count
    return starts[:-1] if held < _EXPECTED and len(starts) > 1 else starts
