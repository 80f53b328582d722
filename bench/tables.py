"""Made-up tables about people who do not exist: a hospital, a firm and a region's households; the same every time.

The sensitive value hangs on single columns, on pairs of them and on thresholds over three, so that no model of summed
effects is the truth. Domains have skewed shares, and some values are rare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Scores = NDArray[np.float64]


def hospital(rows: int = 70_000) -> pa.Table:
    """Stays in a hospital: seven quasi-identifiers, and one of 30 groups of diagnoses."""
    coins = np.random.default_rng(1501)
    age = _mixture(coins, rows, ((0.07, 1, 2), (0.13, 12, 9), (0.35, 38, 12), (0.45, 71, 11)), 99)
    gender = _pick(coins, _lookup(coins, age // 20, 2, 0.3))
    region = _skewed(coins, rows, 40, 4)
    old, young, band = age >= 65, age < 16, age // 10
    births = ((gender == 1) & (age >= 18) & (age < 45)).astype(np.float64)
    admission = _pick(coins, _lookup(coins, band, 4, 0.6) + np.outer(births * 1.5 - 1, [0, 0, 0, 1]))
    insurer = _pick(coins, _shares(6, 1) + _lookup(coins, old * 40 + region, 6, 0.9))
    stay = _pick(coins, _shares(7, 2) + _lookup(coins, admission, 7, 0.5) + np.outer(old, np.arange(7) * 0.3))
    ward = _pick(coins, _shares(12, 3) + _lookup(coins, admission * 2 + young, 12, 1.2) + _lookup(coins, band, 12, 0.5))
    scores = _shares(30, 9, 2.5)
    for codes, scale in ((band, 0.7), (gender, 0.3), (region, 0.15), (insurer, 0.25), (stay, 0.4), (ward, 0.8)):
        scores = scores + _lookup(coins, codes, 30, scale)
    for one, two, scale in ((band, gender, 0.6), (ward, admission, 0.7), (region, insurer, 0.4), (stay, ward, 0.5)):
        scores += _lookup(coins, one * 64 + two, 30, scale)
    urgent = old & (admission == 1) & (stay >= 3)
    scores += _where(coins, urgent, 30, 1.5) + _where(coins, (births > 0) & (ward < 4), 30, 1.5)
    return _table(
        {
            "age": age, "gender": gender, "region": region, "admission": admission, "insurer": insurer, "stay": stay,
            "ward": ward, "diagnosis": _pick(coins, scores),
        }
    )  # fmt: skip


def employees(rows: int = 200_000) -> pa.Table:
    """People of a firm: seven quasi-identifiers, and one of 20 bands of salary, which are in order."""
    coins = np.random.default_rng(1502)
    age = 17 + _mixture(coins, rows, ((0.35, 10, 5), (0.4, 24, 8), (0.25, 38, 6)), 52)
    department = _skewed(coins, rows, 25, 3)
    site = _pick(coins, _shares(30, 5) + _lookup(coins, department, 30, 0.8))
    gender = _pick(coins, _lookup(coins, department, 2, 0.7))
    served = np.minimum(coins.geometric(0.11, rows) - 1, np.minimum(age - 17, 40))
    contract = _pick(coins, _shares(5, 0.5) + _lookup(coins, (age < 26) * 2 + (served < 2), 5, 1.0))
    climbing = np.minimum((age - 17) / 9, 5) + served / 8 + coins.normal(0, 1.4, rows)
    grade = np.clip(np.round(climbing - 0.8 * gender * (age > 35)), 0, 11).astype(np.int64)
    worth = coins.normal(0, 1.2, (25, 12)).cumsum(axis=1) / 2  # what a grade is worth differs by department
    middle = 0.9 * grade + worth[department, grade] + coins.normal(0, 0.8, 30)[site] + 0.05 * served
    middle -= 1.3 * gender * (grade > 4) + 1.5 * (contract == 2) * (served < 3)
    middle += 3.0 * ((department % 7 == 0) & (grade > 6) & (site < 8)) - 2.0 * ((contract > 2) & (age < 30))
    spread = 0.9 + 0.5 * (department % 3)
    band = np.clip(np.round(4 + middle + spread * coins.standard_t(4, rows)), 0, 19).astype(np.int64)
    return _table(
        {
            "age": age, "gender": gender, "department": department, "grade": grade, "site": site, "contract": contract,
            "served": served, "salary": band,
        }
    )  # fmt: skip


def households(rows: int = 100_000) -> pa.Table:
    """Households of a region: seven quasi-identifiers, and one of 40 main sources of income, a few very rare."""
    coins = np.random.default_rng(1503)
    region = _skewed(coins, rows, 50, 6)
    head = _mixture(coins, rows, ((0.6, 4, 2), (0.4, 8, 2)), 11)  # in bands of five years
    family = (head >= 3) & (head <= 7)
    size = _pick(coins, _shares(8, 0.8) + np.outer(family, np.minimum(np.arange(8), 4) * 0.6))
    tenure = _pick(coins, _shares(5, 1) + _lookup(coins, head, 5, 0.7) + _lookup(coins, region // 5, 5, 0.5))
    rooms = np.clip(np.round(2 + 0.6 * size + 1.5 * (tenure == 0) + coins.normal(0, 1.2, rows)), 1, 9).astype(np.int64)
    cars = np.clip(np.round(0.3 * size + 0.8 * (region % 4 == 0) + coins.normal(0, 0.7, rows)), 0, 4).astype(np.int64)
    heating = _pick(coins, _shares(7, 1) + _lookup(coins, region * 5 + tenure, 7, 0.9))
    rare = np.log([2e-3, 8e-4, 3e-4, 1e-4, 4e-5])
    scores = np.concatenate([_shares(35, 4), rare]) + np.zeros((rows, 1))
    effects = ((head, 0.9), (size, 0.4), (tenure, 0.5), (region, 0.3), (rooms, 0.2), (cars, 0.4), (heating, 0.1))
    for codes, scale in effects:
        scores += _lookup(coins, codes, 40, scale)
    for one, two, scale in ((head, tenure, 0.6), (region // 5, heating, 0.4), (size, cars, 0.5), (head, size, 0.4)):
        scores += _lookup(coins, one * 64 + two, 40, scale)
    crowded, retired = size > rooms, (head >= 9) & (size <= 2)
    for those in (crowded, retired, (cars > 1) & (tenure == 0) & (region < 15)):
        scores += _where(coins, those, 40, 1.2)
    return _table(
        {
            "size": size, "tenure": tenure, "region": region, "rooms": rooms, "head": head, "cars": cars,
            "heating": heating, "source": _pick(coins, scores),
        }
    )  # fmt: skip


MADE_UP: Mapping[str, tuple[Callable[[], pa.Table], str]] = {
    "hospital": (hospital, "diagnosis"),
    "employees": (employees, "salary"),
    "households": (households, "source"),
}


def _shares(size: int, flat: float, power: float = 1.5) -> Scores:
    """The logs of shares that fall like (rank + flat)^-power."""
    return -power * np.log(np.arange(1, size + 1) + flat)


def _skewed(coins: np.random.Generator, rows: int, size: int, flat: float) -> Codes:
    return _pick(coins, _shares(size, flat) + np.zeros((rows, 1)))


def _mixture(coins: np.random.Generator, rows: int, parts: tuple[tuple[float, float, float], ...], most: int) -> Codes:
    """Whole numbers from 0 to `most`: a mixture of bells, each with its weight, middle and spread."""
    weight, middle, spread = (np.array(each) for each in zip(*parts, strict=True))
    which = coins.choice(len(parts), rows, p=weight)
    return np.clip(np.round(coins.normal(middle[which], spread[which])), 0, most).astype(np.int64)


def _lookup(coins: np.random.Generator, codes: Codes, values: int, scale: float) -> Scores:
    """For each row a random effect on every value, the same for rows of the same code."""
    codes = np.asarray(codes, dtype=np.int64)
    return coins.normal(0, scale, (int(codes.max()) + 1, values))[codes]


def _where(coins: np.random.Generator, those: NDArray[np.bool_], values: int, scale: float) -> Scores:
    """A random effect on every value for those rows, and none for the others."""
    return np.outer(those, coins.normal(0, scale, values))


def _pick(coins: np.random.Generator, scores: Scores) -> Codes:
    """For each row one value, with chances in proportion to exp(score)."""
    return np.argmax(scores + coins.gumbel(size=scores.shape), axis=1).astype(np.int64)


def _table(columns: Mapping[str, Codes]) -> pa.Table:
    """Every cell a text; codes have two digits."""
    return pa.table({name: [f"{code:02d}" for code in codes.tolist()] for name, codes in columns.items()})
