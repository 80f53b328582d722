"""Alpha-beta: CPU seconds of the noise and of one query, with ratios to plain numpy and DuckDB in the same run; and how
far off counts are, against FRAPP at the same promise, for all selection queries on Adult.

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
from measure import measure

import discreet
from discreet.evaluate.perturbation import EXCLUSIVE, FRAPP, INDEPENDENT, Inserting, alpha_beta, frapp
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.selections import Selections, coded
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, distinct
from discreet.mechanism.alphabeta.making.make import view_of
from discreet.schema.domain import Integers
from discreet.series.coins import Coins

NOISE, ROWS = 50_000_000, 1_000_000
SIZES = (100, 100, 100, 100, 100)
ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult_full.parquet"
PRIOR, POSTERIOR, RUNS = 10, Fraction(1, 5), 8


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
    """All selection queries of up to three attributes on the distinct tuples of Adult, at (10 n/m, 0.2)-privacy."""
    tuples = coded(Sources(folder=adult.parent, quick=False).adult())
    queries = Selections(tuples.radix.sizes)
    truth = queries.count(tuples.radix.unpack(tuples.own))
    d = PRIOR * Fraction(tuples.rows, tuples.radix.domain)
    methods = {**alpha_beta(d, POSTERIOR), FRAPP: frapp(d, POSTERIOR, tuples.rows, tuples.radix.domain)}
    shares = {"all": truth >= 0, ">= 1": truth >= 1, ">= 1000": truth >= 1000}
    found: dict[str, list[list[float]]] = {}
    for seed in range(RUNS):
        for number, (label, method) in enumerate(methods.items()):
            seen = queries.count(
                tuples.radix.unpack(method.draw(tuples.own, tuples.radix, np.random.default_rng([seed, number])))
            )
            answers = {label: method.estimate(seen, queries.possible)}
            if isinstance(method, Inserting):
                answers[f"{label}, best"] = method.best(seen, queries)
            for name, answer in answers.items():
                off = np.abs(answer - truth)
                found.setdefault(name, []).append([float(off[share].mean()) for share in shares.values()])
    print(f"Adult: {tuples.rows:,} distinct tuples, {len(queries):,} queries, {RUNS} runs; mean error for counts of")
    print(f"  {'':<22}" + "".join(f"{name:>10}" for name in shares))
    means = {name: np.mean(each, axis=0) for name, each in found.items()}
    for name, each in means.items():
        print(f"  {name:<22}" + "".join(f"{value:>10.2f}" for value in each))
    for label, least in ((INDEPENDENT, 6.2), (EXCLUSIVE, 3.0)):
        ratio = means[FRAPP][0] / means[label][0]
        small, large = (means[label][i] / means[f"{label}, best"][i] for i in (1, 2))
        print(
            f"  FRAPP / {label}: {ratio:.2f} (wanted {least}); best against unbiased: {small:.2f} for counts from 1 "
            f"(wanted 1.8), {large:.3f} from 1000 (wanted 1)"
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


if __name__ == "__main__":
    main()
