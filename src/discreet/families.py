"""The table of families: every kind of mechanism, and what it takes to publish, read, check, say, compare and ask.

One row a family. A family's parts stand in rooms of the same name in `mechanism/`, `release/` and `estimate/`.
"""

from __future__ import annotations

from typing import Any

from discreet.estimate.alphabeta.best import Best
from discreet.estimate.alphabeta.control import Control
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.alphabeta.unbiased import Clipped, Unbiased
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.buckets.unbiased import Unbiased as UnbiasedOfBuckets
from discreet.estimate.buckets.uniform import Uniform
from discreet.estimate.diffgen.release import DiffGenRelease
from discreet.estimate.diffgen.unbiased import Model
from discreet.estimate.diffgen.unbiased import Unbiased as UnbiasedOfLeaves
from discreet.estimate.estimator import Estimator
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.mechanism.alphabeta.policy.frapp import Frapp
from discreet.mechanism.buckets.policy.anatomy import Anatomy
from discreet.mechanism.buckets.policy.buckets import Buckets
from discreet.mechanism.diffgen.policy.diffgen import DiffGen
from discreet.release.alphabeta import changes as alphabeta_changes
from discreet.release.alphabeta import checks as alphabeta_checks
from discreet.release.alphabeta import manifest as alphabeta
from discreet.release.alphabeta import words as alphabeta_words
from discreet.release.buckets import changes as bucket_changes
from discreet.release.buckets import checks as bucket_checks
from discreet.release.buckets import manifest as buckets
from discreet.release.buckets import words as bucket_words
from discreet.release.diffgen import changes as diffgen_changes
from discreet.release.diffgen import checks as diffgen_checks
from discreet.release.diffgen import manifest as diffgen
from discreet.release.diffgen import words as diffgen_words
from discreet.release.family import FAMILIES, Family
from discreet.schema.mechanisms import MECHANISMS


def _by_name(*estimators: type[Estimator]) -> dict[str, type[Estimator]]:
    """Estimators by their names, the default first."""
    return {each.name: each for each in estimators}


BUCKETS = Family(
    name="buckets",
    mechanisms=(Buckets, Anatomy),
    files=buckets.files_of,
    fields=buckets.fields_of,
    mechanism=buckets.mechanism_from_json,
    guarantee=buckets.guarantee_from_json,
    numbers=buckets.numbers_from_json,
    number_names=buckets.NUMBERS,
    checks=bucket_checks.CHECKS,
    not_checkable=bucket_checks.NOT_CHECKABLE,
    words=bucket_words.WORDS,
    changes=bucket_changes.CHANGES,
    reader=BucketRelease,
    estimators=_by_name(UnbiasedOfBuckets, Uniform),
    holds="rows",
)
ALPHABETA = Family(
    name="alphabeta",
    mechanisms=(AlphaBeta, Frapp),
    files=alphabeta.files_of,
    fields=alphabeta.fields_of,
    mechanism=alphabeta.mechanism_from_json,
    guarantee=alphabeta.guarantee_from_json,
    numbers=alphabeta.numbers_from_json,
    number_names=alphabeta.NUMBERS,
    checks=alphabeta_checks.CHECKS,
    not_checkable=alphabeta_checks.NOT_CHECKABLE,
    words=alphabeta_words.WORDS,
    changes=alphabeta_changes.CHANGES,
    reader=AlphaBetaRelease,
    estimators=_by_name(Unbiased, Clipped, Best, Control),
    holds="tuples",
)
DIFFGEN = Family(
    name="diffgen",
    mechanisms=(DiffGen,),
    files=diffgen.files_of,
    fields=diffgen.fields_of,
    mechanism=diffgen.mechanism_from_json,
    guarantee=diffgen.guarantee_from_json,
    numbers=diffgen.numbers_from_json,
    number_names=diffgen.NUMBERS,
    checks=diffgen_checks.CHECKS,
    not_checkable=diffgen_checks.NOT_CHECKABLE,
    words=diffgen_words.WORDS,
    changes=diffgen_changes.CHANGES,
    reader=DiffGenRelease,
    estimators=_by_name(Model, UnbiasedOfLeaves),
    holds="noisy counts",
)


def register(family: Family[Any, Any, Any]) -> None:
    """Enter a family: from now on a policy may name its mechanisms, and its releases are read, verified and asked."""
    for mechanism in family.mechanisms:
        MECHANISMS[mechanism.kind] = mechanism
        FAMILIES[mechanism.kind] = family


for _family in (BUCKETS, ALPHABETA, DIFFGEN):
    register(_family)
