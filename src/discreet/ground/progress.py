"""How far a long piece of work is: named steps, each with the share of the time that it is known to take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Progress = Callable[[str, float], None]  # the step that runs, and how much of the whole is done, from 0 to 1
Tell = Callable[[float], None]  # how much of one step is done, from 0 to 1


class Steps:
    """The steps of one piece of work in order; `shares` are their measured weights, of any scale."""

    def __init__(self, progress: Progress | None, shares: Mapping[str, float]) -> None:
        whole = sum(shares.values())
        self._progress = progress
        self._shares = {name: share / whole for name, share in shares.items()}
        self._done = 0.0
        self._last = ""

    @contextmanager
    def step(self, name: str) -> Iterator[Tell]:
        """Run one step inside; what it tells never goes back."""
        start = furthest = self._done

        def tell(done: float) -> None:
            nonlocal furthest
            furthest = max(furthest, start + min(1.0, done) * self._shares[name])
            if self._progress is not None:
                self._progress(name, furthest)

        tell(0.0)
        yield tell
        tell(1.0)
        self._done, self._last = furthest, name

    def finish(self) -> None:
        """All that had to be done is done, also where steps were not needed."""
        if self._progress is not None and self._done < 1:
            self._progress(self._last, 1.0)
