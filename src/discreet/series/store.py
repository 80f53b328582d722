"""The series: the custodian's private memory of one table, a small SQLite file outside every release.

It holds the secret key from which all coins come and what was published: so the same rows never get fresh coins, and a
table that has changed since is noticed.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from discreet.errors import SeriesRefusal
from discreet.series.coins import Coins, fresh_key

FORMAT = 1
_TABLES = """
CREATE TABLE series (format INTEGER NOT NULL, key BLOB NOT NULL, views INTEGER NOT NULL, seal BLOB NOT NULL);
CREATE TABLE view (
    rows BLOB NOT NULL, ordered BLOB NOT NULL, policy BLOB NOT NULL, drawn BLOB NOT NULL, continued INTEGER NOT NULL,
    release TEXT NOT NULL, published TEXT NOT NULL, seal BLOB NOT NULL, PRIMARY KEY (rows, policy)
);
"""
_COLUMNS = ("rows", "ordered", "policy", "drawn", "continued", "release", "published")


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

    `record` alone writes, and what it wrote is on disk when it returns. Everything in the file is sealed with the key,
    so a file that was damaged is refused: a lost key or view would let the same rows get fresh coins.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if not path.exists():
                _create(path)
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw", timeout=10, isolation_level=None, uri=True
            )
        except (sqlite3.Error, OSError) as error:
            raise self._refusal(str(error)) from None
        try:
            with self._guarded():
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute("BEGIN IMMEDIATE")
                form, key, number, seal = self._db.execute("SELECT format, key, views, seal FROM series").fetchone()
                if form != FORMAT:
                    raise ValueError(f"its format is {form}, this version reads {FORMAT}")
                self.coins = Coins(key=key)
                if seal != self._seal(form, key, number) or len(self.views()) != number:
                    raise ValueError("its content is damaged")
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Series:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def views(self) -> tuple[View, ...]:
        """What was published, oldest first."""
        with self._guarded():
            found = self._db.execute(f"SELECT {', '.join(_COLUMNS)}, seal FROM view ORDER BY rowid").fetchall()
            if any(seal != self._seal(*row) for *row, seal in found):
                raise ValueError("its content is damaged")
            return tuple(View(**dict(zip(_COLUMNS, row, strict=True))) for *row, _ in found)

    def record(self, view: View) -> None:
        """Remember a release before anybody can see it; one made again only notes where it is now."""
        known = {(each.rows, each.policy): each for each in self.views()}
        first = known.get((view.rows, view.policy))
        published = first.published if first else datetime.now(UTC).isoformat(" ", "seconds")
        row = (view.rows, view.ordered, view.policy, view.drawn, int(view.continued), view.release, published)
        number = len(known) + (first is None)
        with self._guarded():
            self._db.execute("INSERT OR REPLACE INTO view VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, self._seal(*row)))
            seal = self._seal(FORMAT, self.coins.key, number)
            self._db.execute("UPDATE series SET views = ?, seal = ?", (number, seal))
            self._db.execute("COMMIT")

    def _seal(self, *fields: bytes | int | str) -> bytes:
        """A keyed digest of a row, so that damage shows."""
        return _seal(self.coins.key, *fields)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            raise self._refusal(str(error)) from None

    def _refusal(self, why: str) -> SeriesRefusal:
        return SeriesRefusal(
            f"series ({self.path}) must be a whole series file that nobody else is using ({why}); restore it from a "
            "backup if it is damaged, for without it the same rows would get fresh coins"
        )


def _create(path: Path) -> None:
    """A new series with a fresh key, readable by its owner only; it appears whole or not at all."""
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.absolute().parent)  # mode 0600
    os.close(handle)
    try:
        with closing(sqlite3.connect(beside, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = FULL")
            db.executescript(_TABLES)
            key = fresh_key()
            db.execute("INSERT INTO series VALUES (?, ?, ?, ?)", (FORMAT, key, 0, _seal(key, FORMAT, key, 0)))
        os.link(beside, path)
    finally:
        os.unlink(beside)


def _seal(key: bytes, *fields: bytes | int | str) -> bytes:
    digest = hashlib.blake2b(key=key, digest_size=16)
    for each in fields:
        content = each if isinstance(each, bytes) else f"{type(each).__name__} {each}".encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()
