"""Units: what a count counts, in a sentence for those who read the number."""

from __future__ import annotations

from discreet.estimate.estimate import RECORDS, TUPLES

_MEANINGS = {
    TUPLES: "people who are alike in every published column are one distinct tuple, so there are fewer of these than "
    "people; a release whose policy has slots counts records instead",
    RECORDS: "one record is one row of the custodian's table, so one person where every person has one row",
}


def meaning_of(unit: str) -> str:
    """What a reader must know of a unit before he uses a number; empty where the word says it all, as people does."""
    return _MEANINGS.get(unit, "")
