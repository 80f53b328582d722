"""Intervals of a DiffGen release hold the truth as often as they say, also where they rest on a model.

The table has attributes that depend on each other, so taking them as independent inside leaves is wrong and must show
in the width. Rows, conditions and noise come from fixed seeds, so nothing here is left to chance; answers of one
release share its noise, so the lines lie a little below 95 %.
"""

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.estimate.diffgen import leaves
from discreet.schema.domain import Integers, Listed
from discreet.schema.hierarchy import hierarchy_of_ranges

pytestmark = pytest.mark.slow  # hundreds of releases

JOBS = tuple("abcdefgh")
SCHEMA = discreet.Schema(
    quasi_identifiers=("age", "wage", "job", "sex"),
    sensitive="disease",
    domains={
        "age": Integers(low=0, high=79),
        "wage": Integers(low=0, high=1999, paths=hierarchy_of_ranges(0, 1999, (50, 500))),
        "job": Listed(values=JOBS, paths=tuple((job, "low" if job < "e" else "high", "*") for job in JOBS)),
        "sex": Listed(values=("f", "m")),
        "disease": Listed(values=("flu", "cold", "hiv")),
    },
)


def people(rows, seed):
    coins = np.random.default_rng(seed)
    age = np.clip(coins.normal(40, 18, rows), 0, 79).astype(int)
    job = np.clip(age / 12 + coins.normal(0, 1.5, rows), 0, 7).astype(int)
    wage = np.clip(200 * job + coins.gamma(2, 100, rows), 0, 1999).astype(int)
    odds = 1 / (1 + np.exp(-(age - 45) / 8))
    disease = np.where(coins.random(rows) < odds, "hiv", coins.choice(["flu", "cold"], rows))
    sex = np.where(coins.random(rows) < 0.3 + 0.05 * job, "m", "f")
    return pd.DataFrame({"age": age, "wage": wage, "job": np.array(JOBS)[job], "sex": sex, "disease": disease})


def conditions(coins, number):
    """Ranges, lists and classes over one to three columns."""
    found = []
    for _ in range(number):
        parts = []
        for name in coins.choice(["age", "wage", "job", "sex", "disease"], coins.integers(1, 4), replace=False):
            if name in ("age", "wage"):
                low, high = np.sort(coins.integers(0, 80 if name == "age" else 2000, 2))
                parts.append((f"{name} BETWEEN {low} AND {high}", f"{name} >= {low} and {name} <= {high}"))
            else:
                values = list(SCHEMA.domains[name])
                some = [str(each) for each in coins.choice(values, coins.integers(1, len(values)), replace=False)]
                parts.append((f"{name} IN ({', '.join(map(repr, some))})", f"{name} in {some!r}"))
        found.append((" AND ".join(sql for sql, _ in parts), " and ".join(f"({python})" for _, python in parts)))
    return found


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize(
    "options", [{}, {"guide": "exponential", "specializations": 4}], ids=["histogram", "exponential"]
)
def test_intervals_cover(tmp_path, epsilon, options):
    """95 % intervals over coins hold 92 % or more, those over a model 90 % or more; none is without width."""
    held = {"publisher's coins": [], "model": []}
    policy = discreet.Policy(schema=SCHEMA, mechanism=discreet.DiffGen(epsilon=epsilon, **options))
    for seed in range(4):
        frame = people(8_000, seed)
        asked = conditions(np.random.default_rng(seed), 150)
        table = discreet.read_table(frame, policy)
        release = discreet.publish(table, policy, to=tmp_path / f"r{seed}", seed=seed)
        table.close()
        for (_, python), estimate in zip(asked, release.count_many([sql for sql, _ in asked]), strict=True):
            assert estimate.standard_error > 0
            held[estimate.conditional_on].append(estimate.low <= len(frame.query(python)) <= estimate.high)
        release.close()
    for kind, least in (("publisher's coins", 0.92), ("model", 0.90)):
        if len(held[kind]) > 60:
            assert np.mean(held[kind]) >= least, (kind, np.mean(held[kind]), len(held[kind]))


def test_too_narrow_intervals_would_be_found(tmp_path, monkeypatch):
    """With half the noise and no model error the same test fails: it can tell."""
    monkeypatch.setattr(leaves, "laplace_variance", lambda epsilon: 0.25 * 2 / epsilon**2)
    monkeypatch.setattr(leaves.LeafModel, "dependence", 0.0)
    with pytest.raises(AssertionError):
        test_intervals_cover(tmp_path, "1", {})
