"""Whether the windows of a near release are consecutive runs of the curve, from its files alone.

The curve: columns come in the order of their entropy, the lowest first, ties as in the schema. With c_v rows having the
value v, a column's entropy falls as sum_v c_v floor(1024 log2 c_v) rises, which is compared in whole numbers. Values
are counted by their place in the domain; those of a list that has neither an order nor a hierarchy by how many rows
have them, the most first, ties as in the list. A column is counted backwards wherever the number that the columns
before it spell is odd: neighbours on the curve differ in one column, by one place, as far as rows are there.

The rule for a window that is not declared: the smallest that is all n rows, or is at least 500, n // 400 and
min(5,000, n // 6) and, for every value with a share f below its tolerance f', which is below 1, at least
320 f' (1 - f) / (f' - f)^2; where f is no smaller, it is all n rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code
from discreet.ground.arrays import Ints
from discreet.schema.domain import Domain
from discreet.verifier.buckets.held import counts, sizes
from discreet.verifier.buckets.stated import Near, Stated, Window, stated
from discreet.verifier.files import Files

Key = tuple[int, ...]
_WORD = 2**62  # the largest number that columns spell together
_LEAST, _MOST, _GOOD, _FEWEST = 500, 400, 5_000, 6  # rows; windows; rows, as long as there are so many windows
_MARGIN = 320


def broken_windows(files: Files) -> str | None:
    """What is wrong with the windows of a near release; nothing where there are none."""
    own = files.once(stated)
    if own.near is None:
        return None
    windows = own.near.windows
    if not own.near.declared and not is_ruled(own.near.window, own.rows, _protected(own, files.once(counts))):
        return "the window is not declared, and not the one that the rule gives for these counts and tolerances"
    if broken := missized(own.near, own.rows):
        return broken
    if [each.first for each in windows] != [1, *(each.last + 1 for each in windows[:-1])]:
        return "the windows do not have consecutive buckets from 1 on"
    return _rows_elsewhere(files, windows) or _off_the_curve(files, windows)


def _protected(own: Stated, held: Mapping[object, int]) -> list[tuple[int, Fraction]]:
    """How many people have each value whose tolerance is below 1, and that tolerance."""
    return [(count, own.limits[value]) for value, count in held.items() if own.limits[value] < 1]


def is_ruled(window: int, rows: int, protected: Sequence[tuple[int, Fraction]]) -> bool:
    """Whether a window is the one that the rule gives: the smallest that is long enough."""
    return _long_enough(window, rows, protected) and not _long_enough(window - 1, rows, protected)


def _long_enough(window: int, rows: int, protected: Sequence[tuple[int, Fraction]]) -> bool:
    """All rows, or so many that windows are few enough and no value with its tolerance calls for more."""
    if window >= rows:
        return True
    if window < max(_LEAST, rows // _MOST, min(_GOOD, rows // _FEWEST)):
        return False
    # with f the share of a value and f' its tolerance, a window w is long enough where w (f' - f)^2 >= 320 f' (1 - f)
    gaps = [(limit - Fraction(count, rows), limit * Fraction(rows - count, rows)) for count, limit in protected]
    return all(gap > 0 and window * gap * gap >= _MARGIN * spread for gap, spread in gaps)


def missized(near: Near, rows: int) -> str | None:
    """Whether all windows but the last are as long as is stated, and the last is as long, but not twice as long."""
    *others, last = (each.rows for each in near.windows)
    if any(each != near.window for each in others) or not near.window <= last < 2 * near.window:
        return "the windows do not have the sizes that the stated window gives for so many rows"
    if sum(others) + last != rows:
        return "the windows are not as many as the stated window gives for so many rows"
    return None


def _rows_elsewhere(files: Files, windows: Sequence[Window]) -> str | None:
    """Whether the buckets of every window are there and have its rows."""
    known = files.engine.rows(f"SELECT count(*), min(BID), max(BID) FROM {files.once(sizes)}")[0]
    if tuple(known) != (windows[-1].last, 1, windows[-1].last):
        return "the ids of the buckets are not those from 1 on that the windows state"
    found = files.engine.rows(f"SELECT part, sum(persons)::BIGINT FROM {files.once(sizes)} GROUP BY part ORDER BY part")
    for (_, rows), window in zip(found, windows, strict=True):
        if rows != window.rows:
            return f"the buckets {window.first} to {window.last} have {rows:,} rows, not {window.rows:,}"
    return None


def _off_the_curve(files: Files, windows: Sequence[Window]) -> str | None:
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


def _spelt(files: Files) -> Iterator[tuple[Ints, list[Ints]]]:
    """Every row's bucket and place on the curve, as numbers that are compared one after the other, batch by batch."""
    schema = files.schema
    encodings = {name: schema.domains[name].encoding for name in schema.quasi_identifiers}
    columns = sorted(schema.quasi_identifiers, key=lambda name: -_regular(files, name))
    orders = {name: _order(files, name) for name in columns if _by_frequency(schema.domains[name])}
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


def _by_frequency(domain: Domain) -> bool:
    """Whether the curve takes a column's values by how often they occur: nothing says which of them are alike."""
    return not (domain.in_order or domain.paths)


def _order(files: Files, name: str) -> Ints:
    """For every value of a column, how many others come before it by the number of their rows."""
    encoding = files.schema.domains[name].encoding
    place = code(name, encoding)
    found = files.engine.rows(f"SELECT {place} AS c, count(*) AS n FROM qit_in_domain GROUP BY c ORDER BY n DESC, c")
    first = [value for value, _ in found]
    known = set(first)
    rest = [value for value in range(len(encoding)) if value not in known]
    order = np.empty(len(encoding), dtype=np.int64)
    order[[*first, *rest]] = np.arange(len(encoding))
    return order


def _regular(files: Files, name: str) -> int:
    """The larger, the lower a column's entropy is."""
    place = code(name, files.schema.domains[name].encoding)
    found = files.engine.rows(
        f"SELECT n, count(*) FROM (SELECT count(*) AS n FROM qit_in_domain GROUP BY {place}) GROUP BY n"
    )
    return sum(often * count * ((count**1024).bit_length() - 1) for count, often in found)
