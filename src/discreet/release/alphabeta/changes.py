"""How two alpha-beta or FRAPP releases, or policies, differ."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.release.alike import same
from discreet.release.alphabeta.manifest import VIEW
from discreet.release.family import Change, Changes, Content
from discreet.release.promised import TOGETHER, guarantee_changes

_MEANINGS = {
    "d": "covers adversaries who held a tuple for up to that probable",
    "gamma": "how probable a tuple may become",
    "adversary": "who is kept from learning more",
    "keep": "how often a tuple of the table is kept",
    "insert": "how often another tuple is inserted",
    "later": "how often another tuple is inserted in later views",
    "again": "how often a tuple that was shown before is shown again",
    "weights": "the least and the largest weight of a tuple in the public source",
    "slots": "places for the copies of a tuple",
    "candidates": "tuples that are left for one who knows all quasi-identifiers",
    "rows": "how many records there are",
    "domain": "how many tuples there may be",
}
_NEXT = "another view; if both are of one series, the promise covers what they give away together"


def _together(a: Content, b: Content) -> str:
    """Different views under the same promise share it; anything else does not."""
    alike = same(a.get("guarantee"), b.get("guarantee")) and same(a["mechanism"], b["mechanism"])
    return _NEXT if alike and a.get("view") != b.get("view") else TOGETHER


def _guarantees(a: Content, b: Content) -> Iterator[Change]:
    return guarantee_changes(a.get("guarantee", {}), b.get("guarantee", {}), _MEANINGS, plain=("weights",))


CHANGES = Changes(
    main=VIEW,
    together=_together,
    numbers={"view": lambda _a, _b: "another view under the same promise"},
    guarantee=_guarantees,
)
