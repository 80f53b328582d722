"""Whose fault it is where a question fails while it is answered: one sentence for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.engine.faults import Unfit
from discreet.errors import QueryError


@contextmanager
def evaluating() -> Iterator[None]:
    """Whatever makes a question fail is told apart: the asker's arithmetic, the release's files, or the engine."""
    try:
        yield
    except Unfit as fault:
        if fault.why == "asked":
            raise QueryError(
                "the condition cannot be evaluated: its arithmetic overflows; use smaller numbers"
            ) from None
        raise QueryError(
            "the condition cannot be evaluated: its arithmetic overflows or the tables are damaged; use smaller "
            "numbers, or verify the release"
        ) from None
