"""How a manifest must be written: in one way, so that nothing is said between the lines.

A manifest is JSON of a known order, indentation and spelling of numbers. Written again from what was read, it must be
the same bytes: no key twice or out of its place, no white space, no 1.0 or true for 1, no 2/40 for 1/20. Its only free
text is names of columns, values of domains and labels of hierarchies, which are public before any table is.
"""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

from discreet.release.family import FAMILIES
from discreet.release.manifest import dumped, manifest_of, resource_entry
from discreet.release.statement import MANIFEST
from discreet.verifier.files import Files

_VERSION = re.compile(r"(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3})){1,3}((a|b|rc|\.post|\.dev)(0|[1-9][0-9]{0,3}))?")


def check_form(files: Files) -> str | None:
    """The manifest is its own canonical form, and no field of it holds free text."""
    stated = files.block["version"]
    if not _VERSION.fullmatch(stated):
        return "version must be that of a release of the software, such as 1.2.3, and nothing else"
    again = _again(files)
    if _is_written(again, files.manifest.content):
        return None
    return f"{MANIFEST} is not written as a release writes it{_where(files, again)}"


def _is_written(again: dict[str, Any], content: bytes) -> bool:
    """Whether a manifest is these bytes: compared as it is written, for the whole may be long."""
    at = 0
    for part in dumped(again):
        written = part.encode("utf-8", "surrogatepass")
        if not content.startswith(written, at):
            return False
        at += len(written)
    return at == len(content)


def _again(files: Files) -> dict[str, Any]:
    """The manifest, made anew from what was read; facts, sizes and hashes, which others check, as they stand."""
    manifest, family = files.manifest, FAMILIES[files.manifest.kind]
    statement, tables = manifest.statement, family.files(manifest.statement)
    stated = {each.path: each for each in manifest.resources}
    copies = [str(Path(name).with_suffix(".csv")) for name in tables]
    resources = [
        resource_entry(path, bytes=stated[path].bytes, hash=stated[path].hash, fields=family.fields(statement, name))
        for path, name in zip((*tables, *copies), (*tables, *tables), strict=True)
        if path in stated
    ]
    return manifest_of(
        statement,
        version=files.block["version"],
        facts=manifest.facts,
        resources=resources,
        readme=manifest.readme.removeprefix("sha256:"),
    )


def _where(files: Files, again: dict[str, Any]) -> str:
    """The first part that is written otherwise; nothing where only spaces, order or keys that stand twice differ."""
    found = json.loads(files.manifest.content)
    for name, each in (*again.items(), *again["discreet"].items()):
        own = found.get(name, found["discreet"].get(name))
        if name != "discreet" and any(a != b for a, b in zip_longest(dumped(own), dumped(each))):
            return f": {name}"
    return ", byte by byte: order, spaces or a key that stands twice"
