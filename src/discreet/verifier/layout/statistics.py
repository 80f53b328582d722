"""Statistics: they say of the cells exactly what the cells say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.errors import ReleaseError
from discreet.verifier.layout.cells import DOUBLE, Type
from discreet.verifier.layout.pages import Page


class Found(NamedTuple):
    """What some pages hold: rows without and with a cell, least and greatest, bytes of text, cells that are no number."""

    missing: int
    present: int
    limits: tuple[Any, Any] | None
    entries: int
    text: int
    no_numbers: int

    @classmethod
    def of(cls, pages: Sequence[Page], dictionary: Any, kind: Type) -> Found:
        present = sum(page.present for page in pages)
        found = [limits for page in pages if (limits := kind.limits(page.of(dictionary))) is not None]
        ends = [each for limits in found for each in limits]
        sums = [page.sums(dictionary, kind) for page in pages]
        return cls(
            missing=sum(page.rows for page in pages) - present,
            present=present,
            limits=kind.limits(np.array(ends) if kind.numeric else ends),
            entries=0 if dictionary is None else len(dictionary),
            text=sum(text for text, _ in sums),
            no_numbers=sum(none for _, none in sums),
        )


def check_statistics(stated: Mapping[str, Any], kind: Type, found: Found, whole: Any = None) -> None:
    """What is stated of cells is so; least and greatest may also be those of a whole dictionary of a domain."""
    right = {"null_count": found.missing, "distinct_count": found.entries, "nan_count": found.no_numbers}
    if any(stated.get(key, each) != each for key, each in right.items()):
        raise ReleaseError("its statistics count other cells than it has")
    if "nan_count" in stated and kind.number != DOUBLE:
        raise ReleaseError("its statistics count what only numbers have")
    limits = [found.limits] + ([] if whole is None else [kind.limits(whole)])
    for place, names in enumerate((("min", "min_value"), ("max", "max_value"))):
        fitting = {form for each in limits if each is not None for form in kind.written(each[place])}
        if any(stated[name] not in fitting for name in names if name in stated):
            raise ReleaseError("its statistics name other limits than its cells have")
    if stated.get("is_max_value_exact") != stated.get("is_min_value_exact"):
        raise ReleaseError("its statistics are exact on one side alone")
