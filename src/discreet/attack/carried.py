"""What Parquet files carry beside their cells: footers, statistics, dictionaries, columns and bytes of nobody's.

Only text columns have their dictionaries read; of numbers a reader gets no more than the cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

FOREIGN = ("metadata keys", "undeclared columns", "statistics that no cell has", "dictionary entries that no cell has")
ODD = ("unknown writers", "bytes that no column has", "uneven row groups", "dictionaries in an order of their own")
_WRITERS = re.compile(r"(DuckDB version \S+ \(build \w+\)|parquet-cpp-arrow version \S+)")
_WHOLE = (122_880, 1 << 20)  # rows of a group that is not the last, as DuckDB and PyArrow cut it here
_MAGIC = 12  # bytes: twice the mark of the format, and the length of the footer


def carried(path: Path, declared: Collection[str], domains: Mapping[str, Sequence[str]]) -> Counter[str]:
    """How many things of each kind a file carries; `domains` has the public texts of columns that have any."""
    found: Counter[str] = Counter()
    footer = pq.read_metadata(path)
    groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    found["metadata keys"] = len(footer.metadata or {})
    found["unknown writers"] = int(not _WRITERS.fullmatch(footer.created_by or ""))
    bytes_of_columns = sum(each.total_compressed_size for each in chunks)
    found["bytes that no column has"] = path.stat().st_size - _MAGIC - footer.serialized_size - bytes_of_columns
    found["uneven row groups"] = uneven([group.num_rows for group in groups])
    for place, name, cells, entries in columns_of(path):
        if name not in declared:
            found["undeclared columns"] += place == 0
            continue
        texts = domains.get(name, ())
        allowed = {*cells, *texts}
        chunk = next(each for each in _chunks(groups[place]) if each.path_in_schema == name)
        found["statistics that no cell has"] += sum(not _fits(each, allowed) for each in _ends(chunk.statistics))
        allowed.add("")  # it stands in a dictionary where a public value that no row has would
        found["dictionary entries that no cell has"] += sum(each not in allowed for each in entries)
        found["dictionaries in an order of their own"] += not (_rises(entries, texts) or _rises(entries, cells))
    return +found


def uneven(rows: Sequence[int]) -> int:
    """How many row groups end where no writer of releases ends one: the last is the rest, all others are whole."""
    if not rows:
        return 0
    return sum(each not in _WHOLE or each != rows[0] for each in rows[:-1]) + (rows[-1] > rows[0])


def columns_of(path: Path) -> Iterator[tuple[int, str, list[Any], list[str]]]:
    """Of each row group and column, by name: the cells that occur, and the entries of its dictionary if it is text.

    Both are read apart: where a dictionary has an entry twice, one reading does not tell both rightly.
    """
    schema = pq.read_schema(path)
    texts = [each.name for each in schema if pa.types.is_string(each.type) or pa.types.is_large_string(each.type)]
    plain, file = pq.ParquetFile(path), pq.ParquetFile(path, read_dictionary=texts)
    for group in range(file.num_row_groups):
        for name in schema.names:
            cells = pc.unique(plain.read_row_group(group, columns=[name])[name]).to_pylist()
            found = file.read_row_group(group, columns=[name])[name] if name in texts else None
            entries = found.chunk(0).dictionary.to_pylist() if found is not None and found.num_chunks else []
            yield group, name, [each for each in cells if each is not None], entries


def texts_in(path: Path, declared: Collection[str]) -> Iterator[str]:
    """Every text that a file has in dictionaries and statistics, and in the cells of columns that nobody declared."""
    footer = pq.read_metadata(path)
    for _, name, cells, entries in columns_of(path):
        yield from entries
        if name not in declared:
            yield from map(str, cells)
    for place in range(footer.num_row_groups):
        for chunk in _chunks(footer.row_group(place)):
            yield from map(str, _ends(chunk.statistics))


def _chunks(group: Any) -> Iterator[Any]:
    return (group.column(place) for place in range(group.num_columns))


def _ends(statistics: Any) -> list[Any]:
    return [statistics.min, statistics.max] if statistics is not None and statistics.has_min_max else []


def _fits(end: Any, allowed: Collection[Any]) -> bool:
    """Whether a statistic is a cell, or a text that a writer cut short, the last sign of which may be raised."""
    if end in allowed:
        return True
    cut = end[:-1] if isinstance(end, str) else ""
    return len(cut) > 1 and any(isinstance(each, str) and each.startswith(cut) for each in allowed)


def _rises(entries: Sequence[str], order: Sequence[Any]) -> bool:
    """Whether entries stand in an order, those aside that are not in it."""
    place = {each: at for at, each in enumerate(order)}
    known = [place[each] for each in entries if each in place]
    return known == sorted(known)
