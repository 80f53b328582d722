"""How long planning takes. Paper: [WWFW] Figures 6 and 7, [W14] Figures 7.5 and 7.6."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.reproduce.tolerances import FLOOR
from discreet.ground.arrays import Ints
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.papers.ilp import solve_many_sizes, solve_two_sizes
from discreet.mechanism.buckets.papers.two_size_search import (
    search_two_sizes,
    with_full_pruning,
    with_loss_pruning,
    without_pruning,
)
from discreet.mechanism.buckets.planning.caps import Classes, caps_of, smallest_size
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets
from discreet.mechanism.buckets.planning.two_size import best_two_sizes

THETA, MAX_SIZE = 8, 50
ROWS = (100_000, 200_000, 300_000, 400_000, 500_000)
GAMMAS = (2, 4, 8, 16, 32, 64)
ILP_SECONDS = 60.0
_NOT_RUN = "a quick run leaves out the integer programs and the searches without full pruning"
Planner = Callable[[Ints, Ints, Ints], Classes | None]

PLANNERS: dict[str, Planner] = {
    "no pruning": lambda caps, counts, sizes: search_two_sizes(caps, counts, sizes, without_pruning),
    "loss pruning": lambda caps, counts, sizes: search_two_sizes(caps, counts, sizes, with_loss_pruning),
    "full pruning": lambda caps, counts, sizes: search_two_sizes(caps, counts, sizes, with_full_pruning),
    "closed form": best_two_sizes,
    "integer program, two sizes": lambda caps, counts, sizes: solve_two_sizes(caps, counts, sizes, ILP_SECONDS),
    "integer program, many sizes": lambda caps, counts, sizes: solve_many_sizes(caps, counts, sizes, ILP_SECONDS),
}


def measured(counts: dict[object, int], names: tuple[str, ...]) -> dict[str, tuple[float, int | None]]:
    """CPU seconds and loss of each planner on one histogram."""
    limits = Tolerance(theta=THETA, floor=FLOOR).of(counts)
    held = np.array(list(counts.values()), dtype=np.int64)
    sizes = np.arange(min(map(smallest_size, limits.values())), MAX_SIZE + 1)
    caps = caps_of(list(limits.values()), sizes)
    found = {}
    for name in names:
        start = time.process_time()
        classes = PLANNERS[name](caps, held, sizes)
        found[name] = (time.process_time() - start, None if classes is None else loss_of(classes))
    start = time.process_time()
    plan = plan_buckets(counts, limits, max_size=MAX_SIZE)
    return {**found, "optimal, certified": (time.process_time() - start, plan.loss)}


def _runtimes(setting: Setting, axis: str) -> Result:
    names = tuple(PLANNERS)
    if setting.quick:
        names = ("full pruning", "closed form")
    points = (ROWS if axis == "rows" else GAMMAS)[: 2 if setting.quick else None]
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for number, point in enumerate(points):
        counts = setting.sources.scaled("OCC", point if axis == "rows" else ROWS[-1])
        if axis != "rows":
            counts = scaled_up(counts, setting.seeds.take("values split in so many", point))
        for name, (seconds, loss) in measured(counts, names).items():
            rows.append((point, name, seconds, loss))
            curves.setdefault(name, []).append((float(point), max(seconds, 1e-4)))
        setting.tell((number + 1) / len(points))
    label = "rows" if axis == "rows" else "gamma"
    figure = Figure(
        title=f"planning against {label}",
        x=label,
        y="CPU seconds",
        curves=tuple(Curve(label=name, points=tuple(found)) for name, found in curves.items()),
        log_x=axis != "rows",
        log_y=True,
    )
    told = [f"{name} {found[-1][1]:.3f} s, {found[-1][1] / found[0][1]:.1f} times" for name, found in curves.items()]
    return Result(
        columns=(label, "planner", "CPU seconds", "loss"),
        rows=tuple(rows),
        figures=(("runtime", figure),),
        ours=f"CPU time at {points[-1]:,} {'rows' if axis == 'rows' else 'times the values'}, and how many times that "
        f"at {points[0]:,}: {'; '.join(told)}",
        data=f"{setting.sources.words('OCC')}; histograms bootstrapped to "
        f"{'the number of rows' if axis == 'rows' else f'{ROWS[-1]:,} rows'}, for these curves only; theta = {THETA}; "
        f"{_NOT_RUN if setting.quick else 'one run of each'}",
    )


def scaled_up(counts: dict[object, int], gamma: int) -> dict[object, int]:
    """Each value becomes gamma values, its records spread over them at random.  # [WWFW] section 7.3"""
    coins = np.random.default_rng(gamma)
    return {
        f"{value}-{r}": int(part)
        for value, count in counts.items()
        for r, part in enumerate(coins.multinomial(count, [1 / gamma] * gamma))
        if part
    }


_OTHERWISE = (
    "The papers time an integer program for two sizes, which they do not print; here it is the one printed for many "
    "sizes, once for each pair of them, and that for many sizes beside it. Their searches are in C++ and means of 100 "
    "runs, on OCC and EDU; here they are in plain Python, one run each, on OCC. Only how times grow, and which search "
    "is ahead, can be held against each other."
)
AGAINST_ROWS = Item(
    name="runtime-rows",
    paper="[WWFW] Figure 6, [W14] Figure 7.5",
    line="CPU seconds of every planner against the number of rows",
    claim="Full pruning takes the least time and hardly grows with the table; no pruning takes the most; an integer "
    "program for two sizes takes less than no pruning.",
    differs="The closed form, which needs no search, and the certified optimum are ours. " + _OTHERWISE,
    run=lambda setting: _runtimes(setting, "rows"),
)
AGAINST_VALUES = Item(
    name="runtime-values",
    paper="[WWFW] Figure 7, [W14] Figure 7.6",
    line="CPU seconds of every planner against the number of values",
    claim="The integer program for two sizes grows quickly with the domain, the searches little; no pruning gets "
    "faster.",
    differs="An integer program is stopped after a minute and then gives its best setting so far, if any. The closed "
    "form and the certified optimum are ours. " + _OTHERWISE,
    run=lambda setting: _runtimes(setting, "gamma"),
)
