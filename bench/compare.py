"""A rehearsal of six policies, and the line at the end of a plan beside a full one; exit 1 over a limit.

python bench/compare.py            six policies, 300 questions, 3 releases each; plans on three tables
python bench/compare.py --plans    plans alone

The census table is ../shared/data/census_occ.parquet (148,000 rows), or made up where it is not there. CPU seconds are
of all threads, compiled code is there already.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from judged import CASES, Case
from tables import hospital

import discreet
from discreet.evaluate.compare.glance import Glance, drawn_about, glance
from discreet.evaluate.compare.people import People
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.mechanism.mechanism import publishing
from discreet.schema.mechanisms import Mechanism

QUESTIONS, RELEASES = 300, 3
MOST_CPU, PLAN_CPU, WITHIN = 300.0, 5.0, 0.3
TABLES = ("census_occ, F", "Adult, F", "households")  # for plans
ASKED = 100  # of a full rehearsal, each release


def policies(case: Case) -> dict[str, Mechanism]:
    return {
        "optimal": discreet.Buckets(tolerance=case.tolerance),
        "two": discreet.Buckets(tolerance=case.tolerance, sizes="two"),
        "least loss": discreet.Buckets(tolerance=case.tolerance, slack=0),
        "anatomy": discreet.Anatomy(l=3),
        "DiffGen": discreet.DiffGen(epsilon=1),
        "pairs": discreet.Pairs(epsilon=1),
    }


def rehearsal(case: Case) -> bool:
    """Six policies on one table; whether it took no more than it may."""
    rows = case.rows()
    schema = schema_of(rows, case.sensitive)
    read = [discreet.Policy(schema=schema, mechanism=each) for each in policies(case).values()]
    start = time.process_time()
    found = discreet.compare(rows, read, counts=QUESTIONS, releases=RELEASES)
    cpu = time.process_time() - start
    print(found)
    print(f"{len(read)} policies on {len(rows):,} rows: {cpu:.0f} CPU s (at most {MOST_CPU:.0f})", flush=True)
    return cpu <= MOST_CPU


def plans(name: str) -> Iterator[bool]:
    """The line of a plan beside a full rehearsal, for buckets and noisy counts."""
    case = CASES[name]
    rows = case.rows()
    schema = schema_of(rows, case.sensitive)
    for label in ("optimal", "DiffGen", "pairs"):
        mechanism = policies(case)[label]
        with opened(rows, discreet.Policy(schema=schema, mechanism=mechanism)) as table:
            start = time.process_time()
            told = glance(table, publishing(mechanism))
            cpu = time.process_time() - start
            if told is None or told.off is None:
                print(f"{name}, {label}: nothing is told  OVER", flush=True)
                yield False
                continue
            full = rehearsed(table, mechanism, told)
        ratio = told.off / full
        held = abs(ratio - 1) <= WITHIN and cpu <= PLAN_CPU
        print(
            f"{name}, {label}: {told}; a full rehearsal {full:.1f}, ratio {ratio:.2f}; {cpu:.1f} CPU s "
            f"(at most {PLAN_CPU:.0f}){'' if held else '  OVER'}",
            flush=True,
        )
        yield held


def rehearsed(table: discreet.Table, mechanism: Mechanism, told: Glance) -> float:
    """The median absolute error of such counts over some releases of all rows."""
    people, errors = People.of(table), []
    for seed in range(RELEASES):
        with released(table, mechanism, seed) as release:
            asked = drawn_about(people.counted_in(release.unit), told.count, ASKED)
            truths = np.array([int(each.matching().sum()) for each in asked])
            found = release.count_many([each.text for each in asked])
            values = np.array([np.inf if each.value is None else each.value for each in found])
            errors.append(np.abs(values - truths))
    return float(np.median(np.concatenate(errors)))


def warm() -> None:
    """Compile what learning runs."""
    rows = hospital(2_000)
    mechanism = discreet.Buckets(tolerance=CASES["hospital"].tolerance)
    policy = discreet.Policy(schema=schema_of(rows, "diagnosis"), mechanism=mechanism)
    discreet.compare(rows, [policy], counts=10, releases=1)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plans", action="store_true", help="plans alone")
    given = parser.parse_args()
    warm()
    here = [name for name in TABLES if CASES[name].here] or ["hospital", "employees", "households"]
    held = [each for name in here for each in plans(name)]
    if not given.plans:
        held.append(rehearsal(CASES[here[0]]))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
