"""Texts by which tables say that a cell is missing: '?', 'NA', 'unknown' and their like, in any letter case.

'none' and 'no' are not among them: they are often values of their own, such as no medication.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.schema.skeleton import skeletons

_SIGNS = ("", "?", "??", "-", "--", ".", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "(null)", "nil", "unk")
_WORDS = ("unknown", "missing", "not known", "not available", "not recorded", "(missing)", "(unknown)")
MARKS = frozenset((*_SIGNS, *_WORDS))


def means_missing(value: object) -> bool:
    """Whether a cell is empty or says that nothing is known."""
    return value is None or (isinstance(value, str) and skeletons(value)[0] in MARKS)


def marks_among(texts: Iterable[str]) -> tuple[str, ...]:
    """Those of some texts that mean a missing cell, as they are written, in order."""
    return tuple(sorted(filter(means_missing, texts)))
