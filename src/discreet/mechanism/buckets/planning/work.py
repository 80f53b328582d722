"""How much work a search may do, counted and not timed: the same counts and tolerances give the same plan anywhere.

Work is counted in cells: a look at one number of one value (or cut) and one size. A solver's run counts as what it
reads.
"""

from __future__ import annotations

import time

MOST = 800_000_000  # cells: 2 to 4 CPU seconds on the machine of docs/performance.md, whatever they go to


def run_of(rows: int, columns: int) -> int:
    """What a run of the solver counts as: the call itself, and several looks at each number of the program."""
    return 300_000 + 20 * rows * columns


def flow_of(values: int, sizes: int) -> int:
    """What a maximum flow counts as."""
    return 100_000 + 200 * values * sizes


class Work:
    """What is left of the work; and of the time, where somebody set a bound on it."""

    def __init__(self, seconds: float | None = None, most: int = MOST) -> None:
        self._most, self._done = most, 0
        self._until = None if seconds is None else time.monotonic() + seconds
        self.late = False

    def spend(self, cells: int) -> None:
        self._done += cells

    @property
    def done(self) -> float:
        """The share of the work that is done."""
        return min(1.0, self._done / self._most)

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time; None where nobody set a bound on it."""
        return None if self._until is None else max(0.01, self._until - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether to stop; `late` says that the clock was the reason."""
        if self._until is not None and not self.late:
            self.late = time.monotonic() >= self._until
        return self.late or self._done >= self._most
