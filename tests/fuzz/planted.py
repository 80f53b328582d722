"""A door with faults that were put there, so that a test knows that a search finds each of them."""

from __future__ import annotations

import ctypes
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

BED = "bed 7"


def _raise() -> list[str]:
    raise KeyError("planted")


def _waste() -> list[str]:
    return [f"{len(bytearray(700 << 20))} bytes"]


def _crash() -> list[str]:
    return [repr(ctypes.string_at(0))]


def _dawdle() -> list[str]:
    until = time.process_time() + 21
    while time.process_time() < until:
        pass
    return ["at last"]


def _hang() -> list[str]:
    while True:
        time.sleep(1)


FAULTS: dict[bytes, Callable[[], list[str]]] = {
    b"err": _raise,
    b"cel": lambda: [f"there is somebody in {BED}"],
    b"hus": lambda: [""],
    b"mem": _waste,
    b"seg": _crash,
    b"cpu": _dawdle,
    b"han": _hang,
}


class Planted:
    """One fault behind a word, which must be right letter by letter: without guidance nobody comes so far."""

    packages: ClassVar[tuple[str, ...]] = ()
    secrets: ClassVar = (BED,)
    word: ClassVar[bytes]

    def __init__(self, folder: Path) -> None:
        self._starts: Any = None

    def prepare(self) -> Iterator[bytes]:
        yield b"\0\0honest"

    def open(self) -> None:
        import atheris  # tests that search nothing know the words too

        self._starts = atheris.instrument_func(_starts)

    def enter(self, data: bytes) -> list[str]:
        return FAULTS[self.word]() if self._starts(data[2:], self.word) else ["a plain sentence"]

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        return None


def _starts(content: bytes, word: bytes) -> bool:
    """Whether the content starts with a word of three letters, each a branch of its own."""
    if content[:1] != word[:1]:
        return False
    if content[1:2] != word[1:2]:
        return False
    return content[2:3] == word[2:3]


class Raising(Planted):
    word = b"err"


class Showing(Planted):
    word = b"cel"


class Silent(Planted):
    word = b"hus"


class Wasting(Planted):
    word = b"mem"


class Crashing(Planted):
    word = b"seg"


class Dawdling(Planted):
    word = b"cpu"


class Hanging(Planted):
    word = b"han"
