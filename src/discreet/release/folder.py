"""Reading a release folder as what it is: bytes from a stranger.

Only the files that the format names are ever opened; a path, a link or a name from the manifest is never followed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError, ReleaseError
from discreet.guarantee.fprime import FPrimePrivacy, fprime_from_json
from discreet.release.manifest import FORMAT, MANIFEST, QIT, README, ST
from discreet.schema.schema import Schema, schema_from_json

LARGEST_MANIFEST = 64 * 2**20
DATA_FILES = (QIT, ST, "data/qit.csv", "data/st.csv")
KEYS = (
    "format",
    "version",
    "mechanism",
    "schema",
    "guarantee",
    "facts",
    "rows",
    "classes",
    "loss",
    "continued",
    "randomness",
    "readme",
)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a release says of itself, read but not yet believed."""

    folder: Path
    schema: Schema
    guarantee: FPrimePrivacy
    block: dict[str, Any]
    resources: tuple[dict[str, Any], ...]

    @property
    def rows(self) -> int:
        rows: int = self.block["rows"]
        return rows

    @property
    def classes(self) -> tuple[tuple[int, int], ...]:
        return tuple((each["size"], each["buckets"]) for each in self.block["classes"])


def read_manifest(folder: Path) -> Manifest:
    """Read and check the form of `datapackage.json`; raises ReleaseError with one sentence."""
    document = _read_json(plain_file(folder, MANIFEST))
    block = document.get("discreet") if isinstance(document, dict) else None
    if not isinstance(block, dict):
        raise ReleaseError(f"{MANIFEST} must have a block 'discreet'; this is not a release of this tool")
    if block.get("format") != FORMAT:
        raise ReleaseError(
            f"format ({str(block.get('format'))[:20]}) must be {FORMAT}; update discreet to read this release"
        )
    if set(block) != set(KEYS):
        raise ReleaseError(f"the block 'discreet' must have exactly the keys {', '.join(KEYS)}")
    if set(document) != {"$schema", "name", "resources", "discreet"}:
        raise ReleaseError(f"{MANIFEST} must have $schema, name, resources and the block 'discreet', and nothing else")
    resources = document.get("resources")
    if not isinstance(resources, list) or not all(_is_resource(each) for each in resources):
        raise ReleaseError(f"{MANIFEST} must list resources with name, path, bytes, hash and schema")
    paths = [each["path"] for each in resources]
    if len(set(paths)) < len(paths) or not {QIT, ST} <= set(paths) <= set(DATA_FILES):
        raise ReleaseError(f"resources must be {QIT} and {ST}, and their CSV copies if any, and nothing else")
    _check_block(block)
    try:
        schema, guarantee = schema_from_json(block["schema"]), fprime_from_json(block["guarantee"])
    except PolicyError as error:
        raise ReleaseError(f"{MANIFEST}: {error}") from None
    return Manifest(folder=folder, schema=schema, guarantee=guarantee, block=block, resources=tuple(resources))


def plain_file(folder: Path, name: str) -> Path:
    """A file of the release by its fixed name; raises ReleaseError where it, or a folder on the way, is a link."""
    path = folder / name
    steps = [folder, *(folder / part for part in list(Path(name).parents)[:-1]), path]
    if any(step.is_symlink() for step in steps[1:]) or not path.is_file():
        raise ReleaseError(f"release ({folder}) must have a plain file {name}")
    return path


def strangers(folder: Path, declared: set[str]) -> list[str]:
    """Files in the folder that the manifest does not declare, and links."""
    expected = declared | {MANIFEST, README, "data"}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or path.relative_to(folder).as_posix() not in expected
    )


def _read_json(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            raise ReleaseError(f"{path.name} must be at most {LARGEST_MANIFEST // 2**20} MiB")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ReleaseError(f"{path.name} must be JSON that can be read") from None


def _is_resource(each: Any) -> bool:
    match each:
        case {"name": str(), "path": str(), "bytes": int(), "hash": str(), "schema": {"fields": list()}}:
            return set(each) == {"name", "path", "format", "mediatype", "bytes", "hash", "schema"}
        case _:
            return False


def _check_block(block: dict[str, Any]) -> None:
    for name, kind in (("rows", int), ("loss", int), ("continued", bool), ("randomness", str), ("readme", str),
                       ("facts", dict), ("mechanism", dict), ("classes", list)):  # fmt: skip
        if type(block[name]) is not kind:
            raise ReleaseError(f"{name} in the block 'discreet' must be a {kind.__name__}")
    for each in block["classes"]:
        match each:
            case {"size": int(size), "buckets": int(buckets), **rest} if not rest and size > 0 and buckets > 0:
                pass
            case _:
                raise ReleaseError("classes must be a list of {size, buckets}, both 1 or more")
