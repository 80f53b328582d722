"""Steps on a document of JSON or TOML: one place of it, changed a little, changed to something odd, or moved."""

from __future__ import annotations

import copy
import random
from typing import Any

from hostile.documents import ODD
from mutations import changes
from tampering import look, places, put

_ODD = 0.4  # the share of steps to something odd
_SWAP = 0.2  # ... and of those that put what stands elsewhere
_MOST = 3  # steps at once


def step(document: Any, coins: random.Random) -> Any:
    """Another document, after a few steps."""
    content = copy.deepcopy(document)
    for _ in range(coins.randint(1, _MOST)):
        known = [*places(content)]
        if not known:
            return content
        _step(content, coins.choice(known), known, coins)
    return content


def _step(content: Any, place: tuple[Any, ...], known: list[tuple[Any, ...]], coins: random.Random) -> None:
    drawn = coins.random()
    if drawn < _ODD:
        put(content, place, copy.deepcopy(coins.choice(ODD)))
    elif drawn < _ODD + _SWAP:
        put(content, place, copy.deepcopy(look(content, coins.choice(known))))
    else:
        _, change = coins.choice([*changes(look(content, place), place)])
        change(content, place)
