"""Rehearsals in several processes at once: each reads the table for itself and takes the next release that is open.

A worker that loses the process which started it clears away what it made, and ends.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import EngineError, PolicyError
from discreet.evaluate.compare.rehearsal import Run, Task
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet.evaluate.compare.workload import Question
    from discreet.schema.policy import Policy
    from discreet.table.source import CsvForm

_WORKER = "import sys; from discreet.evaluate.compare.worker import serve; serve(int(sys.argv[1]))"


def at_once(
    source: Any,
    policies: Sequence[Policy],
    csv: CsvForm | None,
    tasks: Sequence[Task],
    asked: Sequence[Sequence[Question]],
    jobs: int,
) -> Iterator[Run]:
    """Rehearse in so many processes; runs come as they are done. Raises what the first worker that fails raised."""
    if isinstance(source, Table):
        raise PolicyError("jobs must be 1 for a table that is open already; give its file or frame instead")
    left = list(reversed(tasks))
    with _started(min(jobs, len(tasks)), (source, policies, csv, asked)) as connections:
        busy: set[Connection] = set()
        for each in connections:
            each.send(left.pop())
            busy.add(each)
        while busy:
            for ready in wait(list(busy)):
                each = cast("Connection", ready)
                found = _received(each)
                busy.discard(each)
                if left:
                    each.send(left.pop())
                    busy.add(each)
                yield found


def _received(connection: Connection) -> Run:
    try:
        found = connection.recv()
    except (EOFError, ConnectionError):
        raise EngineError(
            "a worker ended before it was done; there may be too little memory for so many jobs"
        ) from None
    if isinstance(found, BaseException):
        raise found
    run: Run = found
    return run


@contextmanager
def _started(number: int, given: tuple[Any, ...]) -> Iterator[list[Connection]]:
    """Processes that wait for tasks; they are gone on any way out."""
    connections: list[Connection] = []
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(number):
            own, other = socket.socketpair()
            with other:
                command = [sys.executable, "-c", _WORKER, str(other.fileno())]
                processes.append(subprocess.Popen(command, pass_fds=[other.fileno()]))  # noqa: S603 - this very program
            connections.append(Connection(own.detach()))
            connections[-1].send(given)
        yield connections
    finally:
        for each in connections:
            each.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
