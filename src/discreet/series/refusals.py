"""What was refused to be published: to know of a refusal tells something of the rows, so that it is remembered."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

TABLE = """CREATE TABLE IF NOT EXISTS refusal (
    rows BLOB NOT NULL, policy BLOB NOT NULL, what TEXT NOT NULL, after INTEGER NOT NULL, at TEXT NOT NULL,
    people BLOB NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (rows, policy)
)"""
_COLUMNS = "rows, policy, what, after, at, people"
Seal = Callable[..., bytes]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What of which rows and policy was refused, `after` so many releases of the series; `people` is as in an entry."""

    rows: bytes
    policy: bytes
    what: str
    after: int = 0
    at: str = ""
    people: bytes = b""


def read_refusals(db: sqlite3.Connection, seal: Seal) -> tuple[Refusal, ...]:
    """All of them, oldest first; raises ValueError where a seal is broken."""
    found = db.execute(f"SELECT {_COLUMNS}, seal FROM refusal ORDER BY rowid").fetchall()
    if any(own != seal("refusal", *row) for *row, own in found):
        raise ValueError("its content is damaged")
    return tuple(
        Refusal(rows=rows, policy=policy, what=what, after=after, at=at, people=people)
        for rows, policy, what, after, at, people, _ in found
    )


def add_refusal(db: sqlite3.Connection, refusal: Refusal, seal: Seal) -> None:
    """One more, within the open transaction."""
    row = (refusal.rows, refusal.policy, refusal.what, refusal.after, refusal.at, refusal.people)
    db.execute(f"INSERT INTO refusal ({_COLUMNS}, seal) VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, seal("refusal", *row)))
