"""The columns of a release's tables, in Frictionless terms."""

from __future__ import annotations

from typing import Any

from discreet.schema.domain import Dates, Decimals
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
    if isinstance(domain, Decimals):
        limits = {"minimum": float(domain.low), "maximum": float(domain.high)}
        return {"name": name, "type": "number", "constraints": {"required": required, **limits}}
    if isinstance(domain, Dates):
        pattern = {"pattern": "-".join(["[0-9]{4}", "[0-9]{2}", "[0-9]{2}"][: 1 + domain.low.count("-")])}
        return {"name": name, "type": "string", "constraints": {"required": required, **pattern}}
    kind = "integer" if domain.type == "integer" else "string"
    listed = [value for value in domain if value is not None]
    return {"name": name, "type": kind, "constraints": {"required": required, "enum": listed}}
