"""One piece of work in the database: a connection, what was registered for it, and when it has to end."""

from __future__ import annotations

import threading
import time
from typing import Any

import duckdb

from discreet.errors import Cancelled, EngineError, OutOfTime

_AGAIN = 0.02  # seconds until a connection that may just have begun another statement is interrupted once more


class Session:
    """A connection for one thread. `cancel` may be called from any other, and ends the statement that runs."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float | None = None) -> None:
        self.connection = connection
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._registered: set[str] = set()
        self._reason: EngineError | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()  # nobody is interrupted who took the connection over
        if seconds is not None:
            threading.Thread(target=self._watch, daemon=True).start()

    def register(self, relation: str, columns: Any) -> None:
        self.connection.register(relation, columns)
        self._registered.add(relation)

    def forget(self, relation: str) -> None:
        self.connection.unregister(relation)
        self._registered.discard(relation)

    def check(self) -> None:
        """Raise where the work was stopped, or its time is up."""
        if self._reason is None and self._end is not None and time.monotonic() >= self._end:
            self._reason = self._late()
        if self._reason is not None:
            raise self._reason

    def cancel(self) -> None:
        """Stop whatever runs, now and until the session is over."""
        self._reason = self._reason or Cancelled("the question was cancelled")
        threading.Thread(target=self._interrupt, daemon=True).start()

    def end(self) -> bool:
        """Let go of what was registered; whether the connection may serve another. One that was stopped may not."""
        with self._lock:
            self._over.set()
        try:
            for relation in tuple(self._registered):
                self.forget(relation)
        except duckdb.Error:  # stopped, or without memory for it: closing forgets all
            self._reason = self._reason or EngineError("the connection is no longer of use")
        if self._reason is not None:
            self.connection.close()
        return self._reason is None

    def _watch(self) -> None:
        if not self._over.wait(self._seconds):
            self._reason = self._reason or self._late()
            self._interrupt()

    def _interrupt(self) -> None:
        while True:
            with self._lock:
                if self._over.is_set():
                    return
                self.connection.interrupt()
            self._over.wait(_AGAIN)

    def _late(self) -> OutOfTime:
        return OutOfTime(f"the question took longer than {self._seconds:g} s; ask less of it, or give it more time")
