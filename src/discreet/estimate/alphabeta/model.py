"""What a view tells of its table, learned once: how common values are, how many tuples, and how far that strays.

A count has several values: the plain one, without bias and with all the noise; filtered ones (`filters.py`), with less
noise and some stray; and what a model of independent attributes expects, with hardly any noise and the most stray. How
far each strays from the one before is read off two-way tables, for random sets of values of all sizes (`stray.py`), so
that a question leans on the model as far as questions of its size may.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.estimate.alphabeta.filters import Filters, with_shares
from discreet.estimate.alphabeta.law import Law
from discreet.estimate.alphabeta.margins import Margins
from discreet.estimate.alphabeta.shares import shares_of
from discreet.estimate.alphabeta.stray import UNKNOWN, Stray, fit_stray, lean, stacked
from discreet.ground.arrays import Floats, Ints

_QUESTIONS = 48  # to a pair of attributes
_ALONE = 2.0  # as many of them as say together what they say, for they overlap
_WHOLE = 0.25  # of the questions leave an attribute out
_REFINED = 10**5  # values of an attribute whose shares are learned again with filters


@dataclass(frozen=True, kw_only=True)
class Model:
    """How a count is told from plain and filtered counts: `total` tuples, and the strays, the model's own last."""

    filters: Filters
    law: Law
    total: float
    strays: tuple[Stray, ...]

    def best(self, measured: Floats, seen: Floats) -> Floats:
        """The best value for each condition; rows of `measured` are the filters' measures, of `seen` the counts."""
        read = self.filters.read(measured, seen, self.law)
        return self._lean(read.values, read.noise, read.share, whole=True)[0]

    def _lean(self, values: Floats, noise: Floats, share: Floats, *, whole: bool) -> tuple[Floats, Floats]:
        """The mean of all values, and its variance; with the model's own, if `whole`."""
        expected = self.total * share
        noise = noise + (self.law.more * expected)[:, None, None]
        strays = stacked(self.strays, share, self.total)
        if not whole:
            return lean(values, noise, strays[:, :-1])
        strays[:, -1] += expected
        values = np.concatenate([values, expected[:, None]], axis=1)
        return lean(values, np.pad(noise, ((0, 0), (0, 1), (0, 1))), strays)


def first_shares(ones: Sequence[Ints], noise: Sequence[Ints], law: Law) -> list[Floats]:
    """Shares of the values of each attribute from plain counts."""
    seen = float(ones[0].sum())
    domain = float(math.prod(map(len, ones)))
    total = max(1.0, (seen - law.rate * domain) / law.slope)
    found = []
    for table, each in zip(ones, noise, strict=True):
        own = law.rate * domain * each / each.sum()
        spread = (law.thin * own - law.once * own**2) / law.slope**2 + law.more * total / len(table)
        found.append(shares_of((table - own) / law.slope, np.sqrt(np.maximum(spread, 0.0)), total))
    return found


def learn(filters: Filters, margins: Margins, law: Law, most: float) -> Model:
    """The model of a view's tables, of at most `most` tuples: strays, shares again with less noise, then strays."""
    model = Model(filters=filters, law=law, total=1.0, strays=(UNKNOWN,) * filters.number)
    asked = [_questions(filters, pair, table) for pair, table in sorted(margins.pairs.items())]
    for again in (False, True):
        if again:
            model = replace(model, filters=with_shares(filters, _shares(model, margins)))
        every = math.prod(model.filters.parts[place].sum(axis=1) for place in range(len(margins.ones)))
        whole = model.filters.read(every[None], margins.ones[0].sum(axis=1)[None], law)
        if not again:
            model = replace(model, total=min(most, max(1.0, float(whole.values[0, -1]))))
        model = replace(model, strays=_strays(model, asked))
        total, _ = model._lean(whole.values, whole.noise, whole.share, whole=False)
        model = replace(model, total=min(most, max(1.0, float(total[0]))))
    return model


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Random questions about two attributes: the sets of values, a row each, and what is seen of them."""

    pair: tuple[int, int]
    sets: tuple[Floats, Floats]
    seen: Floats

    def measured(self, filters: Filters) -> Floats:
        found = np.ones((len(self.seen), 1))
        for place, part in enumerate(filters.parts):
            inside = place in self.pair
            found = found * (self.sets[self.pair.index(place)] @ part.T if inside else part.sum(axis=1)[None])
        return found


def _questions(filters: Filters, pair: tuple[int, int], tables: Floats) -> _Asked:
    """Sets of all sizes, ranges and scattered ones; the same for the same domains."""
    sizes = [len(filters.noise[place]) for place in pair]
    coins = np.random.default_rng([*pair, *sizes])
    sets = tuple(np.stack([_set(coins, size) for _ in range(_QUESTIONS)]) for size in sizes)
    shown = tables.reshape(len(tables), *sizes)
    seen = np.stack([((sets[0] @ table) * sets[1]).sum(axis=1) for table in shown], axis=1)
    return _Asked(pair=pair, sets=(sets[0], sets[1]), seen=seen)


def _set(coins: np.random.Generator, size: int) -> Floats:
    found = np.zeros(size)
    number = min(size, round(math.exp(coins.uniform(0, math.log(max(2.0, 0.7 * size))))))
    if coins.random() < _WHOLE:
        number = size
    first = int(coins.integers(0, size - number + 1))
    ranged = coins.random() < 0.5
    found[np.arange(first, first + number) if ranged else coins.choice(size, number, replace=False)] = 1.0
    return found


def _strays(model: Model, asked: Sequence[_Asked]) -> tuple[Stray, ...]:
    """How far each value strays from the one before, and the model's from the last."""
    if not asked:
        return model.strays
    read = [model.filters.read(each.measured(model.filters), each.seen, model.law) for each in asked]
    values, noise = np.concatenate([each.values for each in read]), np.concatenate([each.noise for each in read])
    share, total, alone = np.concatenate([each.share for each in read]), model.total, _ALONE * len(asked)
    found = []
    for place in range(1, model.filters.number):
        spread = noise[:, place, place] + noise[:, place - 1, place - 1] - 2 * noise[:, place, place - 1]
        found.append(fit_stray(values[:, place] - values[:, place - 1], spread, share, total, alone))
    expected = total * share
    spread = noise[:, -1, -1] + (1 + model.law.more) * expected
    found.append(fit_stray(values[:, -1] - expected, spread, share, total, alone))
    return tuple(found)


def _shares(model: Model, margins: Margins) -> list[Floats]:
    """Shares from the best values of single cells, the model's own left out."""
    found = []
    parts = model.filters.parts
    for place, tables in enumerate(margins.ones):
        own = model.filters.shares[place]
        if len(own) > _REFINED:
            found.append(own / own.sum())
            continue
        others = math.prod((each.sum(axis=1) for other, each in enumerate(parts) if other != place), start=1.0)
        read = model.filters.read((parts[place].T * others), tables.T, model.law)
        counts, variance = model._lean(read.values, read.noise, read.share, whole=False)
        found.append(shares_of(counts, np.sqrt(variance), model.total))
    return found
