"""Questions over one to three of eight columns of five tables, the same every time, with their true counts.

Each column that a question names is met by a range between two uniform ends where its values are in order, else by one
value or, half the time, by half of them. How far off a method is varies from one draw of 300 to the next by a tenth and
more, so methods are compared on the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tables import MADE_UP

from discreet.estimate.diffgen.pairs.joint import Asked
from discreet.evaluate.conditions import among, between
from discreet.evaluate.labelled import adult
from discreet.evaluate.papers_form import at_least, random_queries
from discreet.evaluate.scratch import seen_values, true_counts
from discreet.ground.arrays import Floats, Ints
from discreet.schema.domain import Domain, Integers
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy, taxonomy_of

DATA = Path(__file__).parents[2] / "shared" / "data"
NUMBER, MOST_COLUMNS = 300, 3
DRAWN = {"Adult": 73, "census_occ": 12}  # seeds of draws for which DiffGen is as far off as is stated
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "occupation")
CENSUS = ("Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Country", "Occupation")


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """A table and its schema: columns in order are whole numbers between the ends that occur, others are listed."""

    rows: pa.Table
    sensitive: str
    ordered: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        domains: dict[str, Domain] = seen_values(self.rows)
        for name in self.ordered:
            ends = pc.min_max(self.rows[name]).as_py()
            domains[name] = Integers(low=ends["min"], high=ends["max"])
        others = tuple(name for name in self.rows.column_names if name != self.sensitive)
        return Schema(quasi_identifiers=others, sensitive=self.sensitive, domains=domains)

    @cached_property
    def taxonomies(self) -> tuple[Taxonomy, ...]:
        return tuple(taxonomy_of(self.schema, name) for name in self.schema.columns)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.taxonomies))

    @cached_property
    def cells(self) -> list[Any]:
        """Of each column, the cell of each row."""
        return [
            own.cell_of[pc.index_in(self.rows[own.name].combine_chunks(), _values(self, own.name)).to_numpy()]
            for own in self.taxonomies
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """What is asked of a table: as an analyst writes it, and as how much of each cell of its columns; the truth."""

    people: People
    wheres: tuple[str, ...]
    asked: tuple[tuple[Asked, ...], ...] = ()  # left out for the papers' form
    truth: Ints

    @cached_property
    def columns(self) -> Ints:
        """How many columns each question names; 0 where that is not looked at."""
        return np.array([len(each) for each in self.asked or [()] * len(self.wheres)])

    def mean_error(self, answers: Floats) -> float:
        return float(np.abs(answers - self.truth).mean())


def questions_of(people: People, number: int = NUMBER, seed: int = 0) -> Questions:
    """Random questions with their true counts; the same for the same seed."""
    coins = np.random.default_rng(seed)
    drawn = [_question(people, coins) for _ in range(number)]
    wheres = tuple(" AND ".join(text for text, _ in each) for each in drawn)
    asked = tuple(tuple(part for _, part in each) for each in drawn)
    return Questions(people=people, wheres=wheres, asked=asked, truth=true_counts(people.rows, wheres))


def papers_form(people: People, number: int = NUMBER) -> Questions:
    """Up to seven quasi-identifiers and the sensitive column, of whose combinations 1 % match; somebody does."""
    wheres, truth = random_queries(people.rows, people.sensitive, number, values_of=at_least)
    return Questions(people=people, wheres=tuple(wheres), truth=truth)


def _question(people: People, coins: np.random.Generator) -> list[tuple[str, Asked]]:
    columns = len(people.sizes)
    chosen = coins.choice(columns, coins.integers(1, min(MOST_COLUMNS, columns) + 1), replace=False)
    return [_part(people, column, coins) for column in sorted(chosen.tolist())]


def _part(people: People, column: int, coins: np.random.Generator) -> tuple[str, Asked]:
    """A random condition on one column, whose values are its cells."""
    own, size = people.taxonomies[column], people.sizes[column]
    domain = people.schema.domains[own.name]
    weights = np.zeros(size)
    if isinstance(domain, Integers):
        low, high = np.sort(coins.integers(0, size, 2)).tolist()
        weights[low : high + 1] = 1
        return between(own.name, domain.low + low, domain.low + high), ((column,), weights)
    number = 1 if coins.integers(2) else max(1, size // 2)
    weights[coins.choice(size, number, replace=False)] = 1
    values = [value for value, met in zip(domain, weights, strict=True) if met and value is not None]
    return among(own.name, values), ((column,), weights)


def _values(people: People, name: str) -> pa.Array:
    return pa.array(list(people.schema.domains[name]), people.rows[name].type)


def _adult() -> People:
    """The complete training rows."""
    return People(rows=adult(DATA).table.select(ADULT), sensitive="occupation", ordered=("age",))


def _census() -> People:
    rows = pq.read_table(DATA / "census_occ.parquet", columns=list(CENSUS))
    return People(rows=rows, sensitive="Occupation", ordered=("Age",))


def _made_up(name: str, *ordered: str) -> People:
    rows, sensitive = MADE_UP[name][0](), MADE_UP[name][1]
    for column in ordered:
        rows = rows.set_column(rows.column_names.index(column), column, rows[column].cast(pa.int64()))
    return People(rows=rows, sensitive=sensitive, ordered=ordered)


PEOPLE: Mapping[str, Callable[[], People]] = {
    "Adult": _adult,
    "census_occ": _census,
    "hospital": partial(_made_up, "hospital", "age"),
    "employees": partial(_made_up, "employees", "age", "served"),
    "households": partial(_made_up, "households", "head"),
}
