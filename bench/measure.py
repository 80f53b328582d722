"""Measuring one step in a process of its own: CPU seconds of all its threads, and its peak memory."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """What one step took."""

    cpu: float
    wall: float
    peak_mb: float
    result: Any


def _run(step: Callable[..., Any], arguments: tuple[Any, ...], pipe: Any) -> None:
    wall = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = step(*arguments)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    pipe.send((cpu, time.perf_counter() - wall, after.ru_maxrss / 1024, result))


def measure(step: Callable[..., Any], *arguments: Any) -> Cost:
    """Run a step in a fresh process and say what it took."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(step, arguments, send))
    process.start()
    send.close()
    try:
        return Cost(*receive.recv())
    finally:
        process.join()
