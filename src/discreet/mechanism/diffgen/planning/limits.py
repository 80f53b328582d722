"""What DiffGen can publish at all: names that its tables have themselves, and how many noisy counts it makes."""

from __future__ import annotations

RESERVED = ("ATTRIBUTE", "VALUE", "CELL")  # columns of a release's tables
MOST_TABLE_COUNTS = 100_000  # cells x classes over all attributes, each with noise of its own
