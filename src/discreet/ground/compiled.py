"""Loops over arrays, compiled at their first call; the machine code is kept on disk for other processes.

Whoever imports this loads the compiler, which takes as long as many a question: import it where it is needed. No
option that lets a compiler change the order of sums is ever set, so that every processor gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_F = TypeVar("_F", bound=Callable[..., Any])


def compiled(function: _F) -> _F:
    """Compile a function over arrays; it lets other threads run meanwhile."""
    how: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        made: Any = numba.njit(cache=True, **how)(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written
        made = numba.njit(**how)(function)
    return cast("_F", made)
