"""How far off answers from bucket releases are, beside the papers' estimator and honest samples, all in one run.

python bench/accuracy.py                 every table: 5 releases, 300 counts of the papers' form
python bench/accuracy.py --quick         one release, 100 counts
python bench/accuracy.py --only Adult    tables whose name begins so
python bench/accuracy.py --releases 2    that many releases of each

Errors are mean / median of |answer - truth| / truth. "least loss" is the plan without slack, composed evenly; "default"
is what a policy gets that says nothing of either, and "near" the same with near buckets. Unbiased answers are `design`,
not cut to what is possible. The attacker learns as the learned estimator does. Where a figure is over its limit the
line says OVER, and the bench fails.
The public tables are in ../shared/data; without one, its lines are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
from answers import Answers, Floats, Intervals, Ints, designed, errors_of, intervals_of, sampled, shown
from attacker import right_from_counts, right_guesses
from judged import CASES, COVERAGE, CPU, LOSS, MOVED, Case, Near
from tables import hospital

import discreet
from discreet.estimate.estimate import Estimate
from discreet.estimate.remembered import NAMED
from discreet.evaluate.papers_form import at_least, random_queries
from discreet.evaluate.scratch import opened, released, schema_of

COUNTS, QUICK_COUNTS, RELEASES = 300, 100, 5


@dataclass(frozen=True, kw_only=True)
class Closer:
    """The figures of near buckets of one table."""

    unbiased: Answers
    learned: Answers
    intervals: Intervals  # learned
    designs: float  # how often unbiased intervals held the truth
    loss: float
    cpu: float
    right: float
    unlearned: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The figures of one table."""

    uniform: Answers  # least loss
    before: Answers  # unbiased, least loss
    unbiased: Answers
    learned: Answers
    tenth: Answers  # an honest sample
    half: Answers
    intervals: Intervals  # learned
    loss: float  # over the least that was proved
    cpu: float  # of learning a release
    right: tuple[float, float]  # an attacker's share of right guesses, least loss and default
    unlearned: tuple[float, float]  # the same, of one who learns nothing
    near: Closer | None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What one release answered, by estimator; what learning it took, and how often an attacker guesses right."""

    estimates: dict[str, list[Estimate]]
    cpu: float
    right: float
    unlearned: float  # right guesses by the published counts alone


def least_loss(tolerance: discreet.Tolerance) -> discreet.Buckets:
    return discreet.Buckets(tolerance=tolerance, slack=0, composition="even")


def ask(
    table: discreet.Table, mechanism: discreet.Buckets, seed: int, wheres: Sequence[str], estimators: Sequence[str]
) -> Asked:
    """One release, learned, asked and attacked."""
    with released(table, mechanism, seed) as release:
        start = time.process_time()
        release.learn()
        cpu = time.process_time() - start
        found = {each: release.count_many(wheres, estimator=each) for each in estimators}
        right = right_guesses(release, table, mechanism, seed)
        return Asked(estimates=found, cpu=cpu, right=right, unlearned=right_from_counts(release.composition))


def measure(case: Case, rows: pa.Table, number: int, releases: int) -> Outcome:
    wheres, truths = random_queries(rows, case.sensitive, number, values_of=at_least)
    seeds = range(releases)
    default = discreet.Buckets(tolerance=case.tolerance)
    least = least_loss(case.tolerance)
    with opened(rows, discreet.Policy(schema=schema_of(rows, case.sensitive), mechanism=default)) as table:
        plan = default.plan_of(table.histogram)
        before = [ask(table, least, seed, wheres, ("uniform", "unbiased")) for seed in seeds]
        after = [ask(table, default, seed, wheres, ("unbiased", "learned")) for seed in seeds]
    learned = list(chain.from_iterable(each.estimates["learned"] for each in after))
    return Outcome(
        uniform=_errors((shown(each.estimates["uniform"]) for each in before), truths),
        before=_errors((designed(each.estimates["unbiased"]) for each in before), truths),
        unbiased=_errors((designed(each.estimates["unbiased"]) for each in after), truths),
        learned=_errors((shown(each.estimates["learned"]) for each in after), truths),
        tenth=Answers.of(sampled(len(rows), truths, 0.1, seeds)),
        half=Answers.of(sampled(len(rows), truths, 0.5, seeds)),
        intervals=intervals_of(learned, np.tile(truths, releases)),
        loss=plan.loss / plan.lower_bound,
        cpu=_mean(each.cpu for each in after),
        right=(_mean(each.right for each in before), _mean(each.right for each in after)),
        unlearned=(_mean(each.unlearned for each in before), _mean(each.unlearned for each in after)),
        near=None if case.near is None else closer(case, case.near.window, rows, wheres, truths, seeds),
    )


def closer(case: Case, window: int, rows: pa.Table, wheres: Sequence[str], truths: Ints, seeds: range) -> Closer:
    """The same questions to near releases."""
    mechanism = discreet.Buckets(tolerance=case.tolerance, assignment="near", window=window)
    with opened(rows, discreet.Policy(schema=schema_of(rows, case.sensitive), mechanism=mechanism)) as table:
        plan = mechanism.plan(table)
        found = [ask(table, mechanism, seed, wheres, ("unbiased", "learned")) for seed in seeds]
    learned, unbiased = (
        list(chain.from_iterable(each.estimates[name] for each in found)) for name in ("learned", "unbiased")
    )
    every = np.tile(truths, len(seeds))
    return Closer(
        unbiased=_errors((designed(each.estimates["unbiased"]) for each in found), truths),
        learned=_errors((shown(each.estimates["learned"]) for each in found), truths),
        intervals=intervals_of(learned, every),
        designs=intervals_of(unbiased, every).coverage,
        loss=plan.loss / plan.lower_bound,
        cpu=_mean(each.cpu for each in found),
        right=_mean(each.right for each in found),
        unlearned=_mean(each.unlearned for each in found),
    )


def _mean(figures: Iterable[float]) -> float:
    return float(np.mean(list(figures)))


def _errors(values: Iterator[list[float | None]], truths: Ints) -> Answers:
    found: Iterator[Floats] = (errors_of(each, truths) for each in values)
    return Answers.of(found)


def lines(case: Case, rows: int, found: Outcome) -> Iterator[tuple[str, bool]]:
    """What is printed, and whether it is within the limits."""
    yield f"  uniform, least loss    {found.uniform}", True
    yield f"  unbiased, least loss   {found.before}", True
    yield _limited(f"  unbiased, default      {found.unbiased}", found.unbiased, case.unbiased)
    yield _limited(f"  learned, default       {found.learned}", found.learned, case.learned)
    yield f"  samples of 10 and 50 % {found.tenth}, {found.half}", True
    held, half = found.intervals.coverage, found.intervals.half_width
    yield f"  learned interval       covers {held:.3f} (at least {COVERAGE})", held >= COVERAGE
    most = "" if case.half_width is None else f" (at most {case.half_width})"
    yield f"    half-width           {half:.3f}{most}", case.half_width is None or half <= case.half_width
    yield f"  loss                   {found.loss:.3f} times the least (at most {LOSS})", found.loss <= LOSS
    each = found.cpu / rows * 100_000
    yield f"  learning               {found.cpu:.1f} CPU s, {each:.1f} per 100,000 rows (at most {CPU})", each <= CPU
    moved = found.right[1] - found.right[0]
    told = f"{_both(found.right)}, moved by {moved:+.3f} (at most {MOVED})"
    yield f"  attacker right         {told}", abs(moved) <= MOVED
    yield f"    who learns nothing   {_both(found.unlearned)}", True
    if case.near is not None and found.near is not None:
        yield from near_lines(case.near, rows, found.near)


def near_lines(case: Near, rows: int, found: Closer) -> Iterator[tuple[str, bool]]:
    """The same of near buckets."""
    yield f"  near, windows of       {case.window:,}", True
    yield f"    unbiased             {found.unbiased}, covers {found.designs:.3f}", found.designs >= COVERAGE
    yield _limited(f"    learned              {found.learned}", found.learned, case.learned)
    held, half = found.intervals.coverage, found.intervals.half_width
    yield f"    learned interval     covers {held:.3f} (at least {COVERAGE}), half-width {half:.3f}", held >= COVERAGE
    yield f"    loss                 {found.loss:.3f} times the least", True
    each = found.cpu / rows * 100_000
    yield f"    learning             {found.cpu:.1f} CPU s, {each:.1f} per 100,000 rows (at most {CPU})", each <= CPU
    most = "" if case.right is None else f" (at most {case.right})"
    told = f"{found.right:.3f}{most}, {found.unlearned:.3f} who learns nothing"
    yield f"    attacker right       {told}", case.right is None or found.right <= case.right


def _both(shares: tuple[float, float]) -> str:
    return f"{shares[0]:.3f} at least loss, {shares[1]:.3f} by default"


def _limited(line: str, found: Answers, most: tuple[float, float] | None) -> tuple[str, bool]:
    if most is None:
        return line, True
    return f"{line} (at most {most[0]} / {most[1]})", found.mean <= most[0] and found.median <= most[1]


def warm() -> None:
    """Compile what learning runs, so that no table's seconds have it."""
    rows = hospital(2_000)
    policy = discreet.Policy(
        schema=schema_of(rows, "diagnosis"), mechanism=discreet.Buckets(tolerance=CASES["hospital"].tolerance)
    )
    with opened(rows, policy) as table, released(table, policy.mechanism, 0) as release:
        release.learn()


def judge(name: str, case: Case, number: int, releases: int) -> bool:
    """Print the figures of one table; whether all are within their limits."""
    if not case.here:
        print(f"{name}: left out, for {case.file} is not in ../shared/data", flush=True)
        return True
    rows = case.rows()
    print(f"{name}: {len(rows):,} rows, {number} counts, releases: {releases}", flush=True)
    held = True
    for line, holds in lines(case, len(rows), measure(case, rows, number, releases)):
        held &= holds
        print(line if holds else f"{line}  OVER", flush=True)
    return held


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one release, fewer counts")
    parser.add_argument("--only", default="", help="tables whose name begins so")
    parser.add_argument("--releases", type=int, help="of each table")
    given = parser.parse_args()
    wanted = {name: case for name, case in CASES.items() if name.startswith(given.only)}
    if not wanted:
        parser.error(f"--only ({given.only}) must be how a table's name begins; they are {'; '.join(CASES)}")
    number, releases = (QUICK_COUNTS, 1) if given.quick else (COUNTS, RELEASES)
    with tempfile.TemporaryDirectory() as cache:
        os.environ[NAMED] = cache  # else a second run would find what the first one learned
        warm()
        held = [judge(name, case, number, given.releases or releases) for name, case in wanted.items()]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
