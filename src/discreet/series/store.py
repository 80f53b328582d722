"""The series: the custodian's private memory of one table, a small SQLite file outside every release.

It holds the secret key from which all coins come and what was published: so the same rows never get fresh coins, and a
table that has changed since is noticed.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from discreet.errors import SeriesRefusal
from discreet.series.coins import Coins, fresh_key

FORMAT = 1
_SERIES = "CREATE TABLE series (format INTEGER NOT NULL, key BLOB NOT NULL)"
_VIEW = """CREATE TABLE view (
    rows BLOB NOT NULL, ordered BLOB NOT NULL, policy BLOB NOT NULL, drawn BLOB NOT NULL, continued INTEGER NOT NULL,
    release TEXT NOT NULL, published TEXT NOT NULL, PRIMARY KEY (rows, policy)
)"""


@dataclass(frozen=True, kw_only=True)
class View:
    """One release: digests of the rows (in any order, in this order), of the policy, and of what the coins gave.

    `continued` says that it was not the first of its series and that the custodian said to go on.
    """

    rows: bytes
    ordered: bytes
    policy: bytes
    drawn: bytes
    continued: bool
    release: str
    published: str = ""


class Series:
    """An open series, locked against other publishers until it is closed.

    `record` alone writes, and what it wrote is on disk when it returns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            fresh = not path.exists() or path.stat().st_size == 0  # empty: a first try that was cut short
            if fresh:
                path.touch(mode=0o600)
            self._db = sqlite3.connect(os.fspath(path), timeout=10, isolation_level=None)
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("BEGIN IMMEDIATE")
            if fresh:
                self._db.execute(_SERIES)
                self._db.execute(_VIEW)
                self._db.execute("INSERT INTO series (format, key) VALUES (?, ?)", (FORMAT, fresh_key()))
                self._db.execute("COMMIT")
                self._db.execute("BEGIN IMMEDIATE")
            form, key = self._db.execute("SELECT format, key FROM series").fetchone()
        except (sqlite3.Error, OSError, TypeError) as error:
            raise SeriesRefusal(
                f"series ({path}) must be a series file that nobody else is using ({error}); restore it from a backup "
                "if it is damaged, for without it the same rows would get fresh coins"
            ) from None
        if form != FORMAT:
            raise SeriesRefusal(f"series ({path}) has format {form}, this version reads {FORMAT}; update discreet")
        self.coins = Coins(key=key)

    def __enter__(self) -> Series:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def views(self) -> tuple[View, ...]:
        """What was published, oldest first."""
        found = self._db.execute(
            "SELECT rows, ordered, policy, drawn, continued, release, published FROM view ORDER BY rowid"
        ).fetchall()
        names = ("rows", "ordered", "policy", "drawn", "continued", "release", "published")
        return tuple(View(**dict(zip(names, row, strict=True))) for row in found)

    def record(self, view: View) -> None:
        """Remember a release before anybody can see it; one made again only notes where it is now."""
        now = datetime.now(UTC).isoformat(" ", "seconds")
        self._db.execute(
            "INSERT INTO view VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET release = excluded.release",
            (view.rows, view.ordered, view.policy, view.drawn, view.continued, view.release, now),
        )
        self._db.execute("COMMIT")
