"""Reading a release folder as what it is: bytes from a stranger.

Only the files that the format names are ever opened; a path, a link or a name from the manifest is never followed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError, ReleaseError
from discreet.guarantee.dgamma import DGammaPrivacy, dgamma_from_json
from discreet.guarantee.epsilon import EpsilonPrivacy, epsilon_from_json
from discreet.guarantee.fprime import FPrimePrivacy, fprime_from_json
from discreet.guarantee.frapp import FrappPrivacy, frapp_from_json
from discreet.release.manifest import EARLIER, FORMAT, LEAVES, MANIFEST, QIT, README, ST, TABLES, VIEW
from discreet.schema.schema import Schema, schema_from_json

LARGEST_MANIFEST = 64 * 2**20
_ALWAYS = ("format", "version", "mechanism", "schema", "guarantee", "facts", "continued", "randomness", "readme")

Guarantee = FPrimePrivacy | DGammaPrivacy | FrappPrivacy | EpsilonPrivacy


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of release: its tables, the keys of its block beside those of every release, and its guarantee."""

    tables: tuple[str, ...]
    numbers: tuple[str, ...]
    lists: tuple[str, ...]
    guarantee: Callable[[Any], Guarantee]

    @property
    def keys(self) -> tuple[str, ...]:
        return (*_ALWAYS, *self.numbers, *self.lists)

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.tables, *(str(Path(each).with_suffix(".csv")) for each in self.tables))


BUCKETS = Family(tables=(QIT, ST), numbers=("rows", "loss"), lists=("classes",), guarantee=fprime_from_json)
VIEWS = Family(tables=(VIEW,), numbers=("tuples",), lists=(), guarantee=dgamma_from_json)
SEVERAL = Family(
    tables=(VIEW, EARLIER), numbers=("tuples", "view", "earlier"), lists=(), guarantee=dgamma_from_json
)  # views of a table that changes
FRAPP = Family(tables=(VIEW,), numbers=("tuples",), lists=(), guarantee=frapp_from_json)
DIFFGEN = Family(
    tables=(LEAVES, TABLES), numbers=("leaves", "specializations", "levels"), lists=(), guarantee=epsilon_from_json
)
FAMILIES = {"buckets": BUCKETS, "anatomy": BUCKETS, "alphabeta": VIEWS, "frapp": FRAPP, "diffgen": DIFFGEN}


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a release says of itself, read but not yet believed."""

    folder: Path
    schema: Schema
    guarantee: Guarantee
    family: Family
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
    if block.get("format") != FORMAT or type(block["format"]) is not int:
        raise ReleaseError(
            f"format ({str(block.get('format'))[:20]}) must be {FORMAT}; update discreet to read this release"
        )
    mechanism = block.get("mechanism")
    kind = mechanism.get("kind") if isinstance(mechanism, dict) else None
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ReleaseError(f"mechanism in the block 'discreet' must be of a kind that is known: {', '.join(FAMILIES)}")
    views = mechanism.get("views", 1) if isinstance(mechanism, dict) else 1
    family = SEVERAL if kind == "alphabeta" and isinstance(views, int) and views > 1 else FAMILIES[kind]
    if set(block) != set(family.keys):
        raise ReleaseError(f"the block 'discreet' must have exactly the keys {', '.join(family.keys)}")
    if set(document) != {"$schema", "name", "resources", "discreet"}:
        raise ReleaseError(f"{MANIFEST} must have $schema, name, resources and the block 'discreet', and nothing else")
    resources = document.get("resources")
    if not isinstance(resources, list) or not all(_is_resource(each) for each in resources):
        raise ReleaseError(f"{MANIFEST} must list resources with name, path, bytes, hash and schema")
    paths = [each["path"] for each in resources]
    if len(set(paths)) < len(paths) or not set(family.tables) <= set(paths) <= set(family.files):
        raise ReleaseError(f"resources must be {' and '.join(family.tables)}, and CSV copies if any, and nothing else")
    _check_block(block, family)
    try:
        schema, guarantee = schema_from_json(block["schema"]), family.guarantee(block["guarantee"])
    except PolicyError as error:
        raise ReleaseError(f"{MANIFEST}: {error}") from None
    return Manifest(
        folder=folder, schema=schema, guarantee=guarantee, family=family, block=block, resources=tuple(resources)
    )


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


def _check_block(block: dict[str, Any], family: Family) -> None:
    kinds: dict[str, type] = dict.fromkeys(("version", "randomness", "readme"), str)
    kinds |= {"continued": bool, "facts": dict, "mechanism": dict}
    kinds |= dict.fromkeys(family.numbers, int) | dict.fromkeys(family.lists, list)
    for name, kind in kinds.items():
        if type(block[name]) is not kind:
            raise ReleaseError(f"{name} in the block 'discreet' must be a {kind.__name__}")
    for each in block.get("classes", []):
        match each:
            case {"size": int(size), "buckets": int(buckets), **rest} if not rest and size > 0 and buckets > 0:
                pass
            case _:
                raise ReleaseError("classes must be a list of {size, buckets}, both 1 or more")
