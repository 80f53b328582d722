"""Which seeds a run took: an item asks here for each of them, so a page names those that were used and no other."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNREPEATABLE = "fresh coins, which nobody can draw again"


class Seeds:
    """The seeds taken so far, by what they were for."""

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = {}
        self._fresh: set[str] = set()

    def take(self, what: str, seed: int) -> int:
        """The seed itself, once it is written down."""
        self._taken.setdefault(what, set()).add(seed)
        return seed

    def draw_fresh(self, what: str) -> None:
        """Write down that these coins had no seed."""
        self._fresh.add(what)

    def as_json(self) -> dict[str, list[int] | None]:
        """The seeds of each purpose; None where its coins were fresh."""
        return {**{what: sorted(taken) for what, taken in self._taken.items()}, **dict.fromkeys(sorted(self._fresh))}

    @property
    def words(self) -> str:
        """The same for a page."""
        found = self.as_json()
        if not found:
            return "none, as nothing is drawn"
        return "; ".join(f"{what}: {UNREPEATABLE if each is None else _runs(each)}" for what, each in found.items())


def _runs(numbers: Iterable[int]) -> str:
    """Numbers in order, neighbours as a range: 0 to 3, 7."""
    parts = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        own = [number for _, number in run]
        parts.append(f"{own[0]} to {own[-1]}" if len(own) > 2 else ", ".join(map(str, own)))
    return ", ".join(parts)
