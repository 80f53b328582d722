"""Planning: CPU milliseconds against a yardstick in the same run (sorting a million random doubles with numpy)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np

import discreet


def cpu(step: Callable[[], object], repeats: int = 5) -> float:
    """The least CPU seconds of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        step()
        best = min(best, time.process_time() - start)
    return best


def counts_of(rows: int, values: int) -> dict[object, int]:
    weights = np.random.default_rng(values).dirichlet(np.full(values, 2.0))
    return {value: int(weight * rows) + 1 for value, weight in enumerate(weights)}


def main() -> None:
    numbers = np.random.default_rng(0).random(1_000_000)
    yard = cpu(lambda: np.sort(numbers))
    print(f"yardstick: sorting 1e6 doubles, {yard * 1e3:.1f} ms")
    print(f"{'rows':>14} {'values':>8} {'sizes':>6} {'CPU ms':>9} {'/ yardstick':>12}")
    for rows, values in ((10**5, 50), (10**9, 50), (10**9, 3_200), (10**9, 100_000)):
        counts = counts_of(rows, values)
        tolerance = discreet.Tolerance(theta=8, floor="0.03").of(counts)
        for sizes in ("one", "two") if values == 50 else ("two",):

            def step(sizes: str = sizes, counts: dict[object, int] = counts, limits: object = tolerance) -> None:
                with contextlib.suppress(discreet.Infeasible):
                    discreet.plan_buckets(counts, limits, sizes=sizes)

            took = cpu(step, 3)
            print(f"{rows:>14,} {values:>8,} {sizes:>6} {took * 1e3:>9.1f} {took / yard:>12.2f}")


if __name__ == "__main__":
    main()
