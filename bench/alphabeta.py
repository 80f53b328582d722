"""Alpha-beta: CPU seconds of the noise and of one query, with ratios to plain numpy and DuckDB in the same run; and how
far off counts are, against FRAPP at the same promise, for selection queries on Adult, and by estimator for conditions
on one to three attributes of other tables.

python bench/alphabeta.py [adult_full.parquet]
"""

from __future__ import annotations

import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from judged import CASES, Case
from measure import measure

import discreet
from discreet.evaluate.conditions import among
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.item import Setting
from discreet.evaluate.reproduce.view_errors import BEST, DESIGN, EXCLUSIVE, FRAPP, INDEPENDENT, VIEW_ERRORS
from discreet.evaluate.scratch import distinct_rows, opened, released, schema_of, true_counts
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, distinct
from discreet.mechanism.alphabeta.making.make import view_of
from discreet.schema.domain import Integers
from discreet.series.coins import Coins

NOISE, ROWS = 50_000_000, 1_000_000
SIZES = (100, 100, 100, 100, 100)
ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult_full.parquet"

CHOSEN_ON, UNTOUCHED = ("Adult, F", "hospital"), ("census_occ, F", "households", "employees")
QUESTIONS, RELEASES, SAMPLE = 90, 2, 20_000


def draw() -> int:
    """All that happens before writing: a million tuples of a table, 50 million of noise."""
    radix, half = Radix(sizes=SIZES), Fraction(1, 2)
    own = distinct(np.random.default_rng(0).integers(0, radix.domain, ROWS)[None, :])
    insert = Fraction(NOISE, radix.domain)
    promise = DGammaPrivacy(d=insert, gamma=half, adversary="exclusive", keep=half, insert=insert, candidates=1)
    return int(view_of(own, own[:, :0], promise, 1, radix, None, Coins.from_seed(0)).shape[1])


def sort() -> int:
    """The yardstick: as many random numbers, sorted."""
    return len(np.sort(np.random.default_rng(0).integers(0, 10**10, NOISE)))


def view(folder: Path) -> None:
    """A view of about 1.5 million tuples, asked 50 times."""
    coins = np.random.default_rng(1)
    names = [f"a{i}" for i in range(4)]
    people = pd.DataFrame({name: coins.integers(0, 100, 200_000) for name in names})
    schema = discreet.Schema(
        quasi_identifiers=tuple(names[:3]),
        sensitive=names[3],
        domains={name: Integers(low=0, high=99) for name in names},
        public_rows=200_000,
    )
    mechanism = discreet.AlphaBeta(prior="0.004", posterior="0.2")
    policy = discreet.Policy(schema=schema, mechanism=mechanism)
    table = discreet.read_table(people, policy)
    release = discreet.publish(table, policy, to=folder / "release", seed=0)
    table.close()
    release.count("a0 < 50 AND a1 IN (1, 2, 3)")
    start = time.process_time()
    release.count("a0 < 50 AND a1 IN (1, 2, 3)", estimator="best")
    fit = time.process_time() - start
    asked = [f"a0 < {i} AND a1 IN (1, 2, {i + 3}) AND a3 >= {i}" for i in range(50)]
    spent = {}
    for estimator in ("unbiased", "best"):
        start = time.process_time()
        for question in asked:
            release.count(question, estimator=estimator)
        spent[estimator] = (time.process_time() - start) / len(asked)
    own = spent["unbiased"]
    with duckdb.connect() as db:
        db.execute(f"CREATE TABLE v AS SELECT * FROM '{release.path / 'data' / 'view.parquet'}'")
        start = time.process_time()
        for question in asked:
            db.execute(f"SELECT count(*) FROM v WHERE {question}").fetchall()
        plain = (time.process_time() - start) / len(asked)
    print(
        f"one query over a view of {release.size:,} tuples: {own * 1e3:.1f} CPU ms, {own / plain:.2f} of a plain count"
    )
    print(f"  the same by estimator best: {spent['best'] * 1e3:.1f} CPU ms, and {fit:.2f} CPU s once for its model")
    release.close()


def errors(adult: Path) -> None:
    """Selection queries of up to three attributes on the distinct tuples of Adult, at (10 n/m, 0.2)-privacy."""
    setting = Setting(sources=Sources(folder=adult.parent, quick=False), quick=False, tell=lambda done: None)
    result = VIEW_ERRORS.run(setting)
    found = {(method, how, least): error for method, how, least, _, error, _ in result.rows}
    print(f"Adult: {result.data}; mean error for counts of")
    print(f"  {'':<36}" + "".join(f"{name:>10}" for name in ("all", ">= 1", ">= 1024")))
    for method, how in dict.fromkeys((method, how) for method, how, _ in found):
        line = "".join(f"{found[method, how, least]:>10.2f}" for least in (0, 1, 1_024))
        print(f"  {method + ', ' + how:<36}{line}")
    for label, least, gain in ((INDEPENDENT, 6.2, 3.5), (EXCLUSIVE, 3.0, 3.0)):
        ratio = found[FRAPP, DESIGN, 0] / found[label, DESIGN, 0]
        small, large = (found[label, DESIGN, each] / found[label, BEST, each] for each in (1, 1_024))
        print(
            f"  FRAPP / {label}: {ratio:.2f} (wanted {least}); best against unbiased: {small:.2f} for counts from 1 "
            f"(wanted {gain}), {large:.3f} from 1024 (wanted 1)"
        )


def conditions(schema: discreet.Schema, coins: np.random.Generator) -> list[str]:
    """On one to three columns in turn: a range of age, or one value or half of the values of another column."""
    found = []
    for place in range(QUESTIONS):
        parts = []
        for name in coins.choice(list(schema.columns), 1 + place % 3, replace=False).tolist():
            values = list(schema.domains[name])
            if name.lower() == "age":
                low, high = np.sort(coins.integers(0, len(values), 2))
                chosen = values[low : high + 1]
            else:
                number = 1 if coins.random() < 0.5 else max(1, len(values) // 2)
                chosen = [values[code] for code in coins.choice(len(values), number, replace=False)]
            parts.append(among(name, chosen))
        found.append(" AND ".join(parts))
    return found


def gains(name: str, case: Case) -> None:
    """How far off each estimator is at (10 n/m, 0.2)-privacy, for counts from 1; means over a few releases."""
    raw = case.rows()
    chosen = np.sort(np.random.default_rng(3).permutation(raw.num_rows)[:SAMPLE])
    raw = raw.take(chosen)
    rows = distinct_rows(raw)
    schema = schema_of(rows, case.sensitive, public_rows=raw.num_rows)
    asked = conditions(schema, np.random.default_rng(1))
    truth = np.array(true_counts(rows, asked))
    there = truth >= 1
    for adversary in ("exclusive", "independent"):
        mechanism = discreet.AlphaBeta(prior=10, posterior="0.2", adversary=adversary)
        off: dict[str, list[np.ndarray]] = {"unbiased": [], "best": []}
        with opened(rows, discreet.Policy(schema=schema, mechanism=mechanism)) as table:
            for seed in range(1, RELEASES + 1):
                with released(table, mechanism, seed) as release:
                    for estimator, found in off.items():
                        answers = [each.value for each in release.count_many(asked, estimator=estimator)]
                        found.append(np.abs(np.array(answers) - truth)[there])
        plain, best = (np.mean(found, axis=0) for found in off.values())
        relative = [float(np.mean(each / truth[there])) for each in (plain, best)]
        print(
            f"  {name}, {adversary}: mean error {plain.mean():.0f} unbiased, {best.mean():.0f} best "
            f"({plain.mean() / best.mean():.2f} times nearer); relative {relative[0]:.2f} and {relative[1]:.2f}"
        )


def main() -> None:
    yard, drawn = measure(sort), measure(draw)
    print(f"drawing and sorting {NOISE:,} numbers with numpy: {yard.cpu:.1f} CPU s")
    cost = f"{drawn.cpu:.1f} CPU s ({drawn.cpu / yard.cpu:.2f} of that), peak {drawn.peak_mb:,.0f} MB"
    print(f"a view of {drawn.result:,} tuples before writing: {cost}")
    with tempfile.TemporaryDirectory() as folder:
        view(Path(folder))
    adult = Path(sys.argv[1]) if len(sys.argv) > 1 else ADULT
    if adult.is_file():
        errors(adult)
    else:
        print("errors on Adult: skipped, there is no adult_full.parquet; discreet.datasets.download makes it")
    for title, names in (("chosen on", CHOSEN_ON), ("not used to choose the rule", UNTOUCHED)):
        print(f"conditions on one to three attributes, tables {title}:")
        for name in names:
            if CASES[name].here:
                gains(name, CASES[name])


if __name__ == "__main__":
    main()
