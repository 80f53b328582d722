"""Deciding predicates: where each is true and where false, for the values of a column or the rows of a relation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import listing, position
from discreet.engine.encoding import Encoding
from discreet.ground.arrays import Bools
from discreet.query.condition import Atom

if TYPE_CHECKING:
    from discreet.engine.duck.database import Database

Decided = tuple[Bools, Bools | None]  # where true, and where false; None: wherever it is not true
_TOGETHER = 64  # predicates decided in one pass
_UNKNOWN = 2  # neither true (1) nor false (0)


def decide_values(atoms: Sequence[Atom], column: str, values: Encoding, engine: Database) -> dict[Atom, Decided]:
    """Each predicate on one column, for each of its values in order.

    Membership in a list is looked up here; everything else is evaluated by the engine, so SQL's own rules apply.
    """
    found: dict[Atom, Decided] = {}
    for atom in atoms:
        if atom.listed is not None:
            true = np.fromiter((value in atom.listed for value in values), dtype=np.bool_, count=len(values))
            known = np.fromiter((value is not None for value in values), dtype=np.bool_, count=len(values))
            found[atom] = (true, known & ~true if values.missing else None)
    rest = [atom for atom in atoms if atom not in found]
    found.update(decide_rows(rest, listing(column, values), engine, order=position(column)))
    return found


def decide_rows(
    atoms: Sequence[Atom], relation: str, engine: Database, order: str = ""
) -> Iterator[tuple[Atom, Decided]]:
    """Each predicate for each row of a relation, in its order or the one given."""
    by = f" ORDER BY {order}" if order else ""
    for start in range(0, len(atoms), _TOGETHER):
        some = atoms[start : start + _TOGETHER]
        flags = ", ".join(f"coalesce(({atom.sql})::UTINYINT, {_UNKNOWN}) AS t{i}" for i, atom in enumerate(some))
        answer = engine.arrow(f"SELECT {flags} FROM {relation}{by}")
        for i, atom in enumerate(some):
            column = numbers(answer[f"t{i}"])
            yield atom, (column == 1, column == 0 if (column == _UNKNOWN).any() else None)
