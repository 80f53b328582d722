"""What changes the disk in one step, and what makes a change last.

Names are exchanged or taken at once, what was written is synced, and work that is not done yet stands in a private
folder that a process holds: a folder that nobody holds any more was left by a process that was killed, and is swept.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HERE = -100  # AT_FDCWD: paths are as they are given
_NO_REPLACE, _EXCHANGE = 1, 2  # flags of renameat2
_SWAP, _EXCLUSIVE = 2, 4  # flags of renamex_np, which macOS has instead
_PART = ".part"  # how the name of unfinished work ends
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
    names = os.fsencode(one), os.fsencode(two)
    if (rename := getattr(library, "renameat2", None)) is not None:
        failed = rename(_HERE, names[0], _HERE, names[1], linux)
    elif (rename := getattr(library, "renamex_np", None)) is not None:
        failed = rename(*names, macos)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(two))


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing: they last, and all may read them, whatever the umask."""
    for each in reversed([each for each in (path, *path.parents) if not each.exists()]):
        with suppress(FileExistsError):  # somebody else has just made it, and knows how it should be
            each.mkdir(mode=0o755)
            each.chmod(0o755)
            sync(each.parent)


def make_private(folder: Path) -> None:
    """Make a folder that nobody else may look into, where it is not there yet; it lasts."""
    make_folders(folder.parent)
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
        sync(folder.parent)


@contextmanager
def workplace(folder: Path, name: str, rescue: Callable[[Path], None] = lambda left: None) -> Iterator[Path]:
    """A private folder `.name-*.part` in `folder` to work in; it is gone on any way out.

    What dead processes left under such names is swept first. `rescue` sees each of them, and this one, before it goes;
    where it raises OSError, the folder stays for the next start.
    """
    sweep(folder, name, rescue)
    path, held = _unused(folder, name), -1
    try:  # before it is there: a signal may come at any time
        held = _held(path)
        while held < 0:  # it was swept before it was held
            path = _unused(folder, name)
            held = _held(path)
        yield path
    finally:
        try:
            _clear(path, rescue)
        finally:
            if held >= 0:
                os.close(held)


def sweep(folder: Path, name: str, rescue: Callable[[Path], None] = lambda left: None) -> None:
    """Clear away the workplaces of this name that belong to this user and that no living process holds."""
    names = re.compile(f"\\.{re.escape(name)}-[0-9a-f]{{16}}{re.escape(_PART)}")  # nobody's own folder has such a one
    for path in folder.iterdir() if folder.is_dir() else ():
        if not names.fullmatch(path.name):
            continue
        with suppress(OSError):  # somebody else's, or just gone
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(held).st_uid == os.getuid() and _hold(held):
                    _clear(path, rescue)
            finally:
                os.close(held)


def _clear(path: Path, rescue: Callable[[Path], None]) -> None:
    with suppress(OSError):
        rescue(path)
        shutil.rmtree(path, ignore_errors=True)


def _unused(folder: Path, name: str) -> Path:
    return folder / f".{name}-{secrets.token_hex(8)}{_PART}"


def _held(path: Path) -> int:
    """Make a folder and hold it as long as this process lives; -1 where somebody swept it before it was held."""
    path.mkdir(mode=0o700)
    try:
        held = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return -1
    if _hold(held) is not False and path.exists():
        return held
    os.close(held)
    return -1


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
