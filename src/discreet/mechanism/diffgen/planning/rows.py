"""The sensitive rows as cells of the taxonomies, and what is counted of them exactly before any noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Ints
from discreet.schema.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Rows:
    """The sensitive rows: for each attribute the cell of each row, and the class of each row."""

    cells: tuple[Ints, ...]
    classes: Ints
    taxonomies: tuple[Taxonomy, ...]
    number_of_classes: int

    def table(self, position: int) -> Ints:
        """One attribute x class table, exactly."""
        size = len(self.taxonomies[position]) * self.number_of_classes
        found = np.bincount(self.cells[position] * self.number_of_classes + self.classes, minlength=size)
        return found.reshape(-1, self.number_of_classes)
