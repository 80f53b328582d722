"""What a release of pairs states, read as it stands: the parts of epsilon, the noisy total, what each round chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import ReleaseError
from discreet.schema.schema import Schema
from discreet.verifier.diffgen.stated import Spent, spent_of
from discreet.verifier.stated import keys, listed, one_of, whole

MOST_TOTAL = 10**15
MOST_ROUNDS = 1_000


@dataclass(frozen=True)
class Choice:
    """The table of two columns that a round chose: their places in the schema, and whether each stands in groups."""

    places: tuple[int, int]
    grouped: tuple[bool, bool]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What a release of pairs states; a round that chose nothing is None."""

    spent: Spent
    total: int
    rounds: tuple[Choice | None, ...]


def stated_of(block: Mapping[str, Any], schema: Schema) -> Stated:
    """Everything that a release of pairs states; raises ReleaseError where it is no such thing."""
    given = keys(block["mechanism"], "mechanism", "kind", "epsilon")
    one_of(given["kind"], "kind", "pairs")
    rounds = listed(block["rounds"], "rounds")
    if len(rounds) > MOST_ROUNDS:
        raise ReleaseError(f"rounds must be at most {MOST_ROUNDS:,}")
    return Stated(
        spent=spent_of(block),
        total=whole(block["total"], "total", -MOST_TOTAL, MOST_TOTAL),
        rounds=tuple(None if each is None else _choice(each, schema.columns) for each in rounds),
    )


def _choice(data: Any, columns: Sequence[str]) -> Choice:
    given = keys(data, "rounds", "columns", "levels")
    names, levels = listed(given["columns"], "columns"), listed(given["levels"], "levels")
    if len(names) != 2 or len(levels) != 2:
        raise ReleaseError("rounds must choose two columns, each at one level")
    first, second = (columns.index(one_of(name, "columns", *columns)) for name in names)
    if first >= second:
        raise ReleaseError("rounds must name two columns in the order of the schema")
    one, two = (one_of(level, "levels", "cells", "groups") == "groups" for level in levels)
    return Choice((first, second), (one, two))
