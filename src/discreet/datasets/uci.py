"""Two public archives of the UCI repository: what is inside, and how it becomes the tables that the papers use.

The SHA-256 of each raw file is that of UCI's own bytes. UCI's archives hold `adult.data` and `adult.test` as they are,
and `census-income.data` and `census-income.test` inside `census.tar.gz`.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A raw file of an archive: its name, its size in bytes and the SHA-256 of these bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Where an archive is, how large it may be, and the raw files that count; `tar` is the archive inside, if any."""

    url: str
    limit: int
    train: Raw
    test: Raw
    tar: str | None = None
    tar_limit: int = 0


ADULT = Archive(
    url="https://archive.ics.uci.edu/static/public/2/adult.zip",
    limit=8_000_000,
    train=Raw(
        name="adult.data",
        size=3_974_305,
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    test=Raw(
        name="adult.test",
        size=2_003_153,
        sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
)
CENSUS_INCOME = Archive(
    url="https://archive.ics.uci.edu/static/public/117/census+income+kdd.zip",
    limit=64_000_000,
    train=Raw(
        name="census-income.data",
        size=103_874_469,
        sha256="3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
    ),
    test=Raw(
        name="census-income.test",
        size=51_918_813,
        sha256="98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
    ),
    tar="census.tar.gz",
    tar_limit=256_000_000,
)

ADULT_COLUMNS = {
    "age": pa.int64(),
    "workclass": pa.large_string(),
    "fnlwgt": pa.int64(),
    "education": pa.large_string(),
    "education-num": pa.int64(),
    "marital-status": pa.large_string(),
    "occupation": pa.large_string(),
    "relationship": pa.large_string(),
    "race": pa.large_string(),
    "sex": pa.large_string(),
    "capital-gain": pa.int64(),
    "capital-loss": pa.int64(),
    "hours-per-week": pa.int64(),
    "native-country": pa.large_string(),
    "income": pa.large_string(),
}
# the columns that are kept, under the papers' names: position among the 42 of the raw file, and type
CENSUS_FIELDS = 42
CENSUS_COLUMNS = {
    "Age": (0, pa.int16()),
    "Gender": (12, pa.large_string()),
    "Education": (4, pa.large_string()),
    "Marital": (7, pa.large_string()),
    "Race": (10, pa.large_string()),
    "WorkClass": (1, pa.large_string()),
    "Country": (34, pa.large_string()),
    "Occupation": (3, pa.int16()),
    "OccupationMajor": (9, pa.large_string()),
    "IndustryCode": (2, pa.int16()),
    "Household": (22, pa.large_string()),
    "Income": (41, pa.large_string()),
    "Year": (40, pa.int16()),
}


def adult_table(train: bytes, test: bytes) -> pa.Table:
    """Adult from its raw files: 15 columns and `split`; a missing cell is '?', and no income ends with a dot."""
    header = test.index(b"\n") + 1  # the first line of adult.test is no row
    parts = []
    for raw, split in ((train, "train"), (test[header:], "test")):
        cells = _cells(raw, list(ADULT_COLUMNS), list(ADULT_COLUMNS))
        columns = {name: cells[name].cast(kind) for name, kind in ADULT_COLUMNS.items()}
        columns["income"] = pc.utf8_rtrim(columns["income"], ".")
        parts.append(_with_split(columns, "split", split))
    return pa.concat_tables(parts)


def census_income_table(train: bytes, test: bytes) -> pa.Table:
    """Census-Income from its raw files, all persons: 13 of 42 columns under the papers' names, and `Split`.

    Occupation 0 says that a person has none.
    """
    names = [f"field{number}" for number in range(CENSUS_FIELDS)]
    for name, (position, _) in CENSUS_COLUMNS.items():
        names[position] = name
    parts = []
    for raw, split in ((train, "train"), (test, "test")):
        cells = _cells(raw, names, list(CENSUS_COLUMNS))
        columns = {name: cells[name].cast(kind) for name, (_, kind) in CENSUS_COLUMNS.items()}
        parts.append(_with_split(columns, "Split", split))
    return pa.concat_tables(parts)


def _cells(raw: bytes, names: list[str], keep: list[str]) -> pa.Table:
    """The kept columns of lines such as `39, State-gov, 77516`, as texts without blanks at their ends."""
    table = arrow_csv.read_csv(
        io.BytesIO(raw),
        read_options=arrow_csv.ReadOptions(column_names=names),
        parse_options=arrow_csv.ParseOptions(quote_char=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(keep, pa.string()), include_columns=keep, strings_can_be_null=False
        ),
    )
    return pa.table({name: pc.ascii_trim_whitespace(table[name]) for name in keep})


def _with_split(columns: dict[str, pa.ChunkedArray], name: str, split: str) -> pa.Table:
    rows = len(next(iter(columns.values())))
    return pa.table({**columns, name: pa.repeat(pa.scalar(split, pa.large_string()), rows)})
