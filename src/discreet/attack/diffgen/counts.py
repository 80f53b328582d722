"""The noisy counts that a release of pairs publishes, part by part: where a record is counted, and with what noise.

Symbols: s the share of epsilon that a part cost, z a noisy count, x the true one, n = z - x the noise.
Departs: choices of pairs are left out. They tell of a record too, at most as much as they cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attack.target import Target
from discreet.ground.arrays import Ints
from discreet.release.diffgen.pairs.course import Course, course_of
from discreet.release.diffgen.pairs.layout import setting_of
from discreet.release.diffgen.pairs.measured import Candidate, Level, Measured
from discreet.release.diffgen.pairs.read import PairTables, read_pairs

if TYPE_CHECKING:
    from discreet.release.diffgen.pairs.manifest import PairManifest
    from discreet.schema.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """Counts that were bought together: a record is in one of them. `axes` are the columns that they count."""

    name: str
    share: Fraction
    noisy: Ints = field(repr=False)
    axes: tuple[tuple[str, Ints, int], ...] = field(repr=False)  # column, place by code, number of places

    def cell(self, codes: Mapping[str, Ints]) -> Ints:
        """The count that each record is in."""
        found = np.zeros(len(next(iter(codes.values()))), dtype=np.int64)
        for column, place, width in self.axes:
            found = found * width + place[codes[column]]
        return found

    def noise(self, codes: Mapping[str, Ints]) -> Ints:
        """n of every count, where these are all records."""
        return self.noisy - np.bincount(self.cell(codes), minlength=len(self.noisy))


def parts_of(target: Target) -> tuple[Part, ...]:
    """All parts that paid for counts, in the order in which they were bought."""
    manifest = cast("PairManifest", target.manifest)
    tables = read_pairs(manifest)
    setting = setting_of(manifest.statement.mechanism.epsilon, tables.taxonomies)
    return tuple(_parts(tables, course_of(setting, tables.measured)))


def _parts(tables: PairTables, course: Course) -> Iterator[Part]:
    measured: Measured = tables.measured
    shares = course.begin.shares
    yield Part(name="total", share=shares.total, noisy=np.array([measured.total], dtype=np.int64), axes=())
    yield from _columns("table of ", tables.taxonomies, measured.ones, shares.ones)
    for number, (offer, each) in enumerate(zip(course.offers, measured.rounds, strict=True), start=1):
        if each.chosen is not None and each.counts is not None:
            yield Part(
                name=f"pair of round {number}",
                share=offer.measuring,
                noisy=each.counts.ravel(),
                axes=_axes(tables, each.chosen, each.counts.shape),
            )
    if measured.again is not None:
        yield from _columns("once more, table of ", tables.taxonomies, measured.again, course.last.again)


def _columns(
    name: str, taxonomies: Sequence[Taxonomy], noisy: Sequence[Ints], shares: Sequence[Fraction]
) -> Iterator[Part]:
    for own, counts, share in zip(taxonomies, noisy, shares, strict=True):
        axes = ((own.name, own.cell_of, len(own)),)
        yield Part(name=name + own.name, share=share, noisy=counts, axes=axes)


def _axes(tables: PairTables, chosen: Candidate, shape: tuple[int, ...]) -> tuple[tuple[str, Ints, int], ...]:
    found = []
    for column, level, width in zip(chosen.columns, chosen.levels, shape, strict=True):
        own = tables.taxonomies[column]
        place = own.cell_of if level is Level.CELLS else tables.groups[column][own.cell_of]
        found.append((own.name, place, width))
    return tuple(found)
