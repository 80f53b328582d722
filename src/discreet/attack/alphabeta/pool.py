"""Tuples as a custodian sees them: which of them a view shows, and which of them the table has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attack.target import Codes, Target
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.keys import keys_of
from discreet.release.alphabeta.manifest import EARLIER, VIEW

if TYPE_CHECKING:
    from discreet.attack.alphabeta.posterior import Promise
    from discreet.estimate.alphabeta.release import AlphaBetaRelease
    from discreet.estimate.release import Release

IMPOSSIBLE = "its probabilities are none under which truth is likelier than noise"


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Every tuple that a view shows or the table has, once each.

    `shown` says in how many slots, or in FRAPP how many times; `before` whether an earlier view showed it; `copies` how
    many rows of the table are this tuple.
    """

    codes: Codes = field(repr=False)
    shown: Ints = field(repr=False)
    before: Bools = field(repr=False)
    copies: Ints = field(repr=False)

    @property
    def real(self) -> Bools:
        found: Bools = self.copies > 0
        return found


def promise_of(target: Target) -> Promise:
    """What the release promises."""
    return cast("Promise", target.manifest.statement.guarantee)


def view_number(target: Target) -> int:
    """Which of its series' views the release is."""
    return int(target.manifest.statement.numbers.view)


def domain_of(target: Target) -> int:
    """m: how many tuples there are, slots apart."""
    return target.schema.tuples


def pool_of(target: Target) -> Pool:
    """The tuples of the release and of the table."""
    several = promise_of(target).slots == 1 and target.manifest.statement.mechanism.views > 1
    view = tuples_in(target.release, VIEW)
    earlier = tuples_in(target.release, EARLIER) if several else {name: column[:0] for name, column in view.items()}
    names = target.schema.columns
    sides = (view, earlier, target.codes)
    keys = keys_of(*sides, names=names)
    number = 1 + max(int(key.max(initial=-1)) for key in keys)
    codes = {}
    for name in names:
        codes[name] = np.zeros(number, dtype=np.int64)
        for key, side in zip(keys, sides, strict=True):
            codes[name][key] = side[name]
    shown, before, copies = (np.bincount(key, minlength=number) for key in keys)
    return Pool(codes=codes, shown=shown, before=before > 0, copies=copies)


def tuples_in(release: Release, name: str) -> dict[str, Ints]:
    """The tuples of one file of a release, as codes, row after row."""
    (found,) = (each for each in cast("AlphaBetaRelease", release).shown_rows if each.file == name)
    return {column: np.asarray(found.codes[column], dtype=np.int64) for column in release.schema.columns}


def times_in(pool: Pool, view: Codes) -> Ints:
    """How often another view shows each tuple of the pool."""
    own, other = keys_of(pool.codes, view, names=tuple(pool.codes))
    number = 1 + max(int(own.max(initial=-1)), int(other.max(initial=-1)))
    found: Ints = np.bincount(other, minlength=number)[own]
    return found


def weights_in(target: Target, codes: Codes) -> Floats:
    """The weight of each tuple in the public source; 1 where there is none."""
    source = cast("AlphaBetaRelease", target.release).source
    found = np.ones(len(next(iter(codes.values()))))
    for name, weights in source.weights.items():
        found *= np.array(weights, dtype=np.float64)[codes[name]]
    return found * float(source.scale)
