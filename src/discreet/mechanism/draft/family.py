"""What drafting needs to know of a family: which columns it can publish, and its section of the policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.release.family import FAMILIES
from discreet.table.column import Column

DEFAULT = "buckets"


@dataclass(frozen=True, kw_only=True)
class Section:
    """The section [mechanism] of a draft, line by line with its comments, and the parameters that it says."""

    lines: Sequence[str]
    parameters: Mapping[str, Any]


class Drafts(Protocol):
    """How one kind of mechanism is drafted."""

    @property
    def decision(self) -> str:
        """What a person must decide of it, for the list at the top of the file."""

    @property
    def shown(self) -> str:
        """What becomes of the quasi-identifiers."""

    def fits(self, chosen: Sequence[Column], column: Column, sensitive: Column) -> str | None:
        """Why a column cannot be published beside those chosen, or nothing."""

    def section(self, published: Sequence[Column], sensitive: Column) -> Section:
        """A mechanism that can be planned with these columns, and what to say of it."""


def drafts_of(kind: str) -> Drafts:
    """How that kind is drafted; raises PolicyError where it cannot be."""
    drafted = list(drafted_kinds())
    if kind not in drafted:
        raise PolicyError(f"kind ({shown(kind)}) must be one of {', '.join(drafted)} to be drafted", key=("kind",))
    return cast("Drafts", FAMILIES[kind].drafts[kind])


def drafted_kinds() -> Iterable[str]:
    """The kinds of mechanisms that can be drafted."""
    return (kind for kind in FAMILIES if kind in FAMILIES[kind].drafts)
