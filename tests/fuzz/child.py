"""One process of a search: it enters one door with one input after the other, guided by the branches that were taken.

    python -m fuzz.child DOOR FOLDER FINDS MOST [options of libFuzzer] CORPUS

It ends where an input crashes it or hangs, and `fuzz.run` starts the next one; or after so many finds.
"""

from __future__ import annotations

import importlib
import mmap
import os
import pkgutil
import random
import struct
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import atheris

from fuzz.door import CHOICES, Door, loaded
from fuzz.judge import Find, judged

COUNT = struct.Struct("=Q")
_PLAIN = 0.15  # the share of steps that know nothing of structure
_CHOOSE = 0.1  # ... and of those that choose another way to look at the same content
_LETTERS = ("sqlglot.tokens", "sqlglot.tokenizer_core")  # a branch a letter, and no way that is ours to find
_COMPILED = "discreet.ground.compiled"  # what it compiles must stay as it is written


def main() -> None:
    place, folder, finds, most, *options = sys.argv[1:]
    with atheris.instrument_imports(include=["discreet", "sqlglot"], exclude=[*_uninstrumented(), *_LETTERS]):
        kind = loaded(place)
        for package in kind.packages:
            _load(package)
    door = kind(Path(folder))
    door.open()
    warnings.simplefilter("error")  # nobody is shown a line of code either
    warnings.simplefilter("ignore", ResourceWarning)  # nor is this, in a program
    target = _target(door, Path(folder), Path(finds), int(most))
    atheris.Setup([sys.argv[0], *options], target, custom_mutator=_mutator(door))
    atheris.Fuzz()


def _target(door: Door, folder: Path, finds: Path, most: int) -> Callable[[bytes], None]:
    with (folder / "count").open("r+b") as file:
        count = mmap.mmap(file.fileno(), COUNT.size)

    def enter(data: bytes) -> None:
        COUNT.pack_into(count, 0, COUNT.unpack_from(count)[0] + 1)
        find = judged(door, data)
        if find is not None:
            _keep(find, data, finds)
            if 0 < most <= len([*finds.iterdir()]):
                os._exit(0)  # libFuzzer takes any other end for a crash

    return enter


def _keep(find: Find, data: bytes, finds: Path) -> None:
    """The first input of each fault, in a folder with its name, and what happened."""
    to = finds / find.name
    if not to.exists():
        to.mkdir(parents=True)
        (to / "input").write_bytes(data)
        (to / "why.txt").write_text(f"{find.where}\n\n{find.told}", encoding="utf-8", errors="backslashreplace")


def _mutator(door: Door) -> Callable[[bytes, int, int], bytes]:
    def step(data: bytes, most: int, seed: int) -> bytes:
        coins = random.Random(seed)
        drawn = coins.random()
        head, content = data[:CHOICES].ljust(CHOICES, b"\0"), data[CHOICES:]
        if drawn < _PLAIN:
            return bytes(atheris.Mutate(data, most))
        if drawn < _PLAIN + _CHOOSE:
            return (coins.randbytes(CHOICES) + content)[:most]
        changed = door.changed(content, coins)
        return bytes(atheris.Mutate(data, most)) if changed is None else (head + changed)[:most]

    return step


def _load(name: str) -> None:
    """A module, and where it is a package, everything in it."""
    module = importlib.import_module(name)
    for each in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        importlib.import_module(each.name)


def _uninstrumented() -> set[str]:
    """The modules with functions that a compiler reads."""
    found = find_spec("discreet")
    source = Path(found.origin if found and found.origin else "").parent
    return {
        ".".join(("discreet", *path.relative_to(source).with_suffix("").parts))
        for path in source.rglob("*.py")
        if _COMPILED in path.read_text(encoding="utf-8")
    }


if __name__ == "__main__":
    main()
