"""Looking people up by what is known of them: candidates among rows, and what these say of the sensitive value.

Symbols: a key stands for one combination of the columns that are known; c rows have it, and t people of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.attack.target import Target, codes_of
from discreet.estimate.shown_rows import Believes, Cells, Evidence, ShownRows, ShowsRows
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.keys import keys_of

if TYPE_CHECKING:
    from discreet.table.table import Table

NO_ROWS = "no row of this release is about a person"
NOTHING_SAID = "this kind of release does not say what it tells of a person"
_AT_ONCE = 20_000  # records of which it is asked together what a release without rows says
NOTHING = -1


@dataclass(frozen=True, kw_only=True)
class Known:
    """Records of an outsider: the columns that he has, and of everybody the codes of these."""

    names: tuple[str, ...]
    codes: Cells = field(repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))


@dataclass(frozen=True, kw_only=True)
class Guess:
    """For each record the value that most speaks for, and its part of all that speaks; NOTHING where nothing does."""

    value: Ints
    belief: Floats


def known_of(target: Target, table: Table | None = None) -> Known:
    """What an outsider knows: the outside table's columns, or at worst every published quasi-identifier.

    `table` names people of whom he knows the same columns.
    """
    source = target.known if target.outside is None else target.outside
    names = tuple(name for name in target.schema.quasi_identifiers if name in source.schema.columns)
    whose = source if table is None else table
    codes = target.codes if whose is target.table else codes_of(whose)
    return Known(names=names, codes={name: codes[name] for name in names})


def rows_of(target: Target) -> ShownRows | None:
    """The rows about people that an outsider reads; None where there are none."""
    return target.release.shown_rows[0] if isinstance(target.release, ShowsRows) else None


def packed(*sides: Cells, names: tuple[str, ...]) -> list[Ints]:
    """One number for each combination of some columns, the same on every side; a view of millions is not sorted."""
    sizes = [max(int(side[name].max(initial=0)) for side in sides) + 1 for name in names]
    if prod(sizes) >= 2**62:
        return keys_of(*sides, names=names)
    found = []
    for side in sides:
        key = np.zeros(len(side[names[0]]), dtype=np.int64)
        for name, size in zip(names, sizes, strict=True):
            key *= size
            key += side[name]
        found.append(key)
    return found


def matched(one: Cells, other: Cells, names: tuple[str, ...]) -> tuple[Ints, Ints]:
    """Dense keys of one side, and those of the other; NOTHING for what is like nobody of the first."""
    first, second = packed(one, other, names=names)
    keys, inverse = np.unique(first, return_inverse=True)
    place = np.minimum(np.searchsorted(keys, second), len(keys) - 1)
    return inverse, np.where(keys[place] == second, place, NOTHING)


def candidates(known: Known, rows: ShownRows) -> Ints:
    """How many rows each record may be."""
    person, row = matched(known.codes, rows.codes, known.names)
    return np.asarray(np.bincount(row[row != NOTHING], minlength=len(person))[person], dtype=np.int64)


def there(table: Cells, rows: ShownRows) -> Bools:
    """Whether some row is like a person of the table in all that it shows."""
    person, row = matched(table, rows.codes, tuple(rows.codes))
    return np.isin(person, row)


def right_links(known: Known, table: Cells, found: Ints, own: Bools) -> Floats:
    """How probable it is that one candidate, drawn evenly, is the person's own row; 0 where there is none.

    A record is any of the t people of the table who are like it: it is right with the share of them whose row is
    there, over c.
    """
    record, person = matched(known.codes, table, known.names)
    inside = person != NOTHING
    people = np.bincount(person[inside], minlength=len(record))
    share = np.bincount(person[inside], own[inside], minlength=len(record)) / np.maximum(people, 1)
    return np.asarray(np.where(found > 0, share[record] / np.maximum(found, 1), 0.0))


def pooled(known: Known, rows: ShownRows, evidence: Callable[[Ints], Evidence], values: int) -> Guess:
    """The value for which the candidates of each record speak most; of several, the first in the domain."""
    person, row = matched(known.codes, rows.codes, known.names)
    some = np.flatnonzero(row != NOTHING)
    said = evidence(some)
    cells, inverse = np.unique(row[some][said.row] * values + said.value, return_inverse=True)
    weight = np.bincount(inverse, said.weight)
    key, value = np.divmod(cells, values)
    order = np.lexsort((value, -weight.round(9), key))
    best = order[np.diff(key[order], prepend=-1) > 0]
    whole = np.bincount(key, weight, minlength=len(person))
    guess, belief = np.full(len(person), NOTHING), np.zeros(len(person))
    guess[key[best]], belief[key[best]] = value[best], weight[best] / whole[key[best]]
    return Guess(value=guess[person], belief=belief[person])


def told(known: Known, release: Believes) -> Guess | None:
    """The value that a release without rows holds for the most probable one; None where it cannot tell."""
    (key,) = keys_of(known.codes, names=known.names)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    guess, belief = np.full(len(first), NOTHING), np.zeros(len(first))
    for start in range(0, len(first), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        found = release.believed({name: codes[first[some]] for name, codes in known.codes.items()})
        if found is None:
            return None
        whole = found.sum(axis=1)
        guess[some] = np.where(whole > 0, found.argmax(axis=1), NOTHING)
        belief[some] = np.divide(found.max(axis=1), whole, out=np.zeros(len(whole)), where=whole > 0)
    return Guess(value=guess[inverse], belief=belief[inverse])


def guesses(target: Target, known: Known) -> Guess | None:
    """What the release makes an outsider guess of each record."""
    release = target.release
    values = len(target.schema.domains[target.schema.sensitive])
    if isinstance(release, ShowsRows):
        return pooled(known, release.shown_rows[0], release.evidence, values)
    return told(known, release) if isinstance(release, Believes) else None
