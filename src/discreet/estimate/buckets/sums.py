"""Sums over a bucket release: of rows, or of a column of numbers, and how they vary together over the coins.

The formulas of regression.py with any number f of each row in the place of "it matches", and any number t of each
sensitive value in the place of "it is one of X". A sum is one of products f t; each is answered by sum_g w_g a_g, where
    a_g is the sum of f over the rows of bucket g, and the weights w have the mean t_y over the slots of each value y.
Covariance: y's records are dealt over its slots at random, so two products (f, w), (f', w') have, exactly,
    Cov = sum_y n_y/(n_y - 1) Cov_y(f, f') [sum_g c_gy w_g w'_g - n_y t_y t'_y],
with Cov_y over the records of y. What is not known of it, the means of f, f' and f f' by value, is estimated as shares
    are. With fakes, their draw adds what it adds in regression.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from discreet.engine.duck.database import Database
from discreet.errors import QueryError
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.matched import matched_of
from discreet.estimate.buckets.regression import Regressed, per_record
from discreet.estimate.buckets.rows import Rows
from discreet.estimate.numeric import Numeric, numeric
from discreet.estimate.sums import Ends, Sums, added, range_of_sum
from discreet.ground.arrays import Floats, Ints
from discreet.query.condition import Condition
from discreet.query.figure import Sum
from discreet.query.split import Part, split_by
from discreet.schema.schema import Schema

_MOST_NUMBERS = 1 << 26  # of means of products, by pair and value
_UNDETERMINED = "the published counts do not determine this; ask a coarser question"


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """What each row counts for: the rows for which that is not nothing, and how much."""

    rows: Ints
    units: Ints
    per: int = 1
    plain: bool = field(default=False, kw_only=True)  # every row counts 1

    @property
    def numbers(self) -> Floats:
        return np.asarray(self.units / self.per)

    @property
    def ends(self) -> Ends:
        if not len(self.units):
            return Fraction(0), Fraction(0)
        return Fraction(int(self.units.min()), self.per), Fraction(int(self.units.max()), self.per)


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Both tables of a release, as its sums are asked of them."""

    schema: Schema
    qit: Rows
    composition: Composition
    regression: Regressed
    engine: Database


class BucketSums:
    """What several sums ask of one release; it is made for them and asked once."""

    def __init__(self, release: Tables, asked: Sequence[Sum]) -> None:
        self._release, self._asked = release, asked
        self._composition, self._regression = release.composition, release.regression
        self._sensitive = release.schema.sensitive
        self._rows: dict[tuple[Condition, str | None], _Rows] = {}
        self._used: dict[tuple[Condition, str | None], int] = {}  # those of uncertain parts, numbered
        self._targets: dict[tuple[tuple[int, ...], bool], tuple[int, Floats]] = {}
        self._numbers: dict[str, Numeric] = {}
        for name in {each.column for each in asked} - {None}:
            self._numbers[str(name)] = numeric(release.schema, str(name))

    def answer(self) -> Sums:
        """Each sum from its parts: what is certain of it, and its uncertain products."""
        split = self._split()
        self._read(split)
        size = len(self._asked)
        values, bounds, used = np.zeros(size), list[Ends](), list[list[tuple[int, int]]]()
        for number, (asked, parts) in enumerate(zip(self._asked, split, strict=True)):
            found = [self._bounds(asked, part) for part in parts]
            used.append([self._place(asked, part) for part, (sure, _) in zip(parts, found, strict=True) if not sure])
            bounds.append(added([ends for _, ends in found]))
            values[number] = sum(float(ends[0]) for sure, ends in found if sure)
        targets = [target for _, target in self._targets.values()]
        known = [self._regression.determines(target) for target in targets]
        nothing = np.zeros(len(self._composition.ids))
        solved = [
            self._regression.solved(target) if sure else nothing for target, sure in zip(targets, known, strict=True)
        ]
        rows = [self._rows[key] for key in self._used]
        sums = [self._per_bucket(each) for each in rows]
        for number, products in enumerate(used):
            for row, value in products:
                values[number] += float(sums[row] @ solved[value]) if known[value] else np.nan
        return Sums(
            values=values,
            covariance=self._covariance(used, rows, solved) if any(known) else np.zeros((size, size)),
            stray=np.zeros(size),
            bounds=tuple(bounds),
            unknown=_UNDETERMINED,
        )

    def _split(self) -> list[tuple[Part, ...]]:
        conditions = [each.where for each in self._asked]
        return split_by(conditions, self._sensitive, self._composition.encoding, self._release.engine)

    def _read(self, split: Sequence[Sequence[Part]]) -> None:
        """The rows of every part, with what they count for."""
        wanted: dict[Condition, set[str | None]] = {}
        for asked, parts in zip(self._asked, split, strict=True):
            for part in parts:
                wanted.setdefault(part.condition, set()).add(self._row_column(asked))
        qit = self._release.qit
        for condition, found in qit.matching(wanted):
            for column in sorted(wanted[condition], key=str):
                if column is None:
                    plain = len(found) == len(qit.bucket)
                    rows = _Rows(rows=found, units=np.ones(len(found), dtype=np.int64), plain=plain)
                else:
                    own = self._numbers[column]
                    rows = _Rows(rows=found, units=own.units[qit.codes(column)[found]], per=own.per)
                self._rows[condition, column] = rows

    def _row_column(self, asked: Sum) -> str | None:
        return None if asked.column == self._sensitive else asked.column

    def _bounds(self, asked: Sum, part: Part) -> tuple[bool, Ends]:
        """Whether a part is certain, and where it lies."""
        rows = self._rows[part.condition, self._row_column(asked)]
        own = self._composition
        weighs = asked.column == self._sensitive
        numbers = self._value_units(part.values) if weighs else np.ones(len(part.values), dtype=np.int64)
        per = self._numbers[self._sensitive].per if weighs else 1
        if rows.plain or not len(rows.rows):
            whole = int(own.totals[list(part.values)] @ numbers) if len(rows.rows) else 0
            return True, (Fraction(whole, per),) * 2
        if len(part.values) == len(own.values) and len(set(numbers.tolist())) == 1:
            whole = int(rows.units.sum()) * int(numbers[0])
            return True, (Fraction(whole, per * rows.per),) * 2
        matches = np.bincount(self._release.qit.bucket[rows.rows], minlength=len(own.ids))
        counts = matched_of(own, [part.values], [matches], {}).limits
        low, high = Fraction(int(numbers.min()), per), Fraction(int(numbers.max()), per)
        corners = [one * other for one in rows.ends for other in (low, high)]
        return False, range_of_sum(counts, (min(corners), max(corners)))

    def _value_units(self, values: tuple[int, ...]) -> Ints:
        """What some sensitive values count for."""
        encoding = self._release.schema.domains[self._sensitive].encoding
        codes = {value: code for code, value in enumerate(encoding)}
        own = self._composition.values
        return self._numbers[self._sensitive].units[[codes[own[place]] for place in values]]

    def _place(self, asked: Sum, part: Part) -> tuple[int, int]:
        """The numbers of a product's rows and of its weights of values."""
        weighs = asked.column == self._sensitive
        if (part.values, weighs) not in self._targets:
            target = self._composition.among(part.values)
            if weighs:
                target[list(part.values)] = self._value_units(part.values) / self._numbers[self._sensitive].per
            self._targets[part.values, weighs] = len(self._targets), target
        row = self._used.setdefault((part.condition, self._row_column(asked)), len(self._used))
        return row, self._targets[part.values, weighs][0]

    def _per_bucket(self, each: _Rows) -> Floats:
        buckets = self._release.qit.bucket[each.rows]
        return np.bincount(buckets, each.numbers, minlength=len(self._composition.ids)).astype(np.float64)

    def _covariance(
        self, used: Sequence[Sequence[tuple[int, int]]], rows: Sequence[_Rows], solved: Sequence[Floats]
    ) -> Floats:
        """Of all sums by all: first that of the products that they are made of."""
        spread, values = _Spread(self._release, rows), len(solved)
        both = np.zeros((values, len(rows), values, len(rows)))
        for one, other in combinations_with_replacement(range(values), 2):
            both[one, :, other, :] = spread.covariance(solved[one], solved[other])
            both[other, :, one, :] = both[one, :, other, :].T
        taken = np.zeros((len(used), values, len(rows)))
        for number, products in enumerate(used):
            for row, value in products:
                taken[number, value, row] += 1
        flat = taken.reshape(len(used), -1)
        return np.asarray(flat @ both.reshape(flat.shape[1], -1) @ flat.T)


class _Spread:
    """How what rows count for varies over the records of each value, and of all together."""

    def __init__(self, release: Tables, rows: Sequence[_Rows]) -> None:
        self._bucket, self._rows = release.qit.bucket, rows
        self._composition, self._regression = release.composition, release.regression
        cells = len(self._regression.records)
        if len(rows) ** 2 * cells > _MOST_NUMBERS:
            raise QueryError("too many conditions are asked together; ask some of them at a time")
        release.engine.afford(8 * len(rows) ** 2 * cells)
        self.means = np.stack([self._mean(each.rows, each.numbers) for each in rows])
        self._within = self._second() - self.means[:, None, :] * self.means[None, :, :]
        own = np.maximum(np.einsum("iiy->iy", self._within), 0.0)
        most = np.sqrt(own[:, None, :] * own[None, :, :])
        self._within = np.clip(self._within, -most, most) * per_record(self._regression.records)

    def covariance(self, one: Floats, other: Floats) -> Floats:
        """Of the sums of all rows' numbers with these weights of buckets, each with each."""
        regression, records = self._regression, self._regression.records
        spread = regression.per_cell(one * other) - regression.per_cell(one) * regression.per_cell(other) / records
        found = self._within @ spread
        return found + self._by_fakes(one, other) if self._composition.fakes else np.asarray(found)

    def _mean(self, rows: Ints, numbers: Floats) -> Floats:
        """The mean over the records of each value, estimated as a share of the way from the least to the largest."""
        low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
        if low == high:
            return np.full(len(self._regression.records), low)
        sizes = self._composition.sizes
        sums = np.bincount(self._bucket[rows], numbers, minlength=len(sizes))
        return np.asarray(low + (high - low) * self._regression.shares((sums - low * sizes) / (high - low)))

    def _second(self) -> Floats:
        """The means of products of two, each with each."""
        size, number = len(self._rows), len(self._bucket)
        found = np.zeros((size, size, len(self._regression.records)))
        often = np.bincount(np.concatenate([each.rows for each in self._rows]), minlength=number)
        apart = int(often.max()) <= 1
        for place, each in enumerate(self._rows):
            found[place, place] = self._mean(each.rows, each.numbers**2)
            if apart:
                continue
            dense = np.zeros(number)
            dense[each.rows] = each.numbers
            for further in range(place + 1, size):
                other = self._rows[further]
                found[place, further] = self._mean(other.rows, dense[other.rows] * other.numbers)
                found[further, place] = found[place, further]
        return found

    def _by_fakes(self, one: Floats, other: Floats) -> Floats:
        """What the draw of fakes adds, as in regression.py."""
        own = self._composition
        drawn = own.fakes * own.sizes / np.maximum(own.slots - 1, 1)
        weight = (one - own.kind_mean(one)) * (other - own.kind_mean(other)) * drawn
        means = [own.slot_mean(each) for each in self.means]
        found = np.zeros((len(means),) * 2)
        for i, j in combinations_with_replacement(range(len(means)), 2):
            within = own.slot_mean(self.means[i] * self.means[j]) - means[i] * means[j]
            found[i, j] = found[j, i] = float(weight @ within)
        return found
