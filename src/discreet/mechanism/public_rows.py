"""The public number of rows: answers are cut to it, so a table must not have more."""

from __future__ import annotations

from discreet.errors import TableError
from discreet.table.table import Table


def check_public_rows(table: Table, counted: int) -> None:
    """Raise TableError where more is counted than the policy says that everybody may know."""
    public = table.schema.public_rows
    if public is not None and counted > public:
        raise TableError(
            f"public_rows ({public:,}) must be at least what the table has; state a number that is rounded up"
        )
