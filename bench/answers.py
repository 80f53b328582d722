"""What releases of one table answer, beside the truth: how far off, how often unknown, and whether intervals hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.estimate.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Relative errors of all answers of one kind, over all releases; those that are unknown are not a number."""

    errors: Floats

    @classmethod
    def of(cls, releases: Iterable[Floats]) -> Answers:
        return cls(errors=np.concatenate(list(releases)))

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.errors))

    @property
    def median(self) -> float:
        return float(np.nanmedian(self.errors))

    @property
    def unknown(self) -> float:
        """The share of questions without an answer."""
        return float(np.isnan(self.errors).mean())

    def __str__(self) -> str:
        return f"{self.mean:.3f} / {self.median:.3f}" + (f", {self.unknown:.1%} unknown" if self.unknown else "")


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """How often intervals hold the truth, and how wide they are, as shares of the truth."""

    coverage: float
    half_width: float


def errors_of(values: Sequence[float | None] | Floats, truths: Ints) -> Floats:
    return np.abs(np.array(values, dtype=np.float64) - truths) / truths


def designed(estimates: Sequence[Estimate]) -> list[float | None]:
    """The unbiased values as they came out: not cut to what is possible, and None where there is none."""
    return [None if each.design is None else each.design.value for each in estimates]


def shown(estimates: Sequence[Estimate]) -> list[float | None]:
    return [each.value for each in estimates]


def intervals_of(estimates: Sequence[Estimate], truths: Ints) -> Intervals:
    """Of answers and their truths, which may be those of several releases one after another."""
    low, high = (np.array([getattr(each, end) for each in estimates]) for end in ("low", "high"))
    held = (low <= truths) & (truths <= high)
    return Intervals(coverage=float(held.mean()), half_width=float(np.median((high - low) / 2 / truths)))


def sampled(rows: int, truths: Ints, share: float, seeds: range) -> Iterator[Floats]:
    """The errors of honest samples: a share of the rows, without any protection, counted and scaled up.

    How many rows of a sample match a condition is hypergeometric, so no row need be drawn.
    """
    size = round(share * rows)
    for seed in seeds:
        found = np.random.default_rng(seed).hypergeometric(truths, rows - truths, size)
        yield errors_of(found * (rows / size), truths)
