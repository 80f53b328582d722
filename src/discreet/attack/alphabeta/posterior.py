"""What Bayes makes of one tuple, exactly: from how probable it was held, and what a release shows of it.

Only ratios matter: how much more probable what was seen is if the tuple is in the table than if it is not.

Paper: [RSH] sections 2.1, 4.4.1 and 6, Definition 6.2, Example 6.4.
Symbols: A = s / beta for a tuple that is shown, B = (1 - s) / (1 - beta) for one that is not. Of several views a tuple
    that was shown before is shown again with q where it is not in the table; with a public source, s and beta of a
    tuple of weight w are alpha + beta w and beta w, and its prior is at most d w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy

Number = TypeVar("Number", float, Fraction)
Promise = DGammaPrivacy | FrappPrivacy


def several(promise: Promise) -> bool:
    """Whether one promise is for several views."""
    return isinstance(promise, DGammaPrivacy) and bool(promise.later)


def heaviest(promise: Promise) -> Fraction:
    """The largest weight of a tuple in the public source: 1 where there is none."""
    return Fraction(1) if isinstance(promise, FrappPrivacy) else promise.weights[1]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Of the tuple that is the hardest to hide: the largest prior that is covered, and the ratios of what is seen."""

    prior: Fraction
    rise: Fraction  # the largest ratio: A, where there is one view
    fall: Fraction  # the smallest: B


def evidence_of(promise: Promise, views: int | None = None) -> Evidence:
    """What a release can say for and against a tuple; of several views, the first `views` together."""
    if isinstance(promise, FrappPrivacy):
        return Evidence(prior=promise.d, rise=frapp_ratio(promise, 1), fall=frapp_ratio(promise, 0))
    if promise.later:
        most, least = extremes(promise, views or promise.views)
        return Evidence(prior=promise.d, rise=most, fall=least)
    weight = heaviest(promise)
    keep, insert = promise.keep + promise.insert * (weight - 1), promise.insert * weight
    return Evidence(prior=promise.d * weight, rise=keep / insert, fall=(1 - keep) / (1 - insert))


def history_ratio(
    keep: Number, inserts: Sequence[Number], again: Number, history: Sequence[int], there: Sequence[bool]
) -> Number:
    """For a tuple that these views showed (1) or not (0): how probable that is if it was in these tables, over how
    probable if it was in none.
    """
    ratio: Number = keep / keep
    seen = False
    for insert, shown, present in zip(inserts, history, there, strict=True):
        other = again if seen else insert
        if present:
            ratio *= keep / other if shown else (1 - keep) / (1 - other)
        seen = seen or bool(shown)
    return ratio


def extremes(promise: DGammaPrivacy, views: int) -> tuple[Fraction, Fraction]:
    """The largest and the smallest ratio of any history by the first views, whenever the tuple came and went.

    From the last view back: what is best from here on depends only on whether the tuple was shown before.
    """
    same = Fraction(1)
    after = {False: (same, same), True: (same, same)}
    for insert in reversed(promise.inserts[:views]):
        now = {}
        for seen in after:
            other = promise.again if seen else insert
            shown, unshown = promise.keep / other, (1 - promise.keep) / (1 - other)
            now[seen] = (
                max(max(shown, same) * after[True][0], max(unshown, same) * after[seen][0]),
                min(min(shown, same) * after[True][1], min(unshown, same) * after[seen][1]),
            )
        after = now
    return after[False]


def frapp_ratio(promise: FrappPrivacy, times: int) -> Fraction:
    """How much more probable it is that FRAPP shows a tuple so often if one record has it than if none has.

    Any `times` of the n records may be those that show it, all alike: the one that has it is among them, and was kept,
    or it is not, and was changed.
    """
    among = Fraction(times, promise.rows)
    return among * promise.keep / promise.other + (1 - among) * (1 - promise.keep) / (1 - promise.other)


def independent(prior: Number, *ratios: Number) -> Number:
    """The posterior of one who holds tuples for independent, and sees the tuple with these ratios, one a release."""
    raised = prior
    for each in ratios:
        raised *= each
    return raised / (raised + 1 - prior)


def exclusive(priors: Sequence[Fraction], ratios: Sequence[Fraction]) -> list[Fraction]:
    """The posteriors of one who knows that exactly one of these tuples is there."""
    raised = [prior * ratio for prior, ratio in zip(priors, ratios, strict=True)]
    whole = sum(raised)
    return [each / whole for each in raised]


def linked(candidates: Fraction | int, evidence: Evidence) -> Fraction:
    """The posterior of a candidate, one of so many that were equally probable, where nothing speaks for another one."""
    return evidence.rise / (evidence.rise + (candidates - 1) * evidence.fall)


def another_shown(candidates: Fraction | int, evidence: Evidence) -> Fraction:
    """The posterior of a candidate that is not shown, where one other of so many alone is."""
    return evidence.fall / (evidence.rise + (candidates - 1) * evidence.fall)


def correlated(prior: Fraction, given: Fraction, pair: tuple[Fraction, Fraction, Fraction]) -> Fraction:
    """The posterior of a tuple whose prior is that of another one, which is there with `given` if the first is.

    `pair`: how much more probable what is seen of them is if both are there, only the first, or only the second, than
    if neither is. There are these four worlds.
    """
    with_both, with_first, with_second = pair
    both, one = prior * given, prior * (1 - given)
    first = both * with_both + one * with_first
    return first / (first + one * with_second + 1 - both - 2 * one)


def pair_ratios(promise: Promise) -> tuple[Fraction, Fraction, Fraction]:
    """The ratios of two tuples that are both shown, by all views and in FRAPP once each, for `correlated`.

    FRAPP's records may each become either tuple, so the two hang together a little: all is divided by what n records
    do that become neither but twice, (1 - 2e)^(n-2).
    """
    own = evidence_of(promise)
    if not isinstance(promise, FrappPrivacy):
        return own.rise**2, own.rise, own.rise
    g, e, n = promise.keep, promise.other, promise.rows
    away, rest = 1 - g - e, 1 - 2 * e
    neither = n * (n - 1) * e**2
    one = (g + e) * (n - 1) * e + away * (n - 1) * (n - 2) * e**2 / rest
    both = g**2 + e**2 + 2 * (g + e) * away * (n - 2) * e / rest + away**2 * (n - 2) * (n - 3) * e**2 / rest**2
    return both / neither, one / neither, one / neither
