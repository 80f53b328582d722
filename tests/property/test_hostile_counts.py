"""Small files that state or unpack to huge tables of noisy counts: opened, asked and verified within limits.

A process of its own does it, so that its memory and its time can be measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, Case
from tampering import Releases, copy_of, file_of, manifest_of, restate, table_of, write_manifest

MOST_MEMORY, MOST_SECONDS = 512 * 2**20, 20
HUGE = 256 * 2**20
RUN = """
import json, re, sys, time
import discreet
from discreet.errors import DiscreetError
try:
    with discreet.open_release(sys.argv[1]) as release:
        said = str(release.count("gender = 'M' AND disease = 'HIV'").value)
except DiscreetError as error:
    said = str(error)
verdict = discreet.verify(sys.argv[1], allow_seeded=True)
memory = int(re.search("VmHWM:\\s+([0-9]+) kB", open("/proc/self/status").read())[1]) * 1024
broken = {check.name: check.detail for check in verdict.checks if not check.holds}
print(json.dumps([said, broken, memory, time.process_time()]))
"""
Forge = Callable[[Path], Any]


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def measured(folder: Path) -> tuple[str, dict[str, str]]:
    """What opening and asking said, and the checks that do not hold; within the limits."""
    command = [sys.executable, "-c", RUN, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our interpreter
    assert done.returncode == 0, done.stderr[-800:]
    said, broken, memory, seconds = json.loads(done.stdout)
    assert memory < MOST_MEMORY, f"{memory / 2**20:.0f} MiB"
    assert seconds < MOST_SECONDS
    assert "\n" not in said
    return said, broken


def written(folder: Path, name: str, table: pa.Table, **options: Any) -> None:
    pq.write_table(table, file_of(folder, name), store_schema=False, compression="zstd", **options)
    assert file_of(folder, name).stat().st_size < 200_000
    restate(folder)


def many_rows(folder: Path, name: str) -> None:
    """Two million rows of the first one, dictionary and run-length encoded."""
    table = table_of(folder, name)
    rows = table.take(pa.array(np.zeros(2_000_000, dtype=np.int64)))
    written(folder, name, rows, row_group_size=2_000_000, compression_level=19)


def many_stated(folder: Path) -> None:
    """The same, and the manifest says so."""
    many_rows(folder, "leaves")
    manifest = manifest_of(folder)
    manifest["discreet"]["leaves"] = 2_000_000
    write_manifest(folder, manifest)


def long_text(folder: Path, name: str, column: str) -> None:
    """As many rows as there should be, one of which is a text of 256 MiB."""
    table = table_of(folder, name)
    texts = table[column].to_pylist()
    place = table.column_names.index(column)
    long = table.set_column(place, column, pa.array(["x" * HUGE, *texts[1:]], pa.large_string()))
    written(folder, name, long, use_dictionary=False, write_statistics=False)


def lying(folder: Path, name: str, column: str) -> None:
    """The same, and the footer says that it is small."""
    long_text(folder, name, column)
    path = file_of(folder, name)
    content, footer = path.read_bytes(), pq.read_metadata(path)
    size = footer.row_group(0).column(footer.schema.names.index(column)).total_uncompressed_size
    assert varint(size) in content
    path.write_bytes(content.replace(varint(size), varint(500, len(varint(size)))))
    restate(folder)


def varint(number: int, length: int = 0) -> bytes:
    """A number as Thrift's compact protocol writes it, in so many bytes."""
    rest, found = number << 1, []
    while rest or len(found) < max(length, 1):
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*found[:-1], found[-1] & 127])


FORGED: dict[str, tuple[str, Forge]] = {
    "leaves with many rows": ("diffgen", lambda folder: many_rows(folder, "leaves")),
    "leaves with many rows that are stated": ("diffgen", many_stated),
    "tables with many rows": ("diffgen", lambda folder: many_rows(folder, "tables")),
    "columns with many rows": ("pairs", lambda folder: many_rows(folder, "columns")),
    "pairs with many rows": ("pairs", lambda folder: many_rows(folder, "pairs")),
    "leaves with a long text": ("diffgen", lambda folder: long_text(folder, "leaves", "age")),
    "tables with a long text": ("diffgen", lambda folder: long_text(folder, "tables", "VALUE")),
    "leaves whose footer lies": ("diffgen", lambda folder: lying(folder, "leaves", "age")),
    "columns whose footer lies": ("pairs", lambda folder: lying(folder, "columns", "CELL")),
}
SLOW = ("leaves with a long text", "tables with a long text", "tables with many rows", "columns with many rows")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux's /proc")
@pytest.mark.parametrize(
    "what", [pytest.param(each, marks=pytest.mark.slow if each in SLOW else ()) for each in FORGED]
)
def test_a_small_file_costs_little(what: str, releases: Releases) -> None:
    """Neither who asks nor who verifies unpacks what is stated: it is refused in a sentence that names the file."""
    name, forge = FORGED[what]
    with copy_of(releases.plain(case_of(name))) as folder:
        forge(folder)
        said, broken = measured(folder)
        file = what.split()[0] + ".parquet"
        assert file in said
        assert file in broken.get("layout", broken["schema"])
