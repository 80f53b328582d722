"""Bands: a level of a hierarchy whose ranges a custodian names, such as child, adult and old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from discreet.errors import PolicyError
from discreet.schema.domain import Dates, Decimals, Integers
from discreet.schema.paths import MOST_LEAVES, ROOT, Paths, checked


def hierarchy_of_bands(domain: Integers | Decimals | Dates, bands: Sequence[object] | Mapping[str, object]) -> Paths:
    """The paths of a domain in bands: each begins at its number or date and ends before the next one does.

    A list has the starts, and at its end what comes after the last band. A mapping has a label for each start; its last
    band ends with the domain.
    """
    if len(domain) > MOST_LEAVES:
        raise PolicyError(f"bands must be for a domain of at most {MOST_LEAVES:,} values; narrow it")
    texts = domain.texts
    starts = [domain.position(start) for start in (bands.values() if isinstance(bands, Mapping) else bands)]
    if isinstance(bands, Mapping):
        starts.append(len(texts))
    if any(start >= end for start, end in pairwise(starts)):
        raise PolicyError("bands must rise, and each must hold a value of the domain; mend their order")
    if len(starts) < 3 or starts[0] or starts[-1] < len(texts):
        raise PolicyError(
            f"bands must begin at or below {texts[0]} and end above {texts[-1]}, and be two at least; write where each "
            "begins, and last what comes after all of them"
        )
    joint = " to " if domain.type == "text" else "-"
    labels = (
        list(bands)
        if isinstance(bands, Mapping)
        else [
            texts[start] if end - start == 1 else f"{texts[start]}{joint}{texts[end - 1]}"
            for start, end in pairwise(starts)
        ]
    )
    paths = [
        (text, label, ROOT)
        for label, (start, end) in zip(labels, pairwise(starts), strict=True)
        for text in texts[start:end]
    ]
    return checked(paths, name="bands")
