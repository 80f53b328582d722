"""A release of leaves and tables that answers."""

from __future__ import annotations

import numpy as np

from discreet.errors import ReleaseError
from discreet.estimate.diffgen.draw import codes_of, draw_cells
from discreet.estimate.diffgen.leaves import LeafModel
from discreet.estimate.diffgen.noisy import NoisyRelease
from discreet.estimate.learned import learned
from discreet.estimate.shown_rows import Cells
from discreet.ground.arrays import Floats, Ints
from discreet.guarantee.classic.classes import Classes, classes_of
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.manifest import DiffGenManifest
from discreet.release.diffgen.registry import CHOSEN, GUIDED, Used
from discreet.release.diffgen.tables import LeafTables, read_leaves

MOST_LEVELS = 1_001  # counts on a record's path


class DiffGenRelease(NoisyRelease):
    """Noisy leaves and tables that agree with each other."""

    _manifest: DiffGenManifest

    @property
    def size(self) -> int:
        """How many noisy counts of leaves there are, one for each class: the number of people is not released."""
        return self._manifest.statement.numbers.leaves

    @property
    def target(self) -> str:
        """The class that leaves tell apart."""
        return self.tables.target

    @property
    def total(self) -> float:
        return float(self.tables.leaves.sum()) / UNIT

    @property
    def used(self) -> Used:
        return GUIDED if self._manifest.statement.mechanism.guide == "histogram" else CHOSEN

    @learned
    def tables(self) -> LeafTables:
        """Leaves and tables, read with the first question."""
        return read_leaves(self._manifest)

    @learned
    def model(self) -> LeafModel:
        """How people are spread over and inside leaves, with what each part of the release cost."""
        statement = self._manifest.statement
        guarantee, levels = statement.guarantee, statement.numbers.levels
        if not guarantee.counts_cost or not 1 <= levels <= MOST_LEVELS:
            raise ReleaseError("the guarantee must have parts that paid for what was counted; verify says more")
        return LeafModel(self.tables, guarantee, levels, weighed=statement.mechanism.consistency == "exact")

    def believed(self, known: Cells) -> Floats:
        """How many people of each sensitive value the leaves have, whose known columns are a record's."""
        values = len(self.schema.domains[self.schema.sensitive])
        if self.schema.sensitive == self.target:
            return self._people(known)
        rows = len(next(iter(known.values())))
        each = [self._people({**known, self.schema.sensitive: np.full(rows, value)}) for value in range(values)]
        return np.stack([found.sum(axis=1) for found in each], axis=1)

    def _people(self, known: Cells) -> Floats:
        """Of each class (columns), the people of a record's leaf that the tables put into its cells; of columns that
        are not known, all of them.
        """
        found, model = self.tables, self.model
        leaves, rows = model.leaves, len(next(iter(known.values())))
        shares, axes = np.ones((rows, leaves.shape[-1])), list[Ints]()
        for place, (taxonomy, groups) in enumerate(zip(found.taxonomies, found.groups, strict=True)):
            if taxonomy.name not in known:
                leaves = leaves.sum(axis=len(axes)) if place in model.axes else leaves
                continue
            cell = taxonomy.cell_of[known[taxonomy.name]]
            shares *= self._inside(place)[cell]
            if place in model.axes:
                axes.append(groups[cell])
        counted: Floats = shares * leaves[tuple(axes)]
        if found.target in known:
            counted = counted * (np.asarray(known[found.target])[:, None] == np.arange(leaves.shape[-1]))
        return counted

    def _inside(self, place: int) -> Floats:
        """The share of a leaf's people who have one value of a cell: as the table has them, even inside the cell."""
        groups, sizes = self.tables.groups[place], self.tables.taxonomies[place].sizes[:, None]
        sums = self.model.sums[place][groups]
        even = sizes / np.bincount(groups, weights=sizes[:, 0])[groups][:, None]
        share = np.divide(self.model.tables[place], sums, out=np.broadcast_to(even, sums.shape).copy(), where=sums > 0)
        return np.asarray(share / sizes)

    def classes(self) -> Classes:
        """Its leaves as classes, by the class that they tell apart; what they hold is noisy counts, rounded."""
        self._check_open()
        found = self.tables
        counts = (found.leaves.reshape(-1, found.leaves.shape[-1]) + UNIT // 2) // UNIT
        leaf, value = np.indices(counts.shape).reshape(2, -1)
        domain = self.schema.domains[found.target]
        return classes_of(
            leaf,
            value,
            counts.ravel(),
            kind="leaves",
            note=f"counts of leaves by {found.target} are noisy, never negative, and rounded to whole numbers here: "
            "what is measured is of them, not of people",
            ordered=domain.in_order and not domain.missing,
        )

    def draw(self, n: int, coins: np.random.Generator) -> dict[str, Ints]:
        found = self.tables
        cells, classes = draw_cells(found, n, coins)
        codes = {
            each.name: codes_of(own, each.cell_of, coins) for each, own in zip(found.taxonomies, cells, strict=True)
        }
        return {**codes, found.target: classes}
