"""Whether stated probabilities keep (d, gamma): what Bayes' rule gives in the worst case, in fractions.

Paper: [RSH] Definitions 2.1 to 2.3 and 6.2, Algorithm 7, sections 4.4.1, 4.4.2 and 5.
Symbols: d bounds the prior of a tuple, gamma its posterior; a tuple of weight w has a prior of at most d w.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from discreet.verifier.alphabeta.stated import Records, Tuples

Pick = Callable[[Iterable[Fraction]], Fraction]


class Law(NamedTuple):
    """How probable it is that a tuple is shown, where it is in the table and where it is not."""

    there: Fraction
    absent: Fraction

    @property
    def seen(self) -> Fraction:
        """How many times as probable it is to be shown for being there."""
        return self.there / self.absent

    @property
    def unseen(self) -> Fraction:
        """The same, not to be shown."""
        return (1 - self.there) / (1 - self.absent)


def after(prior: Fraction, there: Fraction, absent: Fraction) -> Fraction:
    """Bayes' rule: how probable a tuple is after what is so probable where it is there, and where it is absent."""
    joint = prior * there
    return joint / (joint + (1 - prior) * absent)


def keeps(promised: Tuples | Records) -> bool:
    """Whether nobody whom the promise is for can learn more than it says."""
    return records_keep(promised) if isinstance(promised, Records) else tuples_keep(promised)


def tuples_keep(promised: Tuples) -> bool:
    """Alpha-beta, whatever history the tuple has and whatever the views show of it.

    What is asked of a tuple only grows or only falls with its weight, so the least and the largest answer for all.
    """
    laws = [Weighed(promised, weight) for weight in promised.weights]
    if not all(each.possible for each in laws):
        return False
    if promised.adversary == "exclusive":  # one of his candidates is there: this one shown, the others not
        others = min(each.likelihood(min) for each in laws)
        return all(
            2 * each.prior <= 1 and after(each.prior, each.likelihood(max), others) <= promised.gamma for each in laws
        )
    return all(
        after(each.prior, each.likelihood(max), Fraction(1)) <= promised.gamma
        and each.likelihood(min) >= each.prior / promised.gamma  # what is left of a prior, however small it is
        for each in laws
    )


class Weighed:
    """Of a tuple of some weight: its prior, and how it is shown in each view."""

    def __init__(self, promised: Tuples, weight: Fraction) -> None:
        self._promised, self.prior = promised, promised.d * weight
        alpha = promised.keep - promised.inserts[0]
        keep = alpha + promised.inserts[0] * weight
        self.fresh = [Law(keep, insert * weight) for insert in promised.inserts]
        self.old = None if promised.again is None else Law(keep, promised.again)

    @property
    def possible(self) -> bool:
        """Whether these are probabilities, and more of what may be there is shown than of anything else.

        What was shown before is shown again at least as often as another tuple is shown first.
        """
        old, gamma = self.old, self._promised.gamma
        between = 0 < self.prior < gamma < 1 and all(0 < law.absent < law.there < 1 for law in self.fresh)
        return between and (
            old is None or (old.absent < old.there and all(law.absent <= old.absent for law in self.fresh))
        )

    def likelihood(self, pick: Pick) -> Fraction:
        """How many times as probable what the views show is for a tuple with a history, over one that was never there.

        The most or the least over all histories and all that may be shown, view by view: it was there or not, it is
        shown or not; from when it is first shown, another law holds.
        """
        unshown, shown = Fraction(1), list[Fraction]()
        for law in self.fresh:
            later = [before * step for before in shown for step in self._steps()]
            shown = [pick([*later, unshown * law.seen, unshown])]
            unshown = pick([unshown, unshown * law.unseen])
        return pick([unshown, *shown])

    def _steps(self) -> Iterator[Fraction]:
        yield Fraction(1)  # not there in this view
        if self.old is not None:
            yield from (self.old.seen, self.old.unseen)


def records_keep(promised: Records) -> bool:
    """FRAPP, for one who looks up one tuple that is shown once or not at all: one of n records has it, or none."""
    n, g = promised.rows, promised.keep
    if not 0 < promised.d < promised.gamma < 1 or not 0 < g < 1:
        return False
    e = (1 - g) / (promised.domain - 1)  # that a record becomes a certain other tuple
    if e >= g:
        return False
    # each without its factor (1 - e)^(n-2) or (1 - e)^(n-1), which both sides have
    once = after(promised.d, g * (1 - e) + (1 - g) * (n - 1) * e, n * e * (1 - e))
    never = (1 - g) / (1 - e)
    return once <= promised.gamma and never >= promised.d / promised.gamma
