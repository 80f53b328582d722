"""Writing a release so that it appears whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import ReleaseError
from discreet.release.statement import MANIFEST


@contextmanager
def new_folder(to: Path, *, replace: bool) -> Iterator[Path]:
    """A temporary sibling to fill; on leaving it is flushed to disk and takes the name `to`, on an error it
    vanishes. Whether it may take the name is checked then; ask `check_target` before any work is done.
    """
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{to.name}-", dir=to.parent))
    except OSError as error:
        raise ReleaseError(f"release ({to}) must be in a folder that can be written: {error.strerror}") from None
    try:
        yield beside
        beside.chmod(0o755)
        _flush(beside)
        _take_name(beside, to, replace=replace)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def check_target(to: Path, *, replace: bool) -> None:
    """Refuse to overwrite: only a release may be replaced, and only when that was said."""
    if not to.exists() and not to.is_symlink():
        return
    if not replace:
        raise ReleaseError(f"release ({to}) must not exist yet; choose another name or say --replace (replace=True)")
    if to.is_symlink() or not is_release(to):
        raise ReleaseError(f"release ({to}) must be a release to be replaced; this is something else and stays")


def is_release(folder: Path) -> bool:
    """Whether a folder says that it is a release."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and "discreet" in manifest


def _take_name(beside: Path, to: Path, *, replace: bool) -> None:
    check_target(to, replace=replace)
    if to.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{to.name}-old-", dir=to.parent))
        os.rename(to, old / "release")
        try:
            os.rename(beside, to)
        except BaseException:
            os.rename(old / "release", to)
            raise
        finally:
            shutil.rmtree(old)
    else:
        os.rename(beside, to)
    _sync(to.parent)


def _flush(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
