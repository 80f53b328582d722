"""Counts from leaves and tables: people are spread inside a leaf as the tables say, independently given the class.

Symbols: P the leaves, f the share of a leaf's people that meet a condition, so the count is sum P f. For the variance,
    g is that of a noisy leaf and r those of the tables' sums over generalized values, which corrected the leaves by
    least squares: Var = g sum f^2 - g^2 (M f)' (diag(r) + g M M')^-1 (M f); the noise of the shares comes on top.
Model: where a condition cuts leaves, how attributes depend on each other inside a leaf is not known. The error of
    taking them as independent is taken as large as the dependence that the leaves show between attributes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.estimate.diffgen.answers import Reckoned, Together, together
from discreet.estimate.diffgen.factors import Factor
from discreet.estimate.learned import learned
from discreet.ground.arrays import Floats
from discreet.guarantee.epsilon import EpsilonPrivacy, laplace_variance
from discreet.guarantee.spent import For
from discreet.release.diffgen.leaves import UNIT, common_leaves
from discreet.release.diffgen.tables import LeafTables

CUT = "the condition cuts leaves, so the answer rests on a model of how people are spread inside them"
INSIDE = 0.4  # how much of the dependence between generalized values is reckoned with inside them
LEAST_DEPENDENCE = 0.1  # a correlation inside leaves that is always reckoned with
_ROUNDING = 1e-9
UNKNOWN_DEPENDENCE = 0.2  # where leaves show nothing, because there is one


@dataclass(frozen=True, eq=False)
class Part:
    """What one factor asks of leaves: the share of each leaf that meets it, and what it asks of each cell."""

    positions: tuple[int, ...]
    possible: bool  # whether any values of the domains meet it
    share: Floats  # an axis for each of the release's axes (1 where the factor does not look), classes last
    doubt: Floats  # of the same shape: the standard deviation of whether a person of the leaf meets it
    upper: Floats  # the share and one standard deviation of its noise: where it is 0 by noise, others still count
    cells: dict[int, Floats]  # for each attribute, cells x classes: how many of a cell's people meet it
    squares: dict[int, Floats]  # the same of its square, which is it where people meet it or do not
    noise: dict[int, Floats]  # for each attribute, values x classes: the variance of the share of a value's people


class LeafModel:
    """The leaves and tables of a release, ready to be asked."""

    def __init__(self, found: LeafTables, guarantee: EpsilonPrivacy, levels: int, *, weighed: bool) -> None:
        """`weighed`: leaves and tables corrected each other; else the leaves were only raked to the tables."""
        self._found = found
        self.leaves: Floats = found.leaves / UNIT
        self.tables: list[Floats] = [table / UNIT for table in found.tables]
        self.axes = [position for position, cut in enumerate(found.values) if len(cut) > 1]
        self._guarantee, self._levels, self._weighed = guarantee, levels, weighed
        self._names = [taxonomy.name for taxonomy in found.taxonomies]
        self.sums = [self._grouped(position, table) for position, table in enumerate(self.tables)]

    def count(self, parts: Sequence[Part]) -> Reckoned:
        """How many people meet all factors whose parts these are."""
        shares: Floats = np.ones((1,) * self.leaves.ndim)
        upper = shares
        for part in parts:
            shares, upper = shares * part.share, upper * part.upper
        value = float((self.leaves * shares).sum())
        masses = [
            {position: self._mass(parts, place, position) for position in part.cells}
            for place, part in enumerate(parts)
        ]
        noise = self._leaf_variance(np.broadcast_to(upper, self.leaves.shape)) + sum(
            self._share_variance(part, mass) for part, mass in zip(parts, masses, strict=True)
        )
        model = self._model_error(parts, masses)
        return Reckoned(value=value, noise=math.sqrt(max(0.0, noise)), model=model, note=CUT if model > 0 else "")

    def together(self, questions: Sequence[Sequence[Part]]) -> Together:
        """Several counts; their noise goes together as the leaves' and the tables' does."""
        single = [self.count(parts) for parts in questions]
        upper = [
            np.broadcast_to(math.prod((part.upper for part in each), start=np.ones(())), self.leaves.shape)
            for each in questions
        ]
        common = np.array([[self._leaf_covariance(one, other) for other in upper] for one in upper])
        for position, noise in enumerate(self._table_noise):
            moved = np.stack([self._moved(parts, position).ravel() for parts in questions])
            common += noise * moved @ moved.T
        return together(single, common)

    def part(self, factor: Factor) -> Part:
        """From values to cells to leaves."""
        positions = tuple(self._names.index(name) for name in factor.columns if name != self._found.target)
        asked = self._in_cells(factor, positions, factor.holds.astype(np.float64))
        whole = factor.holds.dtype == np.bool_
        square = asked if whole else self._in_cells(factor, positions, factor.holds.astype(np.float64) ** 2)
        own, squares = (
            {position: self._of_cells(each, positions, axis) for axis, position in enumerate(positions)}
            for each in (asked, square)
        )
        share, spread_of = self._of_leaves(asked, positions), self._of_leaves(square, positions)
        least, most = (self._of_leaves(asked, positions, ends=end) for end in (np.minimum, np.maximum))
        cut = (least < 1) & (most > 0)  # leaves that are neither wholly in nor wholly out, whatever the noise
        spread = {position: self._share_noise(position, cells) for position, cells in own.items()}
        noise = np.where(cut, self._noise_at_leaves(spread), 0.0)
        doubt = np.where(cut, np.sqrt(np.minimum(np.clip(spread_of - share**2, 0.0, None) + noise, 0.25)), 0.0)
        possible = bool(factor.holds.any())
        upper = np.minimum(share + np.sqrt(noise), 1.0)
        return Part(positions, possible, share, doubt, upper, own, squares, spread)

    def _in_cells(self, factor: Factor, positions: Sequence[int], asked: Floats) -> Floats:
        """The mean over the values of each cell: an axis for each attribute, classes last."""
        found = self._found
        if found.target in factor.columns:
            asked = np.moveaxis(asked, factor.columns.index(found.target), -1)
        else:
            asked = asked[..., None]  # the same for every class
        for axis, position in enumerate(positions):
            taxonomy = found.taxonomies[position]
            cells = np.zeros((*asked.shape[:axis], len(taxonomy), *asked.shape[axis + 1 :]))
            np.add.at(np.moveaxis(cells, axis, 0), taxonomy.cell_of, np.moveaxis(asked, axis, 0))
            sizes = taxonomy.sizes.reshape([-1 if each == axis else 1 for each in range(cells.ndim)])
            asked = cells / sizes
        return np.broadcast_to(asked, (*asked.shape[:-1], self.leaves.shape[-1]))

    def _noise_at_leaves(self, spread: dict[int, Floats]) -> Floats:
        """The variance of a share, for each leaf."""
        noise: Floats = np.zeros((1,) * self.leaves.ndim)
        for position, found in spread.items():
            shape = [size if each == position else 1 for each, size in zip(self.axes, self.leaves.shape, strict=False)]
            noise = noise + found.reshape([*shape, -1])
        return noise

    def _of_cells(self, asked: Floats, positions: tuple[int, ...], axis: int) -> Floats:
        """What a factor asks of the cells of one attribute, whatever the others are."""
        weights = [self.tables[position] for position in positions]
        found = asked
        for other in range(len(positions)):
            if other == axis:
                continue
            total = np.maximum(weights[other].sum(axis=0, keepdims=True), 1e-12)
            shape = [1] * found.ndim
            shape[other], shape[-1] = weights[other].shape
            found = (found * (weights[other] / total).reshape(shape)).sum(axis=other, keepdims=True)
        return found.reshape(-1, found.shape[-1])

    def _of_leaves(self, asked: Floats, positions: tuple[int, ...], ends: np.ufunc | None = None) -> Floats:
        """The share of each leaf: cells weighed by the tables, value by value; or the least or most of any cell."""
        found = asked
        for axis, position in enumerate(positions):
            groups = np.zeros((*found.shape[:axis], len(self._found.values[position]), *found.shape[axis + 1 :]))
            own, onto = self._found.groups[position], np.moveaxis(groups, axis, 0)
            if ends is None:
                weight = self._inside[position]
                shape = [1] * found.ndim
                shape[axis], shape[-1] = weight.shape
                np.add.at(onto, own, np.moveaxis(found * weight.reshape(shape), axis, 0))
            else:
                onto[:] = 1.0 if ends is np.minimum else 0.0
                ends.at(onto, own, np.moveaxis(found, axis, 0))
            found = groups
        kept = [axis for axis, position in enumerate(positions) if position in self.axes]
        dropped = tuple(axis for axis in range(len(positions)) if axis not in kept)
        found = found.sum(axis=dropped)
        order = sorted(range(len(kept)), key=lambda place: positions[kept[place]])
        found = np.transpose(found, [*order, len(kept)])
        sizes = [size if own in positions else 1 for own, size in zip(self.axes, self.leaves.shape[:-1], strict=True)]
        return found.reshape([*sizes, found.shape[-1]])

    @learned
    def _inside(self) -> list[Floats]:
        """How the people of a generalized value are spread over its cells: shares that add up to 1, class by class."""
        found = []
        for groups, sums, taxonomy, table in zip(
            self._found.groups, self.sums, self._found.taxonomies, self.tables, strict=True
        ):
            sizes = taxonomy.sizes.astype(np.float64)
            even = sizes / np.bincount(groups, weights=sizes)[groups]
            with np.errstate(divide="ignore", invalid="ignore"):
                share = table / sums[groups]
            found.append(np.where(sums[groups] > 0, share, even[:, None]))
        return found

    def _grouped(self, position: int, table: Floats) -> Floats:
        found = np.zeros((len(self._found.values[position]), table.shape[1]))
        np.add.at(found, self._found.groups[position], table)
        return found

    @property
    def _has_tables(self) -> bool:
        """Whether the tables were measured, and are not only the leaves spread evenly."""
        return any(part.paid is For.TABLE for part in self._guarantee.parts)

    @learned
    def _leaf_noise(self) -> float:
        share = self._guarantee.share(For.LEAVES)
        return laplace_variance(share / max(1, self._levels)) if share else math.inf

    @learned
    def _table_noise(self) -> list[float]:
        """The variance of a cell of each table; 0 where there was no measurement of it."""
        again = self._guarantee.share(For.AGAIN)
        tables = [self._guarantee.share(For.TABLE, name) or 0 for name in self._names]
        whole = sum(tables)
        found = []
        for share in tables:
            precision = 1 / laplace_variance(share) if share else 0.0
            if again is not None and share:
                precision += 1 / laplace_variance(again * share / whole)
            found.append(1 / precision if precision else 0.0)
        return found

    @learned
    def _total_noise(self) -> float:
        """The variance of a class's total, as the tables tell it together; 0 where there were none."""
        precision = sum(1 / (len(t) * v) for t, v in zip(self.tables, self._table_noise, strict=True) if v)
        return 1 / precision if precision else 0.0

    @learned
    def _correction(self) -> Floats | None:
        """(diag(r) + g M M')^-1, by which the tables took noise off the leaves."""
        if not self._has_tables or not self._weighed or math.isinf(self._leaf_noise):
            return None
        sizes = [len(cut) for cut in self._found.values]
        spread = [
            np.bincount(self._found.groups[position], minlength=size) * self._table_noise[position]
            for position, size in enumerate(sizes)
        ]
        noisy = np.diag(np.concatenate(spread)) + self._leaf_noise * common_leaves(sizes)
        return np.asarray(np.linalg.inv(noisy))

    def _leaf_covariance(self, one: Floats, other: Floats) -> float:
        """Of the noise of two counts, by the shares of the leaves that they take."""
        if math.isinf(self._leaf_noise):
            return float((one * other).sum()) * self._total_noise
        plain = self._leaf_noise * float((one * other).sum())
        if self._correction is None:
            return plain
        seen = (self._by_values(one), self._by_values(other))
        return plain - self._leaf_noise**2 * float(np.einsum("ic,ij,jc->", seen[0], self._correction, seen[1]))

    def _leaf_variance(self, share: Floats) -> float:
        if math.isinf(self._leaf_noise):  # tables alone: one leaf, the total of which all tables tell
            return float((share.reshape(-1, share.shape[-1]) ** 2).sum()) * self._total_noise
        plain = self._leaf_noise * float((share**2).sum())
        if self._correction is None:
            return max(plain, float((share.reshape(-1, share.shape[-1]).mean(axis=0) ** 2).sum()) * self._total_noise)
        seen = self._by_values(share)
        taken = self._leaf_noise**2 * float(np.einsum("ic,ij,jc->", seen, self._correction, seen))
        return max(0.0, plain - taken)

    def _by_values(self, share: Floats) -> Floats:
        """Shares of leaves, summed up for each value of each attribute."""
        sums = []
        for position in range(len(self.tables)):
            others = tuple(axis for axis, own in enumerate(self.axes) if own != position)
            sums.append(share.sum(axis=others).reshape(-1, share.shape[-1]))
        return np.concatenate(sums)

    def _moved(self, parts: Sequence[Part], position: int) -> Floats:
        """By how much a count moves with each cell of one table: cells x classes."""
        moved = np.zeros_like(self.tables[position])
        groups, sums = self._found.groups[position], np.maximum(self.sums[position], 1.0)
        for place, part in enumerate(parts):
            if position in part.cells:
                asked = part.cells[position]
                mean = self._grouped(position, self._inside[position] * asked)
                mass = self._mass(parts, place, position)
                moved = moved + ((asked - mean[groups]) * (mass / sums)[groups])
        return moved

    def _share_variance(self, part: Part, mass: dict[int, Floats]) -> float:
        """The noise of how people are spread inside generalized values, for the attributes of one factor."""
        measured = [position for position in part.cells if self._table_noise[position]]
        return sum(float((mass[position] ** 2 * part.noise[position]).sum()) for position in measured)

    def _share_noise(self, position: int, asked: Floats) -> Floats:
        """The variance of the share of each value's people that meet a condition: values x classes."""
        groups, sums = self._found.groups[position], np.maximum(self.sums[position], 1.0)
        mean = self._grouped(position, self._inside[position] * asked)
        spread = self._grouped(position, (asked - mean[groups]) ** 2) * self._table_noise[position] / sums**2
        return np.asarray(np.minimum(spread, 0.25))

    def _mass(self, parts: Sequence[Part], place: int, position: int) -> Floats:
        """People of each generalized value of an attribute who meet all other factors: values x classes."""
        found = self.leaves
        for other, part in enumerate(parts):
            if other != place:
                found = found * part.upper
        others = tuple(axis for axis, own in enumerate(self.axes) if own != position)
        return np.asarray(found.sum(axis=others)).reshape(-1, found.shape[-1])

    def _model_error(self, parts: Sequence[Part], masses: Sequence[dict[int, Floats]]) -> float:
        """What taking attributes as independent inside leaves, and values as even inside cells, may cost."""
        total = 0.0
        for place, part in enumerate(parts):
            others = tuple(axis for axis, size in enumerate(part.share.shape[:-1]) if size == 1)
            people = self.leaves.sum(axis=others, keepdims=True)
            met = self.leaves
            for other, rest in enumerate(parts):
                met = met * rest.share if other != place else met
            meeting = np.divide(
                met.sum(axis=others, keepdims=True), people, out=np.zeros_like(people), where=people > 0
            )
            total += (self.dependence * float((people * part.doubt * _doubt(meeting)).sum())) ** 2
        for part, mass in zip(parts, masses, strict=True):
            for position in part.cells:
                total += self._uneven(part, position, mass[position]) ** 2
        return math.sqrt(total)

    def _uneven(self, part: Part, position: int, mass: Floats) -> float:
        """Cells that a condition cuts, and, where there are no tables, values that it cuts."""
        inside, asked, square = self._inside[position], part.cells[position], part.squares[position]
        cut = _spread(self._grouped(position, inside * square), self._grouped(position, inside * asked))
        if len(part.positions) > 1:  # columns that one part ties together
            cut = self.dependence * cut
        elif self._has_tables:
            cut = self._grouped(position, inside * _spread(square, asked))
        return float((mass * cut).sum())

    @learned
    def dependence(self) -> float:
        """The root mean square correlation of attributes, given the class, that the leaves show (Cramer's V)."""
        found, weights = [], []
        for one, other in combinations(range(len(self.axes)), 2):
            others = tuple(axis for axis in range(len(self.axes)) if axis not in (one, other))
            both = self.leaves.sum(axis=others)
            for place in range(both.shape[-1]):
                table = both[..., place]
                total = table.sum()
                if total < 1:
                    continue
                expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
                wide = expected > 0
                chi = ((table - expected)[wide] ** 2 / expected[wide]).sum()
                found.append(chi / (total * (min(table.shape) - 1)))
                weights.append(total)
        if not found:
            return UNKNOWN_DEPENDENCE
        return max(LEAST_DEPENDENCE, INSIDE * math.sqrt(float(np.average(found, weights=weights))))


def _doubt(share: Floats) -> Floats:
    """The standard deviation of whether one of these people is meant; 0 where all or none are, but for rounding."""
    return _spread(share, share)


def _spread(square: Floats, mean: Floats) -> Floats:
    """The standard deviation of what has this mean and mean square; 0 where it is but for rounding."""
    spread = square - mean**2
    return np.asarray(np.sqrt(np.where(spread > _ROUNDING, spread, 0.0)))
