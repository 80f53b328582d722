"""The README of a bucket release, version 3: what its answers rest on. It stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.release.buckets.manifest import BucketStatement
from discreet.release.buckets.readme_2 import readme_2
from discreet.release.example_2 import example_of

_ASKING = "An answer counts people"
_PANDAS = "With pandas alone,"


def readme_3(statement: BucketStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    example = example_of(statement.schema, *statement.schema.columns)
    first, asking, rest = readme_2(statement, facts).rpartition(_ASKING)
    counted, pandas, recipe = rest.partition(_PANDAS)
    return f"""{first}{asking}{counted}{facts["composition"]}

An answer comes from a model of how {statement.schema.sensitive} depends on the other columns, learned from this release
alone, where that is known to work for releases of its kind and the model passes its own test. Its interval holds if the
model does. Beside it stands `design`, the estimate that needs no model: over the coins with which the release was made
it is unbiased and its interval covers the truth as often as it says, whatever the model is worth. Ask for it alone with

    print(release.count({example.sql!r}, estimator="unbiased"))

{pandas}{recipe}"""
