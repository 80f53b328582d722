"""Where in a file something is wrong: every message of the walk names the place, and nothing that stands there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import ReleaseError


@contextmanager
def within(place: str) -> Iterator[None]:
    """Say of whatever is wrong that it is there."""
    try:
        yield
    except ReleaseError as error:
        raise ReleaseError(f"{place}: {error}") from None
