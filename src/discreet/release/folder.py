"""Reading a release folder as what it is: bytes from a stranger.

Only the files that the format names are ever opened; a path, a link or a name from the manifest is never followed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError, ReleaseError
from discreet.release.bounds import LARGEST_MANIFEST, check_parts, check_text
from discreet.release.family import FAMILIES, Family
from discreet.release.plain import plain_file
from discreet.release.statement import FORMAT, MANIFEST, Manifest, Resource, Statement
from discreet.schema.schema import schema_from_json

_FIRST = ("format", "version", "words", "mechanism", "schema", "guarantee", "facts")
_LAST = ("continued", "randomness", "readme")
_TYPES = {
    "version": (str, "text"),
    "words": (int, "a whole number"),
    "facts": (dict, "an object"),
    "continued": (bool, "true or false"),
    "randomness": (str, "text"),
    "readme": (str, "text"),
}
_COINS = {"secure": False, "seeded": True}


def read_manifest(folder: Path) -> Manifest[Any, Any, Any]:
    """Read and check the form of `datapackage.json`; raises ReleaseError with one sentence."""
    content = _read(plain_file(folder, MANIFEST))
    check_text(content)
    check_parts(content)
    document = _parsed(content)
    block = document.get("discreet") if isinstance(document, dict) else None
    if not isinstance(block, dict):
        raise ReleaseError(f"{MANIFEST} must have a block 'discreet'; this is not a release of this tool")
    family = _family_of(block)
    _check_block(block, family)
    if set(document) != {"$schema", "name", "resources", "discreet"}:
        raise ReleaseError(f"{MANIFEST} must have $schema, name, resources and the block 'discreet', and nothing else")
    try:
        mechanism = family.mechanism(block["mechanism"])
        statement: Statement[Any, Any, Any] = Statement(
            schema=schema_from_json(block["schema"]),
            mechanism=mechanism,
            guarantee=family.guarantee(block["guarantee"], mechanism),
            numbers=family.numbers(block),
            continued=block["continued"],
            seeded=_COINS[block["randomness"]],
            words=block["words"],
        )
    except PolicyError as error:
        raise ReleaseError(f"{MANIFEST}: {error}") from None
    if not family.words[statement.words].speaks(mechanism):
        raise ReleaseError(f"words ({statement.words}) must be a version that has words for what was published")
    return Manifest(
        folder=folder,
        statement=statement,
        facts=block["facts"],
        readme=block["readme"],
        content=content,
        resources=_resources(document.get("resources"), family.files(statement)),
        block=block,
    )


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            raise ReleaseError(f"{path.name} must be at most {LARGEST_MANIFEST // 2**20} MiB")
        return path.read_bytes()
    except OSError:
        raise ReleaseError(f"{path.name} must be JSON that can be read") from None


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ReleaseError(f"{MANIFEST} must be JSON that can be read") from None


def _family_of(block: Mapping[str, Any]) -> Family[Any, Any, Any]:
    if type(block.get("format")) is not int or block["format"] != FORMAT:
        older = type(block.get("format")) is int and 0 < block["format"] < FORMAT
        remedy = "it was a draft that is not read any more; publish again" if older else "update discreet to read it"
        raise ReleaseError(f"format ({str(block.get('format'))[:20]}) must be {FORMAT}; {remedy}")
    mechanism = block.get("mechanism")
    kind = mechanism.get("kind") if isinstance(mechanism, dict) else None
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ReleaseError(f"mechanism in the block 'discreet' must be of a kind that is known: {', '.join(FAMILIES)}")
    return FAMILIES[kind]


def _check_block(block: Mapping[str, Any], family: Family[Any, Any, Any]) -> None:
    """Every key is there and of its type, and no other; the family reads its own."""
    later = [name for name, since in family.later_numbers.items() if _since(block.get("words"), since)]
    keys = (*_FIRST, *family.number_names, *later, *family.further_numbers(block["mechanism"]), *_LAST)
    if set(block) != set(keys):
        raise ReleaseError(f"the block 'discreet' must have exactly the keys {', '.join(keys)}")
    for name, (kind, word) in _TYPES.items():
        if type(block[name]) is not kind:
            raise ReleaseError(f"{name} in the block 'discreet' must be {word}")
    if block["words"] not in family.words:
        raise ReleaseError(f"words ({block['words']}) must be a version that is known; update discreet to read it")
    if block["randomness"] not in _COINS:
        raise ReleaseError(f"randomness in the block 'discreet' must be {' or '.join(_COINS)}")


def _since(words: object, version: int) -> bool:
    return type(words) is int and words >= version


def _resources(listed: Any, tables: tuple[str, ...]) -> tuple[Resource, ...]:
    """The data files: the family's tables, CSV copies of them if any, and nothing else."""
    if not isinstance(listed, list) or not all(_is_resource(each) for each in listed):
        raise ReleaseError(f"{MANIFEST} must list resources with name, path, bytes, hash and schema")
    paths = [each["path"] for each in listed]
    copies = {str(Path(each).with_suffix(".csv")) for each in tables}
    if len(set(paths)) < len(paths) or not set(tables) <= set(paths) <= {*tables, *copies}:
        raise ReleaseError(f"resources must be {' and '.join(tables)}, and CSV copies if any, and nothing else")
    return tuple(
        Resource(path=each["path"], bytes=each["bytes"], hash=each["hash"], fields=each["schema"]["fields"])
        for each in listed
    )


def _is_resource(each: Any) -> bool:
    match each:
        case {"name": str(), "path": str(), "bytes": int(), "hash": str(), "schema": {"fields": list(), **rest}}:
            known = {"name", "path", "format", "mediatype", "bytes", "hash", "schema"}
            return not rest and set(each) == known
        case _:
            return False
