"""From tables to classes: a table that was read by a policy, or any other, of which the columns are named.

Rows are kept in memory alone. Numbers of classes and values ascend with the cells, so no order of rows matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.attack.target import Codes
from discreet.engine.duck.database import Database
from discreet.engine.duck.sources import EVERYTHING, open_source
from discreet.engine.duck.sql import identifier, written
from discreet.engine.duck.types import column_type
from discreet.engine.faults import Unfit
from discreet.engine.memory_file import MemoryFile
from discreet.engine.source import CsvFiles
from discreet.errors import TableError
from discreet.ground.arrays import Ints
from discreet.guarantee.classic.classes import Classes, classes_of, numbered
from discreet.guarantee.classic.presence import Presence, presence
from discreet.schema.nearest import nearest
from discreet.table.reading import unreadable
from discreet.table.source import CsvForm, find_source, name_of_source

if TYPE_CHECKING:
    from discreet.schema.schema import Schema

NOTHING_TO_LINK_BY = "an outside table must have at least one quasi-identifier; there is nothing to link by"
_IN_ORDER = ("whole", "fraction", "date")  # kinds of columns whose values are smaller or larger


@dataclass(frozen=True, kw_only=True)
class Coded:
    """Columns of the same rows as numbers that ascend with the cells, and which of them have an order that counts."""

    codes: Codes
    ordered: frozenset[str]

    @property
    def rows(self) -> int:
        return len(next(iter(self.codes.values())))


def classes_by(coded: Coded, quasi_identifiers: Sequence[str], sensitive: str) -> Classes:
    """Rows as classes by some columns, with the values of another."""
    return classes_of(
        numbered([coded.codes[name] for name in quasi_identifiers]),
        coded.codes[sensitive],
        kind=f"rows with the same {', '.join(quasi_identifiers)}",
        ordered=sensitive in coded.ordered,
    )


def presence_by(inside: Codes, outside: Codes, quasi_identifiers: Sequence[str]) -> Presence:
    """How probable it is that people outside are inside, by the columns that both have, coded alike."""
    names = [name for name in quasi_identifiers if name in inside and name in outside]
    if not names:
        raise TableError(NOTHING_TO_LINK_BY)
    rows = len(inside[names[0]])
    both = numbered([np.concatenate([inside[name], outside[name]]) for name in names])
    return presence(both[:rows], both[rows:])


def coded_of(codes: Codes, schema: Schema) -> Coded:
    """Codes by a schema's domains, in which a missing cell has no place in the order."""
    ordered = {name for name in codes if schema.domains[name].in_order}
    for name in ordered & {each for each in codes if schema.domains[each].missing}:
        if (codes[name] == len(schema.domains[name]) - 1).any():
            ordered.discard(name)
    return Coded(codes=codes, ordered=frozenset(ordered))


def check_roles(quasi_identifiers: Sequence[str], sensitive: str, known: Sequence[str]) -> None:
    """Raise TableError where a column is not there, is named twice, or there is none to tell people apart by."""
    if not quasi_identifiers:
        raise TableError("quasi_identifiers ([]) must name a column at least; without any all rows are one class")
    named = [*quasi_identifiers, sensitive]
    for name in named:
        if name not in known:
            raise TableError(f"column {name} is missing from the table{nearest(name, known)}")
    if len(set(named)) < len(named):
        raise TableError("quasi_identifiers and sensitive must be different columns; name each once")


def coded_sources(
    source: Any, outside: Any, quasi_identifiers: Sequence[str], sensitive: str, csv: CsvForm | None
) -> tuple[Coded, Codes | None]:
    """Columns of a table that no policy describes, and of an outside table those that it has, coded alike."""
    wanted = [*quasi_identifiers, sensitive]
    with _opened(source, wanted, csv) as (database, types):
        check_roles(quasi_identifiers, sensitive, list(types))
        kinds = {name: column_type(types[name]).kind for name in wanted}
        as_text = [name for name in wanted if kinds[name] == "other" or (outside is not None and name != sensitive)]
        cells = _columns(database, types, wanted, as_text)
    if outside is None:
        return _coded(cells, kinds), None
    with _opened(outside, quasi_identifiers, csv) as (database, types):
        names = [name for name in quasi_identifiers if name in types]
        if not names:
            raise TableError(NOTHING_TO_LINK_BY)
        beside = _columns(database, types, names, names)
    rows = len(cells[sensitive])
    both = {name: pa.chunked_array([*cells[name].chunks, *beside[name].chunks]) for name in names}
    coded = _coded({**cells, **both}, kinds)
    whole = {name: codes[:rows] for name, codes in coded.codes.items()}
    return replace(coded, codes=whole), {name: coded.codes[name][rows:] for name in names}


@contextmanager
def _opened(source: Any, expected: Sequence[str], csv: CsvForm | None) -> Iterator[tuple[Database, dict[str, str]]]:
    """A database that has the source's rows, and the types of its columns."""
    try:
        with ExitStack() as files:
            database = files.enter_context(Database(spills=False))
            found = find_source(source, expected, csv)
            if isinstance(found, CsvFiles) and found.encoding is not None:
                decoded = [MemoryFile(path, found.encoding, database.limit) for path in found.paths]
                for each in decoded:
                    files.callback(each.close)
                found = replace(found, paths=tuple(each.path for each in decoded), encoding=None)
            yield database, open_source(database, found)
    except Unfit as fault:
        raise unreadable(source, csv, fault) from None
    except pa.ArrowException:
        raise TableError(f"table ({name_of_source(source)}) must have columns of numbers, dates or text") from None


def _columns(
    database: Database, types: Mapping[str, str], names: Sequence[str], as_text: Sequence[str]
) -> dict[str, pa.ChunkedArray]:
    """Columns as they stand, some of them as text, in which a cell is written in one way only."""
    cells = ", ".join(
        f"{written(name, types[name]) if name in as_text else identifier(name)} AS c{place}"
        for place, name in enumerate(names)
    )
    found = database.arrow(f"SELECT {cells} FROM {EVERYTHING}")
    return dict(zip(names, found.columns, strict=True))


def _coded(cells: Mapping[str, pa.ChunkedArray], kinds: Mapping[str, str]) -> Coded:
    codes = {name: _ranks(column) for name, column in cells.items()}
    ordered = {name for name, kind in kinds.items() if kind in _IN_ORDER and not cells[name].null_count}
    return Coded(codes=codes, ordered=frozenset(ordered))


def _ranks(column: pa.ChunkedArray) -> Ints:
    """Each cell's place among the distinct cells of its column; an empty one comes last."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.dictionary_encode(null_encoding="encode").combine_chunks()
    order = np.asarray(pc.sort_indices(encoded.dictionary))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[np.asarray(encoded.indices, dtype=np.int64)]
