"""What follows from a frozen value and one other is worked out once: `functools.cached_property` with an argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Own = TypeVar("_Own")
_Other = TypeVar("_Other")
_Found = TypeVar("_Found")


def once(method: Callable[[_Own, _Other], _Found]) -> Callable[[_Own, _Other], _Found]:
    """The method, which keeps its last answer with the value, and gives it again to whoever asks with an equal one.

    Only the last is kept, so that a value which is asked with many others does not grow. What raises is asked again.
    """
    place = f"{method.__name__} once"

    @wraps(method)
    def found(own: _Own, other: _Other) -> _Found:
        known: dict[str, Any] = vars(own)  # as cached_property does: the fields stay frozen
        last = known.get(place)
        if last is None or last[0] != other:
            last = known[place] = other, method(own, other)
        answer: _Found = last[1]
        return answer

    return found
