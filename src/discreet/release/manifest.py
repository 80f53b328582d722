"""The manifest: a Frictionless Data Package with a block `discreet` that says what was published and promised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.guarantee.guarantee import Guarantee
from discreet.release.family import FAMILIES
from discreet.release.fields import Fields
from discreet.release.statement import FORMAT, PENDING, README, Numbers, Statement
from discreet.schema.schema import Schema

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"


def write_manifest(
    folder: Path,
    schema: Schema,
    *,
    mechanism: Mapping[str, Any],
    guarantee: Guarantee,
    numbers: Numbers,
    csv: bool,
    continued: bool,
    seeded: bool,
) -> None:
    """Write the README and, last, the manifest of a release whose data files are already there.

    The manifest stands under a pending name, so that nobody takes the folder for a release before `new_folder` has
    given it its own. What is stated is read back first: raises PolicyError where a number is longer than a release may
    state.
    """
    family = FAMILIES[mechanism["kind"]]
    stated = family.mechanism(mechanism)
    statement: Statement[Any, Any, Any] = Statement(
        schema=schema,
        mechanism=stated,
        guarantee=family.guarantee(guarantee.as_json(), stated),
        numbers=numbers,
        continued=continued,
        seeded=seeded,
        words=family.words_for(stated),
    )
    facts = family.facts(statement)
    (folder / README).write_text(family.readme(statement, facts), encoding="utf-8")
    suffixes = (".parquet", ".csv") if csv else (".parquet",)
    resources = [
        resource_of(folder, str(Path(path).with_suffix(suffix)), family.fields(statement, path))
        for suffix in suffixes
        for path in family.files(statement)
    ]
    content = manifest_of(
        statement, version=version("discreet"), facts=facts, resources=resources, readme=sha256(folder / README)
    )
    (folder / PENDING).write_text(dump(content), encoding="utf-8")


def manifest_of(
    statement: Statement[Any, Any, Any],
    *,
    version: str,
    facts: Mapping[str, Any],
    resources: Sequence[Mapping[str, Any]],
    readme: str,
) -> dict[str, Any]:
    """What `datapackage.json` says, in the only order in which it is written; `readme` is the hash of the README."""
    return {
        "$schema": PROFILE,
        "name": "release",
        "resources": resources,
        "discreet": {
            "format": FORMAT,
            "version": version,
            "words": statement.words,
            "mechanism": statement.mechanism.as_json(),
            "schema": statement.schema.as_json(),
            "guarantee": statement.guarantee.as_json(),
            "facts": facts,
            **statement.numbers.as_json(),
            "continued": statement.continued,
            "randomness": "seeded" if statement.seeded else "secure",
            "readme": f"sha256:{readme}",
        },
    }


def resource_of(folder: Path, path: str, fields: Fields) -> dict[str, Any]:
    """The entry of one data file that is already written."""
    file = folder / path
    return resource_entry(path, bytes=file.stat().st_size, hash=f"sha256:{sha256(file)}", fields=fields)


def resource_entry(path: str, *, bytes: int, hash: str, fields: Fields) -> dict[str, Any]:
    """The entry of one data file, in the only form in which it is written."""
    name, csv = Path(path).stem, path.endswith(".csv")
    return {
        "name": f"{name}-csv" if csv else name,
        "path": path,
        "format": "csv" if csv else "parquet",
        "mediatype": "text/csv" if csv else "application/vnd.apache.parquet",
        "bytes": bytes,
        "hash": hash,
        "schema": {"fields": fields},
    }


def sha256(file: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def dump(content: Any) -> str:
    """JSON as a release writes it: readable, the same bytes for the same content."""
    return "".join(dumped(content))


def dumped(content: Any) -> Iterator[str]:
    """The same, part by part."""
    yield from json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(content)
    yield "\n"
