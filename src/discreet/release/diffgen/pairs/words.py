"""What a release of pairs says to people, by version: a version that was published stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.release.diffgen.pairs.manifest import PairNumbers, PairStatement, StatedPairs
from discreet.release.diffgen.pairs.readme_1 import readme_1
from discreet.release.diffgen.words import facts_2
from discreet.release.family import Words
from discreet.release.phrases_2 import PEOPLE, counting


def facts_1(own: PairStatement) -> dict[str, Any]:
    """The promise of the family: what adding or removing one record can change."""
    return facts_2(own.guarantee, own.continued, own.schema.public_rows)


WORDS: Mapping[int, Words[StatedPairs, EpsilonPrivacy, PairNumbers]] = {
    1: Words(facts=counting(facts_1, lambda _: PEOPLE), readme=readme_1),
}
