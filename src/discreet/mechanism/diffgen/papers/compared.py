"""What DiffGen is compared with in experiments, each as a mechanism that publishes: for simulations, never for people.

Paper: [QSL] sections III and IV.
They differ from `DiffGen` in what is measured, and in nothing else, so that a difference in answers is one of noise.
All are refused without a seed: some do not keep the epsilon that their release states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.ground.arrays import Ints
from discreet.ground.progress import Steps, Tell
from discreet.mechanism.diffgen.making.make import rows_of
from discreet.mechanism.diffgen.making.measure import measure_tables
from discreet.mechanism.diffgen.making.measurements import Measurements
from discreet.mechanism.diffgen.making.noise import Noise
from discreet.mechanism.diffgen.policy.diffgen import DiffGen
from discreet.series.coins import Coins
from discreet.table.table import Table

DIFFGEN, STATED, FORGOTTEN, EXACT = "DiffGen", "CDiffGen", "CDiffGen without the level factor", "CDiffGen, exact"
CLIPPED, NOISELESS = "DiffGen, negative leaves set to 0", "DiffGen's leaves, counted exactly"


def variants(epsilon: str, score: str, steps: int) -> dict[str, DiffGen]:
    """DiffGen with that many specializations and what it is compared with, by name; one seed gives all one tree.

    "CDiffGen" is [QSL]'s: every node is counted at the stated sensitivity, and the paper's formula, as meant, makes the
    counts agree. "Exact" is least squares with budgets that grow by level.
    """

    def of(kind: type[DiffGen], consistency: str) -> DiffGen:
        return kind(epsilon=epsilon, specializations=steps, score=score, consistency=consistency, guide="exponential")

    return {
        DIFFGEN: of(DiffGen, "none"),
        CLIPPED: of(Clipped, "none"),
        STATED: of(DiffGen, "paper"),
        FORGOTTEN: of(WithoutLevels, "paper"),
        EXACT: of(DiffGen, "exact"),
        NOISELESS: of(Noiseless, "none"),
    }


@dataclass(frozen=True, kw_only=True)
class Simulation(DiffGen):
    """One that publishes with a seed only; `verify` says so of its releases."""

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        if not coins.seeded:
            raise PolicyError("seed must be given: this mechanism is for simulations, and keeps no promise")
        return super().memo(table, coins, steps)


@dataclass(frozen=True, kw_only=True)
class WithoutLevels(Simulation):
    """Every node with the noise of a leaf alone: it costs as many times more as the tree has levels."""

    def measure(self, table: Table, noise: Noise, tell: Tell) -> Measurements:
        return super().measure(table, _Whole(noise, self.settings(table.schema).exponential_budget.counts), tell)


@dataclass(frozen=True, kw_only=True)
class Noiseless(Simulation):
    """The same tree with exact counts: what is lost without any noise on them."""

    def measure(self, table: Table, noise: Noise, tell: Tell) -> Measurements:
        return super().measure(table, _Silent(noise), tell)


@dataclass(frozen=True, kw_only=True)
class Clipped(Simulation):
    """Negative leaves are set to 0 one by one, and what that adds stays."""

    def measure(self, table: Table, noise: Noise, tell: Tell) -> Measurements:
        found = super().measure(table, noise, tell)
        return replace(found, leaves=tuple(max(0, leaf) for leaf in found.leaves))


@dataclass(frozen=True, kw_only=True)
class TablesAlone(Simulation):
    """The attribute x class tables with all of epsilon, and one leaf for each class."""

    def measure(self, table: Table, noise: Noise, tell: Tell) -> Measurements:
        settings = self.settings(table.schema)
        return measure_tables(rows_of(table, settings, tell), settings.histogram_budget, noise)


@dataclass(frozen=True)
class _Whole:
    """Noise that forgets that a record is counted at every level: each count has the whole share."""

    noise: Noise
    share: Fraction

    def laplace(self, counts: Ints, epsilon: Fraction) -> Ints:
        return self.noise.laplace(counts, self.share)

    def choose(self, scores: Sequence[float], epsilon: Fraction, sensitivity: float, *, monotone: bool) -> int:
        return self.noise.choose(scores, epsilon, sensitivity, monotone=monotone)


@dataclass(frozen=True)
class _Silent:
    """Choices as ever, and no noise on counts."""

    noise: Noise

    def laplace(self, counts: Ints, epsilon: Fraction) -> Ints:
        return counts.copy()

    def choose(self, scores: Sequence[float], epsilon: Fraction, sensitivity: float, *, monotone: bool) -> int:
        return self.noise.choose(scores, epsilon, sensitivity, monotone=monotone)
