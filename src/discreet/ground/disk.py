"""What changes the disk in one step, and what makes a change last.

Names are exchanged or taken at once, what was written is synced, and work that is not done yet stands in a private
folder that a process holds: a folder that nobody holds any more was left by a process that was killed, and is swept.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HERE = -100  # AT_FDCWD: paths are as they are given
_NO_REPLACE, _EXCHANGE = 1, 2  # flags of renameat2
_SWAP, _EXCLUSIVE = 2, 4  # flags of renamex_np, which macOS has instead
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def sync(path: Path) -> None:
    """What the file or folder holds now is on disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def exchange(one: Path, two: Path) -> bool:
    """Give each the other's name in one step; False, and nothing done, where the file system cannot."""
    return _rename(one, two, _EXCHANGE, _SWAP)


def take_name(path: Path, name: Path) -> None:
    """Rename in one step; raises FileExistsError where the name is taken. Only where that cannot be done in one step,
    the name is looked up first.
    """
    if not _rename(path, name, _NO_REPLACE, _EXCLUSIVE):
        if os.path.lexists(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(name))
        os.rename(path, name)


def _rename(one: Path, two: Path, linux: int, macos: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        failed = library.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(two), linux)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(os.fsencode(one), os.fsencode(two), macos)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(two))


@contextmanager
def workplace(folder: Path, name: str, rescue: Callable[[Path], None] = lambda left: None) -> Iterator[Path]:
    """A private folder `.name-*` in `folder` to work in; it is gone on any way out.

    What dead processes left under such names is swept first; `rescue` sees each before it goes.
    """
    sweep(folder, f".{name}-", rescue)
    path, held = _held(folder, f".{name}-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(held)


def sweep(folder: Path, prefix: str, rescue: Callable[[Path], None] = lambda left: None) -> None:
    """Remove the folders of this prefix that belong to this user and that no living process holds."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if not path.name.startswith(prefix) or path.is_symlink() or not path.is_dir():
            continue
        with suppress(OSError):  # somebody else's, or just gone
            if path.stat().st_uid != os.getuid():
                continue
            held = os.open(path, os.O_RDONLY)
            try:
                if _hold(held):
                    rescue(path)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(held)


def _held(folder: Path, prefix: str) -> tuple[Path, int]:
    """A new folder that this process holds until it ends; nobody sweeps it meanwhile."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))  # mode 0700
        held = os.open(path, os.O_RDONLY)
        if _hold(held) is not False and path.exists():  # else it was swept before it was held
            return path, held
        os.close(held)


def _hold(handle: int) -> bool | None:
    """Hold an open folder as long as this process lives; False where another does, None where nobody can tell."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True
