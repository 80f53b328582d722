"""Drafting a policy against a plain copy by DuckDB, in one run; ratios of CPU seconds.

python bench/init.py            1M and 10M rows, and 10,000 columns
python bench/init.py --full     100M rows as well
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from census import write_census
from measure import measure
from publish import copy

import discreet


def draft(source: Path) -> str:
    return discreet.draft_policy(source).sensitive


def write_wide(to: Path, columns: int, rows: int = 500) -> None:
    """A table of very many columns of whole numbers, and one that can be sensitive."""
    coins = np.random.default_rng(1)
    found = {f"c{number}": pa.array(coins.integers(0, 30, rows)) for number in range(columns - 1)}
    diseases = pa.array(coins.choice(["Flu", "HIV", "Asthma"], rows).tolist())
    pq.write_table(pa.table({**found, "disease": diseases}), to)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="100M rows as well")
    sizes = (1_000_000, 10_000_000, *((100_000_000,) if parser.parse_args().full else ()))
    print(f"{'rows':>12} {'step':<14} {'CPU s':>8} {'/ copy':>7} {'wall s':>7} {'peak MB':>8}")
    for rows in sizes:
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        source = folder / "census.parquet"
        write_census(source, rows)
        plain = measure(copy, source, folder / "plain.parquet", "")
        drafted = measure(draft, source)
        assert drafted.result == "Occupation"
        for name, cost in {"plain copy": plain, "init": drafted}.items():
            ratio = cost.cpu / plain.cpu
            print(f"{rows:>12,} {name:<14} {cost.cpu:>8.2f} {ratio:>7.2f} {cost.wall:>7.2f} {cost.peak_mb:>8,.0f}")
        shutil.rmtree(folder)
    _wide()


def _wide() -> None:
    """What 10,000 columns cost, by 1,000 of them: ten times as much, where the work grows with the columns alone."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        few, many = Path(folder) / "few.parquet", Path(folder) / "many.parquet"
        write_wide(few, 1_000)
        write_wide(many, 10_000)
        less, more = measure(draft, few), measure(draft, many)
    print(f"init of 10,000 columns: {more.cpu:.2f} CPU s, {more.cpu / less.cpu:.1f} times 1,000 columns")


if __name__ == "__main__":
    main()
