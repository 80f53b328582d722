"""The tables that the papers' experiments run on: real ones where they are at hand, a synthetic census otherwise.

The papers' own CENSUS extract (500,000 rows) is not public. Where a folder holds `census_occ.parquet` and
`census_occ_all.parquet` (UCI's Census-Income; discreet.datasets.download makes them), OCC is the occupation of persons
who have one and EDU the education of all persons; `adult_full.parquet` is UCI's Adult.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.datasets.census import synthetic_census
from discreet.errors import TableError
from discreet.evaluate.labelled import HIERARCHIES, Labelled, adult, synthetic
from discreet.evaluate.reproduce.seeds import Seeds

QUASI_IDENTIFIERS = ("Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Country")
FILES = {"OCC": ("census_occ.parquet", "Occupation"), "EDU": ("census_occ_all.parquet", "Education")}
ADULT = "adult_full.parquet"
ADULT_COLUMNS = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country", "income",
)  # fmt: skip
ADULT_ROWS, QUICK_ADULT = 30_162, 2_000
SYNTHETIC_ROWS = 300_000
QUICK_ROWS = 20_000
WHOSE = {"OCC": "the occupation of {} persons who have one", "EDU": "the education of {} persons"}
_NOT_PUBLIC = "the papers' own 500,000-row extract is not public"


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where tables come from: a folder of real ones, or None for the synthetic census. `seeds` notes what is drawn."""

    folder: Path | None
    quick: bool
    seeds: Seeds = field(default_factory=Seeds, compare=False)

    def _path(self, name: str) -> Path:
        """A file of the folder; raises TableError where it is not there."""
        if self.folder is None or not (self.folder / name).is_file():
            raise TableError(f"data ({self.folder}) must hold {name}; discreet.datasets.download makes it")
        return self.folder / name

    def words(self, *names: str) -> str:
        """Whose rows the numbers come from, and how many of how many, for a page; of all of FILES unless named."""
        wanted = names or tuple(FILES)
        if self.folder is None:
            return (
                f"a synthetic census of {self._census_rows:,} people with the papers' domain sizes and frequency ends"
                f"{f' (a full run has {SYNTHETIC_ROWS:,})' if self.quick else ''}; {_NOT_PUBLIC}"
            )
        told = [f"{name} is {WHOSE[name].format(self._used(name))}" for name in wanted]
        return f"UCI Census-Income: {', '.join(told)}; {_NOT_PUBLIC}"

    @property
    def _census_rows(self) -> int:
        return QUICK_ROWS if self.quick else SYNTHETIC_ROWS

    @property
    def _adult_rows(self) -> int:
        return QUICK_ADULT if self.quick else ADULT_ROWS

    def _used(self, name: str) -> str:
        whole = pq.read_metadata(self._path(FILES[name][0])).num_rows
        return _part(min(QUICK_ROWS, whole) if self.quick else whole, whole)

    def _some(self, table: pa.Table, rows: int) -> pa.Table:
        """A random part in a quick run, else all."""
        if not self.quick or len(table) <= rows:
            return table
        coins = np.random.default_rng(self.seeds.take("which rows a quick run uses", 0))
        return table.take(coins.choice(len(table), rows, replace=False))

    def _synthetic(self, rows: int) -> pa.Table:
        return synthetic_census(rows, self.seeds.take("the synthetic census", 0))

    def _adult_complete(self) -> pa.Table:
        whole = pq.read_table(self._path(ADULT))
        found = whole.filter(pc.equal(whole["split"], "train")).drop_columns(["split"])
        for name in found.column_names:
            if pa.types.is_large_string(found[name].type) or pa.types.is_string(found[name].type):
                found = found.filter(pc.not_equal(found[name], "?"))
        return found

    def _adult_used(self) -> str:
        whole = len(self._adult_complete())
        return _part(min(QUICK_ADULT, whole) if self.quick else whole, whole)

    @property
    def adult_words(self) -> str:
        """The same for Adult."""
        if self.folder is None:
            return (
                f"a synthetic census of {self._adult_rows:,} people, as Adult is not at hand (--data names a folder "
                "with it)"
            )
        return f"UCI Adult, {self._adult_used()} complete rows of its training split, {len(ADULT_COLUMNS)} attributes"

    def adult(self) -> pa.Table:
        """The paper's Adult, or people who do not exist: every cell a text."""
        if self.folder is None:
            found = self._synthetic(self._adult_rows)
        else:
            found = self._some(self._adult_complete().select(ADULT_COLUMNS), QUICK_ADULT)
        return pa.table({name: pc.cast(found[name], pa.string()).combine_chunks() for name in found.column_names})

    @property
    def labelled_words(self) -> str:
        """The same for a table with taxonomies and a class."""
        if self.folder is None:
            return (
                f"a synthetic census of {self._adult_rows:,} people with Gender as the class, as Adult is not at hand "
                "(--data names a folder with it)"
            )
        known = (self.folder / HIERARCHIES).is_dir()
        return (
            f"UCI Adult, {self._adult_used()} complete rows of its training split, 13 attributes, income as the class, "
            + ("ARX's hierarchies" if known else "lists without hierarchies, as there is no folder of them")
        )

    def labelled(self) -> Labelled:
        """Adult with taxonomies and income as the class, or people who do not exist."""
        if self.folder is None:
            return synthetic(self._adult_rows, self.seeds.take("the synthetic census", 0))
        found = adult(self._path(ADULT).parent)
        return Labelled(self._some(found.table, QUICK_ADULT), found.domains, found.target)

    def sensitive(self, name: str) -> str:
        return FILES[name][1]

    def quasi_identifiers(self, name: str) -> tuple[str, ...]:
        """The papers' seven; education is one of them unless it is the sensitive attribute, then occupation is."""
        return (
            QUASI_IDENTIFIERS
            if name == "OCC"
            else tuple("Occupation" if each == "Education" else each for each in QUASI_IDENTIFIERS)
        )

    def table(self, name: str) -> pa.Table:
        """The rows of OCC or EDU with their quasi-identifiers, every cell a text."""
        columns = [*self.quasi_identifiers(name), self.sensitive(name)]
        if self.folder is None:
            found = self._synthetic(self._census_rows)
        else:
            found = self._some(pq.read_table(self._path(FILES[name][0]), columns=columns), QUICK_ROWS)
        cells = {each: pc.cast(found[each], pa.string()).combine_chunks() for each in columns}
        return pa.table({each: pc.fill_null(column, "?") for each, column in cells.items()})

    def histogram(self, name: str) -> dict[object, int]:
        """How often each sensitive value occurs, the rarest first."""
        counted = pc.value_counts(self.table(name)[self.sensitive(name)])
        pairs = [(each["values"], each["counts"]) for each in counted.to_pylist()]
        return dict(sorted(pairs, key=lambda pair: (pair[1], pair[0])))

    def scaled(self, name: str, rows: int) -> dict[object, int]:
        """The histogram of a bootstrap to that many rows: for runtime curves only."""
        counts = self.histogram(name)
        shares = np.array(list(counts.values())) / sum(counts.values())
        drawn = np.random.default_rng(self.seeds.take("histograms of so many rows", rows)).multinomial(rows, shares)
        return {value: max(1, int(count)) for value, count in zip(counts, drawn, strict=True)}


def _part(used: int, whole: int) -> str:
    return f"the {whole:,}" if used == whole else f"{used:,} of the {whole:,}"
