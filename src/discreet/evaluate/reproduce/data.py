"""The tables that the papers' experiments run on: real ones where they are at hand, a synthetic census otherwise.

The papers' own CENSUS extract (500,000 rows) is not public. Where a folder holds `census_occ.parquet` and
`census_occ_all.parquet` (UCI's Census-Income; discreet.datasets.download makes them), OCC is the occupation of persons
who have one and EDU the education of all persons; `adult_full.parquet` is UCI's Adult.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.datasets.census import synthetic_census
from discreet.errors import TableError
from discreet.evaluate.labelled import HIERARCHIES, Labelled, adult, synthetic

QUASI_IDENTIFIERS = ("Age", "Gender", "Education", "Marital", "Race", "WorkClass", "Country")
FILES = {"OCC": ("census_occ.parquet", "Occupation"), "EDU": ("census_occ_all.parquet", "Education")}
ADULT = "adult_full.parquet"
ADULT_COLUMNS = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country", "income",
)  # fmt: skip
ADULT_ROWS, QUICK_ADULT = 30_162, 2_000
SYNTHETIC_ROWS = 300_000
QUICK_ROWS = 20_000


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where tables come from: a folder of real ones, or None for the synthetic census."""

    folder: Path | None
    quick: bool

    def _path(self, name: str) -> Path:
        """A file of the folder; raises TableError where it is not there."""
        if self.folder is None or not (self.folder / name).is_file():
            raise TableError(f"data ({self.folder}) must hold {name}; discreet.datasets.download makes it")
        return self.folder / name

    @property
    def words(self) -> str:
        """Where the numbers come from, for a page."""
        if self.folder is None:
            rows = QUICK_ROWS if self.quick else SYNTHETIC_ROWS
            return (
                f"a synthetic census of {rows:,} people with the papers' domain sizes and frequency ends; the papers' "
                "own 500,000-row extract is not public"
            )
        return (
            "UCI Census-Income: OCC is the occupation of the 148,318 persons who have one (46 values), EDU the "
            "education of all 299,285 (17 values); the papers' own 500,000-row extract is not public"
        )

    @property
    def adult_words(self) -> str:
        """The same for Adult."""
        if self.folder is None:
            rows = QUICK_ADULT if self.quick else ADULT_ROWS
            return f"a synthetic census of {rows:,} people, as Adult is not at hand (--data names a folder with it)"
        return "UCI Adult, the 30,162 complete rows of its training split, nine attributes, as in the paper" + (
            f"; {QUICK_ADULT:,} of them" if self.quick else ""
        )

    def adult(self) -> pa.Table:
        """The paper's Adult, or people who do not exist: every cell a text."""
        if self.folder is None:
            found = synthetic_census(QUICK_ADULT if self.quick else ADULT_ROWS)
        else:
            whole = pq.read_table(self._path(ADULT))
            found = whole.filter(pc.equal(whole["split"], "train")).drop_columns(["split"])
            for name in found.column_names:
                if pa.types.is_large_string(found[name].type) or pa.types.is_string(found[name].type):
                    found = found.filter(pc.not_equal(found[name], "?"))
            found = found.select(ADULT_COLUMNS)
            if self.quick:
                found = found.take(np.random.default_rng(0).choice(len(found), QUICK_ADULT, replace=False))
        return pa.table({name: pc.cast(found[name], pa.string()).combine_chunks() for name in found.column_names})

    @property
    def labelled_words(self) -> str:
        """The same for a table with taxonomies and a class."""
        if self.folder is None:
            rows = QUICK_ADULT if self.quick else ADULT_ROWS
            return (
                f"a synthetic census of {rows:,} people with Gender as the class, as Adult is not at hand (--data "
                "names a folder with it)"
            )
        known = (self.folder / HIERARCHIES).is_dir()
        return (
            "UCI Adult, the 30,162 complete rows of its training split, 13 attributes, income as the class, "
            + ("ARX's hierarchies" if known else "lists without hierarchies, as there is no folder of them")
            + (f"; {QUICK_ADULT:,} of the rows" if self.quick else "")
        )

    def labelled(self) -> Labelled:
        """Adult with taxonomies and income as the class, or people who do not exist."""
        if self.folder is None:
            return synthetic(QUICK_ADULT if self.quick else ADULT_ROWS)
        found = adult(self._path(ADULT).parent)
        if not self.quick:
            return found
        some = np.random.default_rng(0).choice(len(found.table), QUICK_ADULT, replace=False)
        return Labelled(found.table.take(some), found.domains, found.target)

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
            found = synthetic_census(QUICK_ROWS if self.quick else SYNTHETIC_ROWS)
        else:
            found = pq.read_table(self._path(FILES[name][0]), columns=columns)
            if self.quick:
                found = found.take(np.random.default_rng(0).choice(len(found), QUICK_ROWS, replace=False))
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
        drawn = np.random.default_rng(rows).multinomial(rows, shares)
        return {value: max(1, int(count)) for value, count in zip(counts, drawn, strict=True)}
