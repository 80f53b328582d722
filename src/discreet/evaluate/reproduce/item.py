"""What a reproduction item is: a paper's claim, our figure, and why they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.evaluate.figure import Figure
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.seeds import Seeds
from discreet.ground.progress import Tell

Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What an item runs with; `quick` asks for a smaller run of the same code, for tests and for a first look."""

    sources: Sources
    quick: bool
    tell: Tell

    @property
    def seeds(self) -> Seeds:
        """From which every seed is taken, so that the page can name it."""
        return self.sources.seeds


@dataclass(frozen=True, kw_only=True)
class Result:
    """An item's table, its figures by a short name, and what the page says about them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    figures: tuple[tuple[str, Figure], ...]
    ours: str
    data: str


@dataclass(frozen=True, kw_only=True)
class Item:
    """One experiment: its line in the list, the paper's claim, why ours differs, and how to run it.

    `whole` says that a quick run leaves nothing out.
    """

    name: str
    paper: str
    line: str
    claim: str
    differs: str
    run: Callable[[Setting], Result]
    whole: bool = False
