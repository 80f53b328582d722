"""A synthetic census of any size: persons who do not exist, with domains as large as those of the papers' CENSUS.

Paper: [WWFW], experiments: seven quasi-identifiers and Occupation (OCC) or Education (EDU) as the sensitive attribute.
That extract is not public. Here domain sizes and the ends of the frequencies are the papers'; all else is made up.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import TableError
from discreet.ground.arrays import Floats, Ints

AGES = range(17, 93)
GENDER = (0.514, 0.486)
OCCUPATION_ENDS = (0.0018, 0.075)
EDUCATION_ENDS = (0.0044, 0.273)
OCCUPATION_GROUPS = 10  # of five neighbours each
BATCH = 1 << 20


def synthetic_census(rows: int, seed: int = 0) -> pa.Table:
    """Age, Gender, Education, Marital, Race, WorkClass, Country and Occupation of persons; nobody in it is real.

    For benches, examples and tests in place of the papers' extract. Domain sizes are 76, 2, 14, 6, 9, 10, 83 and 50.
    Shares of values are exact up to rounding to whole rows: those of Occupation lie between 0.18 % and 7.5 %, those
    of Education between 0.44 % and 27.3 %. From 5,000 rows on every value occurs. Education depends on age, and
    occupation on education, gender and age, so an estimate that takes columns for unrelated shows its bias.
    Neighbouring numbers of Education and of Occupation are alike. The same for the same rows and seed.
    """
    _check_rows(rows)
    coins = np.random.default_rng(seed)
    age = coins.permutation(_cut(np.arange(rows), _age_shares()))
    years = age + float(AGES[0])
    gender = _cut(coins.normal(0, 1, rows) - 0.006 * years, GENDER)
    education = _cut(
        coins.normal(0, 1, rows) + 0.25 * np.minimum(years - 25, 0) - 0.02 * np.maximum(years - 35, 0),
        _rising_and_falling(_shares(14, *EDUCATION_ENDS)),
    )
    marital = _cut(coins.normal(0, 14, rows) + years, _shares(6, 0.02, 0.52)[[1, 0, 5, 2, 4, 3]])
    race = _cut(coins.normal(0, 1, rows), np.append(0.8, _shares(8, 0.001, 0.1, total=0.2)))
    country = _cut(coins.normal(0, 1, rows) + 1.2 * (race > 0), np.append(0.9, _shares(82, 0.0002, 0.02, total=0.1)))
    work = _cut(coins.normal(0, 1, rows) + 0.01 * years + 0.08 * education, _shares(10, 0.002, 0.62))
    occupation = _occupation(coins, years, gender, education)
    return pa.table(
        {
            "Age": age + AGES[0],
            "Gender": _texts(gender, ("Female", "Male")),
            "Education": _texts(education, _names("Education", 14)),
            "Marital": _texts(marital, _names("Marital", 6)),
            "Race": _texts(race, _names("Race", 9)),
            "WorkClass": _texts(work, _names("WorkClass", 10)),
            "Country": _texts(country, _names("Country", 83)),
            "Occupation": _texts(occupation, _names("Occupation", 50)),
        }
    )


def bootstrap(table: pa.Table, rows: int, seed: int = 0) -> pa.Table:
    """Rows of a table drawn with replacement, as many as asked: for runtime curves only.

    A person occurs many times in it, so no promise, no estimate and no attack means anything on such a table.
    """
    _check_rows(rows)
    if table.num_rows == 0:
        raise TableError("table (0 rows) must have a row to draw from; give a table with rows")
    coins = np.random.default_rng(seed)
    whole = table.combine_chunks()
    drawn = coins.integers(0, table.num_rows, rows)
    return pa.concat_tables(  # in batches, since one chunk of text has a limit
        [whole.take(pa.array(drawn[start : start + BATCH])) for start in range(0, rows, BATCH)]
    )


def _check_rows(rows: int) -> None:
    if rows < 1:
        raise TableError(f"rows ({rows}) must be at least 1; ask for more rows")


def _occupation(coins: np.random.Generator, years: Floats, gender: Ints, education: Ints) -> Ints:
    """Education leads into a group of occupations; gender and age decide within it. The shares stay exact."""
    rows = len(years)
    scattered = _shares(50, *OCCUPATION_ENDS)[(np.arange(50) * 17 + 5) % 50]
    counts = _counts(scattered, rows)
    in_group = counts.reshape(OCCUPATION_GROUPS, -1).sum(axis=1)
    group = _cut_counts(coins.normal(0, 1, rows) + 0.45 * education + 0.4 * gender, in_group)
    turn = np.where(group % 2 == 0, 1.0, -1.0)  # what draws men in one group draws women in the next
    within = coins.normal(0, 1, rows) + turn * (1.3 * gender + 0.05 * years)
    place = np.empty(rows)
    place[np.argsort(within, kind="stable")] = np.arange(rows) / rows
    return _cut_counts(group + place, counts)


def _cut(score: NDArray[np.number], shares: Floats | tuple[float, ...]) -> Ints:
    """Rank the rows by a score and cut the ranking by shares: code 0 to the lowest, and so on."""
    return _cut_counts(score, _counts(np.asarray(shares), len(score)))


def _cut_counts(score: NDArray[np.number], counts: Ints) -> Ints:
    codes = np.empty(len(score), dtype=np.int64)
    codes[np.argsort(score, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return codes


def _counts(shares: Floats, rows: int) -> Ints:
    """Whole rows for each share, off by less than one, with the given sum: the largest remainders are rounded up."""
    wanted = shares / shares.sum() * rows
    counts: Ints = np.floor(wanted).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: rows - counts.sum()]] += 1
    return counts


def _shares(values: int, low: float, high: float, total: float = 1.0) -> Floats:
    """Falling shares from high to low with a given sum: geometric, bent so that the sum comes out."""
    steps = np.linspace(1, 0, values)
    least, most = 0.01, 100.0  # the exponent of the bend; the sum falls as it grows
    for _ in range(100):
        bend = (least + most) / 2
        shares = low * (high / low) ** (steps**bend)
        least, most = (bend, most) if shares.sum() > total else (least, bend)
    return np.asarray(shares, dtype=np.float64)


def _rising_and_falling(shares: Floats) -> Floats:
    """The same shares with the largest in the middle, as levels of education have it."""
    return np.concatenate([shares[::-2], shares[::2]])


def _age_shares() -> Floats:
    years = np.array(AGES, dtype=np.float64)
    weights = (1 + 0.3 * np.exp(-(((years - 36) / 9) ** 2))) / (1 + np.exp((years - 64) / 9))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _names(attribute: str, values: int) -> tuple[str, ...]:
    return tuple(f"{attribute}-{number:0{len(str(values))}d}" for number in range(1, values + 1))


def _texts(codes: Ints, names: tuple[str, ...]) -> pa.Array:
    return pa.array(names).take(pa.array(codes))
