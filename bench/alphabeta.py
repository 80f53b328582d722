"""Alpha-beta: CPU seconds of the noise and of one query, with ratios to plain numpy and DuckDB in the same run.

python bench/alphabeta.py
"""

from __future__ import annotations

import tempfile
import time
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from measure import measure

import discreet
from discreet.mechanism.alphabeta.codes import Radix, distinct, merged, without
from discreet.mechanism.alphabeta.noise import every_tuple_with
from discreet.schema.domain import Integers
from discreet.series.coins import Coins

NOISE, ROWS = 50_000_000, 1_000_000
SIZES = (100, 100, 100, 100, 100)


def draw() -> int:
    """All that happens before writing: a million tuples of a table, 50 million of noise."""
    radix = Radix(sizes=SIZES)
    coins = Coins.from_seed(0)
    own = distinct(np.random.default_rng(0).integers(0, radix.domain, ROWS)[None, :])
    kept = own[:, coins.stream("keep").integers(0, 2, size=own.shape[1]) == 0]
    noise = every_tuple_with(Fraction(NOISE, radix.domain), radix, coins.stream("noise"))
    return int(merged(kept, without(noise, own)).shape[1])


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
    asked = [f"a0 < {i} AND a1 IN (1, 2, {i + 3}) AND a3 >= {i}" for i in range(50)]
    start = time.process_time()
    for question in asked:
        release.count(question)
    own = (time.process_time() - start) / len(asked)
    with duckdb.connect() as db:
        db.execute(f"CREATE TABLE v AS SELECT * FROM '{release.path / 'data' / 'view.parquet'}'")
        start = time.process_time()
        for question in asked:
            db.execute(f"SELECT count(*) FROM v WHERE {question}").fetchall()
        plain = (time.process_time() - start) / len(asked)
    print(
        f"one query over a view of {release.rows:,} tuples: {own * 1e3:.1f} CPU ms, {own / plain:.2f} of a plain count"
    )
    release.close()


def main() -> None:
    yard, drawn = measure(sort), measure(draw)
    print(f"drawing and sorting {NOISE:,} numbers with numpy: {yard.cpu:.1f} CPU s")
    cost = f"{drawn.cpu:.1f} CPU s ({drawn.cpu / yard.cpu:.2f} of that), peak {drawn.peak_mb:,.0f} MB"
    print(f"a view of {drawn.result:,} tuples before writing: {cost}")
    with tempfile.TemporaryDirectory() as folder:
        view(Path(folder))


if __name__ == "__main__":
    main()
