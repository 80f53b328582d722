"""Rows of a page that holds a paper's worked examples against what is right; numbers of our own stand apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.evaluate.reproduce.item import Cell, Setting

COLUMNS = ("whose", "place", "what", "printed", "right", "agree", "why")
PRINTED, OURS = "printed", "ours"
YES, ROUNDED, MISPRINT, NO = "yes", "to two digits", "once a misprint is read", "no"
_TWO_DIGITS = 0.015  # as a share of the printed number


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Something that a paper prints, or, where `printed` is None, a number of ours beside it.

    `misprint` says that the right number is that of another setting than the printed one, which `why` states;
    `rounded` that two digits are enough.
    """

    place: str
    what: str
    right: Callable[[], Cell]
    printed: Cell = None
    why: str = ""
    misprint: bool = False
    rounded: bool = False

    def row(self) -> tuple[Cell, ...]:
        right = self.right()
        whose = OURS if self.printed is None else PRINTED
        return whose, self.place, self.what, self.printed, right, self._agree(right), self.why

    def _agree(self, right: Cell) -> str:
        if self.printed is None:
            return ""
        if right == self.printed:
            return MISPRINT if self.misprint else YES
        if self.rounded and isinstance(right, float) and isinstance(self.printed, int | float):
            return ROUNDED if abs(right - self.printed) <= _TWO_DIGITS * abs(self.printed) else NO
        return NO


def compared(statements: Sequence[Statement], setting: Setting) -> tuple[tuple[Cell, ...], ...]:
    """A row for each statement, computed now."""
    rows = []
    for number, statement in enumerate(statements):
        rows.append(statement.row())
        setting.tell((number + 1) / len(statements))
    return tuple(rows)


def tally(rows: Sequence[tuple[Cell, ...]]) -> Counter[str]:
    """How many of the printed statements agree, in each way; ours are not counted."""
    return Counter(str(row[5]) for row in rows if row[0] == PRINTED)


def holding(rows: Sequence[tuple[Cell, ...]]) -> str:
    """How many printed statements hold of how many, in words."""
    found = tally(rows)
    aside = [f"{found[way]} of them {way}" for way in (ROUNDED, MISPRINT) if found[way]]
    return f"{found.total() - found[NO]} of {found.total()} hold" + (f" ({', '.join(aside)})" if aside else "")
