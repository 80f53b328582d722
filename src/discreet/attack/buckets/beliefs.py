"""What may be believed of the rows of a bucket release: by one bucket, by all of them, or by none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attack.target import Target
from discreet.ground.arrays import Floats, Ints

if TYPE_CHECKING:
    from discreet.estimate.buckets.learning.knowledge import Singles
    from discreet.estimate.buckets.release import BucketRelease

Beliefs = Callable[[Ints], Floats]  # of some rows of the release: how probable each value is for each of them


def bucket_release(target: Target) -> BucketRelease:
    """The release, as one of buckets; attacks on buckets are asked for no other."""
    return cast("BucketRelease", target.release)


def shares(release: BucketRelease) -> Beliefs:
    """What one bucket alone says of each of its rows: c_x / (S + sigma), to one who knows nothing of the fakes."""
    composition = release.composition
    begins = np.searchsorted(composition.bucket, np.arange(len(composition.ids) + 1))

    def believe(rows: Ints) -> Floats:
        buckets, inverse = np.unique(release.qit.bucket[rows], return_inverse=True)
        counts = np.zeros((len(buckets), len(composition.values)))
        lengths = begins[buckets + 1] - begins[buckets]
        entries = np.repeat(begins[buckets] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        counts[np.repeat(np.arange(len(buckets)), lengths), composition.value[entries]] = composition.count[entries]
        found: Floats = (counts / composition.slots[buckets, None])[inverse]
        return found

    return believe


def expected(release: BucketRelease) -> Beliefs:
    """The same to one who looks at how many people have each value: the people that are expected there, c~_x / S."""
    composition = release.composition
    sizes = composition.sizes[composition.bucket]
    return weighed(release, np.repeat(np.minimum(composition.expected, composition.count) / sizes, sizes))


def learned(release: BucketRelease) -> Beliefs:
    """What is learned from all buckets together of each row, given its bucket: the estimator's own posterior.

    Where answers may not lean on it, an attacker still may, who has nothing to lose: there it is the linear model's.
    """
    composition, weights = release.composition, release.posterior
    sizes = composition.sizes[composition.bucket]
    if np.allclose(weights, np.repeat(composition.expected / sizes, sizes), atol=1e-6):
        weights = release.knowledge.second
    return weighed(release, weights)


def weighed(release: BucketRelease, weights: Floats | Singles) -> Beliefs:
    """Beliefs of every row for the values of its bucket, in the order of the estimator's posterior."""
    composition = release.composition
    sizes, bucket = composition.sizes, release.qit.bucket
    kinds = np.bincount(composition.bucket, minlength=len(sizes))
    entry = np.cumsum(kinds) - kinds
    begin = np.cumsum(sizes * kinds) - sizes * kinds
    inside = np.arange(len(bucket)) - (np.cumsum(sizes) - sizes)[bucket]

    def believe(rows: Ints) -> Floats:
        found = np.zeros((len(rows), len(composition.values)))
        own = bucket[rows]
        for nth in range(int(kinds[own].max(initial=0))):
            having = np.flatnonzero(kinds[own] > nth)
            where, at = own[having], rows[having]
            place = begin[where] + nth * sizes[where] + inside[at]
            found[having, composition.value[entry[where] + nth]] = weights[place]
        return found

    return believe


def general(release: BucketRelease) -> Beliefs:
    """What was learned of people with such quasi-identifiers, before anybody's bucket is looked at."""
    prior, kept = release.knowledge.prior, release.knowledge.kept

    def believe(rows: Ints) -> Floats:
        found: Floats = prior[:, kept[rows]].T.astype(np.float64)
        return found

    return believe
