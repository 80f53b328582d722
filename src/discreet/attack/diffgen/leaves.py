"""The published counts of leaves and tables, as one sees them who knows all records.

They were fitted to each other, cut at 0 and rounded, so the noise that was drawn cannot be read off them, and no exact
log ratio either. What is left is how far each published count is from the true one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attack.target import Target
from discreet.ground.arrays import Floats, Ints
from discreet.guarantee.spent import For
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.tables import LeafTables, read_leaves

if TYPE_CHECKING:
    from discreet.release.diffgen.manifest import DiffGenManifest


@dataclass(frozen=True, eq=False, kw_only=True)
class Published:
    """Counts of which a record is in one: the published ones less the true ones."""

    share: float  # of epsilon, that was paid for counts of this kind
    place: int  # among the counts that a record is in: the leaves, then each attribute's table
    off: Floats = field(repr=False)

    def leaning(self, cell: Ints, *, more: bool) -> Floats:
        """How much it speaks for records: from the share to its negative; half a person off speaks for neither side."""
        offset = self.off[cell] + (-0.5 if more else 0.5)
        found: Floats = self.share * np.clip(2 * offset, -1.0, 1.0)
        return found


def published_of(target: Target) -> tuple[Published, ...]:
    """The leaves, and each table of an attribute, beside the true counts."""
    guarantee = target.manifest.statement.guarantee
    again = float(guarantee.share(For.AGAIN) or 0)
    paid = {part.column: float(part.share) for part in guarantee.parts if part.paid is For.TABLE}
    tables = sum(paid.values())
    found = [_beside(target, float(guarantee.share(For.LEAVES) or 0), 0)]
    for place, name in enumerate(_columns(target), start=1):
        own = paid.get(name, 0.0)
        found.append(_beside(target, own * (1 + again / tables) if own else 0.0, place))
    return tuple(each for each in found if each.share > 0)


def cells_of(target: Target, codes: Mapping[str, Ints]) -> list[Ints]:
    """For records: the count of the leaves that each is in, and of every attribute's table."""
    tables = target.once(_tables)
    own, classes = codes[tables.target], tables.leaves.shape[-1]
    leaf = np.zeros(len(own), dtype=np.int64)
    found = []
    for taxonomy, values, groups in zip(tables.taxonomies, tables.values, tables.groups, strict=True):
        cell = taxonomy.cell_of[codes[taxonomy.name]]
        leaf = leaf * len(values) + groups[cell]
        found.append(cell * classes + own)
    return [leaf * classes + own, *found]


def _beside(target: Target, share: float, place: int) -> Published:
    tables = target.once(_tables)
    counts = (tables.leaves, *tables.tables)[place].ravel() / UNIT
    cell = target.once(_cells)[place]
    return Published(share=share, place=place, off=counts - np.bincount(cell, minlength=len(counts)))


def _cells(target: Target) -> list[Ints]:
    return cells_of(target, target.codes)


def _columns(target: Target) -> list[str]:
    return [each.name for each in target.once(_tables).taxonomies]


def _tables(target: Target) -> LeafTables:
    return read_leaves(cast("DiffGenManifest", target.manifest))
