"""What `verify` checks, one thing at a time: a family's checks are a list of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Claim(NamedTuple):
    """One thing that `verify` checks: `broken` says what does not hold, or nothing; `meaning` is what holds then.

    `told` may say more of what holds. Where `first`, nothing after it can be checked unless it holds. `share` is how
    much of the time it takes, about.
    """

    name: str
    broken: Callable[[Any], str | None]
    meaning: str
    first: bool = False
    share: float = 0.05
    told: Callable[[Any], str | None] = lambda _: None
