"""What is learned of a release once and kept: the first thread that asks computes it, the others wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
_making = threading.Lock()  # held for a moment, while a lock of its own is made for something that is learned


class learned(Generic[T]):  # noqa: N801 - used as `property` and `cached_property` are
    """A cached property that many threads may ask for at once. What it computes may need others, in no circle."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> learned[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> learned[T] | T:
        if instance is None:
            return self
        kept = vars(instance)  # once computed, the value stands there and this is not called again
        with _making:
            lock = kept.setdefault(f"_learning_{self._name}", threading.RLock())
        with lock:
            if self._name not in kept:
                kept[self._name] = self._compute(instance)
            found: T = kept[self._name]
            return found
