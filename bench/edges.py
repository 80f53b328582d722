"""Intervals where the estimate came out impossible: how often they hold the truth, and how often cut ones would.

python bench/edges.py [RELEASES]    six releases of each table by each mechanism by default; about four minutes

The answers are those over the publisher's coins whose unbiased value lies outside the hard bounds; beside them all
answers, inside and outside. "far" are those outside by more than a standard error. DiffGen's counts are never negative,
so that its answers lie outside only above `public_rows`; it is asked for nearly everybody.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from discreet import AlphaBeta, Anatomy, Buckets, DiffGen, Frapp, Tolerance
from discreet.evaluate.edge_tables import TABLES
from discreet.evaluate.edges import Answered, answered, coverage, random_conditions
from discreet.schema.mechanisms import Mechanism

ROWS, CONDITIONS, LEAST = 8_000, 300, 0.93
THETA = Tolerance(theta=8, floor="0.02")
MECHANISMS: dict[str, Mechanism] = {
    "buckets": Buckets(tolerance=THETA),
    "buckets, two sizes": Buckets(tolerance=replace(THETA, theta=6), sizes="two"),
    "anatomy": Anatomy(l=2),
    "alpha-beta": AlphaBeta(prior="0.002", posterior="0.2"),
    "FRAPP": Frapp(prior="0.002", posterior="0.2"),
    "DiffGen": DiffGen(epsilon="0.5"),
}


def measure(kind: str, name: str, releases: int) -> list[Answered]:
    """The answers of one mechanism on one table."""
    table = TABLES[name](ROWS)
    asked, schema = random_conditions(table.schema, CONDITIONS, 1), table.schema
    if kind in ("FRAPP", "DiffGen"):
        schema = replace(schema, public_rows=table.rows.num_rows)
    if kind == "DiffGen":
        asked = [f"NOT ({each})" for each in asked]
    return answered(table.rows, schema, MECHANISMS[kind], asked, range(releases))


def _width(answers: list[Answered]) -> float:
    """The mean width of the intervals, in their standard errors."""
    found = [each.estimate for each in answers]
    return float(np.mean([(each.high - each.low) / (each.standard_error or 1.0) for each in found]))


def main(releases: int) -> None:
    print(f"{'':<28} {'outside':>8} {'held':>6} {'if cut':>7} {'far':>6} {'held':>6} {'if cut':>7}", end="")
    print(f" {'all':>7} {'held':>6} {'if cut':>7} {'width':>6} {'points':>7} {'seconds':>8}")
    for kind in MECHANISMS:
        for name in TABLES:
            start = time.perf_counter()
            every = measure(kind, name, releases)
            outside = [each for each in every if each.outside]
            far = [each for each in outside if each.away > 1]
            line = f"{f'{kind}, {name}':<28}"
            for some in (outside, far, every):
                found = coverage(some) if some else None
                line += (
                    f" {len(some):>7,} {found.held:>6.3f} {found.cut:>7.3f}" if found else f" {0:>7} {'':>6} {'':>7}"
                )
            points = sum(each.estimate.low == each.estimate.high for each in every)
            line += f" {_width(every):>6.2f} {points:>7} {time.perf_counter() - start:>8.1f}"
            if outside and coverage(outside).held < LEAST:
                line += f"  below {LEAST}"
            print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
