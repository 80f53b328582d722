"""Publishing against a plain copy and a shuffled copy by DuckDB, in one run; ratios of CPU seconds.

Near buckets are published in windows of 10,000 rows, and in those of the rule; the bench fails where that takes more
than four shuffled copies at 10M rows.

python bench/publish.py            1M and 10M rows
python bench/publish.py --full     100M rows as well, with DuckDB held to 2 GB
python bench/publish.py --rows N   that many rows only
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import duckdb
from census import COLUMNS, write_census, write_policy
from measure import measure

import discreet

MEMORY = "2GB"
MOST_NEAR = 4.0  # times the shuffled copy, at 10M rows
WINDOW = 10_000


def copy(source: Path, to: Path, order: str) -> None:
    """DuckDB alone: read the published columns and write them again."""
    with duckdb.connect() as db:
        db.execute("SET enable_progress_bar = false")
        db.execute(f"SET memory_limit = '{MEMORY}'")
        db.execute(f"SET temp_directory = '{to.parent}'")
        db.execute(
            f"COPY (SELECT {', '.join(COLUMNS)} FROM '{source}' {order}) TO '{to}' (FORMAT parquet, COMPRESSION zstd)"
        )


def publish(source: Path, policy: Path, to: Path) -> None:
    loaded = discreet.Policy.load(policy)
    table = discreet.read_table(source, loaded, memory=MEMORY)
    discreet.publish(table, loaded, to=to, series=to.with_suffix(".series"))


def verify(release: Path) -> bool:
    return discreet.verify(release).holds


def as_near(policy: Path, window: int | None) -> Path:
    """The same policy with near buckets, in windows of so many rows or by the rule."""
    lines = 'kind = "buckets"\nassignment = "near"\n' + (f"window = {window}\n" if window else "")
    near = policy.with_name(f"near-{window}.toml")
    near.write_text(policy.read_text(encoding="utf-8").replace('kind = "buckets"\n', lines), encoding="utf-8")
    return near


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="100M rows as well")
    parser.add_argument("--rows", type=int, help="that many rows only")
    asked = parser.parse_args()
    sizes = (asked.rows,) if asked.rows else (1_000_000, 10_000_000, *((100_000_000,) if asked.full else ()))
    print(f"{'rows':>12} {'step':<18} {'CPU s':>8} {'/ copy':>7} {'/ shuffled':>10} {'wall s':>7} {'peak MB':>8}")
    over: list[str] = []
    for rows in sizes:
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        source, policy = folder / "census.parquet", folder / "census.toml"
        write_census(source, rows)
        write_policy(policy)
        plain = measure(copy, source, folder / "plain.parquet", "")
        shuffled = measure(copy, source, folder / "shuffled.parquet", "ORDER BY random()")
        published = measure(publish, source, policy, folder / "release")
        verified = measure(verify, folder / "release")
        assert verified.result
        costs = {"plain copy": plain, "shuffled copy": shuffled, "publish": published, "verify": verified}
        for name, window in (("near", WINDOW), ("near, ruled", None)):
            to = folder / f"release-{window}"
            costs[name] = near = measure(publish, source, as_near(policy, window), to)
            costs[f"{name}, verify"] = checked = measure(verify, to)
            assert checked.result
            if rows >= 10_000_000 and near.cpu > MOST_NEAR * shuffled.cpu:
                over.append(f"{name}: {near.cpu / shuffled.cpu:.1f} shuffled copies at {rows:,} rows")
        for name, cost in costs.items():
            ratios = f"{cost.cpu / plain.cpu:>7.2f} {cost.cpu / shuffled.cpu:>10.2f}"
            print(
                f"{rows:>12,} {name:<18} {cost.cpu:>8.2f} {ratios} {cost.wall:>7.2f} {cost.peak_mb:>8,.0f}", flush=True
            )
        shutil.rmtree(folder)
    if over:
        raise SystemExit(f"over {MOST_NEAR:g}: {'; '.join(over)}")


if __name__ == "__main__":
    main()
