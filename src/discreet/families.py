"""The table of families: every kind of mechanism, and what it takes to publish, read, check, say, compare and ask.

One row a family. A family's parts stand in rooms of the same name in `mechanism/`, `release/` and `estimate/`. The
names are known at once. A row is made, and its parts are imported, when somebody asks for it: whoever only reads
releases loads no mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from discreet.release.family import FAMILIES, Family
from discreet.schema.mechanisms import MECHANISMS
from discreet.schema.register import Register, at

_BUCKETS = {
    "buckets": "discreet.mechanism.buckets.policy.buckets:Buckets",
    "anatomy": "discreet.mechanism.buckets.policy.anatomy:Anatomy",
}
_ALPHABETA = {
    "alphabeta": "discreet.mechanism.alphabeta.policy.alphabeta:AlphaBeta",
    "frapp": "discreet.mechanism.alphabeta.policy.frapp:Frapp",
}
_DIFFGEN = {"diffgen": "discreet.mechanism.diffgen.policy.diffgen:DiffGen"}
_PAIRS = {"pairs": "discreet.mechanism.diffgen.policy.pairs:Pairs"}
_BUCKET_ATTACKS = {
    "within-bucket": "discreet.attack.buckets.within:WithinBucket",
    "learning": "discreet.attack.buckets.learning:Learning",
    "corruption": "discreet.attack.buckets.corruption:Corruption",
    "negative-association": "discreet.attack.buckets.negative:NegativeAssociation",
    "beliefs": "discreet.attack.buckets.beliefs_about_all:BeliefsAboutAll",
    "minimality": "discreet.attack.buckets.minimality:Minimality",
    "intersection": "discreet.attack.buckets.intersection:Intersection",
    "low-prior": "discreet.attack.buckets.low_prior:LowPrior",
}
_ALPHABETA_ATTACKS = {
    "bayes": "discreet.attack.alphabeta.bayes:Bayes",
    "link": "discreet.attack.alphabeta.link:Link",
    "correlated": "discreet.attack.alphabeta.correlated:Correlated",
    "views": "discreet.attack.alphabeta.views:Views",
}
_DIFFGEN_ATTACKS = {
    "membership": "discreet.attack.diffgen.membership:Membership",
    "ratio": "discreet.attack.diffgen.ratio:Ratio",
    "tracker": "discreet.attack.diffgen.tracker:Tracker",
}
KINDS = (*_BUCKETS, *_ALPHABETA, *_DIFFGEN, *_PAIRS)  # of mechanisms, that come with the package


def _opened_by(place: str) -> Callable[[Any, Any], Any]:
    """The reader at a place, imported with the first release that it opens."""
    return lambda manifest, limits: at(place)(manifest, limits)


def _buckets() -> Family[Any, Any, Any]:
    from discreet.release.buckets import changes, manifest, words
    from discreet.verifier.buckets import checks

    return Family(
        name="buckets",
        mechanisms=Register(_BUCKETS),
        drafts=Register({"buckets": "discreet.mechanism.buckets.policy.draft:DRAFTS"}),
        files=manifest.files_of,
        fields=manifest.fields_of,
        mechanism=manifest.mechanism_from_json,
        guarantee=manifest.guarantee_from_json,
        numbers=manifest.numbers_from_json,
        number_names=manifest.NUMBERS,
        later_numbers=manifest.LATER,
        further_numbers=manifest.further_numbers,
        checks=checks.CHECKS,
        not_checkable=checks.NOT_CHECKABLE,
        words=words.WORDS,
        changes=changes.CHANGES,
        reader=_opened_by("discreet.estimate.buckets.release:BucketRelease"),
        estimators=Register(
            {
                "unbiased": "discreet.estimate.buckets.unbiased:Unbiased",
                "learned": "discreet.estimate.buckets.learned:Learned",
                "uniform": "discreet.estimate.buckets.uniform:Uniform",
            }
        ),
        attacks=Register(_BUCKET_ATTACKS),
        holds="rows",
    )


def _alphabeta() -> Family[Any, Any, Any]:
    from discreet.release.alphabeta import changes, manifest, words
    from discreet.verifier.alphabeta import checks

    return Family(
        name="alphabeta",
        mechanisms=Register(_ALPHABETA),
        drafts=Register({"alphabeta": "discreet.mechanism.alphabeta.policy.draft:DRAFTS"}),
        files=manifest.files_of,
        fields=manifest.fields_of,
        mechanism=manifest.mechanism_from_json,
        guarantee=manifest.guarantee_from_json,
        numbers=manifest.numbers_from_json,
        number_names=manifest.NUMBERS,
        checks=checks.CHECKS,
        not_checkable=checks.NOT_CHECKABLE,
        words=words.WORDS,
        changes=changes.CHANGES,
        reader=_opened_by("discreet.estimate.alphabeta.release:AlphaBetaRelease"),
        estimators=Register(
            {
                "unbiased": "discreet.estimate.alphabeta.unbiased:Unbiased",
                "clipped": "discreet.estimate.alphabeta.unbiased:Clipped",
                "best": "discreet.estimate.alphabeta.best:Best",
                "control": "discreet.estimate.alphabeta.control:Control",
            }
        ),
        attacks=Register(_ALPHABETA_ATTACKS),
        holds="tuples (all that the view shows, whether true or random)",
    )


def _diffgen() -> Family[Any, Any, Any]:
    from discreet.release.diffgen import changes, manifest, words
    from discreet.verifier.diffgen import checks

    return Family(
        name="diffgen",
        mechanisms=Register(_DIFFGEN),
        drafts=Register({"diffgen": "discreet.mechanism.diffgen.policy.draft:DRAFTS"}),
        files=manifest.files_of,
        fields=manifest.fields_of,
        mechanism=manifest.mechanism_from_json,
        guarantee=manifest.guarantee_from_json,
        numbers=manifest.numbers_from_json,
        number_names=manifest.NUMBERS,
        checks=checks.CHECKS,
        not_checkable=checks.NOT_CHECKABLE,
        words=words.WORDS,
        changes=changes.CHANGES,
        reader=_opened_by("discreet.estimate.diffgen.release:DiffGenRelease"),
        estimators=Register(
            {
                "model": "discreet.estimate.diffgen.unbiased:Model",
                "unbiased": "discreet.estimate.diffgen.unbiased:Unbiased",
            }
        ),
        attacks=Register(_DIFFGEN_ATTACKS),
        by_value=False,
        holds="noisy counts (one for each leaf and class; not people)",
    )


def _pairs() -> Family[Any, Any, Any]:
    """A second row of the same family: promise, noise and charge are DiffGen's, the files are not."""
    from discreet.release.diffgen.pairs import changes, manifest, words
    from discreet.verifier.diffgen.pairs import checks

    return Family(
        name="diffgen",
        mechanisms=Register(_PAIRS),
        drafts=Register({"pairs": "discreet.mechanism.diffgen.policy.draft:PAIRS"}),
        files=manifest.files_of,
        fields=manifest.fields_of,
        mechanism=manifest.mechanism_from_json,
        guarantee=manifest.guarantee_from_json,
        numbers=manifest.numbers_from_json,
        number_names=manifest.NUMBERS,
        checks=checks.CHECKS,
        not_checkable=checks.NOT_CHECKABLE,
        words=words.WORDS,
        changes=changes.CHANGES,
        reader=_opened_by("discreet.estimate.diffgen.pairs.release:PairsRelease"),
        estimators=Register(
            {
                "model": "discreet.estimate.diffgen.unbiased:Model",
                "unbiased": "discreet.estimate.diffgen.unbiased:Unbiased",
            }
        ),
        attacks=Register(_DIFFGEN_ATTACKS),
        by_value=False,
        holds="noisy counts (of cells of one and two columns; not people)",
    )


def register(family: Family[Any, Any, Any]) -> None:
    """Enter a family: from now on a policy may name its mechanisms, and its releases are read, verified and asked."""
    FAMILIES.enter(family.mechanisms, lambda: family)
    for kind in family.mechanisms:
        MECHANISMS.enter([kind], partial(family.mechanisms.__getitem__, kind))


for _mechanisms, _row in ((_BUCKETS, _buckets), (_ALPHABETA, _alphabeta), (_DIFFGEN, _diffgen), (_PAIRS, _pairs)):
    FAMILIES.enter(_mechanisms, _row)
    MECHANISMS.enter_places(_mechanisms)
