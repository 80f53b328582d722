"""What holds something open closes at the end of a `with`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self


class Closes:
    """A base for whatever has to be closed: `with` does it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
