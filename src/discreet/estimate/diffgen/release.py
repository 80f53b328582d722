"""A release of leaves and tables that answers."""

from __future__ import annotations

import numpy as np

from discreet.errors import ReleaseError
from discreet.estimate.diffgen.draw import codes_of, draw_cells
from discreet.estimate.diffgen.leaves import LeafModel
from discreet.estimate.diffgen.noisy import NoisyRelease
from discreet.estimate.learned import learned
from discreet.ground.arrays import Ints
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

    def draw(self, n: int, coins: np.random.Generator) -> dict[str, Ints]:
        found = self.tables
        cells, classes = draw_cells(found, n, coins)
        codes = {
            each.name: codes_of(own, each.cell_of, coins) for each, own in zip(found.taxonomies, cells, strict=True)
        }
        return {**codes, found.target: classes}
