"""What an alpha-beta or FRAPP release promises, in words, version 3: it stays as it is.

Version 2 did not say what an answer counts, and where that is distinct tuples, a reader took it for people.
"""

from __future__ import annotations

from typing import Any

from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.facts_2 import facts_2
from discreet.release.phrases_2 import RECORDS, TUPLES


def facts_3(guarantee: DGammaPrivacy | FrappPrivacy, continued: bool, public_rows: int | None) -> dict[str, Any]:
    """The promise for people and for programs, and what an answer counts."""
    return {**facts_2(guarantee, continued, public_rows), "counts": RECORDS if guarantee.of_records else TUPLES}
