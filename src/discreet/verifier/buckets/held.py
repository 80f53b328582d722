"""What the tables of a bucket release hold, counted once for all checks.

`sizes` is a relation of every bucket: its BID, how many rows (persons) and values (records) it has, and the window
(part) that it lies in, 0 where there are none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from discreet.engine.columns import column_of
from discreet.engine.duck.sql import identifier
from discreet.verifier.buckets.stated import stated
from discreet.verifier.files import Files

Classes = list[tuple[int, int]]


class Entry(NamedTuple):
    """Of the buckets of one size: that some hold a value so often, how many do, and the first of them."""

    size: int
    value: object
    often: int
    buckets: int
    first: int


def sizes(files: Files) -> str:
    """The name of the relation of buckets."""
    near = files.once(stated).near
    firsts = np.array([each.first for each in near.windows] if near else [0], dtype=np.int64)
    files.engine.register(
        "windows", pa.table({"part": column_of(np.arange(len(firsts))), "first": column_of(firsts)})
    )  # of numbers, for lists would load pandas
    files.engine.rows(
        """CREATE TABLE sizes AS SELECT BID, persons, records, part
            FROM (SELECT BID, q.n AS persons, s.n AS records
                  FROM (SELECT BID, count(*) AS n FROM qit GROUP BY BID) q
                  FULL JOIN (SELECT BID, sum(COUNT) AS n FROM st GROUP BY BID) s USING (BID)) b
            ASOF LEFT JOIN windows w ON b.BID >= w.first"""
    )
    files.engine.forget("windows")
    return "sizes"


def classes(files: Files) -> dict[int, Classes]:
    """By window, each size and how many buckets have it, the smallest first."""
    found: dict[int, Classes] = {}
    for part, size, buckets in files.engine.rows(
        f"SELECT part, persons, count(*) FROM {files.once(sizes)} GROUP BY ALL ORDER BY ALL"
    ):
        found.setdefault(part, []).append((size, buckets))
    return found


def entries(files: Files) -> list[Entry]:
    """All entries of the ST that are alike but for their bucket, together."""
    found = files.engine.rows(
        f"""SELECT z.persons, s.{identifier(files.schema.sensitive)}, s.COUNT, count(*), min(s.BID)
            FROM st s JOIN {files.once(sizes)} z USING (BID) GROUP BY ALL"""
    )
    return [Entry(*row) for row in found]


def counts(files: Files) -> dict[object, int]:
    """How many people have each value that occurs."""
    people = files.once(stated).people
    if people is not None:
        return {value: sum(numbers) for value, numbers in people}
    found: dict[object, int] = {}
    for each in files.once(entries):
        found[each.value] = found.get(each.value, 0) + each.often * each.buckets
    return found


def counts_by_window(files: Files) -> dict[int, dict[object, int]]:
    """The same by window."""
    if files.once(stated).near is None:
        return {0: files.once(counts)}
    found: dict[int, dict[object, int]] = {}
    for part, value, count in files.engine.rows(
        f"""SELECT z.part, s.{identifier(files.schema.sensitive)}, sum(s.COUNT)::BIGINT
            FROM st s JOIN {files.once(sizes)} z USING (BID) GROUP BY ALL"""
    ):
        found.setdefault(part, {})[value] = count
    return found
