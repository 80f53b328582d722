"""What a DiffGen release would cost and hold, from the policy alone: the rows are not looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.estimate.estimate import PEOPLE
from discreet.ground.exact import fraction_text
from discreet.mechanism.diffgen.planning.parts import Parts, exponential_parts, histogram_parts
from discreet.mechanism.diffgen.planning.settings import Settings
from discreet.mechanism.plan import Stakes


@dataclass(frozen=True, kw_only=True)
class DiffGenPlan:
    """The parts of epsilon, and how many counts there will be."""

    epsilon: Fraction
    parts: Parts
    attributes: int
    classes: int
    table_counts: int
    specializations: int | None  # None: as many as the noisy total is worth
    warnings: tuple[str, ...]

    @property
    def stakes(self) -> Stakes:
        """Epsilon; every person has the same promise."""
        return Stakes(number=float(self.epsilon), what="epsilon", unprotected=0, alone=None, size=self.table_counts)

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        return {
            "unit": PEOPLE,
            "epsilon": fraction_text(self.epsilon),
            "parts": {part.name: fraction_text(part.share) for part in self.parts},
            "attributes": self.attributes,
            "classes": self.classes,
            "table_counts": self.table_counts,
            "specializations": self.specializations,
            "warnings": list(self.warnings),
        }

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        """The parts of epsilon and the number of counts; nothing of it depends on the rows."""
        yield f"epsilon = {float(self.epsilon):.6g} for adding or removing one record, in parts:"
        for part in self.parts:
            yield f"  {part.name:<40} {float(part.share):.6g}"
        yield f"{self.table_counts:,} noisy counts in tables: {self.attributes} attributes x {self.classes} classes"
        steps = self.specializations
        yield "as many specializations as the noisy total is worth" if steps is None else f"{steps} specializations"
        yield f"its counts are of {PEOPLE}, with noise; the number of noisy counts says nothing of theirs"
        yield "the rows were not looked at: a plan that depended on them would have to be paid for"


def possible_parts(settings: Settings) -> Iterator[Parts]:
    """The parts of epsilon as a release may state them, whatever is measured."""
    if settings.guided:
        yield histogram_parts(settings.histogram_budget, settings.taxonomies, again=False)
    else:
        budget = settings.exponential_budget
        yield exponential_parts(budget, budget.splits, budget.selections)
        yield exponential_parts(budget, 1, 1)


def plan_of(settings: Settings) -> DiffGenPlan:
    """The plan; it is public, for a number that depended on the rows would have to be paid for."""
    return DiffGenPlan(
        epsilon=settings.epsilon,
        parts=next(possible_parts(settings)),
        attributes=len(settings.taxonomies),
        classes=settings.classes,
        table_counts=settings.table_counts,
        specializations=None if settings.wanted is None else min(settings.wanted, settings.possible),
        warnings=notes_of(settings),
    )


def notes_of(settings: Settings) -> tuple[str, ...]:
    """What is asked for and cannot be had."""
    if settings.wanted is None or settings.wanted <= settings.possible:
        return ()
    return (f"specializations ({settings.wanted}) are more than the hierarchies allow; {settings.possible} are used",)
