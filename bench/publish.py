"""Publishing against a plain copy and a shuffled copy by DuckDB, in one run; ratios of CPU seconds.

Near buckets are published in windows of 10,000 rows, and in those of the rule; the bench fails where that takes more
than four shuffled copies at 10M rows, or where publishing with a fake in every bucket takes more than 1.5 times as much
as without.

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
MOST_FAKES = 1.5  # times publishing without, at 10M rows
OTHERS = {
    "near": 'assignment = "near"\nwindow = 10_000\n',
    "near, ruled": 'assignment = "near"\n',
    "known = 1": "known = 1\n",
    "fakes = 1": "fakes = 1\n",
}


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


def with_lines(policy: Path, lines: str, to: Path) -> Path:
    """The same policy with more lines in its mechanism."""
    kind = 'kind = "buckets"\n'
    to.write_text(policy.read_text(encoding="utf-8").replace(kind, kind + lines), encoding="utf-8")
    return to


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
        for number, (name, lines) in enumerate(OTHERS.items()):
            to = folder / f"release-{number}"
            own = with_lines(policy, lines, folder / f"{number}.toml")
            costs[name] = cost = measure(publish, source, own, to)
            costs[f"{name}, verify"] = checked = measure(verify, to)
            assert checked.result
            if rows >= 10_000_000 and name.startswith("near") and cost.cpu > MOST_NEAR * shuffled.cpu:
                over.append(f"{name}: {cost.cpu / shuffled.cpu:.1f} shuffled copies at {rows:,} rows")
            if rows >= 10_000_000 and name == "fakes = 1" and cost.cpu > MOST_FAKES * published.cpu:
                over.append(f"{name}: {cost.cpu / published.cpu:.2f} times publishing without at {rows:,} rows")
        for name, cost in costs.items():
            ratios = f"{cost.cpu / plain.cpu:>7.2f} {cost.cpu / shuffled.cpu:>10.2f}"
            print(
                f"{rows:>12,} {name:<18} {cost.cpu:>8.2f} {ratios} {cost.wall:>7.2f} {cost.peak_mb:>8,.0f}", flush=True
            )
        shutil.rmtree(folder)
    if over:
        raise SystemExit(f"over: {'; '.join(over)}")


if __name__ == "__main__":
    main()
