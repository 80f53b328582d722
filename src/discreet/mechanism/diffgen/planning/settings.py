"""What a policy asks of DiffGen over one schema: the taxonomies, the class, and how epsilon is divided."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.mechanism.diffgen.planning.budget import (
    ExponentialBudget,
    HistogramBudget,
    exponential_budget,
    histogram_budget,
)
from discreet.mechanism.diffgen.planning.cuts import most_steps
from discreet.schema.taxonomy import Taxonomy

DEFAULT_SPECIALIZATIONS = 10  # of the exponential guide, which must know beforehand what it pays for


@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """The parameters, with the attributes' taxonomies and the values of the class in place of names."""

    epsilon: Fraction
    specializations: int | None
    score: str
    consistency: str
    guide: str
    target: str
    classes: int
    taxonomies: tuple[Taxonomy, ...]

    @property
    def guided(self) -> bool:
        """Whether noisy tables guide every choice."""
        return self.guide == "histogram"

    @property
    def wanted(self) -> int | None:
        """How many specializations are asked for; None is as many as are worth it."""
        return self.specializations or (None if self.guided else DEFAULT_SPECIALIZATIONS)

    @cached_property
    def possible(self) -> int:
        """How many specializations the taxonomies allow."""
        return most_steps(self.taxonomies)

    @property
    def table_counts(self) -> int:
        """How many noisy counts the tables have: cells x classes over all attributes."""
        return sum(map(len, self.taxonomies)) * self.classes

    @cached_property
    def histogram_budget(self) -> HistogramBudget:
        return histogram_budget(self.epsilon, [len(each) for each in self.taxonomies])

    @cached_property
    def exponential_budget(self) -> ExponentialBudget:
        """What is reserved: for h choices, or as many as the taxonomies allow."""
        steps = max(1, min(self.wanted or DEFAULT_SPECIALIZATIONS, self.possible))
        return exponential_budget(self.epsilon, sum(each.ordered for each in self.taxonomies), steps)
