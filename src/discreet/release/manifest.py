"""The manifest: a Frictionless Data Package with a block `discreet` that says what was published and promised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.schema.schema import Schema

FORMAT = 1
MANIFEST = "datapackage.json"
README = "README.md"
QIT = "data/qit.parquet"
ST = "data/st.parquet"
VIEW = "data/view.parquet"
EARLIER = "data/earlier.parquet"
LEAVES = "data/leaves.parquet"
TABLES = "data/tables.parquet"
SLOT = "SLOT"  # the column that tells the copies of a tuple apart, where records are counted
PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"


def fields_of(schema: Schema, resource: str) -> list[dict[str, Any]]:
    """The columns of a release's table, in Frictionless terms, with their public domains."""
    if resource == "qit":
        return [
            *(_field(schema, name) for name in schema.quasi_identifiers),
            {"name": "BID", "type": "integer"},
        ]
    return [
        {"name": "BID", "type": "integer"},
        _field(schema, schema.sensitive),
        {"name": "COUNT", "type": "integer"},
    ]


def view_fields_of(schema: Schema, slots: int) -> list[dict[str, Any]]:
    """The columns of a table of tuples; where copies have slots, their number is a column too."""
    fields = [_field(schema, name) for name in schema.columns]
    if slots == 1:
        return fields
    return [
        *fields,
        {"name": SLOT, "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": slots - 1}},
    ]


def leaf_fields_of(schema: Schema, target: str, path: str) -> list[dict[str, Any]]:
    """The columns of leaves, or of tables: labels of generalized values, the class, and a count."""
    labels = [name for name in schema.columns if name != target]
    if path != LEAVES:
        labels = ["ATTRIBUTE", "VALUE", "CELL"]
    count = {"name": "COUNT", "type": "number", "constraints": {"required": True, "minimum": 0}}
    texts = [{"name": name, "type": "string", "constraints": {"required": True}} for name in labels]
    return [*texts, _field(schema, target), count]


def _field(schema: Schema, name: str) -> dict[str, Any]:
    domain = schema.domains[name]
    content = domain.as_json()
    required = not domain.missing
    if "integers" in content:
        low, high = content["integers"]
        return {
            "name": name,
            "type": "integer",
            "constraints": {"required": required, "minimum": low, "maximum": high},
        }
    kind = "integer" if domain.type == "integer" else "string"
    listed = [value for value in domain if value is not None]
    return {"name": name, "type": kind, "constraints": {"required": required, "enum": listed}}


def resource_of(folder: Path, path: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry of one data file that is already written."""
    file = folder / path
    csv = file.suffix == ".csv"
    return {
        "name": file.stem if not csv else f"{file.stem}-csv",
        "path": path,
        "format": "csv" if csv else "parquet",
        "mediatype": "text/csv" if csv else "application/vnd.apache.parquet",
        "bytes": file.stat().st_size,
        "hash": f"sha256:{sha256(file)}",
        "schema": {"fields": fields},
    }


def write_manifest(
    folder: Path,
    schema: Schema,
    *,
    mechanism: dict[str, Any],
    guarantee: dict[str, Any],
    facts: dict[str, Any],
    numbers: dict[str, Any],
    tables: Mapping[str, list[dict[str, Any]]],
    readme: str,
    csv: bool,
    continued: bool,
    seeded: bool,
) -> None:
    """Write the README and, last, the manifest; `tables` are the columns of each data file that is already there."""
    (folder / README).write_text(readme, encoding="utf-8")
    suffixes = (".parquet", ".csv") if csv else (".parquet",)
    content = {
        "$schema": PROFILE,
        "name": "release",
        "resources": [
            resource_of(folder, str(Path(path).with_suffix(suffix)), fields)
            for suffix in suffixes
            for path, fields in tables.items()
        ],
        "discreet": {
            "format": FORMAT,
            "version": version("discreet"),
            "mechanism": mechanism,
            "schema": schema.as_json(),
            "guarantee": guarantee,
            "facts": facts,
            **numbers,
            "continued": continued,
            "randomness": "seeded" if seeded else "secure",
            "readme": f"sha256:{sha256(folder / README)}",
        },
    }
    (folder / MANIFEST).write_text(dump(content), encoding="utf-8")


def sha256(file: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def dump(content: Any) -> str:
    """JSON as a release writes it: readable, the same bytes for the same content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
