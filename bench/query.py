"""Asking a release: CPU seconds against the exact count of the same condition on the raw table, in one run.

python bench/query.py            a 300k-row release, 5,000 questions of the papers' form; a 10M-row release, one by one
python bench/query.py --quick    the same with 500 questions and 1M rows
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
from census import DOMAINS, OCCUPATIONS, write_census, write_policy
from measure import measure

import discreet


def questions(number: int, selectivity: float = 0.01) -> list[str]:
    """Conditions of the papers' form: 1 to 7 quasi-identifiers and Occupation, each a random subset of its domain."""
    coins = np.random.default_rng(7)
    sizes = {"Age": 76, **DOMAINS}
    found = []
    for _ in range(number):
        chosen = coins.choice(list(sizes), coins.integers(1, 8), replace=False)
        share = selectivity ** (1 / (len(chosen) + 1))
        parts = [_subset(name, sizes[name], share, coins) for name in chosen]
        found.append(" AND ".join([*parts, _subset("Occupation", OCCUPATIONS, share, coins)]))
    return found


def _subset(name: str, size: int, share: float, coins: np.random.Generator) -> str:
    values = coins.choice(size, max(1, round(size * share)), replace=False)
    listed = ", ".join(str(17 + value) if name == "Age" else f"'{name}-{value:02d}'" for value in values)
    return f"{name} IN ({listed})"


def many(release: Path, asked: list[str]) -> float:
    opened = discreet.open_release(release)
    return float(np.mean([estimate.high - estimate.low for estimate in opened.count_many(asked)]))


def one_by_one(release: Path, asked: list[str]) -> tuple[float, float]:
    """CPU seconds to open (with the first answer), and for each further question."""
    start = time.process_time()
    opened = discreet.open_release(release)
    opened.count(asked[0])
    middle = time.process_time()
    for question in asked[1:]:
        opened.count(question)
    return middle - start, (time.process_time() - middle) / (len(asked) - 1)


def exact(source: Path, asked: list[str]) -> float:
    with duckdb.connect() as db:
        db.execute("SET enable_progress_bar = false")
        start = time.process_time()
        for question in asked:
            db.execute(f"SELECT count(*) FROM '{source}' WHERE {question}").fetchall()
        return (time.process_time() - start) / len(asked)


def release_of(folder: Path, rows: int) -> tuple[Path, Path]:
    source, policy = folder / f"census-{rows}.parquet", folder / "census.toml"
    write_census(source, rows)
    write_policy(policy)
    loaded = discreet.Policy.load(policy)
    table = discreet.read_table(source, loaded)
    discreet.publish(table, loaded, to=folder / f"release-{rows}", seed=1)
    table.close()
    return source, folder / f"release-{rows}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    asked = questions(500 if quick else 5_000)
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    source, release = release_of(folder, 300_000)
    counted, yard = measure(many, release, asked), measure(exact, source, asked[:200])
    each = counted.cpu / len(asked)
    print(f"300,000 rows, count_many of {len(asked):,}: {counted.cpu:.1f} CPU s, {each * 1e3:.2f} ms each;")
    print(f"  exact on the raw table {yard.result * 1e3:.2f} ms each: ratio {each / yard.result:.2f}")
    rows = 1_000_000 if quick else 10_000_000
    source, release = release_of(folder, rows)
    single, yard = measure(one_by_one, release, asked[:11]), measure(exact, source, asked[1:11])
    opened, each = single.result
    print(f"{rows:,} rows, count: {each:.3f} CPU s each; exact on the raw table {yard.result:.3f};")
    print(
        f"  ratio {each / yard.result:.2f}; opening and first answer {opened:.2f} CPU s; peak {single.peak_mb:,.0f} MB"
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
