"""Every classic notion of one set of classes."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.guarantee.classic.alpha_k import alpha_k_anonymity
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.closeness import closeness, ordered_closeness
from discreet.guarantee.classic.distinct_diversity import distinct_diversity
from discreet.guarantee.classic.entropy_diversity import entropy_diversity
from discreet.guarantee.classic.k_anonymity import k_anonymity
from discreet.guarantee.classic.likeness import enhanced_likeness, likeness
from discreet.guarantee.classic.measured import Measured
from discreet.guarantee.classic.recursive_diversity import recursive_diversity
from discreet.guarantee.classic.share_diversity import share_diversity


def every_notion(classes: Classes, l: int = 2) -> Iterator[Measured]:  # noqa: E741 - the paper's name
    """All that classes alone can say; `l` is that of recursive diversity. Ordered distances need values in order."""
    yield k_anonymity(classes)
    yield distinct_diversity(classes)
    yield entropy_diversity(classes)
    yield recursive_diversity(classes, l)
    yield share_diversity(classes)
    yield closeness(classes)
    if classes.ordered:
        yield ordered_closeness(classes)
    yield likeness(classes)
    yield enhanced_likeness(classes)
    yield alpha_k_anonymity(classes)
