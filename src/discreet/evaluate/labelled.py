"""Tables with taxonomies and a class, for experiments with classifiers and range counts.

For experiments only: the lists of values are read off the tables, which no release may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from discreet.datasets.census import AGES, synthetic_census
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.hierarchy import read_hierarchy
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy, taxonomy_of

GAINS = (0, 1, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10_000, 15_000, 20_000, 30_000, 50_000, 100_000)
LOSSES = (0, 1, 500, 1000, 1250, 1500, 1750, 2000, 2250, 2500, 3000, 4000, 5000)
CENSUS = ("Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Country", "Household", "Income")
HIERARCHIES = "hierarchies"
GROUP = 5  # neighbours of a list without a hierarchy, in the synthetic table

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows, the domain of every column, and which column is the class."""

    table: pa.Table
    domains: dict[str, Domain]
    target: str

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.column_names if name != self.target)

    def taxonomies(self) -> tuple[Taxonomy, ...]:
        schema = Schema(quasi_identifiers=self.attributes, sensitive=self.target, domains=self.domains)
        return tuple(taxonomy_of(schema, name) for name in self.attributes)

    def codes(self, name: str) -> Ints:
        """The place of each row's value in its column's domain."""
        values = pa.array(list(self.domains[name]), self.table[name].type)
        found = pc.index_in(self.table[name].combine_chunks(), values)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Halves:
    """Two thirds of the rows, to be published, and one third, to be classified; `codes` are those of the first."""

    source: Labelled
    train: Rows
    test: Rows
    codes: dict[str, Ints]


def halve(source: Labelled, coins: np.random.Generator) -> Halves:
    """A random two thirds and the rest, as cells of taxonomies."""
    taxonomies = source.taxonomies()
    codes = {name: source.codes(name) for name in source.table.column_names}
    order = coins.permutation(len(source.table))
    cut = len(source.table) * 2 // 3
    classes = len(source.domains[source.target])
    parts = []
    for chosen in (order[:cut], order[cut:]):
        cells = tuple(each.cell_of[codes[each.name][chosen]] for each in taxonomies)
        parts.append(Rows(cells, codes[source.target][chosen], taxonomies, classes))
    return Halves(source, parts[0], parts[1], {name: own[order[:cut]] for name, own in codes.items()})


def adult(folder: Path) -> Labelled:
    """The 30,162 complete training rows of Adult; hierarchies from ARX's files where the folder has them."""
    whole = pq.read_table(folder / "adult_full.parquet")
    rows = whole.filter(pc.equal(whole["split"], "train")).drop_columns(["split", "fnlwgt"])
    for name in rows.column_names:
        if not pa.types.is_integer(rows[name].type):
            rows = rows.filter(pc.not_equal(rows[name], "?"))
    domains: dict[str, Domain] = {
        "age": Integers(low=17, high=90),
        "education-num": Integers(low=1, high=16),
        "hours-per-week": Integers(low=1, high=99),
        "capital-gain": binned(GAINS, (0, 1, 5000, 10_000)),
        "capital-loss": binned(LOSSES, (0, 1, 1500, 2000)),
    }
    for name in rows.column_names:
        if name not in domains:
            domains[name] = _listed(rows, name, folder / HIERARCHIES / f"adult_hierarchy_{name}.csv")
    return Labelled(rows, domains, "income")


def census(folder: Path) -> Labelled:
    """Census-Income, persons with an occupation; the class is the major group of occupations."""
    rows = pq.read_table(folder / "census_occ.parquet", columns=[*CENSUS, "OccupationMajor"])
    domains: dict[str, Domain] = {"Age": Integers(low=15, high=90)}
    domains |= {name: Listed(values=_values(rows, name)) for name in rows.column_names if name not in domains}
    return Labelled(rows, domains, "OccupationMajor")


def synthetic(rows: int) -> Labelled:
    """People who do not exist; the class is Gender, and long lists have groups of neighbours above them."""
    table = synthetic_census(rows)
    domains: dict[str, Domain] = {"Age": Integers(low=AGES[0], high=AGES[-1])}
    for name in table.column_names:
        if name not in domains:
            values = _values(table, name)
            paths = tuple((str(each), f"{name} {place // GROUP}", "*") for place, each in enumerate(values))
            domains[name] = Listed(values=values, paths=paths if len(values) > 2 * GROUP else ())
    return Labelled(table, domains, "Gender")


def binned(edges: Sequence[int], coarse: Sequence[int]) -> Integers:
    """Whole numbers with declared bins and wider bins above them."""

    def label(value: int, marks: Sequence[int]) -> str:
        low = max(mark for mark in marks if mark <= value)
        high = min(mark for mark in (*marks, edges[-1]) if mark > low) - 1
        return f"{low}-{high}"

    paths = [(str(value), label(value, edges), label(value, coarse), "*") for value in range(edges[-1])]
    return Integers(low=0, high=edges[-1] - 1, paths=tuple(paths))


def _listed(rows: pa.Table, name: str, file: Path) -> Listed:
    """The values of a column, under the hierarchy of a file if there is one."""
    values = _values(rows, name)
    if not file.exists():
        return Listed(values=values)
    paths = {path[0]: path for path in read_hierarchy(file)}
    paths.setdefault("Holand-Netherlands", ("Holand-Netherlands", "Europe", "*"))  # the file misses this country
    return Listed(values=values, paths=tuple(paths[value] for value in values))


def _values(rows: pa.Table, name: str) -> tuple[str, ...]:
    return tuple(sorted(pc.unique(rows[name]).to_pylist()))
