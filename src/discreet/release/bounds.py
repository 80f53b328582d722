"""What a stranger's release may take: memory, by what its files have on disk, unless whoever opens it says otherwise.

A few bytes of Parquet can stand for billions of rows, and a short text for a large domain. So what is needed is told
from footers and domains, and held against these limits before anything of that size is made. They are those of
docs/release-format.md, with the reason for each number.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from discreet.engine.memory import bytes_of
from discreet.errors import OutOfMemory
from discreet.ground.holes import has_holes
from discreet.release.pages import chunks_of

if TYPE_CHECKING:
    from discreet.schema.schema import Schema

MEMORY = 512 * 2**20  # bytes, for a release of any size
PER_BYTE = 256  # of memory for a byte of its tables: one that is read, decoded, sorted and learned from
ENGINE = 2  # the engine may have one part in so many; the rest is for arrays beside it, and for the program itself
CELL = 8  # bytes that a cell takes, while it is a number
CHUNK = 2 * 2**20  # bytes of one column in one group of rows, decoded: 122,880 rows, of 8 bytes each, twice
PACKED = 64  # times its bytes on disk that it may have, where that is more
LARGEST_MANIFEST = 64 * 2**20  # bytes of it, and of memory for its text
PARTS = 128 * 2**20  # bytes that lists and objects of a manifest may take: two million lists
_WIDE, _WIDEST = re.compile(rb"[\xc4-\xff]"), re.compile(rb"[\xf0-\xff]|\\u")  # what UTF-8 and JSON begin them with
VALUE, COLUMN = 1600, 16_000  # bytes that a value of a list or a hierarchy takes, and a column, read and asked for
_REMEDY = "if you trust who made it, raise the limit (memory, --memory)"


def memory_of(folder: Path, given: str | None = None) -> int:
    """Bytes of memory that opening, verifying and asking a release may take; `given` is what its reader allows."""
    if given is not None:
        return bytes_of(given)
    tables = (each for each in folder.glob("data/*.parquet") if each.is_file() and not each.is_symlink())
    held = {(own.st_dev, own.st_ino): own.st_size for own in (each.stat() for each in tables if not has_holes(each))}
    return max(MEMORY, PER_BYTE * sum(held.values()))  # a file with several names has its bytes once


def engine_memory(folder: Path, given: str | None = None) -> str:
    """What of it the engine may have."""
    return given or f"{memory_of(folder) // ENGINE}B"


def check_cells(table: Path, folder: Path, given: str | None = None) -> int:
    """The rows of a table, by its footer; raises OutOfMemory where its cells would take more than is allowed.

    How much they unpack to is what the headers of pages say, which readers believe, and not the footer.
    """
    footer = pq.read_metadata(table)
    rows, memory = int(footer.num_rows), memory_of(folder, given)
    if (needed := rows * footer.num_columns * CELL) > memory:
        raise OutOfMemory(
            f"{table.name} has {rows:,} rows in {table.stat().st_size:,} bytes, which need {needed / 1e9:,.1f} GB of "
            f"memory, and {memory / 1e9:,.1f} GB are allowed; {_REMEDY}"
        )
    if given is None and any(each.unpacked > max(CHUNK, PACKED * each.packed) for each in chunks_of(table, footer)):
        raise OutOfMemory(f"{table.name} has cells that need more memory than is allowed; {_REMEDY}")
    return rows


def check_schema(schema: Schema, folder: Path, given: str | None = None) -> None:
    """Raise OutOfMemory where a schema has more columns, or lists more values, than is allowed."""
    needed, memory = VALUE * schema.listed + COLUMN * len(schema.columns), memory_of(folder, given)
    if needed > memory:
        raise OutOfMemory(
            f"datapackage.json lists {schema.listed:,} values of {len(schema.columns):,} columns, which need "
            f"{needed / 1e9:,.1f} GB of memory, and {memory / 1e9:,.1f} GB are allowed; {_REMEDY}"
        )


def check_text(manifest: bytes) -> None:
    """Raise OutOfMemory where the text of a manifest is large: one rare character makes all of them wide."""
    width = 4 if _WIDEST.search(manifest) else 2 if _WIDE.search(manifest) else 1
    if width * len(manifest) > LARGEST_MANIFEST:
        raise OutOfMemory("datapackage.json has more text than is read")


def check_parts(manifest: bytes) -> None:
    """Raise OutOfMemory where a manifest has more lists and objects than it could need, before they are made."""
    if 64 * manifest.count(b"[") + 240 * manifest.count(b"{") + 16 * manifest.count(b",") > PARTS:
        raise OutOfMemory("datapackage.json has more lists and objects than are read")
