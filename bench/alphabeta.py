"""Alpha-beta: CPU seconds of the noise and of one query, with ratios to plain numpy and DuckDB in the same run; and how
far off counts are, against FRAPP at the same promise, for selection queries on Adult.

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
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.item import Setting
from discreet.evaluate.reproduce.view_errors import BEST, DESIGN, EXCLUSIVE, FRAPP, INDEPENDENT, VIEW_ERRORS
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, distinct
from discreet.mechanism.alphabeta.making.make import view_of
from discreet.schema.domain import Integers
from discreet.series.coins import Coins

NOISE, ROWS = 50_000_000, 1_000_000
SIZES = (100, 100, 100, 100, 100)
ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult_full.parquet"


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
    for label, least, gain in ((INDEPENDENT, 6.2, 1.6), (EXCLUSIVE, 3.0, 2.2)):
        ratio = found[FRAPP, DESIGN, 0] / found[label, DESIGN, 0]
        small, large = (found[label, DESIGN, each] / found[label, BEST, each] for each in (1, 1_024))
        print(
            f"  FRAPP / {label}: {ratio:.2f} (wanted {least}); best against unbiased: {small:.2f} for counts from 1 "
            f"(wanted {gain}), {large:.3f} from 1024 (wanted 1)"
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
