"""A release of columns and pairs that answers."""

from __future__ import annotations

import numpy as np

from discreet.estimate.diffgen.draw import codes_of
from discreet.estimate.diffgen.noisy import NoisyRelease
from discreet.estimate.diffgen.pairs.answers import PairModel
from discreet.estimate.diffgen.pairs.draw import draw_cells
from discreet.estimate.learned import learned
from discreet.estimate.shown_rows import Cells
from discreet.ground.arrays import Floats, Ints
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

    def believed(self, known: Cells) -> Floats | None:
        """How probable the model holds each sensitive value, up to a factor, of records whose other columns are known.

        None where one of them is not: what is left open would have to be summed over.
        """
        names, sensitive = self.schema.columns, self.schema.sensitive
        if not set(names) - {sensitive} <= set(known):
            return None
        model, place = self.fit.model, names.index(sensitive)
        values = [
            own[each.cell_of[known[each.name]]] if each.name != sensitive else np.zeros(0, dtype=np.int64)
            for own, each in zip(model.columns.values, self.tables.taxonomies, strict=True)
        ]
        width, rows = model.columns.widths[place], len(next(iter(known.values())))
        found = np.ones((rows, width))
        junction = model.beliefs.junction
        for number, clique in enumerate(junction.cliques):
            if place not in clique:
                continue
            at = [values[each][:, None] if each != place else np.arange(width)[None, :] for each in clique]
            found = found * model.beliefs.belief(number)[tuple(at)]
            above = junction.separators[number]
            if place in above:
                shared = model.beliefs.marginal(number, above)[tuple(at[clique.index(each)] for each in above)]
                found = np.divide(found, shared, out=np.zeros_like(found), where=shared > 0)
        cell, groups = self.tables.taxonomies[place].cell_of, model.columns.values[place]
        inside = model.margins[place] / np.maximum(model.by_values(place)[groups], np.finfo(np.float64).tiny)
        spread = inside / self.tables.taxonomies[place].sizes
        return np.asarray((found[:, groups] * spread)[:, cell])

    def draw(self, n: int, coins: np.random.Generator) -> dict[str, Ints]:
        cells = draw_cells(self.fit.model, n, coins)
        return {
            each.name: codes_of(own, each.cell_of, coins)
            for each, own in zip(self.tables.taxonomies, cells, strict=True)
        }
