"""Series files of earlier formats, brought to this one: what they remember must not be lost with an update.

Format 5 remembered no refusals. Format 4 kept nothing to know people again. Format 3 kept bucket sizes and measurements
in columns of their own, format 2 had no measurements; both called an entry a view. Now a mechanism has one memo.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from discreet.series.refusals import TABLE

_FIRST = ("rows", "ordered", "policy", "drawn")
_VIEW = (*_FIRST, "classes", "continued", "release", "published")
OLDER = {  # the columns of an entry, by format
    2: _VIEW,
    3: (*_VIEW, "measured", "epsilon"),
    4: (*_FIRST, "memo", "cost", "continued", "release", "published"),
    5: (),  # those of today
}


def renew(db: sqlite3.Connection, form: int, seal: Callable[..., bytes], tables: str) -> None:
    """Bring a file to this format within the open transaction: it stays so only if a release is recorded.

    `tables` makes the new tables; raises ValueError where an entry's seal is broken. All entries were of one table, so
    each is related to all before it, and whoever publishes next is too.
    """
    db.execute(TABLE)
    if form == 5:
        return
    columns, old = OLDER[form], "entry" if form == 4 else "view"
    found = db.execute(f"SELECT {', '.join(columns)}, seal FROM {old} ORDER BY rowid").fetchall()
    if any(own != seal(*row) for *row, own in found):
        raise ValueError("its content is damaged")
    if form < 4:
        db.execute("ALTER TABLE series RENAME COLUMN views TO entries")
    db.execute(f"DROP TABLE {old}")
    db.execute(tables[tables.index("CREATE TABLE entry") :])
    for number, (*row, _) in enumerate(found):
        known = dict(zip(columns, row, strict=True))
        memo, cost = _memo_and_cost(known)
        place = (known["continued"], known["release"], known["published"])
        related = " ".join(str(each) for each in range(1, number + 1))
        new = (*(known[name] for name in _FIRST), memo, cost, *place, related, b"")
        db.execute(f"INSERT INTO entry VALUES ({', '.join('?' * (len(new) + 1))})", (*new, seal(*new)))


def _memo_and_cost(known: Mapping[str, str]) -> tuple[str, str]:
    if "memo" in known:
        return known["memo"], known["cost"]
    classes = "" if known["classes"] == "[]" else known["classes"]
    return known.get("measured") or classes, known.get("epsilon") or "0"
