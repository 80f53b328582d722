"""Drafting a policy against a plain copy by DuckDB, in one run; ratios of CPU seconds.

python bench/init.py            1M and 10M rows
python bench/init.py --full     100M rows as well
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from census import write_census
from measure import measure
from publish import copy

import discreet


def draft(source: Path) -> str:
    return discreet.draft_policy(source).sensitive


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


if __name__ == "__main__":
    main()
