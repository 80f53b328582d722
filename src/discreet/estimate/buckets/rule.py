"""Which answer is shown where nobody asks for one of the estimators by name.

The learned one, with its interval over the model, where that interval is known to cover, as measured in
docs/intervals.md: for plans that keep enough slack, and for Anatomy, whose buckets hold a value once at most. On other
plans without slack, which fill the caps, coverage falls short on some tables, and the guard of learned.py does not see
it: there the unbiased one is shown. Known others and fakes change nothing of that: with slack, intervals covered as
well in every setting that was measured. Of a near release the slack is the least that any window kept. Releases that
were made before anything was learned (words 1 and 2) keep the default that they had. Either way `design` is the
unbiased answer.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.release.buckets.manifest import BucketStatement, StatedAnatomy

LEAST_SLACK = Fraction(1, 10)
_FIRST_WORDS = 3  # of releases whose README speaks of a model


def shows_learned(statement: BucketStatement) -> bool:
    """Whether the learned answer is the default."""
    covers = statement.numbers.slack_used >= LEAST_SLACK or isinstance(statement.mechanism, StatedAnatomy)
    return covers and statement.words >= _FIRST_WORDS
