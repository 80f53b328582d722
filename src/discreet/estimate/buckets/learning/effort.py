"""How much is learned from how much: a rule that depends on the release's numbers alone, and never on a clock.

Learning costs in proportion to networks x patterns x (values + 36), for each pattern costs something by itself. Small
releases get four networks. The larger a release is, the less each row's part of the work may be: then two networks, or
one, and at last fewer of the buckets are learned from (a random part of them; what was learned is applied to all).
Measured in docs/performance.md.
"""

from __future__ import annotations

from dataclasses import dataclass

MEMBERS = (4, 2, 1)
_WORK, _LEAST = 10e6, 5e6  # networks x patterns x (values + 36) of _ROWS rows; it grows with the root of the rows
_ROWS = 100_000
_BESIDE = 36  # values that a pattern costs as much as, beside its own
_LEARNED_ROWS = 250_000  # a release with no more rows is learned from as a whole
_SHARE = 10  # of a larger one, at least one row in so many


_CELLS, _FEWEST = 200, 100  # questions by which it is checked; the fewer, the larger a release is


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How many networks are trained, and on how many of the rows."""

    members: int
    rows: int


def cells_for(rows: int) -> int:
    """By how many questions it is checked what was learned of so many rows."""
    return max(_FEWEST, min(_CELLS, _CELLS * _LEARNED_ROWS // rows))


def effort_for(rows: int, patterns: int, values: int) -> Effort:
    """What a release of so many rows, distinct patterns and values is worth."""
    most = max(_LEAST, _WORK * (rows / _ROWS) ** 0.5)
    learned = min(rows, max(_LEARNED_ROWS, rows // _SHARE))
    work = min(patterns, learned) * (values + _BESIDE)  # fewer rows may still have all patterns
    for members in MEMBERS:
        if members * work <= most:
            return Effort(members=members, rows=learned)
    return Effort(members=1, rows=max(1, int(learned * most / work)))
