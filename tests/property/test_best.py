"""estimator="best": less error where noise is large, the unbiased answer where it is not, and intervals that cover."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cases import SHARED, few, needs_shared
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.duck.database import Database
from discreet.engine.encoding import Encoding
from discreet.estimate.alphabeta.independence import SURE, Independence, best, fit_independence
from discreet.estimate.alphabeta.law import undo
from discreet.estimate.alphabeta.margins import MOST_VALUES, chosen_pairs, count_margins
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.item import Setting
from discreet.evaluate.reproduce.view_errors import ANSWER, BEST, DESIGN, EXCLUSIVE, FRAPP, INDEPENDENT, VIEW_ERRORS
from discreet.query.condition import Condition
from discreet.query.count_domain import count_matching
from discreet.query.parse import parse_query
from discreet.schema.domain import Domain, Integers, Listed

KINDS = tuple(f"k{i}" for i in range(8))
DOMAINS: dict[str, Domain] = {
    "age": Integers(low=0, high=99),
    "area": Integers(low=1, high=60, missing=True),
    "sex": Listed(values=("F", "M")),
    "kind": Listed(values=KINDS),
}


def schema() -> discreet.Schema:
    return discreet.Schema(quasi_identifiers=("age", "area", "sex"), sensitive="kind", domains=DOMAINS)


def people(rows: int = 3_000) -> pd.DataFrame:
    """Ages and kinds that depend on the area, most areas rare."""
    coins = np.random.default_rng(5)
    area = np.minimum(coins.geometric(0.1, rows), 60)
    age = np.clip(np.rint(coins.normal(12 + area, 6)), 0, 99).astype(int)
    kind = (area + coins.geometric(0.5, rows)) % 8
    found = pd.DataFrame({"age": age, "area": area, "sex": coins.choice(["F", "M"], rows), "kind": kind})
    return found.assign(kind=found["kind"].map(lambda k: KINDS[k]), area=found["area"].astype("Int64"))


def published(folder: Path, seed: int, adversary: str = "exclusive") -> discreet.Release:
    policy = discreet.Policy(
        schema=schema(), mechanism=discreet.AlphaBeta(prior="0.02", posterior="0.2", adversary=adversary)
    )
    table = discreet.read_table(people(), policy)
    try:
        return discreet.publish(table, policy, to=folder / "release", seed=seed, replace=True)
    finally:
        table.close()


def selections(every: int) -> dict[str, int]:
    """Conditions on two or three attributes with single values, one in `every`, and their true counts of tuples."""
    rows = people().drop_duplicates()
    found: dict[str, int] = {}
    for names in (("area", "kind"), ("area", "sex", "kind")):
        counts = rows.groupby(list(names)).size().to_dict()
        values = [[each for each in DOMAINS[name] if each is not None] for name in names]
        for cells in product(*values):
            parts = (f"{name} = {cell!r}" for name, cell in zip(names, cells, strict=True))
            found[" AND ".join(parts)] = int(counts.get(cells, 0))
    return dict(list(found.items())[::every])


@pytest.mark.slow
@pytest.mark.parametrize("adversary", ["exclusive", "independent"])
def test_small_counts_are_far_better_and_large_ones_the_same(tmp_path, adversary):
    """Three releases: counts from 1 to 99 are 1.3 times nearer on average, counts from 300 no further off."""
    asked = {**selections(every=6), **_wider()}
    truth = np.array(list(asked.values()))
    off: dict[str, list[np.ndarray]] = {"unbiased": [], "best": []}
    for seed in range(3):
        release = published(tmp_path, seed, adversary)
        for estimator, found in off.items():
            answers = release.count_many(list(asked), estimator=estimator)
            found.append(np.abs(np.array([_own(each) for each in answers]) - truth))
        release.close()
    plain, better = (np.mean(found, axis=0) for found in off.values())
    small, large = (truth >= 1) & (truth < 100), truth >= 300
    assert plain[small].mean() > 1.3 * better[small].mean()
    assert better[large].mean() < 1.02 * plain[large].mean()


def _own(answer: discreet.Estimate) -> float:
    """What the estimator itself says: unbiased answers as they came out."""
    return answer.design.value if answer.estimator == "unbiased" else answer.value


@pytest.mark.slow
def test_intervals_of_the_best_estimate_cover_and_hold_their_value(tmp_path):
    """40 seeds, conditions with counts of all sizes: at least 93 % are covered, and 90 % of each size."""
    conditions = {**selections(every=40), **_wider()}
    held = []
    for seed in range(40):
        release = published(tmp_path, seed)
        answers = release.count_many(list(conditions), estimator="best")
        release.close()
        held.append([each.low <= true <= each.high for each, true in zip(answers, conditions.values(), strict=True)])
        assert all(each.low <= each.value <= each.high for each in answers)
        assert all(each.bounds[0] <= each.value <= each.bounds[1] for each in answers)
        assert {each.conditional_on for each in answers} == {"model"}
    sizes = np.array(list(conditions.values()))
    assert np.mean(held) >= 0.93
    for low, high in ((0, 1), (1, 5), (5, 40), (40, 10_000)):
        assert np.mean(held, axis=0)[(sizes >= low) & (sizes < high)].mean() >= 0.90


def _wider() -> dict[str, int]:
    """Conditions of other forms."""
    rows = people().drop_duplicates()
    return {
        "age < area + 5": int((rows["age"] < rows["area"] + 5).sum()),
        "age % 7 = 3 OR kind LIKE '%1'": int(((rows["age"] % 7 == 3) | (rows["kind"] == "k1")).sum()),
        "NOT (area BETWEEN 1 AND 9)": int((~rows["area"].between(1, 9)).sum()),
        "area IS NULL": 0,
        "": len(rows),
        **{f"kind = '{kind}'": int((rows["kind"] == kind).sum()) for kind in KINDS},
    }


def _condition(where: str) -> Condition:
    return parse_query(where, schema()).where


@pytest.mark.parametrize("where", ["age < area + 5", "NOT (sex = 'F' OR age > 12)", "area IS NULL", "", "age <> age"])
def test_what_the_model_expects_is_what_enumeration_gives(where):
    """The sum over all tuples of the domain of the product of shares, for any condition."""
    coins = np.random.default_rng(3)
    encodings = {name: domain.encoding for name, domain in DOMAINS.items()}
    weights = tuple(coins.integers(1, 3_000, len(each)) for each in encodings.values())
    model = Independence(total=1_234.5, weights=weights, spread=0.1)
    frame = pd.DataFrame(
        list(product(*(list(zip(each, w, strict=True)) for each, w in zip(encodings.values(), weights, strict=True)))),
        columns=list(encodings),
    )
    cells = frame.map(lambda pair: pair[0])
    shares = np.prod(
        [frame[n].map(lambda pair: pair[1]) / w.sum() for n, w in zip(frame, weights, strict=True)], axis=0
    )
    area = cells["area"].astype("Float64")
    true = {
        "age < area + 5": (cells["age"] < area + 5).fillna(False),
        "NOT (sex = 'F' OR age > 12)": ~((cells["sex"] == "F") | (cells["age"] > 12)),
        "area IS NULL": area.isna(),
        "": cells["age"] >= 0,
        "age <> age": cells["age"] < 0,
    }[where]
    with Database() as engine:
        weighed = dict(zip(encodings, model.weights, strict=True))
        found = model.expected(count_matching(_condition(where), encodings, engine, weighed))
    assert found == pytest.approx(1_234.5 * shares[true.to_numpy(dtype=bool)].sum(), rel=1e-9, abs=1e-12)


numbers = st.floats(-1e4, 1e4)


@given(value=numbers, error=st.floats(0.01, 1e3), expected=st.floats(0, 1e4), spread=st.floats(0, 5))
@settings(max_examples=few(300), deadline=None)
def test_the_estimate_lies_between_model_and_answer(value, error, expected, spread):
    """Where that is many standard errors it is the answer itself; it never leaves what is possible, and never jumps."""
    most = 5_000
    found = float(best(value, error, expected, spread, most))
    assert 0 <= found <= most
    if value >= SURE * error:
        assert found == pytest.approx(min(value, most))
    else:
        centre = min(expected, most)
        assert min(centre, max(value, 0)) - 1e-9 <= found <= max(centre, min(value, most)) + 1e-9
    near = float(best(value + 1e-6, error, expected, spread, most))
    assert abs(near - found) < 1e-6 * (2 + (abs(value) + expected) / error)


def test_the_model_finds_shares_and_spread():
    """From noisy tables with a known law: shares within their noise, and c within a third."""
    coins = np.random.default_rng(2)
    shares = [np.array([0.5, 0.3, 0.15, 0.05]), coins.dirichlet(np.ones(300))]
    total, spread, noise = 1e6, 0.2, 40.0
    ones = []
    for each in shares:
        ones.append((total * each + coins.normal(0, noise, len(each)), np.full(len(each), noise**2)))
    expected = total * np.multiply.outer(*shares).ravel()
    truth = coins.poisson(expected * coins.gamma(1 / spread, spread, len(expected)))
    pair = (truth + coins.normal(0, noise, len(truth)), np.full(len(truth), noise**2))
    model = fit_independence(total, ones, {(0, 1): pair})
    assert model.cells(0) / total == pytest.approx(shares[0], abs=1e-3)
    assert np.abs(model.cells(1) / total - shares[1]).max() < 5 * noise / total
    assert spread * 2 / 3 < model.spread < spread * 4 / 3
    without = fit_independence(total, ones, {(0, 1): (expected, np.full(len(truth), noise**2))})
    assert without.spread < 0.01


def test_many_counts_at_once_are_those_of_the_library(tmp_path):
    """The function on arrays and release.count give the same values and standard errors."""
    release = published(tmp_path, 1)
    counts = release.count_by("area", "kind")
    encodings = {name: domain.encoding for name, domain in DOMAINS.items()}
    with Database() as engine:
        engine.register("raw", pq.read_table(release.path / "data" / "view.parquet"))
        engine.encode("coded", "raw", {name: (name, each) for name, each in encodings.items()})
        margins = count_margins(engine, "coded", encodings)
    value, variance = undo(margins.pairs[1, 3], 100 * 2, release.guarantee)
    release.close()
    assert value == pytest.approx([each.design.value for _, each in counts])
    assert np.sqrt(variance) == pytest.approx([each.standard_error for _, each in counts])


def test_a_release_with_tuples_outside_its_domains_is_refused(tmp_path):
    """A damaged view is one sentence, not a wrong model."""
    release = published(tmp_path, 1)
    release.close()
    path = release.path / "data" / "view.parquet"
    damaged = pq.read_table(path).to_pandas()
    damaged.loc[7, "age"] = 5_000
    damaged.to_parquet(path, index=False)
    again = discreet.open_release(release.path)
    with pytest.raises(discreet.ReleaseError, match="outside its domains; verify says more"):
        again.count("age < 5", estimator="best")
    again.close()


def test_tables_that_are_too_large_are_refused_or_left_out():
    """One sentence for an attribute with too many values; no two-way table beyond a million cells; at most sixty."""
    with Database() as engine, pytest.raises(discreet.QueryError, match="use unbiased"):
        count_margins(engine, "nothing", {"a": Encoding(range(MOST_VALUES + 1))})
    assert chosen_pairs([2_000, 3, 1_000]) == [(0, 1), (1, 2)]
    assert 40 <= len(chosen_pairs([2] * 30)) <= 60


@pytest.mark.slow
@needs_shared("adult_full.parquet")
def test_on_adult_errors_fall_as_stated():
    """18,961 selections that stand for all 304,364: FRAPP is 3.0 and 6.2 times worse; for counts from 1 best is nearer
    than unbiased by 1.6 times (independent) and 2.2 times (exclusive).

    It is 1.90 and 2.75 here; four other views gave 1.77 to 2.12 and 2.08 to 2.73, and slices move it by about 0.1.
    """
    item = VIEW_ERRORS.run(Setting(sources=Sources(folder=SHARED, quick=False), quick=False, tell=lambda done: None))
    error = {(method, estimator, least): found for method, estimator, least, _, found, _ in item.rows}
    assert "19,502 distinct tuples" in item.data
    for label, worse, gain in ((INDEPENDENT, 6.2, 1.6), (EXCLUSIVE, 3.0, 2.2)):
        assert error[FRAPP, DESIGN, 0] > 0.95 * worse * error[label, DESIGN, 0]
        assert error[label, DESIGN, 1] > gain * error[label, BEST, 1]
        assert error[label, ANSWER, 1] > 1.25 * error[label, BEST, 1]
        assert error[label, BEST, 1_024] < 1.01 * error[label, DESIGN, 1_024]
