"""How much memory there is, and sizes as people write them."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from discreet.errors import DiscreetError

_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([KMGT]i?)?B", re.ASCII | re.IGNORECASE)


def free_memory() -> int | None:
    """Bytes that can be used without swapping, or None where the machine does not say."""
    found = []
    with suppress(OSError, ValueError, IndexError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))))
    with suppress(OSError, ValueError):  # a container's own limit
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / name).read_text(encoding="ascii") for name in ("memory.max", "memory.current"))
        found.append(int(limit) - int(used))
    return min(found) if found else None


def bytes_of(size: str) -> int:
    """A size such as 2GB or 512MiB in bytes."""
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None or not float(match[1]):
        raise DiscreetError(f"memory ({size}) must be a size, such as 2GB or 512MiB")
    unit = (match[2] or "").lower()
    base = 1024 if unit.endswith("i") else 1000
    return int(float(match[1]) * base ** ("kmgt".index(unit[0]) + 1 if unit else 0))
