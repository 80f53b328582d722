"""How two DiffGen releases, or policies, differ."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.guarantee.dgamma import number_from
from discreet.release.diffgen.manifest import LEAVES
from discreet.release.family import Change, Changes, Content
from discreet.release.promised import guarantee_changes, shown_number

ADDED = "other rows or other noise; if the same people are in both, their epsilons add up"


def changed_epsilon(a: Content, b: Content) -> Iterator[Change]:
    """Epsilon, what each part of it was for, and what earlier releases cost."""
    before, after = a.get("guarantee", {}), b.get("guarantee", {})
    if not before or not after:
        return
    side = "stronger" if number_from(after["epsilon"]) < number_from(before["epsilon"]) else "weaker"
    meanings = {
        "epsilon": f"{side}: what a record may change",
        "before": "what earlier releases of the series cost",
    }
    yield from guarantee_changes(before, after, meanings, plain=("epsilon", "before"), told=("parts",))
    old, new = before["parts"], after["parts"]
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            shown = tuple(shown_number(parts.get(name), plain=True) for parts in (old, new))
            meaning = "its share of epsilon"
            yield {"name": f"part: {name}", "a": old.get(name), "b": new.get(name), "meaning": meaning, "shown": shown}


CHANGES = Changes(main=LEAVES, together=lambda _a, _b: ADDED, guarantee=changed_epsilon)
