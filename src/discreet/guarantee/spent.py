"""Parts of a spent epsilon, as values: what each paid for; a release states them by name, and this reads and writes it.

Paper: [QSL] section III-C.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.ground.shown import shown


class For(Enum):
    """What a part of epsilon paid for, with its name in a release.

    A table's name goes on with its column, that of what was done in rounds with the number of the round.
    """

    TABLE = "table of "
    AGAIN = "tables again"  # all tables, a second time
    LEAVES = "leaves"
    SELECTIONS = "selections"
    SPLITS = "split points"
    UNSPENT = "not needed"  # what choices that were not needed left over
    TOTAL = "total"
    CHOICE = "choice of round "
    PAIR = "pair of round "  # the table of the pair of columns that the round chose

    @property
    def counts(self) -> bool:
        """Whether it paid for counts, and not for choices."""
        return self in (For.TABLE, For.AGAIN, For.LEAVES, For.TOTAL, For.PAIR)

    @property
    def in_rounds(self) -> bool:
        """Whether it is paid once a round."""
        return self in (For.CHOICE, For.PAIR)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of epsilon: what it was for, of which column or in which round, and how much of epsilon it cost."""

    paid: For
    share: Fraction
    column: str | None = None
    round: int | None = None  # the first is 1

    def __post_init__(self) -> None:
        if (self.paid is For.TABLE) != (self.column is not None):
            raise PolicyError("a part of epsilon must name a column where it paid for a table, and only there")
        if self.paid.in_rounds != (self.round is not None):
            raise PolicyError("a part of epsilon must name a round where it was paid in rounds, and only there")

    @property
    def name(self) -> str:
        """As a release states it."""
        return self.paid.value + (self.column or "") + ("" if self.round is None else str(self.round))


def part_named(name: str, share: Fraction) -> Part:
    """Read a part back from its name in a release; raises PolicyError where there is none of that name."""
    if name.startswith(For.TABLE.value):
        return Part(paid=For.TABLE, share=share, column=name.removeprefix(For.TABLE.value))
    if found := _IN_ROUNDS.fullmatch(name):
        return Part(paid=For(found[1]), share=share, round=int(found[2]))
    if name not in _ALONE:
        raise PolicyError(f"parts of epsilon ({shown(name)}) must be tables of columns or one of {', '.join(_ALONE)}")
    return Part(paid=_ALONE[name], share=share)


_ALONE = {paid.value: paid for paid in For if paid is not For.TABLE and not paid.in_rounds}
_IN_ROUNDS = re.compile(f"({'|'.join(paid.value for paid in For if paid.in_rounds)})([1-9][0-9]{{0,3}})")
