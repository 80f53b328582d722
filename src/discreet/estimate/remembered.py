"""What was learned of releases, kept in the user's cache: plain arrays in files, by a digest of what they follow from.

Nothing in it is needed: what is missing, damaged or from another version is learned again. It is bounded: files that
were not used for longest go first.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from discreet.ground.disk import make_private

NAMED = "DISCREET_CACHE"  # the environment variable that names another folder
MOST = 4 * 2**30  # bytes of all files together
_END = ".npz"
_keeping: ContextVar[bool] = ContextVar("keeping", default=True)
_UNREADABLE = (OSError, ValueError, EOFError, KeyError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error)


@contextmanager
def nothing_remembered() -> Iterator[None]:
    """Inside, nothing is looked up or kept: for releases that are made to be thrown away."""
    before = _keeping.set(False)
    try:
        yield
    finally:
        _keeping.reset(before)


def cache_folder() -> Path:
    """Where it is kept, whether or not it is there."""
    return Path(os.environ.get(NAMED) or user_cache_path("discreet")) / "learned"


def digest_of(files: Iterable[Path], version: str) -> str:
    """The name of what follows from some files, by a version of how it is learned."""
    digest = hashlib.sha256(version.encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def recall(name: str) -> Mapping[str, NDArray[Any]] | None:
    """The arrays of that name; None where there are none that can be read."""
    if not _keeping.get():
        return None
    path = cache_folder() / f"{name}{_END}"
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            found = {each: held[each] for each in held.files}
        os.utime(path)  # the last that was used goes last
    except _UNREADABLE:
        return None
    return found


def remember(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep arrays under a name, and let go of others where it becomes too much; a disk that refuses is no error."""
    folder = cache_folder()
    if not _keeping.get() or sum(array.nbytes for array in arrays.values()) > MOST:
        return
    part = folder / f".{name}-{os.getpid()}.part"
    with suppress(OSError):
        try:
            make_private(folder)
            with part.open("wb") as file:
                np.savez(file, **dict(arrays))  # type: ignore[arg-type] # names are ours: none is `file`
            part.replace(folder / f"{name}{_END}")
        finally:
            part.unlink(missing_ok=True)
        _trim(folder)


def held() -> tuple[int, int]:
    """How many releases are remembered, and how many bytes that takes."""
    sizes = [size for _, size, _ in _files(cache_folder())]
    return len(sizes), sum(sizes)


def forget() -> tuple[int, int]:
    """Let go of everything; how many releases that were, and how many bytes."""
    found = _files(cache_folder())
    for _, _, path in found:
        path.unlink(missing_ok=True)
    return len(found), sum(size for _, size, _ in found)


def _trim(folder: Path) -> None:
    files = sorted(_files(folder))
    over = sum(size for _, size, _ in files) - MOST
    for _, size, path in files:
        if over <= 0:
            return
        path.unlink(missing_ok=True)
        over -= size


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    """When each file was last used, its size, and where it is."""
    found = []
    for path in folder.glob(f"*{_END}") if folder.is_dir() else ():
        with suppress(OSError):  # just gone
            held = path.stat()
            found.append((held.st_mtime, held.st_size, path))
    return found
