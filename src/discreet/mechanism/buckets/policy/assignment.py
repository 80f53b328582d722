"""Which rows may share a bucket: any rows, or rows that are near one another in the quasi-identifiers."""

from __future__ import annotations

from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown

ASSIGNMENTS = ("random", "near")
SCHEMA: dict[str, Any] = {  # for a policy's JSON Schema
    "assignment": {
        "description": "Which rows may share a bucket: any, or rows that are near in the quasi-identifiers.",
        "enum": list(ASSIGNMENTS),
    },
    "window": {
        "description": "Of near buckets, how many consecutive rows of the curve are bucketed together; by default it "
        "follows from the counts of the sensitive values and their tolerances.",
        "type": "integer",
        "minimum": 2,
    },
}


def check_assignment(assignment: object, window: object, smallest: int = 1) -> None:
    """Raise PolicyError where there is no such assignment, or the window is none or below the `smallest` bucket."""
    if not isinstance(assignment, str) or assignment not in ASSIGNMENTS:
        raise PolicyError(
            f"assignment ({shown(assignment)}) must be one of {', '.join(ASSIGNMENTS)}", key=("assignment",)
        )
    if window is None:
        return
    if type(window) is not int or window < 2:
        raise PolicyError(f"window ({shown(window)}) must be a whole number of rows, 2 or more", key=("window",))
    if window < smallest:
        raise PolicyError(
            f"window ({window}) must be at least {smallest}, the rows of the smallest bucket; give a larger one",
            key=("window",),
        )
    if assignment != "near":
        raise PolicyError(
            f'window ({window}) must go with assignment = "near"; say that, or leave window out', key=("window",)
        )


def stated_assignment(assignment: str, window: int | None) -> dict[str, Any]:
    """What a policy says of it, for its digest: nothing where buckets are random, as ever."""
    return {} if assignment == "random" else {"assignment": assignment, "window": window}


def toml_assignment(assignment: str, window: int | None) -> dict[str, Any]:
    """The lines of a policy."""
    return {name: value for name, value in stated_assignment(assignment, window).items() if value is not None}
