"""The tables that answers are judged on, each with its promise and the most that its figures may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import pyarrow as pa
from tables import MADE_UP

import discreet
from discreet.evaluate.reproduce.data import Sources

DATA = Path(__file__).parents[2] / "shared" / "data"
COVERAGE, LOSS, MOVED = 0.94, 1.4, 0.015
CPU = 7.0  # seconds of learning 100,000 rows
F = discreet.Tolerance(theta=8, floor="0.02")
QUARTER = discreet.Tolerance(floor=Fraction(1, 4))


@dataclass(frozen=True, kw_only=True)
class Near:
    """Near buckets of the same table: rows of a window, limits on learned errors and on an attacker's right guesses."""

    window: int
    learned: tuple[float, float] | None = None
    right: float | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One table and its promise; limits on mean and median errors, and None where nothing is asked of a figure."""

    rows: Callable[[], pa.Table]
    sensitive: str
    tolerance: discreet.Tolerance
    file: str = ""  # that the rows are in; empty where they are made up
    unbiased: tuple[float, float] | None = None
    learned: tuple[float, float] | None = None
    half_width: float | None = None
    near: Near | None = None

    @property
    def here(self) -> bool:
        return not self.file or (DATA / self.file).is_file()


def _adult_rows() -> pa.Table:
    """The papers' rows with seven quasi-identifiers, as many as the census has."""
    return _sources.adult().drop_columns(["income"])


_sources = Sources(folder=DATA, quick=False)
_adult = partial(Case, rows=_adult_rows, file="adult_full.parquet", sensitive="occupation")
_occ = partial(Case, rows=partial(_sources.table, "OCC"), file="census_occ.parquet", sensitive="Occupation")
_edu = partial(Case, rows=partial(_sources.table, "EDU"), file="census_occ_all.parquet", sensitive="Education")
CASES = {
    "Adult, F": _adult(
        tolerance=F,
        unbiased=(0.24, 0.085),
        learned=(0.060, 0.025),
        half_width=0.105,
        near=Near(window=5_000, learned=(0.062, 0.027), right=0.81),
    ),
    "census_occ, F": _occ(
        tolerance=F,
        unbiased=(0.17, 0.08),
        learned=(0.038, 0.021),
        half_width=0.095,
        near=Near(window=10_000, learned=(0.052, 0.025), right=0.47),
    ),
    "Adult, shares up to 1/4": _adult(
        tolerance=QUARTER, unbiased=(0.24, 0.10), learned=(0.076, 0.034), half_width=0.17, near=Near(window=5_000)
    ),
    "census_occ, shares up to 1/4": _occ(
        tolerance=QUARTER, unbiased=(0.08, 0.04), learned=(0.034, 0.017), half_width=0.09, near=Near(window=10_000)
    ),
    "census_occ_all, shares up to 1/4": _edu(tolerance=QUARTER, learned=(0.032, 0.018), half_width=0.07),
    **{
        name: Case(rows=make, sensitive=column, tolerance=F, near=Near(window=5_000))
        for name, (make, column) in MADE_UP.items()
    },
}
