"""The course of a release: the whole walk that its measurements took, with what each part cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ReleaseError
from discreet.guarantee.spent import For, Part
from discreet.release.diffgen.pairs.measured import Measured
from discreet.release.diffgen.pairs.walk import Offer, Setting, Stage, begin


@dataclass(frozen=True, eq=False, kw_only=True)
class Course:
    """Places on the walk, each with the round that it offered; the last offers none."""

    stages: tuple[Stage, ...]
    offers: tuple[Offer, ...]

    @property
    def last(self) -> Stage:
        return self.stages[-1]

    @property
    def begin(self) -> Stage:
        return self.stages[0]

    def parts(self, names: Sequence[str], measured: Measured) -> tuple[Part, ...]:
        """What was paid, part by part; they add up to epsilon."""
        shares = self.begin.shares
        found = [Part(paid=For.TOTAL, share=shares.total)]
        found += [Part(paid=For.TABLE, column=name, share=own) for name, own in zip(names, shares.ones, strict=True)]
        for number, (offer, each) in enumerate(zip(self.offers, measured.rounds, strict=True), start=1):
            found.append(Part(paid=For.CHOICE, share=offer.choosing, round=number))
            if each.chosen is not None:
                found.append(Part(paid=For.PAIR, share=offer.measuring, round=number))
        if self.last.left:
            found.append(Part(paid=For.AGAIN, share=self.last.left))
        if sum((part.share for part in found), Fraction(0)) != self.begin.setting.epsilon:
            raise AssertionError("the parts of epsilon must add up")
        return tuple(found)


def course_of(setting: Setting, measured: Measured) -> Course:
    """Walk through measurements; raises ReleaseError where they are not what the walk asks for, to its end."""
    if [each.shape for each in measured.ones] != [(size,) for size in setting.sizes]:
        raise ReleaseError("tables of columns must have a count for each cell of each column")
    stages, offers = [begin(setting, measured.total, measured.ones)], []
    for number, each in enumerate(measured.rounds, start=1):
        offer = stages[-1].next
        try:
            stages.append(stages[-1].after(each))
        except ValueError:
            raise ReleaseError(
                f"round {number} must choose one of the tables that its epsilon was worth, or a stop"
            ) from None
        if offer is not None:
            offers.append(offer)
    last = stages[-1]
    if last.next is not None:
        raise ReleaseError(f"rounds ({len(measured.rounds)}) must go on until epsilon is spent")
    shapes = None if measured.again is None else [each.shape for each in measured.again]
    if shapes != ([(size,) for size in setting.sizes] if last.left else None):
        raise ReleaseError("tables of columns must be measured again with what the rounds left, and only then")
    return Course(stages=tuple(stages), offers=tuple(offers))
