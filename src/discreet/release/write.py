"""Writing a release so that it appears whole or not at all.

It is made in a hidden folder that its process holds, and is no release there: its manifest has a pending name until
nothing but the name of the folder is missing. That name is taken, or exchanged with an older release, in one step.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from discreet.errors import ReleaseError
from discreet.ground.disk import exchange, make_folders, sync, take_name, workplace
from discreet.release.statement import MANIFEST, PENDING

_NEW, _OLD = "release", "old"  # in the hidden folder: what is made, and what stood under the name where it must wait
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG)


@contextmanager
def new_folder(to: Path, *, replace: bool) -> Iterator[Path]:
    """A hidden folder to fill, with a manifest under its pending name as the last file.

    On leaving it is flushed to disk and takes the name `to`; on an error it vanishes, and what stood under the name
    stands there still. Whether it may take the name is checked then; ask `check_target` before any work is done. Raises
    ReleaseError for every OSError, also of what fills it.
    """
    try:
        make_folders(to.parent)
        with workplace(to.parent, to.name, partial(_rescue, to)) as place:
            (place / _NEW).mkdir()
            yield place / _NEW
            _settle(place / _NEW)
            _take_name(place, to, replace=replace)
    except OSError as error:
        raise ReleaseError(_sentence(to, error)) from None


def check_target(to: Path, *, replace: bool) -> None:
    """Refuse to overwrite: only a release may be replaced, and only when that was said."""
    if not to.exists() and not to.is_symlink():
        return
    if not replace:
        raise ReleaseError(f"release ({to}) must not exist yet; choose another name or say --replace (replace=True)")
    _check_old(to, to)


def is_release(folder: Path) -> bool:
    """Whether a folder says that it is a release."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and "discreet" in manifest


def _check_old(found: Path, to: Path) -> None:
    if found.is_symlink() or not is_release(found):
        raise ReleaseError(f"release ({to}) must be a release to be replaced; this is something else and stays")


def _settle(folder: Path) -> None:
    """Everything is on disk, readable by all and written by its owner alone, and the manifest has its name."""
    for path in sorted(folder.rglob("*"), reverse=True):  # what is in a folder before the folder
        path.chmod(0o755 if path.is_dir() else 0o644)
        sync(path)
    folder.chmod(0o755)
    os.rename(folder / PENDING, folder / MANIFEST)
    sync(folder)


def _take_name(place: Path, to: Path, *, replace: bool) -> None:
    """The new release stands under the name, and on disk, when this returns; on any other way out it does not."""
    check_target(to, replace=replace)
    new = (place / _NEW).stat()
    try:
        if not to.exists():
            take_name(place / _NEW, to)
        elif exchange(place / _NEW, to):
            _check_old(place / _NEW, to)  # somebody may have put something else there since it was checked
        else:
            os.rename(to, place / _OLD)
            take_name(place / _NEW, to)
        sync(to.parent)
    except BaseException as error:
        _give_up(place, to, new)
        if isinstance(error, FileExistsError):
            check_target(to, replace=False)
        raise


def _give_up(place: Path, to: Path, new: os.stat_result) -> None:
    """Take the name from the new release; one that had to wait gets it back when the hidden folder goes."""
    with suppress(OSError):
        if not os.path.samestat(to.stat(), new):
            return
        if os.path.lexists(place / _NEW):
            exchange(place / _NEW, to)
        else:
            os.rename(to, place / _NEW)


def _rescue(to: Path, left: Path) -> None:
    """A release that lost its name to one that never took it gets it back; what else is left is no release any more."""
    lost = (left / _OLD).exists() and not os.path.lexists(to)
    if lost:
        take_name(left / _OLD, to)
    for name in (_NEW, _OLD):
        with suppress(OSError):
            (left / name / MANIFEST).unlink()
    if lost:
        sync(to.parent)


def _sentence(to: Path, error: OSError) -> str:
    """What went wrong, in the system's words: those of a library may name files that nobody knows."""
    number = error.errno or errno.EIO
    if number in _FULL:
        remedy = "make room or choose another folder"
    elif number in _FORBIDDEN:
        remedy = "choose a folder that can be written"
    else:
        remedy = "publish again or choose another folder"
    return f"release ({to}) could not be written: {os.strerror(number)}; {remedy}"
