"""A release of columns and pairs that answers."""

from __future__ import annotations

import numpy as np

from discreet.estimate.diffgen.draw import codes_of
from discreet.estimate.diffgen.noisy import NoisyRelease
from discreet.estimate.diffgen.pairs.answers import PairModel
from discreet.estimate.diffgen.pairs.draw import draw_cells
from discreet.estimate.learned import learned
from discreet.ground.arrays import Ints
from discreet.ground.progress import Progress
from discreet.release.diffgen.pairs.course import Course, course_of
from discreet.release.diffgen.pairs.fit import Fit, fit_of
from discreet.release.diffgen.pairs.layout import setting_of
from discreet.release.diffgen.pairs.manifest import PairManifest
from discreet.release.diffgen.pairs.read import PairTables, read_pairs
from discreet.release.diffgen.registry import PAIRS, Used


class PairsRelease(NoisyRelease):
    """Noisy tables of single columns and of chosen pairs of them."""

    _manifest: PairManifest

    @property
    def size(self) -> int:
        """How many noisy counts were released: the number of people is not."""
        measured = self.tables.measured
        again = 0 if measured.again is None else sum(map(len, measured.again))
        pairs = sum(each.counts.size for each in measured.rounds if each.counts is not None)
        return 1 + sum(map(len, measured.ones)) + pairs + again

    @property
    def total(self) -> float:
        return float(self.fit.model.people)

    @property
    def used(self) -> Used:
        return PAIRS

    @learned
    def tables(self) -> PairTables:
        """Both tables, read with the first question."""
        return read_pairs(self._manifest)

    @learned
    def course(self) -> Course:
        """What the measurements cost."""
        return course_of(
            setting_of(self._manifest.statement.mechanism.epsilon, self.tables.taxonomies), self.tables.measured
        )

    @learned
    def fit(self) -> Fit:
        """The model that fits the measurements."""
        return fit_of(self.tables.measured, self.course)

    @learned
    def model(self) -> PairModel:
        return PairModel(self.fit, self.tables.measured, self.course, self.tables.taxonomies)

    def learn(self, progress: Progress | None = None) -> None:
        super().learn(progress)
        self._check_open()
        self.model.learn()

    def draw(self, n: int, coins: np.random.Generator) -> dict[str, Ints]:
        cells = draw_cells(self.fit.model, n, coins)
        return {
            each.name: codes_of(own, each.cell_of, coins)
            for each, own in zip(self.tables.taxonomies, cells, strict=True)
        }
