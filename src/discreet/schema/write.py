"""From a policy back to its TOML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from discreet.errors import PolicyError
from discreet.schema.apart import KEY as APART
from discreet.schema.domain import Decimals, Domain, Listed
from discreet.schema.hierarchy import write_hierarchy
from discreet.schema.missing import KEY
from discreet.schema.same import KEY as SAME

if TYPE_CHECKING:
    from discreet.schema.policy import Policy


def write_document(policy: Policy, version: int, path: Path) -> Path:
    """Write the policy to `path`; a hierarchy goes into its own CSV file beside it."""
    table: dict[str, Any] = {
        "identifiers": list(policy.identifiers),
        "quasi_identifiers": list(policy.schema.quasi_identifiers),
        "sensitive": policy.schema.sensitive,
    }
    if policy.person:
        table["person"] = policy.person
    if policy.schema.public_rows is not None:
        table["public_rows"] = policy.schema.public_rows
    domains = policy.schema.domains
    document = {
        "version": version,
        **({"draft": True} if policy.draft else {}),
        "table": table,
        "domains": {
            name: {
                **_domain(domains[name], path.with_name(f"{path.stem}-{position}-{_slug(name)}.csv")),
                **({KEY: list(policy.marks[name])} if name in policy.marks else {}),
                **({SAME: dict(policy.same[name])} if policy.same.get(name) else {}),
            }
            for position, name in enumerate(policy.schema.columns, start=1)
        },
        "mechanism": {"kind": policy.mechanism.kind, **policy.mechanism.as_toml()},
    }
    try:
        path.write_text(tomli_w.dumps(document), encoding="utf-8")
    except OSError as error:
        raise PolicyError(f"policy ({path}) must be writable: {error.strerror}") from None
    return path


def _domain(domain: Domain, beside: Path) -> dict[str, Any]:
    if isinstance(domain, Listed) and domain.origin is not None:
        content = {**_domain(domain.origin.domain, beside), "publish_level": domain.origin.level}
        labels = list(map(list, domain.distinct))
        return {**content, APART: [*content.get(APART, []), *labels]} if labels else content
    content = domain.as_json()
    if isinstance(domain, Decimals):
        content |= {"decimals": [domain.low, domain.high], "step": domain.step}
    if content.pop("missing", False):
        content["missing"] = "category"
    if "hierarchy" not in content:
        return content
    return {**content, "hierarchy": write_hierarchy(domain.paths, beside).name}


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-").lower() or "column"
