"""Which attacks there are: those on any release, and those that a family names for its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import cast

from discreet.attack.attack import Attack
from discreet.attack.target import Target
from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.release.family import FAMILIES
from discreet.schema.register import Register

COMMON: Register[type[Attack]] = Register(
    {
        "uniqueness": "discreet.attack.uniqueness:Uniqueness",
        "record-linkage": "discreet.attack.linkage:RecordLinkage",
        "attribute-linkage": "discreet.attack.linkage:AttributeLinkage",
        "order": "discreet.attack.order:Order",
        "files": "discreet.attack.files:FileLeaks",
        "classic-models": "discreet.attack.classic:ClassicModels",
    }
)


def attacks_of(kind: str) -> Mapping[str, type[Attack]]:
    """The attacks on releases of a kind, by name."""
    return {**COMMON, **cast("Mapping[str, type[Attack]]", FAMILIES[kind].attacks)}


def every_attack() -> Iterator[tuple[str, type[Attack], tuple[str, ...]]]:
    """Every attack by name, with the families whose releases it attacks; none for those on any release."""
    yield from ((name, attack, ()) for name, attack in COMMON.items())
    owners: dict[str, tuple[type[Attack], list[str]]] = {}
    for family in FAMILIES.values():
        for name, attack in family.attacks.items():
            _, named = owners.setdefault(name, (attack, []))
            if family.name not in named:
                named.append(family.name)
    yield from ((name, attack, tuple(named)) for name, (attack, named) in owners.items())


def chosen(kind: str, asked: Iterable[str | Attack] | None) -> list[Attack]:
    """The attacks that were asked for, by name or as values, each once; by default all on releases of this kind.

    Raises PolicyError for a name that no attack has, and for what is none. An attack on another kind stays, and says
    itself that it is unfit.
    """
    if asked is None:
        return [attack() for attack in attacks_of(kind).values()]
    known = {name: attack for name, attack, _ in every_attack()}
    found: list[Attack] = []
    for each in [asked] if isinstance(asked, str) else asked:
        if not isinstance(each, str):
            found.append(_value(each))
        elif each in known:
            found.append(known[each]())
        else:
            near = get_close_matches(each, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "discreet audit --list says which there are"
            raise PolicyError(f"attack ({shown(each)}) must be one that there is; {hint}")
    return [each for place, each in enumerate(found) if each not in found[:place]]


def _value(each: Attack) -> Attack:
    """An attack as it was handed in; raises PolicyError where it is none, or a class of them."""
    if isinstance(each, type) or not isinstance(each, Attack):
        what = each.__name__ if isinstance(each, type) else type(each).__name__
        raise PolicyError(f"attack ({what}) must be a name or the value of an attack, such as WithinBucket()")
    return each


def unfit(attack: Attack, target: Target) -> str:
    """Why an attack has nothing to do here, in a few words; empty where it has."""
    owners = {name: named for name, _, named in every_attack()}.get(attack.name, ())
    if owners and attack.name not in attacks_of(target.kind):
        return f"it attacks {' and '.join(owners)} releases"
    return attack.unfit(target)
