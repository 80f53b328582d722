"""The walk: what is measured next, at what cost, and between what a round may choose.

It is a function of epsilon, the columns and the noisy numbers so far, in exact arithmetic: whoever makes a release and
whoever verifies it walk the same way, and all shares add up to epsilon.

Symbols: e the share of a round, g the part of it that chooses, e_m = (1 - g) e; N the number of people, from all sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.ground.arrays import Ints
from discreet.release.diffgen.pairs.candidates import NOISE, Graph
from discreet.release.diffgen.pairs.groups import GROUPS, groups_of
from discreet.release.diffgen.pairs.measured import Candidate, Level, Round
from discreet.release.diffgen.pairs.shares import Shares, share_of_total, shares_of


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is public beforehand: epsilon, and of each column how many cells it has and whether they are ordered."""

    epsilon: Fraction
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]

    @property
    def total_share(self) -> Fraction:
        return share_of_total(self.epsilon)

    def shares(self, total: int) -> Shares:
        """All shares, once the noisy total is known."""
        return shares_of(self.epsilon, self.sizes, total)

    def width(self, column: int, level: Level) -> int:
        """How many values a column has at a level."""
        return self.sizes[column] if level is Level.CELLS else GROUPS

    def shape(self, chosen: Candidate) -> tuple[int, int]:
        return self.width(chosen.first, chosen.levels[0]), self.width(chosen.second, chosen.levels[1])


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The next round: a choice between `candidates` and a stop, which stands last, and the table that is chosen.

    Both are paid in advance of what they show; a stop leaves `measuring` for later.
    """

    choosing: Fraction
    measuring: Fraction
    candidates: tuple[Candidate, ...]

    @property
    def share(self) -> Fraction:
        return self.choosing + self.measuring

    @property
    def stop(self) -> int:
        """The position of a stop."""
        return len(self.candidates)


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """A place on the walk after the columns' tables: what is left of epsilon, and what is known of the total."""

    setting: Setting
    shares: Shares
    groups: tuple[Ints, ...]  # of each cell of each column
    graph: Graph
    left: Fraction
    each: Fraction  # e
    sums: tuple[Fraction, Fraction]  # inverse-variance weights times noisy sums, and weights
    ended: bool = False

    @cached_property
    def people(self) -> int:
        """N: the mean of all noisy sums so far, by inverse variance, as a whole number of at least 1."""
        return _people(self.sums)

    def people_with(self, again: Sequence[Ints]) -> int:
        """N with the columns' tables that were measured again."""
        sums = self.sums
        for noisy, share in zip(again, self.again, strict=True):
            sums = _weighed(sums, noisy, share)
        return _people(sums)

    @cached_property
    def next(self) -> Offer | None:
        """The next round; None where the columns' tables are measured again with what is left, if anything is.

        A round that would leave less than its share takes all that is left. Where nothing is worth its noise at a
        round's share, the share doubles, at no cost.
        """
        if self.ended or not self.left:
            return None
        each = self.each
        while True:
            share = self.left if self.left < 2 * each else each
            measuring = share * (1 - self.shares.choosing)
            found = self.graph.candidates(self.setting.sizes, most_cells(self.people, measuring))
            if found:
                return Offer(choosing=share - measuring, measuring=measuring, candidates=found)
            if share == self.left:
                return None
            each *= 2

    @property
    def again(self) -> tuple[Fraction, ...]:
        """What each column's table costs, measured again with all that is left; nothing where nothing is left."""
        return self.shares.again(self.left) if self.left else ()

    def after(self, one: Round) -> Stage:
        """The place that a round leads to; raises ValueError where it is none that could have come next.

        A stop doubles the share of a round; where that is not left, the rounds end.
        """
        offer = self.next
        if offer is None:
            raise ValueError("nothing is left for another round")
        if one.chosen is None or one.counts is None:
            left = self.left - offer.choosing
            return replace(self, left=left, each=2 * offer.share, ended=left <= offer.share)
        shape = self.setting.shape(one.chosen)
        if one.chosen not in offer.candidates or one.counts.shape != shape:
            raise ValueError("a round must choose one of its candidates")
        return replace(
            self,
            left=self.left - offer.share,
            each=offer.share,
            graph=self.graph.after(one.chosen),
            sums=_weighed(self.sums, one.counts, offer.measuring),
        )


def begin(setting: Setting, total: int, ones: Sequence[Ints]) -> Stage:
    """The place after the total and the columns' tables."""
    shares = setting.shares(total)
    sums = _weighed((Fraction(0), Fraction(0)), np.array([total]), shares.total)
    for noisy, share in zip(ones, shares.ones, strict=True):
        sums = _weighed(sums, noisy, share)
    return Stage(
        setting=setting,
        shares=shares,
        groups=tuple(groups_of(each, ordered=own) for each, own in zip(ones, setting.ordered, strict=True)),
        graph=Graph(),
        left=shares.rest,
        each=shares.rest / shares.rounds,
        sums=sums,
    )


def most_cells(people: int, measuring: Fraction) -> int:
    """The cells of the largest table whose noise, .7 cells / e_m, is at most a quarter of the people."""
    return int(people * measuring / (4 * NOISE))


def _weighed(sums: tuple[Fraction, Fraction], noisy: Ints, share: Fraction) -> tuple[Fraction, Fraction]:
    """Sums and weights with one more table; its sum has a variance of 2 cells / share^2."""
    weight = share * share / noisy.size
    return sums[0] + weight * sum(noisy.ravel().tolist()), sums[1] + weight


def _people(sums: tuple[Fraction, Fraction]) -> int:
    return max(1, round(sums[0] / sums[1]))
