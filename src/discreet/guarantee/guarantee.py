"""What every guarantee can do: say itself as a release states it. Its words are the releases' (`release/`)."""

from __future__ import annotations

from typing import Any, Protocol


class Guarantee(Protocol):
    """What is promised: a frozen value with its numbers and inequalities, and no prose."""

    def as_json(self) -> dict[str, Any]:
        """The numbers, as a release states them."""
