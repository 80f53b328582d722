"""A register: values by name, in the order in which they were entered, each made when it is first asked for.

Which names there are is known without making any of them, so a program loads the parts that it uses and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import partial
from importlib import import_module
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class _Entry(Generic[V]):
    """A value that is made once. Two threads may both make it; the first one stays, and both get that one."""

    def __init__(self, load: Callable[[], V]) -> None:
        self._load = load
        self._made: dict[None, V] = {}

    @property
    def value(self) -> V:
        if None not in self._made:
            self._made.setdefault(None, self._load())  # no lock: a module that is being imported may ask, too
        return self._made[None]


class Register(MutableMapping[str, V]):
    """A mapping that asks for a value only when somebody else does; names are listed and looked up without."""

    def __init__(self, places: Mapping[str, str] | None = None) -> None:
        self._entries: dict[str, _Entry[V]] = {}
        self.enter_places(places or {})

    def enter_places(self, places: Mapping[str, str]) -> None:
        """Enter things that stand in modules, each by its place, such as `discreet.schema.policy:Policy`."""
        for name, place in places.items():
            self.enter([name], partial(at, place))

    def enter(self, names: Iterable[str], load: Callable[[], V]) -> None:
        """Enter one value under all these names; `load` makes it when one of them is first asked for."""
        entry = _Entry(load)
        for name in names:
            self._entries[name] = entry

    def __getitem__(self, name: str) -> V:
        return self._entries[name].value

    def __setitem__(self, name: str, value: V) -> None:
        self.enter([name], lambda: value)

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def at(place: str) -> Any:
    """What is at a place: `module:name`; the module is imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
