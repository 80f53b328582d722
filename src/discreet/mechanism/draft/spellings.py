"""Spellings in a draft: values of a column that look alike are proposed to be read as one, for a person to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.mechanism.draft.domain import listed_as_text
from discreet.mechanism.draft.toml import WIDTH, comment, key
from discreet.schema.same import KEY
from discreet.schema.twins import alike_in, named, quoted
from discreet.table.column import Column

if TYPE_CHECKING:
    from discreet.mechanism.draft.roles import Roles


def joined(roles: Roles) -> Roles:
    """The same roles, of columns without other spellings of their values."""
    return replace(
        roles,
        usable=tuple(map(_joined, roles.usable)),
        doubtful=tuple(map(_joined, roles.doubtful)),
        sensitive=_joined(roles.sensitive, sensitive=True),
    )


def spellings_in(roles: Roles) -> dict[str, Mapping[str, str]]:
    """What is read as which value, by column."""
    return {each.name: each.same for each in (*roles.usable, *roles.doubtful, roles.sensitive) if each.same}


def _joined(column: Column, *, sensitive: bool = False) -> Column:
    """A column whose values that look alike are counted as the most frequent of them.

    Where that left one value alone, they are kept apart: a column with one value tells nothing, and hides nobody.
    """
    if not column.counts or not listed_as_text(column, sensitive=sensitive):
        return column
    counts = {str(value): count for value, count in column.counts.items()}
    groups = [each.values for each in alike_in(tuple(counts), doubtful=False)]
    value_of = {each: max(group, key=lambda one: counts[one]) for group in groups for each in group}
    left: Counter[int | str] = Counter()
    for text, count in counts.items():
        left[value_of.get(text, text)] += count
    if len(left) + (column.missing > 0) < 2:
        return replace(column, apart=tuple(groups))
    same = {text: value for text, value in value_of.items() if text != value}
    return replace(column, same=same, counts=dict(left), distinct=len(left)) if same else column


def spelling_lines(column: Column) -> Iterator[str]:
    """The end of [domains.x]: which values are read as which others, or kept apart."""
    if column.apart:
        yield from comment("DECIDE: these look alike. If they are one value, this column has no other to publish.")
        yield f"distinct = [{', '.join(f'[{_listed(each)}]' for each in column.apart)}]"
    if not column.same:
        return
    yield from comment(
        "DECIDE: these look alike, so the texts on the left are read as those on the right. Where two are no spellings "
        'of one value, take them out here, list both in values, and say distinct = [["...", "..."]].'
    )
    pairs = [f"{named(text, most=None)} = {quoted(value, most=None)}" for text, value in sorted(column.same.items())]
    line = f"{KEY} = {{ {', '.join(pairs)} }}"
    yield from [line] if len(line) <= WIDTH else [f"[domains.{key(column.name)}.{KEY}]", *pairs]


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(quoted(value, most=None) for value in values)
