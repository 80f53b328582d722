"""A draft entry for the OpenDP Deployments Registry, from a release: what only the custodian knows is left to fill in.

The registry takes one YAML file a deployment; the sections and names here are those of its records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.release.statement import Statement

FILL = "TODO"  # for the custodian


@dataclass(frozen=True, kw_only=True)
class Used:
    """What a kind of release is for, and how it is made, in the registry's terms."""

    use: str
    mechanisms: str
    post_processing: str


GUIDED = Used(
    use="Range counts and training of classifiers.",
    mechanisms="Discrete Laplace noise on attribute x class tables and on leaves (OpenDP).",
    post_processing="Specializations from the noisy tables, least-squares consistency, no negative counts, raking.",
)
CHOSEN = Used(
    use="Range counts and training of classifiers.",
    mechanisms="Gumbel noisy max for choices, discrete Laplace noise on counts (OpenDP).",
    post_processing="Least-squares consistency where asked for, no negative counts.",
)
PAIRS = Used(
    use="Counts over any of the columns.",
    mechanisms="Discrete Laplace noise on tables of one and two columns, noisy max to choose the pairs (OpenDP).",
    post_processing="Least squares, no negative counts, shrinking, and a log-linear model of the tables.",
)


def registry_entry(statement: Statement[Any, EpsilonPrivacy, Any], used: Used) -> str:
    """The draft as YAML."""
    return "\n".join(_lines(_content(statement, used), 0)) + "\n"


def _content(statement: Statement[Any, EpsilonPrivacy, Any], used: Used) -> dict[str, Any]:
    guarantee = statement.guarantee
    columns = ", ".join(statement.schema.columns)
    parts = "; ".join(f"{part.name}: {float(part.share):.6g}" for part in guarantee.parts)
    return {
        "url_slug": FILL,
        "deployment": {
            "basic": {
                "name": FILL,
                "data_curators": [{"data_curator_name": FILL, "data_curator_type": FILL}],
                "description": f"Noisy counts of people by {columns} ({FILL}: whose, and when).",
                "intended_use": f"{used.use} {FILL}",
                "data_product_type": "Synthetic data",
                "data_product_region": FILL,
                "data_product_sector": FILL,
                "publication_date": FILL,
            },
            "dp_variant": {
                "variant_name": "Pure DP",
                "data_domain": f"One record a person with {columns}; the domains and hierarchies are public.",
                "unprotected_quantities": "None: the number of records is not released. The domains, hierarchies and "
                "bounds are public input.",
            },
            "privacy_loss": {
                "privacy_unit": "Record-level",
                "privacy_unit_details": "Neighbouring tables differ by adding or removing one record.",
                "privacy_parameters": {"epsilon": float(guarantee.epsilon)},
                "privacy_parameters_details": f"Parts that add up exactly: {parts}. "
                f"All releases of this table so far: {float(guarantee.total):.6g}.",
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": f"The custodian holds the table and publishes; analysts see the release alone. {FILL}",
                "release_type": "Many releases" if guarantee.before else "One release",
                "release_type_details": "A changed table is charged, and the cost of all releases is stated.",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "Parameters follow from the policy and from noisy counts; "
                "nothing was tuned on the table.",
                "mechanisms": used.mechanisms,
                "composition": "Sequential composition of pure DP, in exact fractions.",
                "post_processing": used.post_processing,
                "justification": FILL,
            },
            "administrative": {"status": "Pending", "registry_authors": [FILL], "tier": 3},
        },
    }


def _lines(content: Mapping[str, Any], depth: int) -> Iterator[str]:
    """YAML in its simplest form: nested keys, lists of texts or of keys, and texts in double quotes."""
    space = "  " * depth
    for name, value in content.items():
        if isinstance(value, dict):
            yield f"{space}{name}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, list):
            yield f"{space}{name}:"
            for each in value:
                if isinstance(each, dict):
                    yield f"{space}  -"
                    yield from _lines(each, depth + 2)
                else:
                    yield f"{space}  - {json.dumps(each, ensure_ascii=False)}"
        else:
            yield f"{space}{name}: {json.dumps(value, ensure_ascii=False)}"
