"""estimator="best": less error where noise is large, the unbiased answer where it is not, and intervals that cover."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import SHARED, few, needs_shared
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.duck.database import Database
from discreet.engine.encoding import Encoding
from discreet.estimate.alphabeta.filters import Filters, filters_of
from discreet.estimate.alphabeta.law import law_of
from discreet.estimate.alphabeta.margins import MOST_PAIRS, MOST_VALUES, chosen_pairs, count_ones
from discreet.estimate.alphabeta.shares import shares_of
from discreet.estimate.alphabeta.stray import Stray, fit_stray, lean
from discreet.evaluate.conditions import among
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.item import Setting
from discreet.evaluate.reproduce.view_errors import ANSWER, BEST, DESIGN, EXCLUSIVE, FRAPP, INDEPENDENT, VIEW_ERRORS
from discreet.evaluate.scratch import distinct_rows, opened, released, schema_of, true_counts
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.query.condition import Condition
from discreet.query.count_domain import weigh_matching
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
def test_small_counts_are_far_better_and_large_ones_not_far_off(tmp_path, adversary):
    """Three releases: counts from 1 to 99 are 1.3 times nearer; three counts from 300 are no more than 1.25 times off.

    They lean too, and here attributes depend on each other: 1.14 was measured (independent).
    """
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
    assert better[large].mean() < 1.25 * plain[large].mean()


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


def filters(coins: np.random.Generator) -> Filters:
    """For random shares of the domains above, and even noise."""
    sizes = [len(domain.encoding) for domain in DOMAINS.values()]
    return filters_of([coins.dirichlet(np.full(size, 0.3)) for size in sizes], [np.ones(size, int) for size in sizes])


@pytest.mark.parametrize("where", ["age < area + 5", "NOT (sex = 'F' OR age > 12)", "area IS NULL", "", "age <> age"])
def test_what_is_summed_over_the_domain_is_what_enumeration_gives(where):
    """Shares, weights and noise of the tuples that meet any condition: products summed over all tuples."""
    found = filters(np.random.default_rng(3))
    encodings = {name: domain.encoding for name, domain in DOMAINS.items()}
    frame = pd.DataFrame(list(product(*(range(len(each)) for each in encodings.values()))), columns=list(encodings))
    cells = pd.DataFrame({name: frame[name].map(dict(enumerate(each))) for name, each in encodings.items()})
    area = cells["area"].astype("Float64")
    true = {
        "age < area + 5": (cells["age"] < area + 5).fillna(False),
        "NOT (sex = 'F' OR age > 12)": ~((cells["sex"] == "F") | (cells["age"] > 12)),
        "area IS NULL": area.isna(),
        "": cells["age"] >= 0,
        "age <> age": cells["age"] < 0,
    }[where].to_numpy(dtype=bool)
    share = np.prod([(own / own.sum())[frame[name]] for name, own in zip(frame, found.shares, strict=True)], axis=0)
    one, two = (
        np.prod([found.factors(place)[number][frame[name]] for place, name in enumerate(frame)], axis=0)
        for number in range(2)
    )
    plain = np.ones(len(frame))
    wanted = [share, share * one, share * two, plain, one, two, one * one, one * two, two * two]
    measures = [dict(zip(encodings, each, strict=True)) for each, _ in found.measures]
    with Database() as engine:
        weighed = weigh_matching(_condition(where), encodings, engine, measures)
    sums = [float(own / unit) for own, (_, unit) in zip(weighed, found.measures, strict=True)]
    assert sums == pytest.approx([each[true].sum() for each in wanted], rel=1e-9, abs=1e-12)


def _guarantee() -> DGammaPrivacy:
    half = Fraction(1, 2)
    return DGammaPrivacy(
        d=Fraction(1, 50), gamma=half, adversary="exclusive", keep=half, insert=Fraction(1, 20), candidates=2
    )


@pytest.fixture(scope="module")
def simulated() -> tuple[np.ndarray, np.ndarray, float]:
    """Views of a table with independent attributes: values and stated noise of one condition, and its true count."""
    coins, law = np.random.default_rng(11), law_of(_guarantee())
    shares = [np.array([0.7, 0.2, 0.05, 0.05]), np.array([0.6, 0.3, 0.06, 0.04]), np.full(400, 1 / 400)]
    found = filters_of(shares, [np.ones(len(each), int) for each in shares])
    weights = [
        np.einsum("i,j,k->ijk", *(found.factors(place)[number] for place in range(3))).ravel() for number in range(2)
    ]
    table = coins.random(6_400) < 0.9 * np.einsum("i,j,k->ijk", *(each / each.max() for each in shares)).ravel()
    parts = found.parts
    measured = parts[0].sum(axis=1) * parts[1].sum(axis=1) * parts[2].sum(axis=1)
    views = coins.random((1_500, 6_400)) < np.where(table, 0.5, 0.05)
    seen = np.stack([views.sum(axis=1), *(views @ each for each in weights)], axis=1)
    read = found.read(np.repeat(measured[None], len(seen), axis=0), seen, law)
    return read.values, read.noise[0] + law.more * table.sum() * np.diag([1, 0, 0]), float(table.sum())


def test_the_noise_of_filtered_counts_is_what_is_stated(simulated):
    """Over 1,500 views: insertion makes the stated variance and covariance to 15 %, and a third less is not it."""
    values, _, _ = simulated
    coins, law = np.random.default_rng(12), law_of(_guarantee())
    found = filters_of([np.array([0.8, 0.1, 0.06, 0.04])] * 3, [np.ones(4, int)] * 3)
    weights = [np.einsum("i,j,k->ijk", *(found.factors(0)[number],) * 3).ravel() for number in range(2)]
    views = coins.random((20_000, 64)) < 0.05  # nobody is in the table: all is noise
    seen = np.stack([views.sum(axis=1), *(views @ each for each in weights)], axis=1)
    measured = found.parts[0].sum(axis=1) ** 3
    read = found.read(np.repeat(measured[None], len(seen), axis=0), seen, law)
    stated, empirical = read.noise[0], np.cov(read.values.T)
    assert np.abs(read.values.mean(axis=0)).max() < 6 * np.sqrt(stated.max() / len(seen))
    assert np.abs(empirical / stated - 1).max() < 0.15
    assert np.abs(empirical / (stated / 1.5) - 1).min() > 0.15
    assert np.all(np.isfinite(values))


def test_filtered_counts_are_nearer_where_values_are_rare(simulated):
    """The mean of 1,500 views is near the truth with attributes that are independent, and its spread is far less."""
    values, _, true = simulated
    spread = values.std(axis=0)
    assert spread[1] < 0.9 * spread[0]
    assert spread[2] < spread[1]
    assert np.abs(values.mean(axis=0) - true)[0] < 6 * spread[0] / np.sqrt(len(values))
    assert np.abs(values.mean(axis=0) / true - 1).max() < 0.15


def _gaps(
    coins: np.random.Generator, linear: float, square: float, total: float = 1e5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaps with known noise around a stray of that law, for questions of all sizes."""
    share = np.exp(coins.uniform(np.log(1e-4), np.log(0.9), 1_500))
    noise = 200.0**2 * share + 1.0
    variance = noise + total**2 * (linear * share + square * share**2)
    return coins.normal(0, np.sqrt(variance)), noise, share


STRAYS = ((0.0, 0.0), (1e-4, 0.0), (0.0, 0.02), (1e-4, 0.02), (1e-3, 0.3))


@pytest.mark.parametrize(("linear", "square"), STRAYS)
def test_the_stray_is_found_at_every_scale(linear, square):
    """From gaps with a known law: noise and stray together within a fifth, for narrow, middling and wide questions."""
    coins, total = np.random.default_rng(4), 1e5
    gaps, noise, share = _gaps(coins, linear, square, total)
    found = fit_stray(gaps, noise, share, total, len(gaps))
    assert _off(found, linear, square, total) < 0.2


def _off(found: Stray, linear: float, square: float, total: float) -> float:
    """How far the standard deviation of a gap is wrong at most, over questions of three sizes."""
    share = np.array([1e-3, 0.03, 0.5])
    noise = 200.0**2 * share + 1.0
    own = np.sqrt(noise + found.variance(share, total))
    true = np.sqrt(noise + total**2 * (linear * share + square * share**2))
    return float(np.abs(own / true - 1).max())


def test_a_stray_that_ignores_the_scale_is_found_out():
    """One number for the spread of all questions, whatever their size, is wrong by more than that for some of them."""
    total = 1e5
    for linear, square in STRAYS[1:4]:
        gaps, noise, share = _gaps(np.random.default_rng(4), linear, square, total)
        rest = np.maximum(gaps**2 - noise, 0)
        by_square = Stray(linear=0.0, square=float(np.mean(rest / (total * share) ** 2)))
        by_share = Stray(linear=float(np.mean(rest / (total**2 * share))), square=0.0)
        wrong = [_off(each, linear, square, total) for each in (by_square, by_share)]
        assert max(wrong) > 0.2


def test_few_gaps_are_not_taken_for_none():
    """Where gaps say little, the stray is that of a doubt: many times what many such gaps would leave."""
    gaps, noise, share = _gaps(np.random.default_rng(4), 0.0, 0.0)
    few_of_them, all_of_them = (fit_stray(gaps, noise, share, 1e5, alone) for alone in (1.0, len(gaps)))
    assert few_of_them.square > 5 * all_of_them.square


@given(seed=st.integers(0, 10_000), number=st.integers(2, 4))
@settings(max_examples=few(100), deadline=None)
def test_values_near_each_other_get_the_best_linear_mean(seed, number):
    """Where no gap is larger than expected, it is generalized least squares, worked out here with a plain inverse."""
    coins = np.random.default_rng(seed)
    root = coins.normal(0, 3, (number, number))
    noise, strays = root @ root.T + np.eye(number), coins.uniform(0.1, 5, number - 1)
    value = coins.normal(100, 1e-6)
    values = value + np.zeros((1, number))
    off = np.array([[strays[: min(i, j)].sum() for j in range(number)] for i in range(number)])
    inverse = np.linalg.inv(noise + off)
    mean, variance = lean(values, noise[None], strays[None])
    assert mean[0] == pytest.approx((inverse @ values[0]).sum() / inverse.sum(), rel=1e-6)
    assert variance[0] == pytest.approx(1 / inverse.sum(), rel=1e-5)


@given(gap=st.floats(-1e5, 1e5), error=st.floats(0.1, 1e3), stray=st.floats(0, 1e6))
@settings(max_examples=few(200), deadline=None)
def test_a_value_lies_between_the_answer_and_the_model(gap, error, stray):
    """And a gap of many errors and strays is believed: what is left of it is less than a tenth."""
    noise = np.array([[[error**2, 0.0], [0.0, 0.0]]])
    found, _ = lean(np.array([[gap, 0.0]]), noise, np.array([[stray]]))
    assert min(gap, 0) - 1e-6 * abs(gap) <= found[0] <= max(gap, 0) + 1e-6 * abs(gap)
    if stray >= error**2 and abs(gap) > 40 * (error + np.sqrt(stray)):
        assert abs(found[0] - gap) < 0.1 * abs(gap)


def test_shares_are_near_the_truth_and_rare_values_are_not_taken_for_people():
    """Forty of forty-one values are nearly empty: their shares are small, though noise alone says otherwise."""
    coins, total, noise = np.random.default_rng(2), 20_000.0, 300.0
    shares = np.array([0.95, *np.full(40, 0.05 / 40)])
    counts = total * shares + coins.normal(0, noise, 41)
    found = shares_of(counts, np.full(41, noise), total)
    assert found.sum() == pytest.approx(1)
    assert found.min() > 0
    assert abs(found[0] - 0.95) < 0.08
    clipped = np.maximum(counts, 0) / np.maximum(counts, 0).sum()
    assert np.abs(found - shares).sum() < 0.5 * np.abs(clipped - shares).sum()


def made(rows: int, coins: np.random.Generator, *, tied: bool) -> pd.DataFrame:
    """Six attributes with rare values: independent, or each a noisy copy of the one before."""
    sizes = dict.fromkeys("abcdef", 12)
    found: dict[str, np.ndarray] = {}
    before = None
    for name, size in sizes.items():
        own = np.minimum(coins.geometric(0.35, rows) - 1, size - 1)
        found[name] = own if before is None or not tied else np.where(coins.random(rows) < 0.15, own, before)
        before = found[name]
    return pd.DataFrame({name: [f"{code:02d}" for code in each] for name, each in found.items()})


def asked_of(coins: np.random.Generator, number: int) -> list[str]:
    """Conditions on one to three attributes: a value, a range or half of the values."""
    found = []
    for place in range(number):
        parts = []
        for name in coins.choice(list("abcdef"), 1 + place % 3, replace=False):
            low, high = np.sort(coins.integers(0, 12, 2))
            one, half = coins.integers(0, 12, 1), coins.choice(12, 6, replace=False)
            chosen = (one, np.arange(low, high + 1), half)[coins.integers(3)]
            parts.append(among(str(name), [f"{code:02d}" for code in chosen]))
        found.append(" AND ".join(parts))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("tied", "gain"), [(False, 1.3), (True, 1.0)], ids=["independent", "tied"])
def test_on_made_up_tables_it_gains_where_it_can_and_loses_nowhere(tmp_path, tied, gain):
    """Three releases: 1.3 times nearer than the unbiased answer where attributes are independent, and not further off
    where each is a noisy copy of another.
    """
    coins = np.random.default_rng(21)
    rows = made(4_000, coins, tied=tied).drop_duplicates()
    wheres = asked_of(coins, 45)
    truth = np.array(true_counts(pa.Table.from_pandas(rows, preserve_index=False), wheres))
    listed = Listed(values=tuple(f"{code:02d}" for code in range(12)))
    own = discreet.Schema(quasi_identifiers=tuple("abcde"), sensitive="f", domains=dict.fromkeys("abcdef", listed))
    policy = discreet.Policy(schema=own, mechanism=discreet.AlphaBeta(prior="0.01", posterior="0.2"))
    off = {"unbiased": 0.0, "best": 0.0}
    for seed in range(3):
        with discreet.read_table(rows, policy) as table:
            release = discreet.publish(table, policy, to=tmp_path / "release", seed=seed, replace=True)
        for name in off:
            answers = release.count_many(wheres, estimator=name)
            off[name] += np.abs(np.array([each.value for each in answers]) - truth)[truth >= 1].mean()
            assert all(each.bounds[0] <= each.low <= each.value <= each.high <= each.bounds[1] for each in answers)
        release.close()
    assert off["unbiased"] > gain * off["best"]


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
    """One sentence for an attribute with too many values; no two-way table beyond 10^6 cells; some pairs of many."""
    with Database() as engine, pytest.raises(discreet.QueryError, match="use unbiased"):
        count_ones(engine, "nothing", {"a": Encoding(range(MOST_VALUES + 1))})
    assert chosen_pairs([2_000, 3, 1_000]) == [(0, 1), (1, 2)]
    assert len(set(chosen_pairs([2] * 30))) == MOST_PAIRS


@pytest.mark.slow
@needs_shared("adult_full.parquet")
def test_on_adult_errors_fall_as_stated():
    """18,961 selections that stand for all 304,364: FRAPP is 3.0 and 6.2 times worse; for counts from 1 best is nearer
    than unbiased, before that is cut to what is possible, by 3.0 times.

    One view gave 3.2 (independent) here; another, asked for fewer slices, 5.2 and 4.3 (exclusive).
    """
    item = VIEW_ERRORS.run(Setting(sources=Sources(folder=SHARED, quick=False), quick=False, tell=lambda done: None))
    error = {(method, estimator, least): found for method, estimator, least, _, found, _ in item.rows}
    assert "19,502 distinct tuples" in item.data
    for label, worse, gain in ((INDEPENDENT, 6.2, 3.0), (EXCLUSIVE, 3.0, 3.0)):
        assert error[FRAPP, DESIGN, 0] > 0.95 * worse * error[label, DESIGN, 0]
        assert error[label, DESIGN, 1] > gain * error[label, BEST, 1]
        assert error[label, ANSWER, 1] > 1.25 * error[label, BEST, 1]
        assert error[label, BEST, 1_024] < 1.01 * error[label, DESIGN, 1_024]


@pytest.mark.slow
@needs_shared("census_occ.parquet")
def test_on_a_census_that_it_was_not_chosen_on_it_gains():
    """10,000 rows, conditions on one to three columns, two releases: 1.1 times nearer than unbiased."""
    raw = Sources(folder=SHARED, quick=False).table("OCC")
    rows = distinct_rows(raw.take(np.sort(np.random.default_rng(3).permutation(raw.num_rows)[:10_000])))
    known, coins = schema_of(rows, "Occupation", public_rows=10_000), np.random.default_rng(1)
    wheres = []
    for place in range(60):
        parts = []
        for name in coins.choice(list(known.columns), 1 + place % 3, replace=False).tolist():
            values = list(known.domains[name])
            number = 1 if coins.random() < 0.5 else max(1, len(values) // 2)
            parts.append(among(name, [values[code] for code in coins.choice(len(values), number, replace=False)]))
        wheres.append(" AND ".join(parts))
    truth = np.array(true_counts(rows, wheres))
    mechanism = discreet.AlphaBeta(prior=10, posterior="0.2")
    off = {"unbiased": 0.0, "best": 0.0}
    with opened(rows, discreet.Policy(schema=known, mechanism=mechanism)) as table:
        for seed in range(2):
            with released(table, mechanism, seed) as release:
                for name in off:
                    answers = np.array([each.value for each in release.count_many(wheres, estimator=name)])
                    off[name] += np.abs(answers - truth)[truth >= 1].mean()
    assert off["unbiased"] > 1.1 * off["best"]
