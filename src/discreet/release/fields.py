"""The columns of a release's tables, in Frictionless terms."""

from __future__ import annotations

from typing import Any

from discreet.schema.schema import Schema

Fields = list[dict[str, Any]]


def field_of(schema: Schema, name: str) -> dict[str, Any]:
    """A published column, in Frictionless terms, with its public domain."""
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
