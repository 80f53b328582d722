"""DiffGen: range counts and classification of a histogram-guided release, beside the faithful DiffGen in the same run.

python bench/diffgen.py [RUNS]      each line says whether it is within its target; the data is in ../shared/data

200 conditions over 1 to 3 attributes: an interval between two uniform values of a numeric attribute, a value of any
level of a categorical one's taxonomy. Two thirds of the rows are published, one third tests a classifier: an entropy
tree with C4.5's pruning, trained on weighted leaves and tested on rows generalized to the same values, as in the paper;
and one trained on synthetic rows of the release and tested on rows as they are. Of each release the better median
counts. Releases are those that the product makes, with seeds. Then comes `bench/pairs.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pairs
from learners import accuracy as raw_tree

import discreet
from discreet.evaluate.accuracy import generalized_accuracy
from discreet.evaluate.labelled import adult, census
from discreet.evaluate.ranges import Ranges, ranges_of
from discreet.evaluate.scratch import opened, released
from discreet.mechanism.diffgen.papers.compared import DIFFGEN, TablesAlone, variants
from discreet.mechanism.diffgen.planning.score import SCORES

DATA = Path(__file__).parents[2] / "shared" / "data"
EPSILONS = ("0.1", "0.25", "0.5", "1")
STEPS = (4, 7, 10)
CONDITIONS = 200
ERROR, RATIO, ACCURACY = (240, 115, 75, 55), (4, 8, 10, 14), {"0.5": 83.5}


@dataclass(frozen=True)
class Outcome:
    error: float
    accuracy: float  # on generalized rows
    cpu: float  # of publishing
    leaves: float
    raw: float  # on rows as they are

    @property
    def best(self) -> float:
        return max(self.accuracy, self.raw)


def outcome(data: Ranges, table: discreet.Table, mechanism: discreet.DiffGen, seed: int) -> Outcome:
    """One release: how far off it is, what a classifier learns from it, and what publishing it cost."""
    start = time.process_time()
    with released(table, mechanism, seed) as release:
        cpu = time.process_time() - start
        accuracy = generalized_accuracy(release, data.halves)
        return Outcome(data.mean_error(release), accuracy, cpu, release.size, raw_tree(data.halves, release))


def tables_alone(data: Ranges, table: discreet.Table, epsilon: str, seed: int) -> float:
    with released(table, TablesAlone(epsilon=epsilon), seed) as release:
        return data.mean_error(release)


def median(found: Sequence[Outcome]) -> Outcome:
    """The median of each figure."""
    names = ("error", "accuracy", "cpu", "leaves", "raw")
    return Outcome(*(float(np.median([getattr(each, name) for each in found])) for name in names))


def judged(holds: bool) -> str:
    return "ok" if holds else "MISSED"


def compare(name: str, data: Ranges, runs: int, *, targets: bool) -> None:
    print(f"{name}: {len(data.halves.train):,} rows, mean true count {data.truth.mean():,.0f}")
    policy = discreet.Policy(schema=data.halves.source.schema, mechanism=discreet.DiffGen(epsilon=1))
    with opened(data.halves.train, policy) as table:
        for place, epsilon in enumerate(EPSILONS):
            _compare(data, table, runs, epsilon, place if targets else None)


def _compare(data: Ranges, table: discreet.Table, runs: int, epsilon: str, place: int | None) -> None:
    """One epsilon; `place` is that of its targets, if there are any."""
    here = {
        score: median(
            [outcome(data, table, discreet.DiffGen(epsilon=epsilon, score=score), run) for run in range(runs)]
        )
        for score in SCORES
    }
    theirs = [
        median([outcome(data, table, variants(epsilon, score, steps)[DIFFGEN], run) for run in range(runs)])
        for score in SCORES
        for steps in STEPS
    ]
    best, right = min(each.error for each in theirs), max(each.best for each in theirs)
    for score, found in here.items():
        ratio = best / found.error
        holds = found.error < best and found.best >= right
        if place is not None:
            holds = found.error <= ERROR[place] and ratio >= RATIO[place] and found.best >= right
            holds = holds and found.best >= ACCURACY.get(epsilon, 0) and found.cpu <= 2
        print(
            f"  eps {epsilon:>4} {score:<16} error {found.error:6.1f} ({ratio:4.1f} times below {best:6.1f}), "
            f"accuracy {found.accuracy:5.2f} / {found.raw:5.2f} % (DiffGen {right:5.2f} %), "
            f"{found.leaves:,.0f} counts, "
            f"{found.cpu:.2f} CPU s  {judged(holds) if score == SCORES[0] else ''}",
            flush=True,
        )
    alone = np.median([tables_alone(data, table, epsilon, run) for run in range(runs)])
    print(f"  eps {epsilon:>4} tables alone     error {alone:6.1f}")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    compare("Adult", ranges_of(adult(DATA), CONDITIONS), runs, targets=True)
    compare("census_occ, class OccupationMajor", ranges_of(census(DATA), CONDITIONS), runs, targets=False)
    pairs.judge(runs)


if __name__ == "__main__":
    main()
