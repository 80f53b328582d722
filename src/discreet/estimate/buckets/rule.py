"""Which answer is shown where nobody asks for one of the estimators by name.

The learned one, with its interval over the model, where that interval is known to cover: for releases whose plan keeps
enough slack. Its coverage was measured (docs/intervals.md). On plans that fill the caps it falls short, and the guard
of learned.py does not see it. Everything else gets the unbiased one. Either way `design` is the unbiased answer.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.release.buckets.manifest import BucketNumbers

LEAST_SLACK = Fraction(1, 10)


def shows_learned(numbers: BucketNumbers) -> bool:
    """Whether the learned answer is the default."""
    return numbers.slack_used >= LEAST_SLACK
