"""How much memory this machine has to give."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


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
