"""What one of several processes does: it reads the table for itself, and rehearses what it is sent."""

from __future__ import annotations

import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType

from discreet.evaluate.compare.compare import rehearse
from discreet.evaluate.compare.stage import Stage


def serve(handle: int) -> None:
    """Rehearse what is sent over a socket, until nobody sends any more."""
    signal.signal(signal.SIGTERM, _stop)
    connection = Connection(handle)
    with suppress(EOFError, ConnectionError, KeyboardInterrupt):
        source, policies, csv, asked = connection.recv()
        try:
            with Stage(source, policies, csv) as stage:
                while True:
                    task = connection.recv()
                    connection.send(rehearse(stage, task, asked[task.policy]))
        except (EOFError, ConnectionError):  # who sent is gone
            raise
        except Exception as error:  # it is raised where the task came from
            connection.send(error)


def _stop(number: int, frame: FrameType | None) -> None:
    """Told to stop: clear away what is half made, as for Ctrl-C."""
    raise KeyboardInterrupt
