"""The worked examples of the bucket papers, with the printed number beside ours. Paper: [WWFW], [W14]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Item, Result, Setting
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.caps import caps_of
from discreet.mechanism.buckets.planning.flow import route
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets

Counts = dict[object, int]


def _table(*counts: int) -> Counts:
    return {f"x{i}": count for i, count in enumerate(counts, start=1)}


EXAMPLE_5 = _table(2, 2, 2, 4, 4, 4, 4, 7, 7)
EXAMPLE_8 = _table(*[1] * 8, *[6] * 4, 9, 9)
EXAMPLE_10 = _table(4, 4, 4, 8, 8)
EXAMPLE_13 = _table(2, 2, 2, 2, 4, 4, 4, 4, 7, 8)


def _loss(counts: Counts, theta: int, floor: str, sizes: str, max_size: int = 50) -> Callable[[], int]:
    limits = Tolerance(theta=theta, floor=floor).of(counts)
    return lambda: plan_buckets(counts, limits, sizes=sizes, max_size=max_size, gap=0, seconds=30).loss


def _top_down(order: str) -> int:
    limits = Tolerance(theta=3, floor="0.02").of(EXAMPLE_13)
    sizes = np.arange(2, 51)
    classes = best_top_down(caps_of(list(limits.values()), sizes), np.array(list(EXAMPLE_13.values())), sizes, order)
    return 0 if classes is None else loss_of(classes)


def _three_classes() -> int:
    """[WWFW] Ex. 5 = [W14] Ex. 12: how many of 70 records three classes of 20, 20 and 30 can take."""
    most = np.array([[0, 0, 5]] * 10 + [[20, 20, 20]])
    return int(route(most, np.array([5] * 10 + [20]), np.array([20, 20, 30])).records.sum())


# What is compared, the number in print, ours, and why they differ.
EXAMPLES: tuple[tuple[str, int | None, Callable[[], int], str], ...] = (
    ("[W14] Ex. 5, optimum", 70, _loss(EXAMPLE_5, 3, "0.02", "optimal"), "the printed setting leaves out x7"),
    ("[W14] Ex. 5, two sizes", None, _loss(EXAMPLE_5, 3, "0.02", "two"), ""),
    ("[W14] Ex. 5, one size", 150, _loss(EXAMPLE_5, 3, "0.02", "one"), ""),
    ("[W14] Ex. 8 = [WWFW] Ex. 3, two sizes", 250, _loss(EXAMPLE_8, 2, "0.05", "two"), ""),
    ("[W14] Ex. 8 = [WWFW] Ex. 3, optimum", None, _loss(EXAMPLE_8, 2, "0.05", "optimal"), "two sizes are not enough"),
    ("[W14] Ex. 10, sizes 2 and 4", 42, _loss(EXAMPLE_10, 2, "0", "two", 4), ""),
    ("[W14] Ex. 13, two sizes", 132, _loss(EXAMPLE_13, 3, "0.02", "two"), "the printed setting is not valid"),
    ("[W14] Ex. 13, top down", 118, lambda: _top_down("tolerant last"), "depends on the order of moving records"),
    ("[W14] Ex. 13, top down, listed order", 118, lambda: _top_down("listed"), "the same, in the order of the list"),
    ("[W14] Ex. 13, optimum", None, _loss(EXAMPLE_13, 3, "0.02", "optimal"), ""),
    ("[WWFW] Ex. 5 = [W14] Ex. 12, records placed of 70", None, _three_classes, "three sizes are not valid, as stated"),
)


def _examples(setting: Setting) -> Result:
    rows = []
    for number, (name, printed, compute, why) in enumerate(EXAMPLES):
        ours = compute()
        rows.append((name, printed, ours, "yes" if printed == ours else "" if printed is None else "no", why))
        setting.tell((number + 1) / len(EXAMPLES))
    positions = range(len(rows))
    curves = (
        Curve(label="printed", points=tuple((float(i), float(rows[i][1] or 0)) for i in positions)),
        Curve(label="ours", points=tuple((float(i), float(rows[i][2])) for i in positions)),
    )
    agree, printed = sum(row[3] == "yes" for row in rows), sum(row[1] is not None for row in rows)
    return Result(
        columns=("example", "printed", "ours", "same", "why"),
        rows=tuple(rows),
        figures=(("losses", Figure(title="worked examples", x="example", y="loss", curves=curves, kind="bars")),),
        ours=f"{agree} of the {printed} printed numbers hold",
        data="the papers' own small tables",
    )


WORKED_EXAMPLES = Item(
    name="worked-examples",
    paper="[WWFW] Ex. 3 to 5, [W14] Ex. 5 to 13",
    line="every worked example with the printed number beside ours",
    claim="The losses that the examples state.",
    differs="Where the print is wrong, the table says why; every number of ours is computed in exact integers, and the "
    "optima are proved.",
    run=_examples,
)
