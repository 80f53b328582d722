"""A door: a public way into discreet through which strangers' bytes come, as the fuzzer sees it."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Protocol

CHOICES = 2  # bytes before the content: they choose what the content is taken for, and how it is looked at


class Door(Protocol):
    """Made anew in every process, over a folder of its own; what `prepare` leaves there is found by all of them."""

    packages: ClassVar[tuple[str, ...]]  # whose branches guide the search; loaded whole before it begins
    secrets: ClassVar[tuple[str, ...]]  # what no sentence may hold

    def __init__(self, folder: Path) -> None: ...

    def prepare(self) -> Iterator[bytes]:
        """Make what is needed in the folder, once, and the honest inputs from which the search starts."""

    def open(self) -> None:
        """Get ready to be entered, in every process."""

    def enter(self, data: bytes) -> list[str]:
        """Go through it: what it tells a person. Whatever it raises is a fault."""

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        """The content after a step that knows its structure; None where it has none."""


def loaded(place: str) -> type[Door]:
    """A door's class, by the module and name of where it stands."""
    module, _, name = place.partition(":")
    found: type[Door] = getattr(importlib.import_module(module), name)
    return found


def said(call: Callable[[], object]) -> list[str]:
    """What a call tells: a refusal in words, or nothing. What the command line has no sentence for is raised."""
    from discreet.errors import DiscreetError

    try:
        told = call()
    except DiscreetError as error:
        return [str(error)]
    except OSError as error:
        if error.strerror is None:
            raise
        return [f"{error.filename}: {error.strerror}"]
    return [told] if isinstance(told, str) else []


def commanded(*words: object) -> list[str]:
    """What the command line prints; a fault of its own is raised, though a user would be told of it in a sentence."""
    from typer.testing import CliRunner

    from discreet.cli.main import app

    done = CliRunner(env={"DISCREET_TRACEBACK": "1"}).invoke(app, [*map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code not in (0, 1, 2):
        raise AssertionError(f"exit {done.exit_code}")
    return [done.output]


def choices(data: bytes) -> tuple[int, int, bytes]:
    """The two bytes that choose, and the content."""
    first, second, *_ = data[:CHOICES].ljust(CHOICES, b"\0")
    return first, second, data[CHOICES:]
