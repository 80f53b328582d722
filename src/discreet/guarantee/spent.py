"""Parts of a spent epsilon, as values: what each paid for; a release states them by name, and this reads and writes it.

Paper: [QSL] section III-C.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.ground.shown import shown


class For(Enum):
    """What a part of epsilon paid for, with its name in a release; a table's name goes on with its column."""

    TABLE = "table of "
    AGAIN = "tables again"  # all tables, a second time
    LEAVES = "leaves"
    SELECTIONS = "selections"
    SPLITS = "split points"
    UNSPENT = "not needed"  # what choices that were not needed left over

    @property
    def counts(self) -> bool:
        """Whether it paid for counts, and not for choices."""
        return self in (For.TABLE, For.AGAIN, For.LEAVES)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of epsilon: what it was for, of which column where that is a table, and how much of epsilon it cost."""

    paid: For
    share: Fraction
    column: str | None = None

    def __post_init__(self) -> None:
        if (self.paid is For.TABLE) != (self.column is not None):
            raise PolicyError("a part of epsilon must name a column where it paid for a table, and only there")

    @property
    def name(self) -> str:
        """As a release states it."""
        return self.paid.value + (self.column or "")


def part_named(name: str, share: Fraction) -> Part:
    """Read a part back from its name in a release; raises PolicyError where there is none of that name."""
    if name.startswith(For.TABLE.value):
        return Part(paid=For.TABLE, share=share, column=name.removeprefix(For.TABLE.value))
    if name not in _ALONE:
        raise PolicyError(f"parts of epsilon ({shown(name)}) must be tables of columns or one of {', '.join(_ALONE)}")
    return Part(paid=_ALONE[name], share=share)


_ALONE = {paid.value: paid for paid in For if paid is not For.TABLE}
