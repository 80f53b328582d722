"""The JSON Schema of the policy file, for editors: the table and the domains here, each mechanism from itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet.schema.mechanisms import MECHANISMS

SHIPPED = Path(__file__).with_name("policy.schema.json")  # what `make schema` writes
NUMBER = {"$ref": "#/$defs/number"}
COLUMN = {"$ref": "#/$defs/column"}
_TABLE: dict[str, Any] = {
    "type": "object",
    "required": ["quasi_identifiers", "sensitive"],
    "additionalProperties": False,
    "properties": {
        "identifiers": {
            "description": "Columns that are dropped; even their names stay out of a release.",
            "$ref": "#/$defs/columns",
        },
        "quasi_identifiers": {
            "description": "Columns that are published as they are.",
            "$ref": "#/$defs/columns",
            "minItems": 1,
        },
        "sensitive": {"description": "The column that must not be inferred.", "$ref": "#/$defs/column"},
        "public_rows": {
            "description": "How many rows the table has, where that is public.",
            "type": "integer",
            "minimum": 1,
        },
        "person": {
            "description": "A column that is different for every person; checked, never published.",
            "$ref": "#/$defs/column",
        },
    },
}
_DOMAINS: dict[str, Any] = {
    "description": "For each published column, the public set of its values.",
    "type": "object",
    "additionalProperties": {
        "oneOf": [
            {
                "type": "object",
                "required": ["integers"],
                "additionalProperties": False,
                "not": {"required": ["hierarchy", "widths"]},
                "properties": {
                    "missing": {"$ref": "#/$defs/missing"},
                    "missing_as": {"$ref": "#/$defs/missing_as"},
                    "hierarchy": {"$ref": "#/$defs/hierarchy"},
                    "widths": {
                        "description": "Ranges to generalize to, narrowest first, each width a multiple of the one "
                        "before: [5, 10, 20] for 0-4, 0-9, 0-19.",
                        "type": "array",
                        "items": {"type": "integer", "minimum": 2},
                        "minItems": 1,
                        "uniqueItems": True,
                    },
                    "integers": {
                        "description": "[lowest, highest]",
                        "type": "array",
                        "items": {"type": "integer"},
                        "minItems": 2,
                        "maxItems": 2,
                    },
                },
            },
            {
                "type": "object",
                "required": ["values"],
                "additionalProperties": False,
                "not": {"required": ["hierarchy", "prefixes"]},
                "properties": {
                    "missing": {"$ref": "#/$defs/missing"},
                    "missing_as": {"$ref": "#/$defs/missing_as"},
                    "hierarchy": {"$ref": "#/$defs/hierarchy"},
                    "prefixes": {
                        "description": "How many first characters to keep, longest first: [4, 3, 2] for 0213*, "
                        "021**, 02***.",
                        "type": "array",
                        "items": {"type": "integer", "minimum": 1},
                        "minItems": 1,
                        "uniqueItems": True,
                    },
                    "values": {
                        "oneOf": [
                            {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
                            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": True},
                        ]
                    },
                },
            },
            {
                "type": "object",
                "required": ["hierarchy"],
                "additionalProperties": False,
                "properties": {
                    "missing": {"$ref": "#/$defs/missing"},
                    "missing_as": {"$ref": "#/$defs/missing_as"},
                    "hierarchy": {"$ref": "#/$defs/hierarchy"},
                },
            },
        ]
    },
}
_DEFS: dict[str, Any] = {
    "column": {"type": "string", "minLength": 1},
    "hierarchy": {
        "description": "A CSV file in ARX's format: no header, ';', leaf to root, last column '*'.",
        "type": "string",
    },
    "missing": {"description": "An empty cell is an error, or one more value.", "enum": ["refuse", "category"]},
    "missing_as": {
        "description": "Texts by which the table says that a cell is missing; missing must be category.",
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
    },
    "columns": {"type": "array", "items": {"$ref": "#/$defs/column"}},
    "number": {
        "description": "A number, or text such as '1/20'; read exactly as written.",
        "oneOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+(/[0-9]+|\\.[0-9]+)?$"}],
    },
}


def json_schema() -> dict[str, Any]:
    """The schema with every mechanism that is registered."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "discreet policy, version 1",
        "type": "object",
        "required": ["version", "table", "domains", "mechanism"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "draft": {
                "description": "True until a person has read the policy: a draft cannot be published.",
                "type": "boolean",
            },
            "table": _TABLE,
            "domains": _DOMAINS,
            "mechanism": {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in MECHANISMS]},
        },
        "$defs": {**{kind: _section(kind) for kind in MECHANISMS}, **_DEFS},
    }


def ship() -> None:
    """Write the file that the package ships; a test compares it."""
    SHIPPED.write_text(json.dumps(json_schema(), indent=1) + "\n", encoding="utf-8")


def _section(kind: str) -> dict[str, Any]:
    """The schema of one mechanism's section."""
    own = MECHANISMS[kind].json_schema()
    return {
        "type": "object",
        "required": ["kind", *own["required"]],
        "additionalProperties": False,
        "properties": {"kind": {"const": kind}, **own["properties"]},
    }
