"""What one question to a release may take."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.engine.memory import bytes_of
from discreet.errors import QueryError

MOST_SECONDS = 10**6


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one question may take: seconds on the clock, and memory, such as "2GB"; None is as much as it needs."""

    seconds: float | None = None
    memory: str | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 < self.seconds < MOST_SECONDS:
            raise QueryError(f"seconds ({self.seconds}) must be a positive number below {MOST_SECONDS:,}")
        if self.memory is not None:
            bytes_of(self.memory)
