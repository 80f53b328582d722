"""The README of a near bucket release, version 4: what windows mean for one who counts. It stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.release.buckets.manifest import BucketStatement
from discreet.release.buckets.readme_3 import readme_3

_HOW = "## How to count\n"


def readme_4(statement: BucketStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    first, how, rest = readme_3(statement, facts).partition(_HOW)
    return f"""{first}## Near buckets

{facts["assignment"]}

`windows` in `datapackage.json` has, in the order of the curve, how many rows each window has and its first and last
BID.

{how}{rest}"""
