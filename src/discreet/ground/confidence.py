"""How sure an interval may be asked to be: as sure as its arithmetic can tell from certain, and no more."""

from __future__ import annotations

_MOST = 1 - 1e-12


def why_not(confidence: object) -> str | None:
    """What is wrong with a confidence, in a sentence; None where nothing is."""
    if isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 < confidence <= _MOST:
        return None
    return (
        f"confidence ({confidence!r}) must be between 0 and 1, and at most {_MOST}; say 0.95, or 0.999 to be stricter"
    )
