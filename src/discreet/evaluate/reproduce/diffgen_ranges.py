"""Range counts from DiffGen and its variants, which the paper on range counts never measured.

Paper: [QSL] sections III and V.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.ranges import Ranges, ranges_of
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.scratch import opened, released
from discreet.mechanism.diffgen.making.noise import SeededNoise
from discreet.mechanism.diffgen.papers.compared import (
    CLIPPED,
    DIFFGEN,
    EXACT,
    FORGOTTEN,
    NOISELESS,
    STATED,
    TablesAlone,
    variants,
)
from discreet.mechanism.diffgen.planning.score import SCORES
from discreet.mechanism.diffgen.policy.diffgen import DiffGen
from discreet.schema.policy import Policy

EPSILONS, QUICK_EPSILONS = ("0.1", "0.25", "0.5", "1"), ("0.1", "1")
STEPS, QUICK_STEPS = (4, 7, 10), (4, 8)
RUNS, QUICK_RUNS = 4, 2
CONDITIONS, QUICK_CONDITIONS = 120, 20
CLIPPED_AT = "max"  # the score at whose largest h negative leaves are also set to 0
GUIDED, ONE_WAY, LAPLACE = "histogram-guided", "one-way tables", "Laplace"
BASIC = (DIFFGEN, CLIPPED, STATED, FORGOTTEN, EXACT, NOISELESS)
Key = tuple[str, str, str, int]  # epsilon, method, score, h


def _ranges(setting: Setting) -> Result:
    asked = QUICK_CONDITIONS if setting.quick else CONDITIONS
    data = ranges_of(setting.sources.labelled(), asked, setting.seeds.take("which rows are published and asked for", 0))
    steps = QUICK_STEPS if setting.quick else STEPS
    runs = QUICK_RUNS if setting.quick else RUNS
    epsilons = QUICK_EPSILONS if setting.quick else EPSILONS
    found: dict[Key, list[float]] = {}
    source = data.halves.source
    with opened(data.halves.train, Policy(schema=source.schema, mechanism=DiffGen(epsilon=1))) as table:
        for number, (epsilon, run) in enumerate((each, run) for each in epsilons for run in range(runs)):
            seed = setting.seeds.take("the releases and the noise of Laplace", run)
            for key, mechanism in _mechanisms(epsilon, steps):
                with released(table, mechanism, seed) as release:
                    found.setdefault(key, []).append(data.mean_error(release))
            found.setdefault((epsilon, LAPLACE, "", 0), []).append(_laplace(data, epsilon, seed))
            setting.tell((number + 1) / (len(epsilons) * runs))
    best = best_settings(found)
    return Result(
        columns=(
            "eps",
            "method",
            "score",
            "h",
            "median error",
            "least",
            "largest",
            "times the best DiffGen",
            "mean of this minus DiffGen on the same tree",
            "+-",
        ),
        rows=tuple(_rows(found, best)),
        figures=(("errors", _figure(found, best)),),
        ours=_told(found, best),
        data=f"{setting.sources.labelled_words}; {len(data.halves.train):,} rows (two thirds) are published, "
        f"{len(data.conditions)} conditions over 1 to 3 attributes are asked of every release, mean true count "
        f"{data.truth.mean():,.0f}; mean absolute error, median of {runs} releases; DiffGen and its variants at the "
        f"best of h = {', '.join(map(str, steps))} and of two scores for each epsilon, all h are in the CSV",
    )


def _mechanisms(epsilon: str, steps: tuple[int, ...]) -> Iterator[tuple[Key, DiffGen]]:
    """What is published once for each run."""
    for score in SCORES:
        for h in steps:
            for name, mechanism in variants(epsilon, score, h).items():
                if name != CLIPPED or (score, h) == (CLIPPED_AT, steps[-1]):
                    yield (epsilon, name, score, h), mechanism
        yield (epsilon, GUIDED, score, 0), DiffGen(epsilon=epsilon, score=score)
    yield (epsilon, ONE_WAY, "", 0), TablesAlone(epsilon=epsilon)


def _laplace(data: Ranges, epsilon: str, seed: int) -> float:
    """The mean error of the true counts with noise of their own, each at its part of epsilon."""
    noise = SeededNoise(np.random.default_rng([seed, 3]))
    noisy = noise.laplace(data.truth, Fraction(epsilon) / len(data.truth))
    return float(np.abs(noisy - data.truth).mean())


def _epsilons(found: dict[Key, list[float]]) -> list[str]:
    return list(dict.fromkeys(epsilon for epsilon, *_ in found))


def best_settings(found: dict[Key, list[float]]) -> dict[tuple[str, str], Key]:
    """For each epsilon and method the score and h with the least median error."""
    best: dict[tuple[str, str], Key] = {}
    for key in found:
        own = key[:2]
        if own not in best or np.median(found[key]) < np.median(found[best[own]]):
            best[own] = key
    return best


def _rows(found: dict[Key, list[float]], best: dict[tuple[str, str], Key]) -> list[tuple[Cell, ...]]:
    """The best settings first, then all of them."""
    methods = (*BASIC, GUIDED, ONE_WAY, LAPLACE)
    keys = [best[epsilon, method] for epsilon in _epsilons(found) for method in methods]
    rows: list[tuple[Cell, ...]] = []
    for epsilon, method, score, h in [*keys, *(key for key in found if key not in keys)]:
        errors = found[epsilon, method, score, h]
        ratio = float(np.median(errors) / np.median(found[best[epsilon, DIFFGEN]]))
        plain = found.get((epsilon, DIFFGEN, score, h)) if method != DIFFGEN else None
        rows.append(
            (epsilon, _named(method), score, h or None, float(np.median(errors)), min(errors), max(errors), ratio)
            + (difference(errors, plain) if plain else (None, None))
        )
    return rows


def difference(errors: list[float], others: list[float]) -> tuple[float, float]:
    """The mean difference of two methods that were run in pairs, and its standard error."""
    more = np.subtract(errors, others)
    return float(more.mean()), float(more.std(ddof=1) / len(more) ** 0.5)


def _named(method: str) -> str:
    if method in (FORGOTTEN, NOISELESS):
        return f"{method} (not private)"
    return "Laplace, each query its part of eps" if method == LAPLACE else method


def _told(found: dict[Key, list[float]], best: dict[tuple[str, str], Key]) -> str:
    def errors(method: str) -> str:
        return " / ".join(f"{np.median(found[best[epsilon, method]]):,.0f}" for epsilon in _epsilons(found))

    parts = [f"{_named(method)} {errors(method)}" for method in (*BASIC, GUIDED, ONE_WAY, LAPLACE)]
    return (
        f"Mean error at eps = {' / '.join(_epsilons(found))}, each method at its best h and score: {'; '.join(parts)}"
    )


def _figure(found: dict[Key, list[float]], best: dict[tuple[str, str], Key]) -> Figure:
    curves = tuple(
        Curve(
            label=_named(method),
            points=tuple(
                (float(epsilon), float(np.median(found[best[epsilon, method]]))) for epsilon in _epsilons(found)
            ),
            dashed=method in (FORGOTTEN, NOISELESS),
        )
        for method in (DIFFGEN, STATED, FORGOTTEN, EXACT, NOISELESS, GUIDED, ONE_WAY, LAPLACE)
    )
    title = "mean error of range counts, each method at its best h"
    return Figure(title=title, x="epsilon", y="mean absolute error", curves=curves, log_x=True, log_y=True)


DIFFGEN_RANGES = Item(
    name="diffgen-ranges",
    paper="[QSL] sections III and V",
    line="range counts from DiffGen, Consistent DiffGen, histogram-guided leaves, one-way tables and Laplace",
    claim="Consistent DiffGen effectively reduces the noise of range counts, and more than makes up for what the "
    "larger sensitivity costs single counts.",
    differs="The paper measures classifiers only and no range count, so every number here is ours. DiffGen's leaves, "
    "counted exactly, show how much of the error is not noise: people are spread evenly inside generalized values, and "
    "few specializations leave wide ones. So consistency has little to gain, and "
    "its noise on every node costs as many times more as there are levels. Tables of single attributes, and leaves "
    "guided by them, know how people are spread inside.",
    run=_ranges,
)
