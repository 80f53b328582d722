"""The most rows that any table may have."""

from __future__ import annotations

MOST_ROWS = 10**14
