"""The papers' experiment: a census with Occupation as the sensitive attribute, and 200 random questions.

    python examples/census.py

Reads ../shared/data/census_occ.parquet (UCI Census-Income, 148,318 people) where it is there; otherwise it makes a
census of 60,000 people who do not exist. It asserts everything that it says.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.schema.domain import Integers, Listed

REAL = Path(__file__).parents[2] / "shared" / "data" / "census_occ.parquet"
QUASI_IDENTIFIERS = ("Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Country")
SENSITIVE = "Occupation"
SIZES = {"Gender": 2, "Education": 14, "Marital": 6, "Race": 9, "WorkClass": 10, "Country": 83}
OCCUPATIONS, LOWEST_AGE, HIGHEST_AGE = 50, 15, 92
QUESTIONS, SELECTIVITY = 200, 0.01


def main() -> None:
    people = real_census() if REAL.exists() else synthetic_census()
    policy = census_policy(people)
    with tempfile.TemporaryDirectory() as folder:
        release = publish(people, policy, Path(folder))
        verdict = discreet.verify(Path(folder) / "release")
        print("verified from the files alone:", "the promise holds" if verdict.holds else verdict)
        assert verdict.holds
        questions, truths = random_questions(people, policy.schema)
        score(release, questions, truths)
        release.close()


def real_census() -> pa.Table:
    print("UCI Census-Income")
    return pq.read_table(REAL, columns=[*QUASI_IDENTIFIERS, SENSITIVE])


def synthetic_census(rows: int = 60_000) -> pa.Table:
    """People who do not exist, whose occupation depends on education, gender and age."""
    print("a synthetic census: nobody in it is real")
    coins = np.random.default_rng(1)
    codes = {name: _skewed(coins, size, rows) for name, size in SIZES.items()}
    age = np.clip(coins.normal(42, 15, rows), LOWEST_AGE, HIGHEST_AGE).astype(np.int64)
    usual = 3 * codes["Education"] + 5 * codes["Gender"] + age // 20
    occupation = np.where(coins.random(rows) < 0.4, usual, _skewed(coins, OCCUPATIONS, rows)) % OCCUPATIONS
    columns = {name: pa.array([f"{name} {code}" for code in found]) for name, found in codes.items()}
    return pa.table({"Age": age, **columns, SENSITIVE: occupation}).select([*QUASI_IDENTIFIERS, SENSITIVE])


def _skewed(coins: np.random.Generator, size: int, rows: int) -> np.ndarray:
    weight = 1 / np.arange(2, size + 2)
    return coins.choice(size, rows, p=weight / weight.sum())


def census_policy(people: pa.Table) -> discreet.Policy:
    """The papers' tolerance, min(1, 8 f + 0.02), for every occupation.

    Domains are public facts and belong into a policy by hand, from the code book of the survey. This is an example on
    public data, so it takes a short cut and reads the categories off the table.
    """
    listed = {name: tuple(sorted(set(people[name].to_pylist()))) for name in (*SIZES, SENSITIVE)}
    return discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=QUASI_IDENTIFIERS,
            sensitive=SENSITIVE,
            domains={
                "Age": Integers(low=LOWEST_AGE, high=HIGHEST_AGE),
                **{name: Listed(values=values) for name, values in listed.items()},
            },
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(theta=8, floor="0.02"), sizes="multi"),
    )


def publish(people: pa.Table, policy: discreet.Policy, folder: Path) -> discreet.Release:
    table = discreet.read_table(people, policy)
    plan = discreet.plan(table, policy)
    shares = [count / table.rows for count in table.histogram.values()]
    print(f"{table.rows:,} people, {len(shares)} occupations, {min(shares):.3%} to {max(shares):.2%}")
    print(f"{plan.buckets:,} buckets, by size {dict(plan.classes)}")
    print(f"loss {plan.loss:,}; no setting can go below {plan.lower_bound:,}")
    release = discreet.publish(table, policy, to=folder / "release", series=folder / "census.series")
    table.close()
    assert release.rows == people.num_rows
    return release


def random_questions(people: pa.Table, schema: discreet.Schema) -> tuple[list[str], np.ndarray]:
    """Questions of the papers' form with a true count above 0, and these counts.

    Each asks for 1 to 7 quasi-identifiers and the occupation; every column matches a random part of its domain, such
    that 1 % of all combinations match.
    """
    coins = np.random.default_rng(2)
    domains = {name: list(schema.domains[name]) for name in schema.columns}
    codes = {name: _codes(people[name].to_pylist(), domains[name]) for name in schema.columns}
    questions, truths = [], []
    while len(questions) < QUESTIONS:
        number = coins.integers(1, len(QUASI_IDENTIFIERS) + 1)
        chosen = [*coins.choice(QUASI_IDENTIFIERS, number, replace=False), SENSITIVE]
        part = SELECTIVITY ** (1 / len(chosen))
        matching = {
            name: coins.choice(len(domains[name]), max(1, round(part * len(domains[name]))), replace=False)
            for name in chosen
        }
        truth = int(np.logical_and.reduce([np.isin(codes[name], found) for name, found in matching.items()]).sum())
        if truth:
            questions.append(_words(matching, domains))
            truths.append(truth)
    return questions, np.array(truths)


def _codes(cells: list[object], domain: list[object]) -> np.ndarray:
    position = {value: code for code, value in enumerate(domain)}
    return np.array([position[cell] for cell in cells])


def _words(matching: dict[str, np.ndarray], domains: dict[str, list[object]]) -> str:
    """The question in SQL."""
    parts = []
    for name, codes in matching.items():
        values = [domains[name][code] for code in codes]
        texts = [str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'" for value in values]
        parts.append(f"{name} IN ({', '.join(texts)})")
    return " AND ".join(parts)


def score(release: discreet.Release, questions: list[str], truths: np.ndarray) -> None:
    """How far the answers are from the truth, and how often the intervals hold it.

    The model is nearer for most questions, since it varies little, but its intervals miss far more often than they say.
    The unbiased answer varies more with the coins, and its interval says by how much.
    """
    print(f"{len(questions)} questions with true counts from {truths.min():,} to {truths.max():,}")
    coverage = {}
    for estimator in ("unbiased", "uniform"):
        answers = release.count_many(questions, estimator=estimator)
        values = np.array([answer.value for answer in answers], dtype=float)
        holds = [answer.low <= truth <= answer.high for answer, truth in zip(answers, truths, strict=True)]
        error, coverage[estimator] = np.median(np.abs(values - truths) / truths), np.mean(holds)
        print(f"  {estimator}: median relative error {error:.3f}, intervals hold {coverage[estimator]:.1%} (95 % said)")
        assert all(answer.bounds[0] <= truth <= answer.bounds[1] for answer, truth in zip(answers, truths, strict=True))
        assert error < 0.5
    assert coverage["unbiased"] > 0.85, "intervals over the publisher's coins cover, whatever the table is like"
    assert coverage["uniform"] < 0.8, "intervals of the model do not carry its bias"


if __name__ == "__main__":
    main()
