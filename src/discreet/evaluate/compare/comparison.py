"""What a rehearsal found: each policy's figures side by side, by how many quasi-identifiers a question names.

A relative error is |answer - truth| / truth, of questions that somebody meets; unknown answers have none. An answer is
narrow where half of its interval is less than a fifth of the truth. Coverage is the share of intervals that hold the
truth, of answers that are neither exact nor unknown.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.evaluate.compare.rehearsal import Run
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.mechanism.plan import Stakes

NARROW = 0.2  # of the truth, that half of an interval may be
OUTSIDE = (
    "choosing a policy or a parameter by these figures looks at the raw table, and is outside every epsilon and every "
    "promise: who knows what was chosen learns a little of the rows, and no budget counts it"
)
IN_HOUSE = "these figures come from true counts of the table: keep them in the house"
APART = (
    "{} and {} promise different things against different adversaries, and their numbers have no common scale: read "
    "each by itself; there is no ranking across them"
)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of some answers; None where no answer of theirs has such a figure."""

    conditions: int | None  # quasi-identifiers that the questions name; None for all questions
    answers: int
    mean: float | None
    median: float | None
    narrow: float | None
    unknown: float
    coverage: float | None


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One policy: what it promises, whom it leaves out, what it took, and how far off its answers were."""

    policy: str
    kind: str
    notion: str
    promise: str
    stakes: Stakes
    unit: str
    estimator: str
    size: float
    publish_cpu: float
    answer_cpu: float
    figures: tuple[Figures, ...]  # of all questions, then by their conditions

    @property
    def overall(self) -> Figures:
        return self.figures[0]

    def as_json(self) -> dict[str, Any]:
        own = asdict(self)
        own["stakes"].pop("size")
        return {**own, "figures": [asdict(each) for each in self.figures]}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Policies side by side on one workload, those of one promise together."""

    table: str
    rows: int
    workload: str
    words: str
    questions: int
    selectivity: float  # the mean share of the rows that a number which was asked for counts
    releases: int
    left_out: tuple[str, ...]  # columns that not every policy publishes alike, so nothing is asked about them
    policies: tuple[Rehearsed, ...]

    @property
    def notions(self) -> dict[str, list[Rehearsed]]:
        """The policies of each promise; nothing is compared across them."""
        found: dict[str, list[Rehearsed]] = {}
        for each in self.policies:
            found.setdefault(each.notion, []).append(each)
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known before anybody chooses by it."""
        names = list(self.notions)
        apart = [APART.format(", ".join(names[:-1]), names[-1])] if len(names) > 1 else []
        units = {each.unit for each in self.policies}
        mixed = [f"answers count {' or '.join(sorted(units))}, each held against its own truth"] * (len(units) > 1)
        missing = [f"nothing is asked about {', '.join(self.left_out)}: not every policy publishes it alike"]
        return (*apart, *mixed, *(missing if self.left_out else []), OUTSIDE, IN_HOUSE)

    def __getitem__(self, policy: str) -> Rehearsed:
        """A policy by its name."""
        for each in self.policies:
            if each.policy == policy:
                return each
        raise KeyError(policy)

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "rows": self.rows,
            "workload": self.workload,
            "words": self.words,
            "questions": self.questions,
            "selectivity": self.selectivity,
            "releases": self.releases,
            "left_out": list(self.left_out),
            "policies": [each.as_json() for each in self.policies],
            "notes": list(self.notes),
        }

    @property
    def asked(self) -> str:
        """What was asked of how many releases, in a sentence."""
        return (
            f"{self.questions:,} {'number' if self.questions == 1 else 'numbers'} asked ({self.words}); they count "
            f"{self.selectivity:.2%} of the rows on average; releases of each policy: {self.releases}"
        )

    @property
    def lines(self) -> Iterator[str]:
        """The comparison for people, line by line."""
        yield f"{self.table}: {self.rows:,} rows"
        yield self.asked
        for notion, policies in self.notions.items():
            yield f"\n{notion} ({policies[0].stakes.what})"
            yield from aligned([HEADER, *map(cells_of, policies)])
            yield "  mean / median error by quasi-identifiers that a question names"
            yield from aligned(list(by_conditions(policies)))
        yield ""
        yield from (f"note: {each}" for each in self.notes)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def to_csv(self) -> str:
        """A line for each policy and number of conditions, after a header."""
        written = io.StringIO()
        lines = csv.writer(written, lineterminator="\n")
        own = ("policy", "kind", "notion", "unit", "estimator", "size", "publish_cpu", "answer_cpu")
        names = tuple(Figures.__dataclass_fields__)
        lines.writerow([*own, "number", "unprotected", "alone", *names])
        for each in self.policies:
            stakes = (each.stakes.number, each.stakes.unprotected, each.stakes.alone)
            for figures in each.figures:
                lines.writerow([*(getattr(each, name) for name in own), *stakes, *asdict(figures).values()])
        return written.getvalue()


HEADER = (
    "policy", "promise", "mean error", "median", "narrow", "unknown", "covers", "alone", "unprotected", "kB", "CPU s",
)  # fmt: skip


def cells_of(each: Rehearsed) -> tuple[str, ...]:
    """A policy's figures over all questions as people read them."""
    found, stakes = each.overall, each.stakes
    return (
        each.policy,
        f"{stakes.number:.3g}",
        shown(found.mean),
        shown(found.median),
        shown(found.narrow, share=True),
        shown(found.unknown, share=True),
        shown(found.coverage),
        "-" if stakes.alone is None else f"{stakes.alone:,}",
        f"{stakes.unprotected:,}",
        f"{each.size / 1000:,.0f}",
        f"{each.publish_cpu:.1f} + {each.answer_cpu:.1f}",
    )


def by_conditions(policies: Sequence[Rehearsed]) -> Iterator[tuple[str, ...]]:
    """A header with the numbers of conditions, and a line for each policy."""
    yield ("policy", *(str(each.conditions) for each in policies[0].figures[1:]))
    for each in policies:
        yield (each.policy, *(f"{shown(one.mean)} / {shown(one.median)}" for one in each.figures[1:]))


def shown(number: float | None, *, share: bool = False) -> str:
    """A figure as people read it."""
    if number is None:
        return "-"
    return f"{number:.0%}" if share else f"{number:.3f}"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as lines, names to the left and numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        numbers = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join((f"  {first:<{widths[0]}}", *numbers)).rstrip()


def figures_of(runs: Sequence[Run], truths: Ints, conditions: Sequence[int]) -> tuple[Figures, ...]:
    """The figures of one policy's releases: of all questions, and by how many quasi-identifiers they name."""
    asked = np.array(conditions)
    groups = [(None, np.ones(len(asked), dtype=np.bool_)), *((each, asked == each) for each in sorted(set(conditions)))]
    return tuple(_figures(number, runs, truths, chosen) for number, chosen in groups)


def _figures(number: int | None, runs: Sequence[Run], truths: Ints, chosen: Bools) -> Figures:
    truth = np.tile(truths[chosen], len(runs))
    values, low, high = (
        np.concatenate([np.array(getattr(run, name), dtype=np.float64)[chosen] for run in runs])
        for name in ("values", "low", "high")
    )
    exact = np.concatenate([np.array(run.exact)[chosen] for run in runs])
    known, met = ~np.isnan(values), truth > 0
    some = np.maximum(truth, 1)
    errors = (np.abs(values - truth) / some)[known & met]
    held = ((low <= truth) & (truth <= high))[known & ~exact]
    return Figures(
        conditions=number,
        answers=len(truth),
        mean=_mean(errors),
        median=None if not len(errors) else float(np.median(errors)),
        narrow=_mean(((high - low) / 2 < NARROW * some)[met]),
        unknown=float((~known).mean()),
        coverage=_mean(held),
    )


def _mean(values: Floats | Bools) -> float | None:
    return float(values.mean()) if len(values) else None
