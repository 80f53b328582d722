"""The series: the custodian's private memory of one table, a small SQLite file outside every release.

It holds the secret key from which all coins come and what was published: so the same rows never get fresh coins, and a
table that has changed since is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from discreet.errors import SeriesRefusal
from discreet.series.coins import Coins, fresh_key

FORMAT = 3
_BEFORE = 2  # the format that had no measurements
_TABLES = """
CREATE TABLE series (format INTEGER NOT NULL, key BLOB NOT NULL, views INTEGER NOT NULL, seal BLOB NOT NULL);
CREATE TABLE view (
    rows BLOB NOT NULL, ordered BLOB NOT NULL, policy BLOB NOT NULL, drawn BLOB NOT NULL, classes TEXT NOT NULL,
    continued INTEGER NOT NULL, release TEXT NOT NULL, published TEXT NOT NULL, seal BLOB NOT NULL,
    measured TEXT NOT NULL DEFAULT '', epsilon TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (rows, policy)
);
"""
_COLUMNS = ("rows", "ordered", "policy", "drawn", "classes", "continued", "release", "published", "measured", "epsilon")
_OLD_COLUMNS = _COLUMNS[:8]


@dataclass(frozen=True, kw_only=True)
class View:
    """One release: digests of the rows (in any order, in this order), of the policy, and of what the coins gave.

    `classes` are the (size, buckets) that were planned for it.
    `continued` says that it was not the first of its series and that the custodian said to go on.
    `measured` are the noisy measurements that it was made from and `epsilon` what they cost, where it cost epsilon.
    """

    rows: bytes
    ordered: bytes
    policy: bytes
    drawn: bytes
    classes: tuple[tuple[int, int], ...]
    continued: bool
    release: str
    published: str = ""
    measured: str = ""
    epsilon: str = ""


class Series:
    """An open series, locked against other publishers until it is closed.

    `record` alone writes, and what it wrote is on disk when it returns. Everything in the file is sealed with the key,
    so a file that was damaged is refused: a lost key or view would let the same rows get fresh coins. A new file in
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
                form, key, number, seal = self._db.execute("SELECT format, key, views, seal FROM series").fetchone()
                if form not in (_BEFORE, FORMAT):
                    raise ValueError(f"its format is {form}, this version reads {FORMAT}")
                self.coins = Coins(key=key)
                if seal != self._seal(form, key, number):
                    raise ValueError("its content is damaged")
                if form == _BEFORE:
                    self._renew()
                if len(self.views()) != number:
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

    def views(self) -> tuple[View, ...]:
        """What was published, oldest first."""
        with self._guarded():
            return tuple(_view(row) for row in self._rows(_COLUMNS))

    def _renew(self) -> None:
        """Bring a file of the format before to this one; it stays so only if a release is recorded."""
        found = self._rows(_OLD_COLUMNS)
        for column in _COLUMNS[len(_OLD_COLUMNS) :]:
            self._db.execute(f"ALTER TABLE view ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
        for row in found:
            where = (self._seal(*row, "", ""), row[0], row[2])
            self._db.execute("UPDATE view SET seal = ? WHERE rows = ? AND policy = ?", where)
        self._db.execute("UPDATE series SET format = ?", (FORMAT,))

    def _rows(self, columns: tuple[str, ...]) -> list[list[Any]]:
        """The views as they stand in the file, with their seals checked."""
        found = self._db.execute(f"SELECT {', '.join(columns)}, seal FROM view ORDER BY rowid").fetchall()
        if any(seal != self._seal(*row) for *row, seal in found):
            raise ValueError("its content is damaged")
        return [row for *row, _ in found]

    def record(self, view: View) -> None:
        """Remember a release before anybody can see it; one made again only notes where it is now."""
        known = {(each.rows, each.policy): each for each in self.views()}
        first = known.get((view.rows, view.policy))
        kept = replace(first, release=view.release) if first else replace(view, published=_now())
        classes = json.dumps(kept.classes)
        digests = (kept.rows, kept.ordered, kept.policy, kept.drawn)
        row = (*digests, classes, int(kept.continued), kept.release, kept.published, kept.measured, kept.epsilon)
        number = len(known) + (first is None)
        with self._guarded():
            if first:  # it keeps its place, for the order of views tells which came before which
                where = (kept.release, self._seal(*row), kept.rows, kept.policy)
                self._db.execute("UPDATE view SET release = ?, seal = ? WHERE rows = ? AND policy = ?", where)
            else:
                names, marks = ", ".join((*_COLUMNS, "seal")), ", ".join("?" * (len(row) + 1))
                self._db.execute(f"INSERT INTO view ({names}) VALUES ({marks})", (*row, self._seal(*row)))
            seal = self._seal(FORMAT, self.coins.key, number)
            self._db.execute("UPDATE series SET views = ?, seal = ?", (number, seal))
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


def _view(row: list[Any]) -> View:
    fields = dict(zip(_COLUMNS, row, strict=True))
    classes = tuple((int(size), int(buckets)) for size, buckets in json.loads(fields.pop("classes")))
    return View(**{**fields, "classes": classes, "continued": bool(fields["continued"])})


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
        if not db.execute("SELECT count(*) FROM view").fetchone()[0]:
            path.unlink()  # while it is locked, so that whoever waits for it finds it gone


def _seal(key: bytes, *fields: bytes | int | str) -> bytes:
    digest = hashlib.blake2b(key=key, digest_size=16)
    for each in fields:
        content = each if isinstance(each, bytes) else f"{type(each).__name__} {each}".encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()
