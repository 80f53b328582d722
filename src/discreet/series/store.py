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
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

from discreet.errors import SeriesRefusal
from discreet.ground.exact import stated
from discreet.series.coins import Coins, fresh_key
from discreet.series.renew import OLDER, renew

FORMAT = 4
_TABLES = """
CREATE TABLE series (format INTEGER NOT NULL, key BLOB NOT NULL, entries INTEGER NOT NULL, seal BLOB NOT NULL);
CREATE TABLE entry (
    rows BLOB NOT NULL, ordered BLOB NOT NULL, policy BLOB NOT NULL, drawn BLOB NOT NULL, memo TEXT NOT NULL,
    cost TEXT NOT NULL, continued INTEGER NOT NULL, release TEXT NOT NULL, published TEXT NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (rows, policy)
);
"""
_COLUMNS = ("rows", "ordered", "policy", "drawn", "memo", "cost", "continued", "release", "published")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release: digests of the rows (in any order, in this order), of the policy, and of what the coins gave.

    `memo` is what its mechanism needs, beside the coins, to make it again, and `cost` the epsilon that it cost.
    `continued` says that it was not the first of its series and that the custodian said to go on.
    """

    rows: bytes
    ordered: bytes
    policy: bytes
    drawn: bytes
    memo: str
    cost: Fraction
    continued: bool
    release: str
    published: str = ""


class Series:
    """An open series, locked against other publishers until it is closed.

    `record` alone writes, and what it wrote is on disk when it returns. Everything in the file is sealed with the key,
    so a file that was damaged is refused: a lost key or entry would let the same rows get fresh coins. A new file in
    which nothing was recorded is removed again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._new = not path.exists()
        self._open = ExitStack()
        self._open.callback(self._forget)
        try:
            with self._guarded():
                if self._new:
                    _create(path)
                found = path.stat()
                self._db = self._open.enter_context(closing(_connect(path, timeout=10)))
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute("BEGIN IMMEDIATE")
                if not path.exists() or not os.path.samestat(found, path.stat()):
                    raise ValueError("another publisher has just removed it")
                form, key, number, seal = self._db.execute("SELECT * FROM series").fetchone()
                if form != FORMAT and form not in OLDER:
                    raise ValueError(f"its format is {form}, this version reads {FORMAT}")
                self.coins = Coins(key=key)
                if seal != self._seal(form, key, number):
                    raise ValueError("its content is damaged")
                if form in OLDER:
                    renew(self._db, form, self._seal, _TABLES)
                if len(self.entries()) != number:
                    raise ValueError("its content is damaged")
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> Series:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def _forget(self) -> None:
        if self._new:
            _discard(self.path)

    def entries(self) -> tuple[Entry, ...]:
        """What was published, oldest first."""
        with self._guarded():
            found = self._db.execute(f"SELECT {', '.join(_COLUMNS)}, seal FROM entry ORDER BY rowid").fetchall()
            if any(seal != self._seal(*row) for *row, seal in found):
                raise ValueError("its content is damaged")
            return tuple(_entry(row) for *row, _ in found)

    def record(self, entry: Entry) -> None:
        """Remember a release before anybody can see it; one made again only notes where it is now."""
        known = {(each.rows, each.policy): each for each in self.entries()}
        first = known.get((entry.rows, entry.policy))
        kept = replace(first, release=entry.release) if first else replace(entry, published=_now())
        digests = (kept.rows, kept.ordered, kept.policy, kept.drawn)
        row = (*digests, kept.memo, str(kept.cost), int(kept.continued), kept.release, kept.published)
        number = len(known) + (first is None)
        with self._guarded():
            if first:  # it keeps its place, for the order of entries tells which came before which
                where = (kept.release, self._seal(*row), kept.rows, kept.policy)
                self._db.execute("UPDATE entry SET release = ?, seal = ? WHERE rows = ? AND policy = ?", where)
            else:
                names, marks = ", ".join((*_COLUMNS, "seal")), ", ".join("?" * (len(row) + 1))
                self._db.execute(f"INSERT INTO entry ({names}) VALUES ({marks})", (*row, self._seal(*row)))
            seal = self._seal(FORMAT, self.coins.key, number)
            self._db.execute("UPDATE series SET format = ?, entries = ?, seal = ?", (FORMAT, number, seal))
            self._db.execute("COMMIT")
        self._new = False

    def _seal(self, *fields: bytes | int | str) -> bytes:
        """A keyed digest of a row, so that damage shows."""
        return _seal(self.coins.key, *fields)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError, OverflowError) as error:
            raise self._refusal(str(error)) from None

    def _refusal(self, why: str) -> SeriesRefusal:
        return SeriesRefusal(
            f"series ({self.path}) must be a whole series file that nobody else is using ({why}); restore it from a "
            "backup if it is damaged, for without it the same rows would get fresh coins"
        )


def _entry(row: list[Any]) -> Entry:
    fields = dict(zip(_COLUMNS, row, strict=True))
    cost = stated(fields["cost"])
    if cost is None:
        raise ValueError("its content is damaged")
    return Entry(**{**fields, "cost": cost, "continued": bool(fields["continued"])})


def _now() -> str:
    return datetime.now(UTC).isoformat(" ", "seconds")


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


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", timeout=timeout, isolation_level=None, uri=True)


def _discard(path: Path) -> None:
    """Remove a series in which nothing is recorded, unless another publisher is using it."""
    with suppress(sqlite3.Error, OSError), closing(_connect(path, timeout=0)) as db:
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT count(*) FROM entry").fetchone()[0]:
            path.unlink()  # while it is locked, so that whoever waits for it finds it gone


def _seal(key: bytes, *fields: bytes | int | str) -> bytes:
    digest = hashlib.blake2b(key=key, digest_size=16)
    for each in fields:
        content = each if isinstance(each, bytes) else f"{type(each).__name__} {each}".encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()
