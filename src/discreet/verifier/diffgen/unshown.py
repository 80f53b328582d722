"""What no file of this family can show."""

from __future__ import annotations

NOT_CHECKABLE = (
    "that the counts are those of the custodian's table with noise of the stated size, from secret coins",
    "that every person has one record in it",
    "that the domains, hierarchies, bounds and parameters were chosen without looking at the data",
    "that no other release about the same people exists, and that the stated cost of earlier ones is right",
)
