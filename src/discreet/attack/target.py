"""What is attacked: an open release, and what the custodian lends to those who attack it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.ground.arrays import Ints

if TYPE_CHECKING:
    from discreet.estimate.release import Release
    from discreet.release.statement import Manifest
    from discreet.schema.schema import Schema
    from discreet.table.table import Table

Codes = Mapping[str, Ints]  # by column, positions in its domain
R = TypeVar("R")
SEED = 20_260_101  # of the coins of an audit, so that it can be repeated; no release depends on them
NO_TABLE = "only the table tells how often it is right"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A release, and where the custodian audits, its table.

    `others` are further releases about some of the same people, `outside` is a table that an outsider may have, and
    `kept_out` has people like those of the table who are not in the release.
    """

    release: Release
    manifest: Manifest[Any, Any, Any]  # what the release states
    table: Table | None = None
    others: tuple[Release, ...] = ()
    outside: Table | None = None
    kept_out: Table | None = None
    confidence: float = 0.999
    seed: int = SEED
    _known: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def schema(self) -> Schema:
        return self.release.schema

    @property
    def kind(self) -> str:
        """The kind of the mechanism that made it."""
        return self.manifest.kind

    @property
    def known(self) -> Table:
        """The table, for attacks that fit only where there is one."""
        if self.table is None:
            raise ValueError("an attack that needs the table must say so in `unfit`")
        return self.table

    def coins(self, name: str) -> np.random.Generator:
        """Coins of an attack, the same in every audit with this seed."""
        return np.random.default_rng([self.seed, *name.encode()])

    def once(self, reader: Callable[[Target], R]) -> R:
        """What a reader makes of this target, worked out by the first attack that needs it."""
        if reader not in self._known:
            self._known[reader] = reader(self)
        found: R = self._known[reader]
        return found

    @cached_property
    def codes(self) -> Codes:
        """The table's published columns as positions in their domains, row after row."""
        return codes_of(self.known)


def codes_of(table: Table) -> Codes:
    """A table's published columns as positions in their domains, row after row."""
    columns = zip(*table.codes(), strict=True)
    return {name: np.concatenate(parts) for name, parts in zip(table.schema.columns, columns, strict=True)}
