"""What a release shows of a condition: how many tuples of its view meet it, and which of them earlier views showed.

Paper: [RSH] Algorithm 3, section 4.4.1.
Departs: the printed estimator of later views takes every tuple that was shown before for noise, and is biased; split at
    those tuples, both parts are undone without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier
from discreet.errors import ReleaseError
from discreet.estimate.alphabeta.law import Part, part_of, parts_of_several
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.manifest import AlphaBetaGuarantee
from discreet.schema.schema import Schema

TABLE = "tuples"
Seen = tuple[int, ...]  # how many tuples meet a condition, for each of `counts`


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """A relation with the tuples, and the columns with their weights, as SQL."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Tuples that are shown by one law: those of the table with `keep`, others with `insert`; `low` is the least that a
    tuple is inserted with. `where` says which of the shown ones they are. If `among` is given, they are the tuples of
    the domain that it says, or, if not `inside`, all others. With `copies`, so many records are there as tuples, each
    shown as itself or as any other.
    """

    keep: float
    insert: float
    low: float
    where: str = "TRUE"
    among: str | None = None
    inside: bool = True
    copies: int = 0

    @property
    def times(self) -> int:
        """How often a tuple may be inserted."""
        return self.copies or 1

    @property
    def slope(self) -> float:
        return self.keep - self.insert

    @property
    def more(self) -> float:
        """The variance that a tuple of the table adds; at most nothing is taken off."""
        return max(0.0, self.keep * (1 - self.keep) - self.low * (1 - self.low))

    @property
    def reads(self) -> tuple[str, ...]:
        """The conditions of SQL that it needs."""
        return (self.where,) if self.among is None else (self.where, self.among)


class Shown(Protocol):
    """One way to look at the tables: what is counted of the rows that meet a condition, and what that says."""

    @property
    def table(self) -> str:
        """The relation with the tuples."""

    @property
    def counts(self) -> tuple[str, ...]:
        """SQL conditions, each counted apart."""

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """The laws by which tuples are shown."""

    def parts(self, seen: Seen, tuples: int, weight: Fraction) -> list[Part]:
        """What was seen, as parts with their laws; `tuples` of the domain, with that weight, meet the condition."""


@dataclass(frozen=True, kw_only=True)
class OneView:
    """A view that stands alone."""

    guarantee: AlphaBetaGuarantee
    counts: tuple[str, ...] = ("TRUE",)
    table: str = TABLE

    @property
    def strata(self) -> tuple[Stratum, ...]:
        own = self.guarantee
        if isinstance(own, FrappPrivacy):
            other = float(own.other)
            return (Stratum(keep=float(own.keep), insert=other, low=other, copies=own.rows),)
        insert = own.insert
        return (Stratum(keep=float(own.keep), insert=float(insert), low=float(insert * own.weights[0])),)

    def parts(self, seen: Seen, tuples: int, weight: Fraction) -> list[Part]:
        return [part_of(seen[0], weight, self.guarantee)]


@dataclass(frozen=True, kw_only=True)
class OneOfSeveral:
    """One view of several: each count is undone apart among tuples that were shown before and among the others."""

    guarantee: DGammaPrivacy
    view: int
    now: str  # the columns that say where a tuple is
    before: str
    table: str = TABLE

    @property
    def counts(self) -> tuple[str, ...]:
        return (f"{self.now} AND {self.before}", f"{self.now} AND NOT {self.before}", self.before)

    @property
    def strata(self) -> tuple[Stratum, ...]:
        own, (both, fresh, before) = self.guarantee, self.counts
        keep, again, insert = float(own.keep), float(own.again), float(own.inserts[self.view - 1])
        return (
            Stratum(keep=keep, insert=again, low=again, where=both, among=before),
            Stratum(keep=keep, insert=insert, low=insert, where=fresh, among=before, inside=False),
        )

    def parts(self, seen: Seen, tuples: int, weight: Fraction) -> list[Part]:
        both, fresh, before = seen
        return parts_of_several(both, fresh, before, tuples, self.view, self.guarantee)


def show_one(engine: Database, schema: Schema, view: str, guarantee: AlphaBetaGuarantee) -> Shown:
    """Read a view, given as SQL, into the table of tuples."""
    engine.rows(f"CREATE OR REPLACE TABLE {TABLE} AS SELECT {_columns(schema)} FROM ({view})")
    return OneView(guarantee=guarantee)


def show_several(
    engine: Database, schema: Schema, view: str, earlier: str, number: int, guarantee: AlphaBetaGuarantee
) -> Shown:
    """Read a view and what earlier ones showed, given as SQL, into the table of tuples."""
    if not isinstance(guarantee, DGammaPrivacy) or not 1 <= number <= guarantee.views:
        raise ReleaseError("the view must be one of those that the guarantee is for; verify says more")
    columns, beyond = _columns(schema), "".join(schema.columns)  # names that no published column has
    now, before = identifier(f"{beyond} now"), identifier(f"{beyond} before")
    either = f"""SELECT {columns}, TRUE AS {now}, FALSE AS {before} FROM ({view})
                 UNION ALL SELECT {columns}, FALSE, TRUE FROM ({earlier})"""
    where = f"{columns}, bool_or({now}) AS {now}, bool_or({before}) AS {before}"
    engine.rows(f"CREATE OR REPLACE TABLE {TABLE} AS SELECT {where} FROM ({either}) GROUP BY {columns}")
    return OneOfSeveral(guarantee=guarantee, view=number, now=now, before=before)


def _columns(schema: Schema) -> str:
    return ", ".join(identifier(name) for name in schema.columns)
