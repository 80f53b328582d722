"""A later view of a table that changed: each count is undone apart among tuples shown before and among the others.

Paper: [RSH] section 4.4.1.
Departs: the printed estimator takes every tuple that was shown before for noise, and is biased; split at those tuples,
    both parts are undone without bias.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.engine.encoding import identifier
from discreet.errors import ReleaseError
from discreet.estimate.alphabeta.release import Seen, ViewRelease
from discreet.estimate.alphabeta.undo import Part, parts_of_several
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.release.manifest import EARLIER, VIEW


class SeveralViewsRelease(ViewRelease):
    """One view of several, with the tuples that the views before it showed."""

    estimators: ClassVar[tuple[str, ...]] = ("unbiased", "clipped")

    @cached_property
    def _flags(self) -> tuple[str, str]:
        """The columns that say where a tuple is, with names that no published column has."""
        beyond = "".join(self.schema.columns)
        return identifier(f"{beyond} now"), identifier(f"{beyond} before")

    @cached_property
    def _view(self) -> str:
        now, before = self._flags
        with self._reading(VIEW) as view, self._reading(EARLIER) as earlier:
            either = f"""SELECT {self._columns}, TRUE AS {now}, FALSE AS {before} FROM ({view})
                         UNION ALL SELECT {self._columns}, FALSE, TRUE FROM ({earlier})"""
            where = f"{self._columns}, bool_or({now}) AS {now}, bool_or({before}) AS {before}"
            together = f"SELECT {where} FROM ({either}) GROUP BY {self._columns}"
            self._engine.rows(f"CREATE TABLE {self._table} AS {together}")
        return self._table

    @property
    def _counts(self) -> tuple[str, ...]:
        now, before = self._flags
        return (f"{now} AND {before}", f"{now} AND NOT {before}", before)

    def _parts(self, seen: Seen, tuples: int, weight: Fraction) -> list[Part]:
        both, fresh, before = seen
        view = self._manifest.block["view"]
        if not isinstance(self._promise, DGammaPrivacy) or not 1 <= view <= self._promise.views:
            raise ReleaseError("the view must be one of those that the guarantee is for; verify says more")
        return parts_of_several(both, fresh, before, tuples, view, self._promise)
