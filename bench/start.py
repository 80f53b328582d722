"""Starting: whole processes, CPU seconds of all their threads, beside a yardstick in the same run; exit 1 over a limit.

python bench/start.py            importing, --help, a question to a small release, publishing 30,162 and 500,000 rows
python bench/start.py --quick    without the 500,000 rows

Yardsticks: importing numpy, pyarrow and DuckDB; DuckDB's own copy of the same CSV in random order, by a process that
imports nothing else. Adult is read from ../shared/data, or made up with as many rows, columns and values.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from census import COLUMNS, write_census

ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult_full.parquet"
SIZES = {  # Adult's columns, and how many values each has
    "age": 72,
    "workclass": 7,
    "education": 16,
    "marital-status": 7,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "hours-per-week": 94,
    "native-country": 41,
    "occupation": 14,
}
ROWS = 30_162
FORBIDDEN = ("highspy", "scipy.optimize", "discreet.mechanism", "discreet.table", "discreet.evaluate")
IMPORTS = (sys.executable, "-c", "import numpy, pyarrow, duckdb")
DISCREET = (sys.executable, "-m", "discreet.cli.main")
COPY = """
import sys, duckdb
source, columns, to = sys.argv[1:]
with duckdb.connect() as db:
    rows = f"SELECT {columns} FROM '{source}' ORDER BY random()"
    db.execute(f"COPY ({rows}) TO '{to}' (FORMAT parquet, COMPRESSION zstd)")
"""


@dataclass(frozen=True)
class Line:
    """One thing that is held: what it takes, the least of all runs, and that of its yardstick."""

    name: str
    cpu: float
    yardstick: float
    limit: float

    @property
    def ratio(self) -> float:
        return self.cpu / self.yardstick

    def __str__(self) -> str:
        state = "" if self.ratio <= self.limit else "  OVER"
        return f"{self.name:<42} {self.cpu:>7.2f} {self.yardstick:>10.2f} {self.ratio:>7.2f} {self.limit:>6.1f}{state}"


def cpu(command: Sequence[str]) -> float:
    """CPU seconds of one process and its threads, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own commands
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(commands: Mapping[str, Sequence[str]], runs: int) -> dict[str, float]:
    """The least CPU of each command; they take turns, so that what disturbs one disturbs all."""
    taken = [{name: cpu(command) for name, command in commands.items()} for _ in range(runs)]
    return {name: min(each[name] for each in taken) for name in commands}


def write_adult(path: Path) -> None:
    """The complete training rows of Adult as CSV, or as many made up with the same columns and numbers of values."""
    listed = ", ".join(f'"{name}"' for name in SIZES)
    if ADULT.exists():
        known = """split = 'train' AND '?' NOT IN (workclass, occupation, "native-country")"""
        rows = f"SELECT {listed} FROM '{ADULT}' WHERE {known}"
    else:
        numbers = ("age", "hours-per-week")
        cells = [
            f"hash(i, '{name}') % {size}" if name in numbers else f"'{name}-' || (hash(i, '{name}') % {size})"
            for name, size in SIZES.items()
        ]
        made = ", ".join(f'{cell} AS "{name}"' for cell, name in zip(cells, SIZES, strict=True))
        rows = f"SELECT {made} FROM range({ROWS}) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT csv, HEADER)")


def write_policy(path: Path, table: Path, columns: Sequence[str]) -> None:
    """Anatomy with l = 4; the last column is the sensitive one, and the domains are what the table has."""
    parts = ["version = 1", "[table]", f"quasi_identifiers = {list(columns[:-1])}", f"sensitive = '{columns[-1]}'"]
    for name in columns:
        values = [row[0] for row in duckdb.execute(f"SELECT DISTINCT \"{name}\" FROM '{table}' ORDER BY 1").fetchall()]
        numbers = isinstance(values[0], int)
        parts += [f"[domains.{name}]", f"integers = {[values[0], values[-1]]}" if numbers else f"values = {values}"]
    path.write_text("\n".join([*parts, "[mechanism]", "kind = 'anatomy'", "l = 4", ""]))


def publishing(folder: Path, name: str, columns: Sequence[str], runs: int, limit: float) -> Line:
    """Publish a CSV file from the command line, with a new series each time, beside the shuffled copy of it."""
    table, policy, release = (folder / f"{name}{suffix}" for suffix in (".csv", ".toml", ""))
    write_policy(policy, table, columns)
    listed = ", ".join(f'"{column}"' for column in columns)
    copy = (sys.executable, "-c", COPY, str(table), listed, str(folder / "copy.parquet"))
    words = ("publish", str(table), "--policy", str(policy), "-o", str(release))
    taken = []
    for run in range(runs):
        series = ("--series", str(folder / f"{name}-{run}.series"), *(("--replace",) if run else ()))
        taken.append((cpu(copy), cpu((*DISCREET, *words, *series))))
    yardstick, published = (min(each) for each in zip(*taken, strict=True))
    return Line(f"discreet publish {name}.csv", published, yardstick, limit)


def loaded(command: Sequence[str]) -> list[str]:
    """The modules that a command of ours imports and should not."""
    words = (sys.executable, "-X", "importtime", *command[1:])
    said = subprocess.run(words, check=True, capture_output=True, text=True).stderr  # noqa: S603 - our own command
    modules = [line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")]
    return [name for name in modules if any(name == each or name.startswith(f"{each}.") for each in FORBIDDEN)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="without the 500,000 rows")
    quick = parser.parse_args().quick
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    write_adult(folder / "adult.csv")
    lines = [publishing(folder, "adult", list(SIZES), 5, 5)]
    if not quick:
        write_census(folder / "census.parquet", 500_000)
        duckdb.execute(f"COPY (FROM '{folder / 'census.parquet'}') TO '{folder / 'census.csv'}' (FORMAT csv, HEADER)")
        lines.append(publishing(folder, "census", COLUMNS, 3, 2.5))
    question = (*DISCREET, "query", str(folder / "adult"), "age > 40 AND occupation = 'Sales'")
    if not ADULT.exists():
        question = (*question[:-1], "age > 40 AND occupation = 'occupation-3'")
    commands = {"": IMPORTS, "import discreet": (sys.executable, "-c", "import discreet")}
    taken = least({**commands, "discreet --help": (*DISCREET, "--help"), "discreet query adult": question}, 7)
    yardstick = taken.pop("")
    limits = {"import discreet": 1.5, "discreet --help": 2.0, "discreet query adult": float("inf")}
    lines = [*(Line(name, each, yardstick, limits[name]) for name, each in taken.items()), *lines]
    strange = loaded(question)
    shutil.rmtree(folder)
    print(f"{'whole processes':<42} {'CPU s':>7} {'yardstick':>10} {'ratio':>7} {'limit':>6}")
    print(*lines, sep="\n")
    if strange:
        print(f"discreet query must not load {', '.join(strange)}")
    return int(bool(strange) or any(line.ratio > line.limit for line in lines))


if __name__ == "__main__":
    sys.exit(main())
