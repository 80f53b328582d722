"""What differs between two releases, or between two policies, and what that means for the people and the analyst.

Everything is read off public content: the block `discreet` of a manifest, or a policy's schema and mechanism. Releases
are compared as they describe themselves; whether a description is true is what `verify` checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from discreet.errors import ReleaseError
from discreet.ground.shown import name_some, plain
from discreet.release.alike import domain_change, domain_text, same
from discreet.release.family import FAMILIES, READ, Changes, Content
from discreet.release.statement import README, Manifest
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema

DEEPEST = 20  # a manifest nests no deeper than this
PREFIX = {"tolerances": "tolerance of ", "domains": "domain of ", "facts": "fact: "}
ROLES = {"identifier": "B drops it", None: "B does not publish it"}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that differs: its name, how it is in A and in B (None: it is not there), and what that means."""

    topic: str
    name: str
    a: Any
    b: Any
    meaning: str
    shown: tuple[str, str] | None = None

    @property
    def what(self) -> str:
        return PREFIX.get(self.topic, "") + plain(self.name)

    def as_json(self) -> dict[str, Any]:
        return {"what": self.what, "a": _scrubbed(self.a), "b": _scrubbed(self.b), "meaning": plain(self.meaning)}

    def __str__(self) -> str:
        a, b = self.shown or (_shown(self.a), _shown(self.b))
        comma = "," if self.topic == "tolerances" else ";"
        return f"{plain(self.name)}: {plain(a, 200)} -> {plain(b, 200)}{comma} {plain(self.meaning, 1_000)}"


def release_content(manifest: Manifest[Any, Any, Any]) -> dict[str, Any]:
    """What a release says of itself, to be compared; raises ReleaseError where it is no plain description."""
    if _too_deep(manifest.block):
        raise ReleaseError(f"release ({manifest.folder}) must have a manifest that nests at most {DEEPEST} deep")
    files = {each.path: each.hash for each in manifest.resources}
    return {**manifest.block, READ: manifest.schema, "files": {**files, README: manifest.readme}}


def policy_content(policy: Policy) -> dict[str, Any]:
    """What a policy says, to be compared: schema and mechanism as a release would state them, and what is dropped."""
    return {
        "schema": policy.schema.as_json(),
        READ: policy.schema,
        "mechanism": policy.mechanism.as_json(),
        "identifiers": list(policy.identifiers),
        "person": policy.person,
        **({"same": {name: dict(each) for name, each in policy.same.items()}} if policy.same else {}),
    }


def differences(a: Content, b: Content) -> tuple[Difference, ...]:
    """Everything that differs between two contents of one kind, in the order of a policy; empty where nothing does."""
    one, two = a[READ], b[READ]
    parts: tuple[Iterator[Difference], ...] = (
        _columns(a, b, one, two),
        _domains(one, two),
        _mechanism(a, b),
        _guarantees(a, b),
        _numbers(a, b),
        _facts(a, b),
        _files(a, b),
    )
    return tuple(difference for part in parts for difference in part)


def same_release(a: Content, b: Content) -> bool:
    """Whether two releases state the same content and the same hashes; CSV copies do not count."""
    own = {key for key in a if key not in ("files", READ)}
    tables = {name for name in (*a["files"], *b["files"]) if name.endswith(".parquet")}
    return all(same(a[key], b.get(key)) for key in own) and all(
        a["files"].get(name) == b["files"].get(name) for name in tables
    )


def _columns(a: Content, b: Content, one: Schema, two: Schema) -> Iterator[Difference]:
    before, after = _roles(a, one), _roles(b, two)
    meanings = {**FAMILIES[b["mechanism"]["kind"]].changes.roles, **ROLES}
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            meaning = meanings[after.get(name)]
            yield Difference(topic="columns", name=name, a=before.get(name), b=after.get(name), meaning=meaning)
    if one.columns != two.columns and sorted(one.columns) == sorted(two.columns):
        meaning = "the same columns in another order"
        yield Difference(
            topic="columns", name="order of columns", a=list(one.columns), b=list(two.columns), meaning=meaning
        )
    if a.get("person") != b.get("person"):
        checks = f"one row for each {b['person']} is checked" if b["person"] else "one row a person is not checked"
        yield Difference(topic="columns", name="person", a=a["person"], b=b["person"], meaning=f"B: {checks}")


def _roles(content: Content, schema: Schema) -> dict[str, str]:
    roles = dict.fromkeys(schema.quasi_identifiers, "quasi-identifier")
    roles[schema.sensitive] = "sensitive"
    return roles | dict.fromkeys(content.get("identifiers", ()), "identifier")


def _domains(one: Schema, two: Schema) -> Iterator[Difference]:
    for name in (name for name in one.columns if name in two.columns):
        before, after = one.domains[name], two.domains[name]
        if meaning := domain_change(before, after):
            texts = domain_text(before), domain_text(after)
            yield Difference(topic="domains", name=name, a=texts[0], b=texts[1], meaning=meaning)


def _changes(a: Content, b: Content) -> Changes | None:
    """How the family of both compares; None where they are of two."""
    one, two = (FAMILIES[content["mechanism"]["kind"]] for content in (a, b))
    return one.changes if one is two else None


def _mechanism(a: Content, b: Content) -> Iterator[Difference]:
    before, after, changes = a["mechanism"], b["mechanism"], _changes(a, b)
    meanings = {"kind": "another mechanism", **(changes.parameters if changes else {})}
    for name in dict.fromkeys((*before, *after)):
        told = changes is not None and name in changes.told and name in before and name in after
        if not same(before.get(name), after.get(name)) and not told:
            meaning = meanings.get(name, "another parameter of the mechanism")
            if not isinstance(meaning, str):
                meaning = meaning(before.get(name), after.get(name))
            yield Difference(topic="mechanism", name=name, a=before.get(name), b=after.get(name), meaning=meaning)
    for change in changes.mechanism(a, b) if changes else ():
        yield Difference(topic="mechanism", **change)


def _guarantees(a: Content, b: Content) -> Iterator[Difference]:
    """The kind of promise, and where it is the same how its numbers differ."""
    notions = [content.get("guarantee", {}).get("notion") for content in (a, b)]
    one, two = (FAMILIES[content["mechanism"]["kind"]].changes.guarantee for content in (a, b))
    if not same(*notions):
        meaning = "another kind of promise"
        yield Difference(topic="tolerances", name="notion", a=notions[0], b=notions[1], meaning=meaning)
    elif one is two:  # two kinds of release may make the same promise
        for change in one(a, b):
            yield Difference(topic="tolerances", **change)


def _numbers(a: Content, b: Content) -> Iterator[Difference]:
    changes = _changes(a, b)
    meanings = {**(changes.numbers if changes else {}), **NUMBERS}
    for name in (name for name in dict.fromkeys((*meanings, *a, *b)) if name in {*a, *b} and name not in ELSEWHERE):
        if name not in a or name not in b:
            kinds = "" if changes else ": they are of different kinds"
            meaning = f"only {'A' if name in a else 'B'} states it{kinds}"
            yield Difference(topic="release", name=name, a=a.get(name), b=b.get(name), meaning=meaning)
        elif not same(a[name], b[name]):
            show = changes.shown.get(name) if changes else None
            shown = (show(a[name]), show(b[name])) if show else None
            meaning = meanings[name](a, b) if name in meanings else "stated otherwise"
            yield Difference(topic="release", name=name, a=a[name], b=b[name], meaning=meaning, shown=shown)


def _coins(a: Content, b: Content) -> str:
    worse = [name for name, content in (("A", a), ("B", b)) if content["randomness"] != "secure"]
    return f"{' and '.join(worse)}: anyone can toss these coins again, so nobody is protected"


def _continued(a: Content, b: Content) -> str:
    return f"{'B' if b['continued'] else 'A'} says that its custodian published such a table before"


ELSEWHERE = ("schema", READ, "mechanism", "guarantee", "facts", "files", "readme", "identifiers", "person")
NUMBERS: dict[str, Callable[[Content, Content], str]] = {
    "randomness": _coins,
    "continued": _continued,
    "version": lambda _a, _b: "made by another version of the software",
    "same": lambda _a, _b: "cells are read as other spellings of their values",
    "words": lambda _a, _b: "said in another version of the words",
}


def _facts(a: Content, b: Content) -> Iterator[Difference]:
    before, after = a.get("facts", {}), b.get("facts", {})
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if not same(old, new):
            meaning = "stated in other words" if name in before and name in after else "stated in one only"
            if isinstance(old, list) and isinstance(new, list):
                added, gone = [each for each in new if each not in old], [each for each in old if each not in new]
                meaning = f"{len(added)} added, {len(gone)} gone" if added or gone else "the same in another order"
            shown = _apart(old, new) if isinstance(old, str) and isinstance(new, str) else None
            yield Difference(topic="facts", name=name, a=old, b=new, meaning=meaning, shown=shown)


def _apart(old: str, new: str) -> tuple[str, str]:
    """Two texts from the sentence in which they come apart."""
    pairs = enumerate(zip(old, new, strict=False))
    first = next((place for place, (one, two) in pairs if one != two), min(len(old), len(new)))
    start = old.rfind(". ", 0, first) + 2 if ". " in old[:first] else 0
    dots = "... " if start else ""
    return f"{dots}{old[start:]}", f"{dots}{new[start:]}"


def _files(a: Content, b: Content) -> Iterator[Difference]:
    before, after = a.get("files", {}), b.get("files", {})
    kinds = (FAMILIES[content["mechanism"]["kind"]].changes for content in (a, b))
    together = {changes.main: changes.together(a, b) for changes in kinds}
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            only = "only in A" if new is None else "only in B" if old is None else "other bytes"
            meaning, shown = together.get(name, only), (_shown(old)[:19], _shown(new)[:19])
            yield Difference(topic="files", name=name, a=old, b=new, meaning=meaning, shown=shown)


def _too_deep(content: Any) -> bool:
    level = [content]
    for _ in range(DEEPEST):
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
    return any(isinstance(each, dict | list) for each in level)


def _shown(value: Any) -> str:
    """A value of JSON as people read it."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, bool | dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return f"{value:,}"
    return name_some([_shown(each) for each in value]) if isinstance(value, list) else str(value)


def _scrubbed(value: Any) -> Any:
    """The same value with every character that does not print spelt out."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_scrubbed(each) for each in value]
    if isinstance(value, dict):
        return {plain(key): _scrubbed(each) for key, each in value.items()}
    return value if not isinstance(value, float) or isfinite(value) else str(value)
