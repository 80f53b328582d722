"""Drafting a policy for DiffGen or Pairs: columns that can be counted in cells, and a budget to decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.mechanism.diffgen.planning.limits import MOST_TABLE_COUNTS, RESERVED
from discreet.mechanism.draft.domain import dates_of, decimals_of, width_of
from discreet.mechanism.draft.family import Section
from discreet.mechanism.draft.toml import comment
from discreet.schema.taxonomy import MOST_CELLS, MOST_VALUES
from discreet.table.column import Column

EPSILON = 1


class DiffGenDrafts:
    """DiffGen counts columns in cells of their taxonomies: long lists of texts have none."""

    decision = "Epsilon. How much one person's record may change the probability of any release."
    shown = "counted with noise, over their taxonomies"

    def fits(self, chosen: Sequence[Column], column: Column, sensitive: Column) -> str | None:
        if column.name.upper() in RESERVED:
            return f"a release adds its own {column.name.upper()}; rename it to publish it"
        if why := _without_cells(column):
            return why
        counts = sum(map(_cells, (*chosen, column))) * width_of(sensitive, sensitive=True)
        if counts > MOST_TABLE_COUNTS:
            return f"with it there would be {counts:,} noisy counts, more than {MOST_TABLE_COUNTS:,}"
        return None

    def section(self, published: Sequence[Column], sensitive: Column) -> Section:
        hierarchies = (
            "Hierarchies (hierarchy, widths, prefixes in a domain) say how values are generalized; without, texts have "
            "none and numbers have ranges."
        )
        return Section(lines=list(_lines("diffgen", hierarchies)), parameters={"epsilon": EPSILON})


class PairsDrafts:
    """Pairs counts columns, and pairs of them, in cells: long lists of texts have none."""

    decision = DiffGenDrafts.decision
    shown = "counted with noise, one by one and in pairs"

    def fits(self, chosen: Sequence[Column], column: Column, sensitive: Column) -> str | None:
        return _without_cells(column)

    def section(self, published: Sequence[Column], sensitive: Column) -> Section:
        classifier = 'For a classifier of one column diffgen is better: kind = "diffgen" takes the same epsilon.'
        return Section(lines=list(_lines("pairs", classifier)), parameters={"epsilon": EPSILON})


def _without_cells(column: Column) -> str | None:
    """Why a column cannot be counted in cells, or nothing."""
    ordered = column.kind == "whole" or dates_of(column) is not None or decimals_of(column) is not None
    if not ordered and column.values > MOST_CELLS:
        return f"{column.values:,} texts, more than {MOST_CELLS}, need a hierarchy to be generalized"
    if column.low is not None and column.high is not None and column.high - column.low >= MOST_VALUES - 1:
        return f"its range is longer than {MOST_VALUES:,} whole numbers; put it into bands to publish it"
    return None


def _cells(column: Column) -> int:
    return min(width_of(column), MOST_CELLS) + 1


def _lines(kind: str, more: str) -> Iterator[str]:
    yield "[mechanism]"
    yield f'kind = "{kind}"'
    yield from comment(
        "DECIDE: with or without one record, any release is at most e^epsilon times as probable: 1 is a factor of 2.7, "
        "0.1 of 1.1. Smaller protects better and makes more noise. The epsilons of all releases of the same people add "
        "up.",
        more,
    )
    yield f"epsilon = {EPSILON}"


DRAFTS = DiffGenDrafts()
PAIRS = PairsDrafts()
