"""What the files of a release of pairs hold, once they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.ground.arrays import Ints
from discreet.schema.taxonomy import Taxonomy
from discreet.verifier.diffgen.pairs.groups import GROUPS
from discreet.verifier.diffgen.pairs.stated import Choice, Stated

COLUMNS, PAIRS = "data/columns.parquet", "data/pairs.parquet"


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """What the files hold, with a list a column or a table a round: noisy counts, groups, and counts in units."""

    stated: Stated
    taxonomies: tuple[Taxonomy, ...]
    ones: tuple[Ints, ...]
    groups: tuple[Ints, ...]
    again: tuple[Ints, ...] | None
    rounds: tuple[Ints | None, ...]
    columns: tuple[Ints, ...]
    pairs: tuple[Ints, ...]

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.taxonomies]


def shape_of(sizes: Sequence[int], chosen: Choice) -> tuple[int, int]:
    """The rows and columns of a table, each a cell or a group."""
    one, two = (
        min(sizes[place], GROUPS) if coarse else sizes[place]
        for place, coarse in zip(chosen.places, chosen.grouped, strict=True)
    )
    return one, two
