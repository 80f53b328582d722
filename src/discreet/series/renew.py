"""Series files of earlier formats, brought to this one: what they remember must not be lost with an update.

Format 3 kept bucket sizes and measurements in columns of their own, format 2 had no measurements; both called an entry
a view. Now a mechanism has one memo.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

_OLD = ("rows", "ordered", "policy", "drawn", "classes", "continued", "release", "published")
OLDER = {2: _OLD, 3: (*_OLD, "measured", "epsilon")}  # the columns of an entry, by format


def renew(db: sqlite3.Connection, form: int, seal: Callable[..., bytes], tables: str) -> None:
    """Bring a file to this format within the open transaction: it stays so only if a release is recorded.

    `tables` makes the new tables; raises ValueError where an entry's seal is broken.
    """
    columns = OLDER[form]
    found = db.execute(f"SELECT {', '.join(columns)}, seal FROM view ORDER BY rowid").fetchall()
    if any(own != seal(*row) for *row, own in found):
        raise ValueError("its content is damaged")
    db.execute(tables[tables.index("CREATE TABLE entry") :])
    db.execute("ALTER TABLE series RENAME COLUMN views TO entries")
    for *row, _ in found:
        old = {"measured": "", "epsilon": "", **dict(zip(columns, row, strict=True))}
        memo = old["measured"] or ("" if old["classes"] == "[]" else old["classes"])
        digests = tuple(old[name] for name in _OLD[:4])
        new = (*digests, memo, old["epsilon"] or "0", old["continued"], old["release"], old["published"])
        db.execute(f"INSERT INTO entry VALUES ({', '.join('?' * (len(new) + 1))})", (*new, seal(*new)))
    db.execute("DROP TABLE view")
