"""Functions that are compiled when they are first called; the machine code is kept in a cache on disk.

No option that lets a compiler change the order of sums is ever set: the same release gives the same answer on any
processor and with any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function over arrays; it lets other threads run meanwhile."""
    made: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return made
