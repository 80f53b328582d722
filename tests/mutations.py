"""Every manifest that is one step away from a given one, by class of the step: what a forger may try, all of it.

A step is taken in the JSON document; `restated` then does what a careful forger does next: facts, README, columns and
hashes are made anew, by the product's own writer, so that only what the numbers themselves say can give him away.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from tampering import MANIFEST, README, look, number_in, places, put

from discreet.errors import DiscreetError
from discreet.release.family import FAMILIES
from discreet.release.manifest import dump, manifest_of, resource_of
from discreet.release.statement import Statement
from discreet.schema.schema import schema_from_json

Place = tuple[Any, ...]
Document = dict[str, Any]


class Step(NamedTuple):
    """One mutation: its class, where it is, the document after it, and whether it is the bytes that were changed."""

    kind: str
    place: Place
    content: Document | None
    text: str = ""

    @property
    def written(self) -> str:
        return self.text if self.content is None else dump(self.content)


def steps(document: Document, others: Iterable[Document] = ()) -> Iterator[Step]:
    """Every step from a document, one at a time; also what other releases state in the same place."""
    others = list(others)
    for place in places(document):
        borrowed = [("borrowed", each) for each in _borrowed(place, document, others)]
        for kind, change in (*changes(look(document, place), place), *map(_putting, borrowed)):
            content = copy.deepcopy(document)
            change(content, place)
            if dump(content) != dump(document):
                yield Step(kind, place, content)
    yield from _spelt(document)


def changes(found: Any, place: Place) -> Iterator[tuple[str, Callable[[Document, Place], object]]]:
    """The steps that may be taken at a place."""
    yield from map(_putting, (*_twins(found), *_numbers(found), *_texts(found), ("nothing", None)))
    yield "left out", lambda content, place: look(content, place[:-1]).pop(place[-1])
    if isinstance(place[-1], int):
        yield "twice", lambda content, place: look(content, place[:-1]).insert(place[-1], look(content, place))
        yield "moved", lambda content, place: _first(look(content, place[:-1]), place[-1])
    else:
        yield "moved", lambda content, place: _last(look(content, place[:-1]), place[-1])
        yield "renamed", lambda content, place: _renamed(look(content, place[:-1]), place[-1])
    if isinstance(found, dict):
        yield "one more", lambda content, place: look(content, place).update(note="x")
    if isinstance(found, list):
        yield "one more", lambda content, place: look(content, place).append("x")


def _putting(step: tuple[str, Any]) -> tuple[str, Callable[[Document, Place], object]]:
    kind, other = step
    return kind, lambda content, place: put(content, place, other)


def _borrowed(place: Place, document: Document, others: list[Document]) -> list[Any]:
    """What stands in that place elsewhere and is said in one word or number, each once."""
    found = []
    for other in others:
        with suppress(LookupError, TypeError):
            each = look(other, place)
            if not isinstance(each, dict | list) and each not in (*found, look(document, place)):
                found.append(each)
    return found


def _twins(found: Any) -> Iterator[tuple[str, Any]]:
    """The same value of another type, or written otherwise."""
    if isinstance(found, bool):
        yield "twin", int(found)
    elif isinstance(found, int):
        yield from (("twin", float(found)), ("twin", str(found)))
        if found in (0, 1):
            yield "twin", bool(found)
    elif isinstance(found, float):
        yield "twin", str(found)
    elif (number := number_in(found)) is not None:
        yield from (("twin", f"{2 * number.numerator}/{2 * number.denominator}"), ("twin", f"0{found}"))
        yield (
            "twin",
            str(number) if "/" in found and number.denominator == 1 else f"{number.numerator}/{number.denominator}",
        )
        if number.denominator == 1:
            yield "twin", int(number)


def _numbers(found: Any) -> Iterator[tuple[str, Any]]:
    """Another number, a little off and far off."""
    if isinstance(found, bool):
        yield "number", not found
    elif isinstance(found, int):
        yield from (("number", found + 1), ("number", found - 1), ("number", 2 * found + 7), ("number", -found))
    elif isinstance(found, float):
        yield from (("number", found + 0.5), ("number", -found))
    elif (number := number_in(found)) is not None:
        barred = "/" in found
        for other in (number * Fraction(1001, 1000), number * Fraction(999, 1000), number + 1, number / 2, -number):
            yield "number", f"{other.numerator}/{other.denominator}" if barred or other.denominator > 1 else str(other)


def _texts(found: Any) -> Iterator[tuple[str, Any]]:
    """Other text, more text, and text that looks the same."""
    if isinstance(found, str):
        yield from (("text", "bed 7 is the mayor"), ("text", found + " "), ("text", found + "\u200b"), ("text", ""))
        if found.swapcase() != found:
            yield "text", found.swapcase()


def _first(parent: list[Any], position: int) -> None:
    parent.insert(0, parent.pop(position))


def _last(parent: dict[str, Any], key: str) -> None:
    parent[key] = parent.pop(key)


def _renamed(parent: dict[str, Any], key: str) -> None:
    own = list(parent.items())
    parent.clear()
    parent.update({(f"{name}s" if name == key else name): each for name, each in own})


def _spelt(document: Document) -> Iterator[Step]:
    """The same document in other bytes."""
    text = dump(document)
    first = text.index('"discreet": {') + len('"discreet": {')
    others = {
        "a space behind": text + " ",
        "a space before": " " + text,
        "no line break": text.rstrip("\n"),
        "two spaces a level": json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        "one line": json.dumps(document, ensure_ascii=False) + "\n",
        "no spaces": json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n",
        "line breaks of Windows": text.replace("\n", "\r\n"),
        "a tab": text.replace("\n ", "\n\t", 1),
        "an escape": text.replace('"release"', '"r\\u0065lease"', 1),
        "an escaped slash": text.replace("data/", "data\\/", 1),
        "a key twice, the same": text[:first] + '\n  "format": 2,' + text[first:],
        "a key twice, another first": text[:first] + '\n  "format": "the mayor has HIV",' + text[first:],
        "a byte order mark": "\ufeff" + text,
        "an exponent": text.replace('"format": 2', '"format": 2e0', 1),
    }
    for what, other in others.items():
        if other != text:
            yield Step("spelling", (what,), None, other)


def restated(folder: Path, step: Step) -> bool:
    """Write the changed manifest as a careful forger would; False, and nothing written, where it states nothing."""
    document = step.content
    try:
        block = document["discreet"]  # type: ignore[index]
        if block["randomness"] not in ("secure", "seeded"):
            return False
        family = FAMILIES[block["mechanism"]["kind"]]
        mechanism = family.mechanism(block["mechanism"])
        statement: Statement[Any, Any, Any] = Statement(
            schema=schema_from_json(block["schema"]),
            mechanism=mechanism,
            guarantee=family.guarantee(block["guarantee"], mechanism),
            numbers=family.numbers(block),
            continued=block["continued"],
            seeded=block["randomness"] == "seeded",
            words=block["words"],
        )
        facts = family.facts(statement)
        readme = family.readme(statement, facts).encode()
        copies = {".csv"} & {Path(each["path"]).suffix for each in document["resources"]}  # type: ignore[index]
        resources = [
            resource_of(folder, str(Path(path).with_suffix(suffix)), family.fields(statement, path))
            for suffix in (".parquet", *copies)
            for path in family.files(statement)
        ]
        content = manifest_of(
            statement,
            version=block["version"],
            facts=facts,
            resources=resources,
            readme=hashlib.sha256(readme).hexdigest(),
        )
    except (DiscreetError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, OSError):
        return False
    (folder / README).write_bytes(readme)
    (folder / MANIFEST).write_text(dump(content), encoding="utf-8")
    return True
