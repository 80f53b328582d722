"""What is kept against those who know others of a bucket: how many they may know, and fakes among the values."""

from __future__ import annotations

from typing import Any

from discreet.errors import PolicyError
from discreet.mechanism.buckets.planning.caps import MOST_BESIDE
from discreet.mechanism.buckets.planning.plan_buckets import read_defence

_NUMBER = {"type": "integer", "minimum": 0, "maximum": MOST_BESIDE}
SCHEMA: dict[str, Any] = {  # for a policy's JSON Schema
    "known": {
        "description": "Tolerances are also kept against one who knows the values of up to so many others of a bucket.",
    }
    | _NUMBER,
    "fakes": {
        "description": "So many values that nobody has are put beside those of every bucket's people.",
    }
    | _NUMBER,
}


def check_beside(known: object, fakes: object, max_size: int, assignment: str) -> None:
    """Raise PolicyError where these are no such numbers, or cannot be had with the other parameters."""
    found = read_defence(known, fakes)
    if found.known >= max_size:
        raise PolicyError(
            f"known ({known}) must be below max_size ({max_size}), the people of the largest bucket; lower it, or "
            "raise max_size",
            key=("known",),
        )
    if found.fakes and assignment == "near":
        raise PolicyError(
            f'fakes ({fakes}) must go with assignment = "random": the few buckets of one size in a window cannot hide '
            "them; leave one of both out",
            key=("fakes",),
        )


def stated_beside(known: int, fakes: int) -> dict[str, int]:
    """What a policy says of it, for its digest: nothing where there is none, as ever."""
    return {name: number for name, number in (("known", known), ("fakes", fakes)) if number}
