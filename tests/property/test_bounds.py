"""A small release from a stranger takes little memory and time, whatever it stands for: an answer or a sentence."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES
from parquet_bytes import STRUCT, File, packed, written
from tampering import MANIFEST, Releases, broken, copy_of, manifest_of, restate, write_manifest

import discreet
from discreet.errors import OutOfMemory, ReleaseError
from discreet.release.bounds import PER_BYTE, memory_of

MEGABYTES, SECONDS = 512, 20
RUN = """
import atexit, pathlib, re, sys
from discreet.cli.main import main
status = pathlib.Path("/proc/self/status")  # of this program alone, not of what started it
peak = lambda: int(re.search(r"VmHWM:\\s*([0-9]+)", status.read_text())[1])
atexit.register(lambda: pathlib.Path(file).write_text(str(peak())))
file = sys.argv.pop()
main()
"""


def cost(folder: Path, *words: str) -> tuple[int, str]:
    """Run the command line apart, within the limits; its exit code and all that it says."""
    before, peak = resource.getrusage(resource.RUSAGE_CHILDREN), folder.parent / "peak"
    ran = subprocess.run([sys.executable, "-c", RUN, *words, str(peak)], capture_output=True, text=True, check=False)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert int(peak.read_text()) / 1024 <= MEGABYTES
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= SECONDS
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout + ran.stderr


def many_rows(folder: Path, rows: int) -> None:
    """The first tuple of a view, so often that few bytes hold it, and as many stated."""
    path = folder / "data" / "view.parquet"
    first = pq.read_table(path).slice(0, 1)
    columns = [pa.repeat(column[0], 1 << 20) for column in first.columns]
    group = pa.table(columns, names=first.column_names)
    with pq.ParquetWriter(path, group.schema, compression="zstd", store_schema=False) as writer:
        for _ in range(rows >> 20):
            writer.write_table(group)
    _state(folder, rows >> 20 << 20)


def long_cells(folder: Path, _: int) -> None:
    """A tuple with a cell of 100 MB."""
    path = folder / "data" / "view.parquet"
    first = pq.read_table(path).slice(0, 1)
    place = first.column_names.index("disease")
    pq.write_table(
        first.set_column(place, "disease", pa.array(["x" * 10**8])), path, compression="zstd", store_schema=False
    )
    _state(folder, 1)


def lying_page(folder: Path, size: int) -> None:
    """A page that unpacks to zeros without end; the footer says that it is as it was."""
    path = folder / "data" / "view.parquet"
    file = File.read(path)
    last = file.groups[-1][-1]
    page = last.pages[-1]
    page.frame = packed(bytes(1 << 23)) * (size >> 23)
    file.to(path)
    before = len(written(page.header, STRUCT))
    page.header[2], file.sizes = size, False
    last.meta[7] += len(written(page.header, STRUCT)) - before
    file.to(path)
    assert pq.read_metadata(path).row_group(0).column(0).total_uncompressed_size < 1 << 20
    restate(folder)


def many_lists(folder: Path, number: int) -> None:
    """A manifest with millions of empty lists."""
    path = folder / MANIFEST
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"facts": {', '"facts": {"x": [' + "[]," * number + "[]],", 1), encoding="utf-8")


def holes(folder: Path, size: int) -> None:
    """A README that takes no space and has no end."""
    os.truncate(folder / "README.md", size)


def wide_text(folder: Path, number: int) -> None:
    """A manifest of plain letters and one that makes each of them take four bytes."""
    path = folder / MANIFEST
    text = path.read_text(encoding="utf-8")
    long = "\N{GRINNING FACE}" + "a" * number
    path.write_text(text.replace('"facts": {', f'"facts": {{"x": "{long}",', 1), encoding="utf-8")


def long_text(folder: Path, number: int) -> None:
    """A manifest of nothing but plain letters."""
    path = folder / MANIFEST
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"facts": {', '"facts": {"x": "' + "a" * number + '",', 1), encoding="utf-8")


def many_values(folder: Path, number: int) -> None:
    """A domain that lists so many values."""
    manifest = manifest_of(folder)
    manifest["discreet"]["schema"]["domains"]["disease"]["values"] += [f"v{each}" for each in range(number)]
    write_manifest(folder, manifest)


def wide_range(folder: Path, number: int) -> None:
    """A domain of so many whole numbers."""
    manifest = manifest_of(folder)
    manifest["discreet"]["schema"]["domains"]["age"]["integers"] = [0, number]
    write_manifest(folder, manifest)


def _state(folder: Path, tuples: int) -> None:
    manifest = manifest_of(folder)
    manifest["discreet"]["tuples"] = tuples
    write_manifest(folder, manifest)
    restate(folder)


VIEW = next(case for case in CASES if case.name == "alphabeta")
NO_HOLES = pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="files have no holes that can be told here")
HOSTILE = [
    pytest.param(many_rows, 48 << 20, id="rows beyond what is read"),
    pytest.param(many_rows, 15 << 20, id="rows that are read", marks=pytest.mark.slow),
    pytest.param(long_cells, 0, id="long cells"),
    pytest.param(many_lists, 10**7, id="many lists"),
    pytest.param(holes, 1 << 40, id="holes", marks=NO_HOLES),
    pytest.param(wide_text, 62 << 20, id="wide text"),
    pytest.param(long_text, 62 << 20, id="long text"),
    pytest.param(many_values, 990_000, id="many values"),
    pytest.param(wide_range, 4 * 10**7, id="wide range"),
]


@pytest.mark.parametrize(("change", "number"), HOSTILE)
def test_a_small_file_that_stands_for_much_is_one_sentence(
    change: Callable[[Path, int], None], number: int, releases: Releases
) -> None:
    """Verified and asked within the limits; a question is answered or refused in one line, with exit 2."""
    with copy_of(releases.plain(VIEW)) as folder:
        change(folder, number)
        code, said = cost(folder, "verify", "--allow-seeded", str(folder))
        assert code == 1 or (code == 2 and len(said.splitlines()) == 1)
        code, said = cost(folder, "query", str(folder), "age = 3")
        assert code == 0 or (code == 2 and len(said.splitlines()) == 1)


def test_what_a_page_unpacks_to_is_told_from_its_own_header(releases: Releases) -> None:
    """And not from the footer, which may say less: it is refused before anything is unpacked."""
    with copy_of(releases.plain(VIEW)) as folder:
        lying_page(folder, 1 << 30)
        assert broken(folder, allow_seeded=True)
        with discreet.open_release(folder) as release, pytest.raises(OutOfMemory, match="has cells that need"):
            release.count("age = 3")


def test_hundreds_of_thousands_of_windows_are_checked_within_the_limits(releases: Releases) -> None:
    """As many as a manifest may list are looked up in a table, and not said in the text of a query."""
    with copy_of(releases.plain(next(case for case in CASES if case.name == "near buckets"))) as folder:
        manifest = manifest_of(folder)
        manifest["discreet"]["windows"] = [{"rows": 60, "first": 1, "last": 2}] * 340_000
        write_manifest(folder, manifest)
        assert cost(folder, "verify", "--allow-seeded", str(folder))[0] == 1


@NO_HOLES
def test_what_is_no_bytes_on_disk_raises_no_limit(releases: Releases) -> None:
    """A table with holes counts for nothing, and one with several names counts once."""
    with copy_of(releases.plain(VIEW)) as folder:
        table = folder / "data" / "view.parquet"
        (folder / "data" / "large.parquet").write_bytes(b"1" * 3 * 2**20)
        allowed = memory_of(folder)
        assert allowed == PER_BYTE * (3 * 2**20 + table.stat().st_size)
        os.link(folder / "data" / "large.parquet", folder / "data" / "same.parquet")
        (folder / "data" / "empty.parquet").touch()
        os.truncate(folder / "data" / "empty.parquet", 1 << 40)
        assert memory_of(folder) == allowed
        os.truncate(table, 1 << 40)
        with discreet.open_release(folder) as release, pytest.raises(ReleaseError, match="without holes"):
            release.count("age = 3")


def published(folder: Path, people: int, kinds: int) -> Path:
    """A bucket release of people's ages and diagnoses by code."""
    coins, codes = np.random.default_rng(3), tuple(f"ICD{number:04d}" for number in range(kinds))
    table = pd.DataFrame({"age": coins.integers(20, 80, people), "code": np.resize(codes, people)})
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("age",),
            sensitive="code",
            domains={"age": discreet.Integers(low=20, high=79), "code": discreet.Listed(values=codes)},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(theta=8, floor="0.1")),
    )
    with closing(discreet.read_table(table, policy)) as read:
        discreet.publish(read, policy, to=folder, seed=1).close()
    return folder


def test_an_honest_release_of_thousands_of_values_is_answered(tmp_path: Path) -> None:
    """Nothing is refused, for nothing is decomposed or learned that could not be used."""
    folder = published(tmp_path / "release", 12_000, 3_000)
    assert discreet.verify(folder, allow_seeded=True).holds
    with discreet.open_release(folder) as release:
        for estimator in (None, "unbiased", "learned"):
            found = release.count("age < 50 AND code = 'ICD0007'", estimator=estimator)
            assert 0 <= found.low <= found.high <= 4


def test_where_there_is_no_memory_to_learn_the_unbiased_answer_is_given(tmp_path: Path) -> None:
    """With a note that says why, and no refusal."""
    asked = "age < 50 AND code = 'ICD0007'"
    with discreet.open_release(published(tmp_path / "release", 100_000, 12), memory="6MB") as release:
        found, plain = release.count(asked, estimator="learned"), release.count(asked, estimator="unbiased")
    assert found.estimator == plain.estimator == "unbiased"
    assert (found.value, found.low, found.high) == (plain.value, plain.low, plain.high)
    assert "more memory than is allowed" in found.note
