"""A FRAPP release that answers: every record is a tuple of the domain, its own or a random other one."""

from __future__ import annotations

from typing import ClassVar

from discreet.estimate.alphabeta.release import ViewRelease


class FrappRelease(ViewRelease):
    """One tuple a record; the number of records is public, so no estimator can learn it better."""

    estimators: ClassVar[tuple[str, ...]] = ("unbiased", "clipped", "best")

    def _most(self, tuples: int) -> int:
        rows = self.schema.public_rows or self.rows
        return rows if tuples else 0
