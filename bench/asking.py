"""What one release answers, beside the truth: values, intervals, and what publishing and asking took."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from questions import Questions
from rivals import answers_of

import discreet
from discreet.estimate.diffgen.pairs.release import PairsRelease
from discreet.estimate.estimate import Estimate
from discreet.evaluate.scratch import released
from discreet.ground.arrays import Floats
from discreet.schema.mechanisms import Mechanism

ALONE = 101  # questions that are asked one by one; the others are asked together


@dataclass(frozen=True, eq=False, kw_only=True)
class Told:
    """Answers to the questions, and to those of the papers' form."""

    estimates: Sequence[Estimate]
    papers: Sequence[Estimate]
    cpu: float  # seconds of publishing
    first: float  # seconds of the first answer
    each: float  # milliseconds of one after it, asked by itself

    @property
    def values(self) -> Floats:
        return np.array([each.value for each in self.estimates], dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Covered:
    """How often intervals hold the truth, over all questions and by their columns; median half-widths."""

    all: float
    by_columns: tuple[float, ...]
    absolute: float
    relative: float  # of the truth, where that is not 0


def ask(table: discreet.Table, mechanism: Mechanism, seed: int, asked: Questions, papers: Questions) -> Told:
    """One release and its answers."""
    start = time.process_time()
    with released(table, mechanism, seed) as release:
        cpu, start = time.process_time() - start, time.process_time()
        head = [release.count(asked.wheres[0])]
        first, start = time.process_time() - start, time.process_time()
        head += [release.count(where) for where in asked.wheres[1:ALONE]]
        each = (time.process_time() - start) / (len(head) - 1) * 1000
        rest = release.count_many(asked.wheres[ALONE:])
        told = release.count_many(papers.wheres)
    return Told(estimates=[*head, *rest], papers=told, cpu=cpu, first=first, each=each)


def expected(table: discreet.Table, mechanism: Mechanism, seed: int, asked: Questions) -> Floats:
    """What one release answers, without intervals: of a release of pairs its model is asked, which is much faster."""
    with released(table, mechanism, seed) as release:
        if isinstance(release, PairsRelease):
            return answers_of(asked, release.fit.model)
        return np.array([each.value for each in release.count_many(asked.wheres)], dtype=np.float64)


def covered(asked: Questions, releases: Sequence[Told], *, papers: bool = False) -> Covered:
    """Over all releases that were asked."""
    found = [each.papers if papers else each.estimates for each in releases]
    low, high = (np.array([[getattr(one, end) for one in each] for each in found]) for end in ("low", "high"))
    held, half = (low <= asked.truth) & (asked.truth <= high), (high - low) / 2
    some = asked.truth > 0
    return Covered(
        all=float(held.mean()),
        by_columns=tuple(float(held[:, asked.columns == each].mean()) for each in sorted(set(asked.columns))),
        absolute=float(np.median(half)),
        relative=float(np.median(half[:, some] / asked.truth[some])),
    )
