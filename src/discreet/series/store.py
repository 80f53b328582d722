"""The series: the custodian's private memory, a small SQLite file outside every release.

It holds the secret key from which all coins come, what was published, and what is needed to notice the people of it in
another table: so the same rows never get fresh coins, and people who were published are known again.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

from discreet.errors import SeriesRefusal
from discreet.ground.disk import sweep, sync, take_name, workplace
from discreet.ground.exact import stated
from discreet.series.coins import Coins, fresh_key
from discreet.series.refusals import TABLE, Refusal, add_refusal, read_refusals
from discreet.series.renew import OLDER, renew

FORMAT = 6
_PATIENCE = 60.0  # seconds to wait for another publisher
_DURABLE = "PRAGMA synchronous = EXTRA"  # the directory is synced too, when the journal is gone
TABLES = """
CREATE TABLE series (format INTEGER NOT NULL, key BLOB NOT NULL, entries INTEGER NOT NULL, seal BLOB NOT NULL);
CREATE TABLE entry (
    rows BLOB NOT NULL, ordered BLOB NOT NULL, policy BLOB NOT NULL, drawn BLOB NOT NULL, memo TEXT NOT NULL,
    cost TEXT NOT NULL, continued INTEGER NOT NULL, release TEXT NOT NULL, published TEXT NOT NULL,
    related TEXT NOT NULL, people BLOB NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (rows, policy)
);
"""
COLUMNS = (
    "rows",
    "ordered",
    "policy",
    "drawn",
    "memo",
    "cost",
    "continued",
    "release",
    "published",
    "related",
    "people",
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release: digests of the rows (in any order, in this order), of the policy, and of what the coins gave.

    `drawn` is empty where the release was begun and nobody knows whether it was ever made. `memo` is what its mechanism
    needs, beside the coins, to make it again, and `cost` the epsilon that it cost. `continued` says that people of it
    were published before and that the custodian said to go on. `related` are the numbers of the entries with people of
    it, and `people` what is kept to know its people again; empty where an older version kept nothing. `number` counts
    the entries of the series from 1.
    """

    rows: bytes
    ordered: bytes
    policy: bytes
    drawn: bytes
    memo: str
    cost: Fraction
    continued: bool
    release: str
    related: tuple[int, ...] = ()
    people: bytes = b""
    published: str = ""
    number: int = 0


class Series:
    """An open series, locked against other publishers until it is closed.

    `record`, `reserve` and `refuse` alone write, and what they wrote is on disk when they return. Everything in the
    file is sealed with the key, so a file that was damaged is refused: a lost key or entry would let the same rows get
    fresh coins. A new file in which nothing was recorded is removed again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._new = not path.exists()
        self._open = ExitStack()
        self._open.callback(self._forget)
        try:
            with self._guarded():
                sweep(path.absolute().parent, path.name)  # of one who was killed while it was made
                if self._new:
                    _create(path)
                self._db = self._open.enter_context(closing(_connect(path, timeout=_PATIENCE)))
                self._read()
        except BaseException:
            self._open.close()
            raise

    def _read(self) -> None:
        """Lock the file and look at all of it; raises ValueError where it is not whole."""
        found = self.path.stat()
        self._db.execute(_DURABLE)
        self._db.execute("BEGIN IMMEDIATE")
        if not self.path.exists() or not os.path.samestat(found, self.path.stat()):
            raise ValueError("another publisher has just removed it")
        form, key, number, seal = self._db.execute("SELECT * FROM series").fetchone()
        if form != FORMAT and form not in OLDER:
            raise ValueError(f"its format is {form}, this version reads {FORMAT}")
        self.coins = Coins(key=key)
        refusals = () if form in OLDER else (len(self.refusals()),)
        if seal != self._seal(form, key, number, *refusals):
            raise ValueError("its content is damaged")
        if form in OLDER:
            renew(self._db, form, self._seal, TABLES)
        if len(self.entries()) != number:
            raise ValueError("its content is damaged")

    def __enter__(self) -> Series:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def _forget(self) -> None:
        if self._new:
            _discard(self.path)

    @property
    def name(self) -> str:
        """What tells this series from others, and nothing of its key."""
        return self._seal("name").hex()

    def entries(self) -> tuple[Entry, ...]:
        """What was published, oldest first."""
        with self._guarded():
            found = self._db.execute(f"SELECT {', '.join(COLUMNS)}, seal FROM entry ORDER BY rowid").fetchall()
            if any(seal != self._seal(*row) for *row, seal in found):
                raise ValueError("its content is damaged")
            return tuple(_entry(row, number) for number, (*row, _) in enumerate(found, start=1))

    def refusals(self) -> tuple[Refusal, ...]:
        """What was refused, oldest first."""
        with self._guarded():
            return read_refusals(self._db, self._seal)

    def refuse(self, refusal: Refusal) -> None:
        """Remember what was refused, once, before anybody hears of it."""
        number, known = len(self.entries()), {(each.rows, each.policy) for each in self.refusals()}
        if (refusal.rows, refusal.policy) in known:
            return
        with self._guarded():
            add_refusal(self._db, replace(refusal, after=number, at=_now()), self._seal)
            self._commit(number)

    def record(self, entry: Entry) -> int:
        """Remember a release before anybody can see it; the number of its entry.

        One that is made again only notes where it is now, and what the coins gave if that was not known.
        """
        entries = self.entries()
        first = next((each for each in entries if (each.rows, each.policy) == (entry.rows, entry.policy)), None)
        if first:
            kept = replace(first, release=entry.release, drawn=first.drawn or entry.drawn)
        else:
            kept = replace(entry, published=_now(), number=len(entries) + 1)
        row = _row(kept)
        with self._guarded():
            if first:  # it keeps its place, for the order of entries tells which came before which
                where = (kept.release, kept.drawn, self._seal(*row), kept.rows, kept.policy)
                self._db.execute(
                    "UPDATE entry SET release = ?, drawn = ?, seal = ? WHERE rows = ? AND policy = ?", where
                )
            else:
                names, marks = ", ".join((*COLUMNS, "seal")), ", ".join("?" * (len(row) + 1))
                self._db.execute(f"INSERT INTO entry ({names}) VALUES ({marks})", (*row, self._seal(*row)))
            self._commit(len(entries) + (first is None))
        return kept.number

    def _commit(self, number: int) -> None:
        """Seal how much is remembered, with so many entries, and have it on disk."""
        seal = self._seal(FORMAT, self.coins.key, number, len(read_refusals(self._db, self._seal)))
        self._db.execute("UPDATE series SET format = ?, entries = ?, seal = ?", (FORMAT, number, seal))
        self._db.execute("COMMIT")
        self._new = False

    def reserve(self, entry: Entry) -> None:
        """Remember what was measured and what it cost before any file of the release exists, and stay locked."""
        self.record(entry)
        with self._guarded():
            self._db.execute("BEGIN IMMEDIATE")

    def _seal(self, *fields: bytes | int | str) -> bytes:
        """A keyed digest of a row, so that damage shows."""
        return _seal(self.coins.key, *fields)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError, OverflowError, LookupError) as error:
            raise self._refusal(error) from None

    def _refusal(self, error: Exception) -> SeriesRefusal:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if isinstance(error, OSError) or getattr(error, "sqlite_errorname", "").startswith(_OF_THE_DISK):
            return SeriesRefusal(
                f"series ({self.path}) must be on a disk that can be written ({why}); make room or mend it there, and "
                "publish again: nothing was published without being remembered"
            )
        return SeriesRefusal(
            f"series ({self.path}) must be a whole series file that nobody else is using ({why}); restore it from a "
            "backup if it is damaged, for without it the same rows would get fresh coins"
        )


_OF_THE_DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


def _row(entry: Entry) -> tuple[Any, ...]:
    digests = (entry.rows, entry.ordered, entry.policy, entry.drawn)
    related = " ".join(map(str, entry.related))
    plain = (entry.memo, str(entry.cost), int(entry.continued), entry.release, entry.published, related)
    return (*digests, *plain, entry.people)


def _entry(row: list[Any], number: int) -> Entry:
    fields = dict(zip(COLUMNS, row, strict=True))
    cost = stated(fields["cost"])
    if cost is None:
        raise ValueError("its content is damaged")
    read = {"cost": cost, "continued": bool(fields["continued"]), "number": number}
    return Entry(**{**fields, **read, "related": tuple(map(int, fields["related"].split()))})


def _now() -> str:
    return datetime.now(UTC).isoformat(" ", "seconds")


def _create(path: Path) -> None:
    """A new series with a fresh key, readable by its owner only; it appears whole or not at all, and replaces none."""
    folder = path.absolute().parent
    with workplace(folder, path.name) as place:
        new = place / "series"
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(new, isolation_level=None)) as db:
            db.execute(_DURABLE)
            db.executescript(f"BEGIN; {TABLES} {TABLE};")
            key = fresh_key()
            db.execute("INSERT INTO series VALUES (?, ?, ?, ?)", (FORMAT, key, 0, _seal(key, FORMAT, key, 0, 0)))
            db.execute("COMMIT")
        sync(new)
        with suppress(FileExistsError):  # another publisher was faster, and its key is the key
            take_name(new, path)
        sync(folder)


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", timeout=timeout, isolation_level=None, uri=True)


def _discard(path: Path) -> None:
    """Remove a series in which nothing is recorded, unless another publisher is using it."""
    with suppress(sqlite3.Error, OSError), closing(_connect(path, timeout=0)) as db:
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT (SELECT count(*) FROM entry) + (SELECT count(*) FROM refusal)").fetchone()[0]:
            path.unlink()  # while it is locked, so that whoever waits for it finds it gone


def _seal(key: bytes, *fields: bytes | int | str) -> bytes:
    digest = hashlib.blake2b(key=key, digest_size=16)
    for each in fields:
        content = each if isinstance(each, bytes) else f"{type(each).__name__} {each}".encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()
