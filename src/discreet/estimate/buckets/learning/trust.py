"""How far what was learned is trusted: as far as it moves answers by more than chance would.

Where values do not depend on quasi-identifiers there is nothing to learn, and networks learn noise. What a bucket's
counts say alone (every row has value x with c_gx / S_g) is then better, and in between a mixture is.

Symbols, of one random question: N the learned answer, M the one from the counts alone, v and i_m as in likely.py; v -
    i_m is what the model is unsure of. r = sum w (N - M)^2 / sum w (v - i_m) with w = 1 / (v + 1) is about one where
    there is nothing to learn, and far above where there is much. The share of W that is kept is 1 - (2 / r)^2, or none.
    The linear model is left as it is: what it says otherwise stays in the interval.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.learning.cells import random_cells
from discreet.estimate.buckets.learning.effort import cells_for
from discreet.estimate.buckets.learning.knowledge import Knowledge
from discreet.estimate.buckets.learning.patterns import Patterns
from discreet.estimate.buckets.likely import Likely

_LESS = 5  # one cell in so many of those by which it is checked how far off it is
_CHANCE = 2.0  # r up to this is taken for chance: it was at most 1.9 where there was nothing to learn


def trusted(
    knowledge: Knowledge, likely: Likely, composition: Composition, patterns: Patterns, seed: bytes
) -> Knowledge:
    """The same knowledge, mixed with what the counts say alone; a bucket's counts hold as before."""
    share = trust(likely, composition, patterns, seed)
    sizes = composition.sizes[composition.bucket]
    counts = np.repeat(((1 - share) * composition.expected / sizes).astype(np.float32), sizes)
    overall = ((1 - share) * composition.totals / composition.totals.sum()).astype(np.float32)
    kept = np.float32(share)
    return replace(
        knowledge, weights=knowledge.weights * kept + counts, prior=knowledge.prior * kept + overall[:, None]
    )


def trust(likely: Likely, composition: Composition, patterns: Patterns, seed: bytes) -> float:
    """The share of what was learned that is kept, between 0 and 1."""
    coins = np.random.default_rng([*seed, 2])
    moved = chance = 0.0
    for _, rows, own in random_cells(patterns, composition.order, cells_for(len(patterns.pattern)) // _LESS, coins):
        cell = likely.cell(rows, own)
        alone = float((composition.having(own) / composition.sizes * likely.per_bucket(rows)).sum())
        moved += (cell.value - alone) ** 2 / (cell.variance + 1)
        chance += (cell.variance - cell.missing) / (cell.variance + 1)
    return max(0.0, 1 - (_CHANCE * chance / moved) ** 2) if moved > 0 else 0.0
