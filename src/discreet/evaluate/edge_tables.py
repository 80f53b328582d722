"""Three tables that are unlike each other, on which intervals of impossible estimates are measured."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from discreet.datasets.census import synthetic_census
from discreet.datasets.hospital import write_hospital
from discreet.evaluate.scratch import schema_of
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema

_CENSUS = ["Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Occupation"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """Rows and their schema."""

    rows: pa.Table
    schema: Schema


def hospital(rows: int) -> Sampled:
    """The patients of the demo: 20 diseases that go with age and gender, from 0.5 % to 19 %."""
    with tempfile.TemporaryDirectory() as folder:
        data, policy = write_hospital(Path(folder) / "hospital", rows)
        schema = Policy.load(policy).schema
        text = arrow_csv.ConvertOptions(column_types={"zipcode": pa.string()}, include_columns=list(schema.columns))
        return Sampled(rows=arrow_csv.read_csv(data, convert_options=text), schema=schema)


def census(rows: int) -> Sampled:
    """Persons of a census: 50 occupations, none of them frequent."""
    table = synthetic_census(rows, 3).select(_CENSUS)
    return Sampled(rows=table, schema=schema_of(table, "Occupation"))


def skewed(rows: int) -> Sampled:
    """Twelve levels, the first of a third of the rows and the last of nearly none, which age, group and sex tell."""
    coins = np.random.default_rng(11)
    level = np.minimum(coins.geometric(0.35, rows) - 1, 11)
    group = np.clip(level // 2 + coins.integers(-1, 2, rows), 0, 6)
    age = np.clip(np.rint(coins.gamma(2, 8, rows) + 3 * level), 0, 99).astype(np.int64)
    sex = (coins.random(rows) < np.where(level % 2 == 0, 0.15, 0.8)).astype(np.int64)
    table = pa.table({"age": age, "group": group, "sex": sex, "level": level})
    return Sampled(rows=table, schema=schema_of(table, "level"))


TABLES: dict[str, Callable[[int], Sampled]] = {"hospital": hospital, "census": census, "skewed": skewed}
