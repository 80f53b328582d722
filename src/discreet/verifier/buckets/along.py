"""Whether the windows of a near release are consecutive runs of the curve, from its files alone.

The curve: columns come in the order of their entropy, the lowest first, ties as in the schema. With c_v rows having the
value v, a column's entropy falls as sum_v c_v floor(1024 log2 c_v) rises, which is compared in whole numbers. Values
are counted by their place in the domain; those of a list that has neither an order nor a hierarchy by how many rows
have them, the most first, ties as in the list. A column is counted backwards wherever the number that the columns
before it spell is odd: neighbours on the curve differ in one column, by one place, as far as rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code
from discreet.ground.arrays import Ints
from discreet.release.buckets.windows import Window, by_frequency, sizes_of, window_by_rule
from discreet.verifier.files import Files

BucketFiles = Files
Key = tuple[int, ...]
_WORD = 2**62  # the largest number that columns spell together


def broken_windows(files: BucketFiles, sizes: str, counts: dict[object, int]) -> str | None:
    """What is wrong with the windows of a near release; `sizes` is the relation of buckets and their rows."""
    near, windows = files.manifest.statement.mechanism.near, files.manifest.statement.numbers.windows
    if near is None or windows is None:
        return None
    rows, limits = files.manifest.statement.numbers.rows, dict(files.manifest.statement.guarantee.tolerance)
    if not near.declared and near.window != window_by_rule(
        rows, [(count, limits[value]) for value, count in counts.items()]
    ):
        return "the window is not declared, and not the one that the rule gives for these counts and tolerances"
    if near.window > rows or len(windows) != max(1, rows // near.window):
        return "the windows are not as many as the stated window gives for so many rows"
    if [each.rows for each in windows] != sizes_of(rows, near.window):
        return "the windows do not have the sizes that the stated window gives for so many rows"
    if [each.first for each in windows] != [1, *(each.last + 1 for each in windows[:-1])]:
        return "the windows do not have consecutive buckets from 1 on"
    return _rows_elsewhere(files, sizes, windows) or _off_the_curve(files, windows)


def _rows_elsewhere(files: BucketFiles, sizes: str, windows: Sequence[Window]) -> str | None:
    """Whether the buckets of every window are there and have its rows."""
    known = files.engine.rows(f"SELECT count(*), min(BID), max(BID) FROM {sizes}")[0]
    if tuple(known) != (windows[-1].last, 1, windows[-1].last):
        return "the ids of the buckets are not those from 1 on that the windows state"
    held = np.empty(windows[-1].last, dtype=np.int64)
    for batch in files.engine.batches(f"SELECT BID::BIGINT, persons::BIGINT FROM {sizes}"):
        bucket, persons = map(numbers, batch.columns)
        held[bucket - 1] = persons
    found = np.add.reduceat(held, [each.first - 1 for each in windows])
    if wrong := np.flatnonzero(found != [each.rows for each in windows]).tolist():
        window = windows[wrong[0]]
        return f"the buckets {window.first} to {window.last} have {found[wrong[0]]:,} rows, not {window.rows:,}"
    return None


def _off_the_curve(files: BucketFiles, windows: Sequence[Window]) -> str | None:
    """Whether a row stands before one of a window before its own; rows stand by bucket, which was checked."""
    lowest: dict[int, Key] = {}
    highest: dict[int, Key] = {}
    firsts = np.array([each.first for each in windows])
    for bucket, words in _spelt(files):
        place = np.searchsorted(firsts, bucket, side="right") - 1
        starts = np.flatnonzero(np.diff(place, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], len(place)], strict=True):
            inside, window = [word[start:stop] for word in words], int(place[start])
            low, high = _first_of(inside), tuple(-each for each in _first_of([-word for word in inside]))
            lowest[window] = min(low, lowest.get(window, low))
            highest[window] = max(high, highest.get(window, high))
    for number, (one, two) in enumerate(pairwise(windows)):
        if highest[number] > lowest[number + 1]:
            return (
                f"the rows of the buckets {one.first} to {one.last} and of {two.first} to {two.last} are not "
                "consecutive runs of the curve"
            )
    return None


def _first_of(words: Sequence[Ints]) -> Key:
    """The smallest of some keys, each a number in every word."""
    found, left = [], np.arange(len(words[0]))
    for word in words:
        least = word[left].min()
        left = left[word[left] == least]
        found.append(int(least))
    return tuple(found)


def _spelt(files: BucketFiles) -> Iterator[tuple[Ints, list[Ints]]]:
    """Every row's bucket and place on the curve, as numbers that are compared one after the other, batch by batch."""
    schema = files.manifest.schema
    encodings = {name: schema.domains[name].encoding for name in schema.quasi_identifiers}
    columns = sorted(schema.quasi_identifiers, key=lambda name: -_regular(files, name))
    orders = {name: _order(files, name) for name in columns if by_frequency(schema.domains[name])}
    codes = ", ".join(f"{code(name, encodings[name])}::BIGINT" for name in columns)
    for batch in files.engine.batches(f"SELECT BID::BIGINT, {codes} FROM qit_in_domain"):
        bucket, *places = map(numbers, batch.columns)
        words: list[Ints] = []
        room, odd = 0, np.zeros(len(bucket), dtype=np.int64)
        for name, place in zip(columns, places, strict=True):
            values = len(encodings[name])
            if name in orders:
                place = orders[name][place]
            turned = np.where(odd == 1, values - 1 - place, place)
            odd = (odd * (values % 2) + turned) % 2
            if not words or room * values > _WORD:
                words, room = [*words, turned], values
            else:
                words[-1], room = words[-1] * values + turned, room * values
        yield bucket, words


def _order(files: BucketFiles, name: str) -> Ints:
    """For every value of a column, how many others come before it by the number of their rows."""
    encoding = files.manifest.schema.domains[name].encoding
    place = code(name, encoding)
    found = files.engine.rows(f"SELECT {place} AS c, count(*) AS n FROM qit_in_domain GROUP BY c ORDER BY n DESC, c")
    first = [value for value, _ in found]
    known = set(first)
    rest = [value for value in range(len(encoding)) if value not in known]
    order = np.empty(len(encoding), dtype=np.int64)
    order[[*first, *rest]] = np.arange(len(encoding))
    return order


def _regular(files: BucketFiles, name: str) -> int:
    """The larger, the lower a column's entropy is."""
    place = code(name, files.manifest.schema.domains[name].encoding)
    found = files.engine.rows(
        f"SELECT n, count(*) FROM (SELECT count(*) AS n FROM qit_in_domain GROUP BY {place}) GROUP BY n"
    )
    return sum(often * count * ((count**1024).bit_length() - 1) for count, often in found)
