"""What a series keeps of the people in a table: enough to notice them in another one, and nothing that lists them.

Two tables are compared by columns that tell most of their people apart: what both hold once, beyond what chance gives,
is people who are in both. Where no columns do, their histograms are compared: two tables that were drawn apart differ
by chance, and tables that hardly differ were not drawn apart.

Departs: no paper has it. Symbols: D the number of combinations that exactly two rows of a table have. If two tables
are drawn apart, a combination that occurs a and b times on average in them is held once by both with probability
a b exp(-a - b), and twice by the first with a^2 exp(-a) / 2; so by Cauchy and Schwarz chance gives at most
2 sqrt(D1 D2) combinations that both hold once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Ints
from discreet.series.sketch import ALL, Sketch
from discreet.series.words import Words, keyed

EXCESS = 0.01  # of either table: more people in common are the same people
SURE = 5.0  # standard errors beyond chance
CHANCE = 1e-6  # how seldom histograms of tables that were drawn apart are as close
_EXPECTED = 20  # rows that a bin of a histogram has at least, in both tables together
_PERSON = "a person"
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
    once: Words
    twice: int
    histograms: Mapping[str, Histogram]

    def as_bytes(self) -> bytes:
        head = {
            "columns": self.columns,
            "exact": self.exact,
            "rows": self.rows,
            "limit": self.limit,
            "once": len(self.once),
            "twice": self.twice,
            "histograms": {name: len(values) for name, (values, _) in self.histograms.items()},
        }
        arrays = [self.once, *(each for pair in self.histograms.values() for each in pair)]
        text = json.dumps(head).encode()
        return len(text).to_bytes(8, "little") + text + b"".join(each.astype("<u8").tobytes() for each in arrays)


def people_from_bytes(content: bytes) -> People:
    """What `as_bytes` wrote; raises ValueError where it did not."""
    start = 8 + int.from_bytes(content[:8], "little")
    head = json.loads(content[8:start])
    words = np.frombuffer(content, dtype="<u8", offset=start).astype(np.uint64)
    once, *rest = np.split(words, np.cumsum([head["once"], *(n for n in head["histograms"].values() for _ in "vc")]))
    pairs = zip(rest[:-1:2], rest[1::2], strict=True)
    histograms = {
        name: (values, counts.astype(np.int64))
        for name, (values, counts) in zip(head["histograms"], pairs, strict=True)
    }
    return People(
        columns=tuple(head["columns"]),
        exact=head["exact"],
        rows=head["rows"],
        limit=head["limit"],
        once=once,
        twice=head["twice"],
        histograms=histograms,
    )


def keyed_people(sketch: Sketch | None, rows: int, histograms: Mapping[str, Histogram], key: bytes) -> People:
    """What is kept of a table, from its sketch (None: no columns tell people apart) and its histograms."""
    kept = {name: keyed_histogram(name, found, key) for name, found in histograms.items()}
    if sketch is None:
        none = np.zeros(0, dtype=np.uint64)
        return People(columns=(), exact=False, rows=rows, limit=ALL, once=none, twice=0, histograms=kept)
    return People(
        columns=sketch.columns,
        exact=sketch.exact,
        rows=rows,
        limit=sketch.limit,
        once=np.sort(keyed(sketch.held(1), key, _PERSON)),
        twice=len(sketch.held(2)),
        histograms=kept,
    )


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
    held = sketch.digests if people.exact else sketch.held(1, limit)  # a person may have many rows here
    common = len(np.intersect1d(keyed(held, key, _PERSON), people.once, assume_unique=True))
    twice = math.sqrt(len(sketch.held(2, limit)) * people.twice * (limit / people.limit))
    chance = 0.0 if people.exact else 2 * twice
    excess = common - chance
    least = min(people.rows, sketch.rows) * (limit / ALL)
    if excess <= EXCESS * least or (not people.exact and excess <= SURE * math.sqrt(2 * chance + 1)):
        return 0
    return min(people.rows, sketch.rows, round(excess * (ALL / limit)))


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
