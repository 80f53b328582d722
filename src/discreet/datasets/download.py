"""Fetch public tables from the UCI repository: `python -m discreet.datasets.download adult FOLDER`.

What comes over the network is trusted in nothing: the archive may not be larger than expected, only the expected raw
files are read from it, none of them beyond its known size, and each must have the SHA-256 of UCI's file. No name inside
an archive ever becomes a path. A failure is one sentence, and leaves nothing behind.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import http.client
import io
import os
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from discreet.datasets import uci
from discreet.errors import DiscreetError, TableError

SILENCE = 60.0  # seconds without an answer before a download is given up
PATIENCE = 1800.0  # seconds that a whole download may take
CHUNK = 1 << 18


def download_adult(folder: str | Path) -> Path:
    """UCI Adult as `adult_full.parquet` in a folder: 48,842 rows, both splits; returns its path.

    15 columns and `split`; a missing cell is '?'. The 30,162 complete rows of split 'train' are the papers' Adult.
    """
    with _targets(folder, "adult_full.parquet") as (full,):
        table = uci.adult_table(*_raw_files(uci.ADULT))
        _write({full: table})
    return full


def download_census_income(folder: str | Path) -> tuple[Path, Path]:
    """UCI Census-Income (KDD) as `census_occ.parquet` and `census_occ_all.parquet` in a folder; returns both paths.

    The first has the 148,318 persons with an occupation, the second all 299,285; columns are named as in the papers.
    """
    with _targets(folder, "census_occ.parquet", "census_occ_all.parquet") as (some, everyone):
        table = uci.census_income_table(*_raw_files(uci.CENSUS_INCOME))
        _write({some: table.filter(pc.not_equal(table["Occupation"], 0)), everyone: table})
    return some, everyone


@contextlib.contextmanager
def _targets(folder: str | Path, *names: str) -> Iterator[tuple[Path, ...]]:
    """The paths to write, refused before a download where they cannot be; folders made here go if it fails."""
    folder = Path(folder)
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        targets = tuple(folder / name for name in names)
        for target in targets:
            if target.is_dir():
                raise TableError(f"{target} is a folder; move it away, for a file of this name is to be written")
        if not os.access(folder, os.W_OK):
            raise TableError(f"the folder {folder} cannot be written to; choose another one")
        yield targets
    except BaseException as problem:
        for each in made:
            with contextlib.suppress(OSError):
                each.rmdir()
        if isinstance(problem, OSError):
            raise TableError(f"the tables cannot be written to {folder}: {problem.strerror or problem}") from problem
        raise


def _raw_files(archive: uci.Archive) -> tuple[bytes, bytes]:
    """Both raw files of an archive, fetched and checked."""
    with tempfile.TemporaryFile() as file:
        _fetch(archive, file)
        try:
            found = _unpack(archive, file)
        except (
            zipfile.BadZipFile,
            tarfile.TarError,
            zlib.error,
            EOFError,
            OSError,  # what gzip raises for damage
            RuntimeError,  # what zipfile raises for a locked or an unknown kind of member
            ValueError,
        ) as problem:
            raise TableError(f"what {archive.url} sent is not a whole archive; download again later") from problem
    for raw in (archive.train, archive.test):
        if raw.name not in found:
            raise TableError(f"{raw.name} is missing in what {archive.url} sent; the archive may have changed")
        if hashlib.sha256(found[raw.name]).hexdigest() != raw.sha256:
            raise TableError(
                f"{raw.name} from {archive.url} has not the expected SHA-256; it is not used, for it may have changed"
            )
    return found[archive.train.name], found[archive.test.name]


def _fetch(archive: uci.Archive, file: IO[bytes]) -> None:
    """Copy an archive from the network into a file, up to its limit."""
    end = time.monotonic() + PATIENCE
    try:
        request = urllib.request.Request(archive.url, headers={"User-Agent": "discreet"})  # noqa: S310 - UCI, by https
        with urllib.request.urlopen(request, timeout=SILENCE) as answer:  # noqa: S310 - the same
            promised = answer.headers.get("Content-Length") or ""
            while chunk := answer.read1(CHUNK):
                file.write(chunk)
                if file.tell() > archive.limit:
                    raise TableError(f"{archive.url} sends more than {archive.limit:,} bytes; the archive is not used")
                if time.monotonic() > end:
                    raise TimeoutError
    except urllib.error.HTTPError as problem:
        problem.close()
        raise TableError(f"{archive.url} answers with the HTTP status {problem.code}; try again later") from problem
    except (OSError, http.client.HTTPException) as problem:
        reason = problem.reason if isinstance(problem, urllib.error.URLError) else problem
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        text = "it takes too long" if isinstance(reason, TimeoutError) else said
        raise TableError(f"{archive.url} cannot be fetched: {text}; is there a network?") from problem
    if promised.isdigit() and file.tell() < int(promised):
        raise TableError(f"{archive.url} stopped before the end of the archive; download again")


def _unpack(archive: uci.Archive, file: IO[bytes]) -> dict[str, bytes]:
    """The expected raw files by name, from the zip file, gzipped in it, or from the tar file in it."""
    found = {}
    with zipfile.ZipFile(file) as members:
        known = {
            member.filename: member
            for member in members.infolist()  # other ways to pack cannot be read in bounded steps, and UCI uses none
            if member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        }
        for raw in (archive.train, archive.test):
            if raw.name in known:
                with members.open(known[raw.name]) as stream:
                    found[raw.name] = _bounded(raw, stream)
            elif f"{raw.name}.gz" in known:
                with members.open(known[f"{raw.name}.gz"]) as packed, gzip.GzipFile(fileobj=packed) as stream:
                    found[raw.name] = _bounded(raw, stream)
        if archive.tar in known:
            with members.open(known[archive.tar]) as packed:
                found.update(_unpack_tar(archive, packed))
    return found


def _unpack_tar(archive: uci.Archive, packed: IO[bytes]) -> dict[str, bytes]:
    """The expected raw files of a .tar.gz, read once from start to end; its other members are passed over."""
    found = {}
    with (
        gzip.GzipFile(fileobj=packed) as stream,
        tarfile.open(fileobj=_Limited(stream, archive), mode="r|") as members,
    ):
        for member in members:
            for raw in (archive.train, archive.test):
                if member.isfile() and member.name.removeprefix("./") == raw.name:
                    inside = members.extractfile(member)
                    if inside is not None:
                        found[raw.name] = _bounded(raw, inside)
    return found


def _bounded(raw: uci.Raw, stream: IO[bytes] | gzip.GzipFile) -> bytes:
    """All bytes of a raw file, refused as soon as there are more than it has."""
    content = stream.read(raw.size + 1)
    if len(content) > raw.size:
        raise TableError(f"{raw.name} is larger than the {raw.size:,} bytes of UCI's file; it is not used")
    return content


class _Limited(io.BufferedIOBase):
    """A stream for tarfile that refuses to give more bytes than an archive may hold."""

    def __init__(self, stream: gzip.GzipFile, archive: uci.Archive) -> None:
        self._stream, self._left, self._archive = stream, archive.tar_limit, archive

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise TableError(
                f"{self._archive.tar} from {self._archive.url} holds more than {self._archive.tar_limit:,} bytes; "
                "it is not used"
            )
        return content


def _write(tables: dict[Path, pa.Table]) -> None:
    """Write tables as Parquet, all whole or none: first beside their places, then moved there."""
    folder = next(iter(tables)).parent
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as beside:
        for target, table in tables.items():
            parquet.write_table(table, Path(beside) / target.name, compression="zstd")
        for target in tables:
            os.replace(Path(beside) / target.name, target)


def main(words: list[str] | None = None) -> int:
    """The command: which archive and where to; prints the paths written, or one sentence and ends with 1."""
    parser = argparse.ArgumentParser(prog="python -m discreet.datasets.download", description="Fetch a public table.")
    parser.add_argument("archive", choices=("adult", "census-income"))
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args(words)
    try:
        written = (download_adult(asked.folder),) if asked.archive == "adult" else download_census_income(asked.folder)
    except DiscreetError as problem:
        print(problem, file=sys.stderr)
        return 1
    for path in written:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
