"""What defences inside a bucket cost in answers: known others and fakes, beside the plain release in the same run.

python bench/defences.py                 Adult's ratios, and errors and coverage on every table
python bench/defences.py --ratios        the ratios alone: nothing is learned
python bench/defences.py --only Adult    errors and coverage on tables whose name begins so
python bench/defences.py --releases 5    that many releases of each setting

Ratios: Adult and census_occ, shares up to 1/4, buckets of 4 without a defence, 60 counts of the papers' form, 12
releases; the root of the mean square of unbiased errors (`design`, not cut), over the plain release's; limits are
Adult's. Beside it the certainty that the plan tells of one who knows all others and the totals. Errors are mean /
median of |answer - truth| / truth over 300 counts, with the default slack; "covers" is of 95 % intervals, of unbiased
answers as they came out. Where a figure is over its limit, or too few intervals cover, the line says OVER, and the
bench fails.
The public tables are in ../shared/data; without one, its lines are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
from answers import Answers, Intervals, Ints, designed, errors_of, intervals_of, shown
from judged import CASES, QUARTER, Case, F

import discreet
from discreet.errors import Infeasible
from discreet.estimate.estimate import Estimate
from discreet.estimate.remembered import NAMED
from discreet.evaluate.papers_form import at_least, random_queries
from discreet.evaluate.scratch import opened, released, schema_of

COUNTS, RELEASES = 300, 3
FEW, MANY = 60, 12  # counts, and releases, of the ratios
LEAST = 0.93  # of the intervals
QUARTERS = {"Adult, shares up to 1/4": True, "census_occ, shares up to 1/4": False}  # and whether they have limits
TABLES = ("Adult, F", "census_occ, F", "hospital")  # one case of each: both promises are measured on it
PROMISES = {"F": F, "shares up to 1/4": QUARTER}


@dataclass(frozen=True, kw_only=True)
class Defence:
    """Parameters of a policy, and how many times a plain release's error they may cost."""

    known: int = 0
    fakes: int = 0
    most: float | None = None

    def mechanism(self, tolerance: discreet.Tolerance) -> discreet.Buckets:
        return discreet.Buckets(tolerance=tolerance, known=self.known, fakes=self.fakes)

    def __str__(self) -> str:
        return f"known = {self.known}, fakes = {self.fakes}"


PLAIN = Defence()
DEFENCES = (
    PLAIN,
    Defence(known=1, most=1.5),
    Defence(known=2),
    Defence(fakes=1, most=1.35),
    Defence(fakes=2),
)


def asked(table: discreet.Table, mechanism: discreet.Buckets, seed: int, wheres: list[str], how: str) -> list[Estimate]:
    with released(table, mechanism, seed) as release:
        return release.count_many(wheres, estimator=how)


def ratios(rows: pa.Table, sensitive: str, limited: bool) -> Iterator[tuple[str, bool]]:
    """A line for each defence, and whether it is within its limit."""
    wheres, truths = random_queries(rows, sensitive, FEW, values_of=at_least)
    with opened(rows, discreet.Policy(schema=schema_of(rows, sensitive), mechanism=PLAIN.mechanism(QUARTER))) as table:
        yardstick = 0.0
        for defence in DEFENCES:
            mechanism = defence.mechanism(QUARTER)
            found = [designed(asked(table, mechanism, seed, wheres, "unbiased")) for seed in range(MANY)]
            error = float(np.sqrt(np.nanmean((np.array(found, dtype=np.float64) - truths) ** 2)))
            yardstick = yardstick or error
            plan, most = mechanism.plan(table), defence.most if limited else None
            sizes = ", ".join(f"{number:,} of {size}" for size, number in plan.classes)
            sure = 1.0 if plan.price is None else float(plan.price.certainty)
            told = "" if most is None else f" (at most {most})"
            line = f"  {defence}  RMSE {error:6.1f}, {error / yardstick:.2f} times{told}; certainty {sure:.2f}; {sizes}"
            yield line, most is None or error / yardstick <= most


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The figures of one setting."""

    unbiased: Answers
    designs: Intervals
    learned: Answers
    intervals: Intervals
    share: float  # of the answers, that were learned: the others are unbiased, for the guard spoke

    @property
    def covers(self) -> bool:
        return min(self.designs.coverage, self.intervals.coverage) >= LEAST

    def __str__(self) -> str:
        return (
            f"unbiased {self.unbiased}, covers {self.designs.coverage:.3f}; learned {self.learned}, covers "
            f"{self.intervals.coverage:.3f}, half-width {self.intervals.half_width:.3f}, given for {self.share:.0%}"
        )


def measured(
    table: discreet.Table, mechanism: discreet.Buckets, wheres: list[str], truths: Ints, number: int
) -> Outcome:
    releases = [asked(table, mechanism, seed, wheres, "learned") for seed in range(number)]
    found, every = list(chain.from_iterable(releases)), np.tile(truths, number)
    some = [(each.design, true) for each, true in zip(found, every, strict=True) if each.design is not None]
    return Outcome(
        unbiased=Answers.of(errors_of(designed(each), truths) for each in releases),
        designs=intervals_of([design for design, _ in some], np.array([true for _, true in some])),
        learned=Answers.of(errors_of(shown(each), truths) for each in releases),
        intervals=intervals_of(found, every),
        share=float(np.mean([each.estimator == "learned" for each in found])),
    )


def settings(case: Case, number: int) -> Iterator[tuple[str, bool]]:
    """A line for each promise and defence, and whether enough intervals cover."""
    rows = case.rows()
    wheres, truths = random_queries(rows, case.sensitive, COUNTS, values_of=at_least)
    with opened(rows, discreet.Policy(schema=schema_of(rows, case.sensitive), mechanism=PLAIN.mechanism(F))) as table:
        for promise, tolerance in PROMISES.items():
            for defence in DEFENCES:
                try:
                    found = measured(table, defence.mechanism(tolerance), wheres, truths, number)
                except Infeasible:
                    yield f"  {promise}, {defence}  cannot be had", True
                else:
                    yield f"  {promise}, {defence}  {found}", found.covers


def judge(title: str, lines: Iterator[tuple[str, bool]]) -> bool:
    """Print some lines; whether all are within their limits."""
    print(title, flush=True)
    held = True
    for line, holds in lines:
        held &= holds
        print(line if holds else f"{line}  OVER", flush=True)
    return held


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ratios", action="store_true", help="the ratios alone")
    parser.add_argument("--only", default="", help="tables whose name begins so")
    parser.add_argument("--releases", type=int, default=RELEASES, help="of each setting")
    given = parser.parse_args()
    wanted = [name for name in TABLES if name.startswith(given.only)]
    if not wanted:
        parser.error(f"--only ({given.only}) must be how a table's name begins; they are {'; '.join(TABLES)}")
    held = []
    with tempfile.TemporaryDirectory() as cache:
        os.environ[NAMED] = cache  # else a second run would find what the first one learned
        for name, limited in QUARTERS.items():
            if (case := CASES[name]).here and name.startswith(given.only):
                title = f"{name}: {FEW} counts, {MANY} releases"
                held.append(judge(title, ratios(case.rows(), case.sensitive, limited)))
        for name in [] if given.ratios else wanted:
            case = CASES[name]
            if not case.here:
                print(f"{name}: left out, for {case.file} is not in ../shared/data", flush=True)
                continue
            title = f"{name.removesuffix(', F')}: {COUNTS} counts, releases: {given.releases}"
            held.append(judge(title, settings(case, given.releases)))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
