"""Tables with taxonomies and a class, for experiments with classifiers and range counts.

For experiments only: the lists of values are read off the tables, which no release may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.datasets.census import AGES, synthetic_census
from discreet.ground.arrays import Ints
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.hierarchy import read_hierarchy
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy, taxonomy_of

GAINS = (0, 1, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10_000, 15_000, 20_000, 30_000, 50_000, 100_000)
LOSSES = (0, 1, 500, 1000, 1250, 1500, 1750, 2000, 2250, 2500, 3000, 4000, 5000)
CENSUS = ("Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Country", "Household", "Income")
HIERARCHIES = "hierarchies"
GROUP = 5  # neighbours of a list without a hierarchy, in the synthetic table


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows, the domain of every column, and which column is the class."""

    table: pa.Table
    domains: dict[str, Domain]
    target: str

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.column_names if name != self.target)

    @cached_property
    def schema(self) -> Schema:
        return Schema(quasi_identifiers=self.attributes, sensitive=self.target, domains=self.domains)

    @cached_property
    def taxonomies(self) -> tuple[Taxonomy, ...]:
        return tuple(taxonomy_of(self.schema, name) for name in self.attributes)

    def codes(self, rows: pa.Table, name: str) -> Ints:
        """The place of each row's value in its column's domain."""
        values = pa.array(list(self.domains[name]), rows[name].type)
        found = pc.index_in(rows[name].combine_chunks(), values)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)

    def coded(self, rows: pa.Table) -> Coded:
        """Rows as cells of the taxonomies, and their classes."""
        cells = tuple(each.cell_of[self.codes(rows, each.name)] for each in self.taxonomies)
        return Coded(cells=cells, classes=self.codes(rows, self.target))


@dataclass(frozen=True, eq=False, kw_only=True)
class Coded:
    """For each attribute the cell of each row, and the class of each row."""

    cells: tuple[Ints, ...]
    classes: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Halves:
    """Two thirds of the rows, to be published, and one third, to be classified."""

    source: Labelled
    train: pa.Table
    test: pa.Table

    @cached_property
    def tests(self) -> Coded:
        return self.source.coded(self.test)


def halve(source: Labelled, coins: np.random.Generator) -> Halves:
    """A random two thirds and the rest."""
    order = coins.permutation(len(source.table))
    cut = len(source.table) * 2 // 3
    return Halves(source=source, train=source.table.take(order[:cut]), test=source.table.take(order[cut:]))


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
        "capital-gain": bins(GAINS, (0, 1, 5000, 10_000)),
        "capital-loss": bins(LOSSES, (0, 1, 1500, 2000)),
    }
    for name, edges in (("capital-gain", GAINS), ("capital-loss", LOSSES)):
        rows = rows.set_column(rows.column_names.index(name), name, binned(rows[name], edges))
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


def synthetic(rows: int, seed: int = 0) -> Labelled:
    """People who do not exist; the class is Gender, and long lists have groups of neighbours above them."""
    table = synthetic_census(rows, seed)
    domains: dict[str, Domain] = {"Age": Integers(low=AGES[0], high=AGES[-1])}
    for name in table.column_names:
        if name not in domains:
            values = _values(table, name)
            paths = tuple((str(each), f"{name} {place // GROUP}", "*") for place, each in enumerate(values))
            domains[name] = Listed(values=values, paths=paths if len(values) > 2 * GROUP else ())
    return Labelled(table, domains, "Gender")


def bins(edges: Sequence[int], coarse: Sequence[int]) -> Listed:
    """Declared bins of whole numbers, from each edge to the next, and wider ones above them; `coarse` are edges too."""
    wide = _labels((*coarse, edges[-1]))
    paths = tuple(
        (label, wide[sum(edge <= low for edge in coarse) - 1], "*")
        for low, label in zip(edges, _labels(edges), strict=False)
    )
    return Listed(values=_labels(edges), paths=paths)


def binned(column: pa.ChunkedArray, edges: Sequence[int]) -> pa.Array:
    """The label of the bin of each number."""
    numbers = column.combine_chunks().to_numpy(zero_copy_only=False)
    return pa.array(_labels(edges)).take(pa.array(np.searchsorted(edges, numbers, side="right") - 1))


def _labels(edges: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{low}-{high - 1}" for low, high in pairwise(edges))


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
