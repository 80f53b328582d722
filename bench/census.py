"""A synthetic census with the papers' columns and domain sizes, made by DuckDB; for benches only."""

from __future__ import annotations

from pathlib import Path

import duckdb

DOMAINS = {"Gender": 2, "Education": 14, "Marital": 6, "Race": 9, "WorkClass": 10, "Country": 83}
OCCUPATIONS = 50
COLUMNS = ("Age", *DOMAINS, "Occupation")


def write_census(path: Path, rows: int) -> None:
    """One Parquet file: Age 17..92 and text elsewhere; Occupation has 50 values from about 0.2 % to 7.5 %."""
    parts = [
        f"'{name}-' || lpad((hash(i, '{name}') % {size})::VARCHAR, 2, '0') AS {name}" for name, size in DOMAINS.items()
    ]
    share = "pow((hash(i, 'o') % 1000003) / 1000003.0, 1.8)"
    with duckdb.connect() as db:
        db.execute(
            f"""COPY (SELECT 17 + (hash(i, 'a') % 76)::INTEGER AS Age, {", ".join(parts)},
                'Occupation-' || lpad(least(49, floor({share} * 50))::INTEGER::VARCHAR, 2, '0') AS Occupation
                FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"""
        )


def write_policy(path: Path) -> None:
    """The papers' tolerance, min(1, 8 f + 0.02), with Occupation as the sensitive attribute."""
    listed = {
        name: [f"{name}-{i:02d}" for i in range(size)] for name, size in (*DOMAINS.items(), ("Occupation", OCCUPATIONS))
    }
    domains = "".join(f"[domains.{name}]\nvalues = {values}\n".replace("'", '"') for name, values in listed.items())
    path.write_text(
        f"""version = 1
[table]
quasi_identifiers = {list(COLUMNS[:-1])}
sensitive = "Occupation"
[domains.Age]
integers = [17, 92]
{domains}[mechanism]
kind = "buckets"
[mechanism.tolerance]
theta = 8
floor = 0.02
""".replace("'", '"')
    )
