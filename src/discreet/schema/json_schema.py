"""The JSON Schema of the policy file, for editors: the table and the domains here, each mechanism from itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet.engine.encoding import DATES
from discreet.schema.dates import WIDTHS
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
_WIDTHS = {
    "description": "Ranges to generalize to, narrowest first, each width a multiple of the one before: [5, 10, 20] for "
    '0-4, 0-9, 0-19; for dates some of "month", "quarter", "year", "decade".',
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
}
_ALWAYS = ("missing", "missing_as", "distinct", "publish_level")
_ABOVE = ("hierarchy", "widths", "bands", "prefixes")  # of these a domain has one at most


def _domain(values: dict[str, Any], *beside: str, widths: dict[str, Any] | None = None) -> dict[str, Any]:
    """One kind of domain: the keys that say its values, and those that may stand beside them."""
    required = list(values)
    if widths is not None:
        values, beside = {**values, "widths": {**_WIDTHS, "items": widths}}, (*beside, "widths", "bands")
    above = [name for name in _ABOVE if name in beside]
    pairs = [{"required": [one, two]} for number, one in enumerate(above) for two in above[number + 1 :]]
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        **({"not": {"anyOf": pairs}} if pairs else {}),
        "properties": {**{name: {"$ref": f"#/$defs/{name}"} for name in (*beside, *_ALWAYS)}, **values},
    }


def _ends(about: str, items: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "type": "array", "items": items, "minItems": 2, "maxItems": 2}


_DOMAINS: dict[str, Any] = {
    "description": "For each published column, the public set of its values.",
    "type": "object",
    "additionalProperties": {
        "oneOf": [
            _domain(
                {"integers": _ends("[lowest, highest]", {"type": "integer"})},
                "hierarchy",
                widths={"type": "integer", "minimum": 2},
            ),
            _domain(
                {
                    "decimals": _ends("[lowest, highest], whole multiples of step", {"type": "number"}),
                    "step": {"description": "Between two neighbours.", "type": "number", "exclusiveMinimum": 0},
                },
                "hierarchy",
                widths={"type": "number", "exclusiveMinimum": 0},
            ),
            _domain(
                {"dates": _ends('[first, last], such as ["1990-01-01", "2026-12-31"]', {"type": "string"})},
                "by",
                "hierarchy",
                widths={"enum": list(WIDTHS)},
            ),
            _domain(
                {
                    "values": {
                        "oneOf": [
                            {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
                            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": True},
                        ]
                    }
                },
                "hierarchy",
                "prefixes",
                "ordered",
                "same",
            ),
            _domain({"hierarchy": {"$ref": "#/$defs/hierarchy"}}, "ordered", "same"),
        ]
    },
}
_DEFS: dict[str, Any] = {
    "column": {"type": "string", "minLength": 1},
    "hierarchy": {
        "description": "A CSV file in ARX's format: no header, ';', leaf to root, last column '*'.",
        "type": "string",
    },
    "bands": {
        "description": "Where each band begins, and last what comes after all of them: [0, 18, 65, 111]; or a label "
        "for each start: { child = 0, adult = 18, old = 65 }.",
        "oneOf": [
            {"type": "array", "items": {"$ref": "#/$defs/end"}, "minItems": 3, "uniqueItems": True},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/end"}, "minProperties": 2},
        ],
    },
    "end": {"oneOf": [{"type": "number"}, {"type": "string"}]},
    "prefixes": {
        "description": "How many first characters to keep, longest first: [4, 3, 2] for 0213*, 021**, 02***.",
        "type": "array",
        "items": {"type": "integer", "minimum": 1},
        "minItems": 1,
        "uniqueItems": True,
    },
    "by": {"description": "What a date is cut to.", "enum": list(DATES)},
    "ordered": {"description": "Text is smaller or larger by its place in the list.", "type": "boolean"},
    "publish_level": {
        "description": "The level of the hierarchy that is published instead of the values; 0 are the values.",
        "type": "integer",
        "minimum": 0,
    },
    "missing": {"description": "An empty cell is an error, or one more value.", "enum": ["refuse", "category"]},
    "missing_as": {
        "description": "Texts by which the table says that a cell is missing; missing must be category.",
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
    },
    "same": {
        "description": 'Other spellings of a value, each with the value that it is read as: { hiv = "HIV" }.',
        "type": "object",
        "additionalProperties": {"type": "string"},
        "minProperties": 1,
    },
    "distinct": {
        "description": 'Values, or published labels, that look alike and are kept apart on purpose: [["HIV", "hiv"]].',
        "type": "array",
        "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True},
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
