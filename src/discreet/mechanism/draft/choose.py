"""Choosing what a draft publishes: a few columns that do not give the sensitive one away, alone or in pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.table.column import Column
from discreet.table.giveaway import Giveaway, giveaway, numbered, together
from discreet.table.looking import Cells

MOST_COLUMNS = 8  # that a draft publishes: every one more makes more people unique, and few questions need more
_TRIED = 40  # columns that are compared in pairs, the likeliest: that bounds the time for any number of columns

Fits = Callable[[Sequence[Column], Column], str | None]  # why a family cannot publish one more column, or nothing


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The columns that are published, in the order of the table, with how much each tells of the sensitive one; and
    why others are not: because they give it away, or for other reasons.
    """

    columns: tuple[Column, ...]
    told: Mapping[str, Giveaway]
    gives_away: Mapping[str, str]
    left_out: Mapping[str, str]


def choose(
    usable: Sequence[Column], sensitive: str, cells: Mapping[str, Ints], secret: Cells, fits: Fits, tell: Tell
) -> Chosen:
    """At most MOST_COLUMNS of the usable columns, in their order, none of which gives the sensitive one away."""
    chosen: list[Column] = []
    told: dict[str, Giveaway] = {}
    gives_away: dict[str, str] = {}
    left_out: dict[str, str] = {}
    tried = 0
    for number, column in enumerate(usable):
        tell(number / len(usable))
        name, found = column.name, giveaway(cells[column.name], secret.values, secret.unknown)
        if found is not None and found.too_much:
            gives_away[name] = found.words(sensitive)
        elif len(chosen) == MOST_COLUMNS or tried == _TRIED:
            left_out[name] = f"a draft names {MOST_COLUMNS} columns at most; put it in for another if it is needed"
        elif reason := fits(chosen, column):
            left_out[name] = reason
        elif len(usable) > MOST_COLUMNS and (twin := _twin(name, chosen, cells)):  # it would take another's place
            left_out[name] = f"it says the same as {twin}, in other words"
        else:
            tried += 1
            if reason := _with_others(name, chosen, sensitive, cells, secret):
                gives_away[name] = reason
                continue
            chosen.append(column)
            if found is not None:
                told[name] = found
    in_order = sorted(chosen, key=lambda column: column.position)
    return Chosen(columns=tuple(in_order), told=told, gives_away=gives_away, left_out=left_out)


def give_away(
    columns: Sequence[Column], sensitive: str, cells: Mapping[str, Ints], secret: Cells
) -> Iterator[tuple[str, str]]:
    """The columns that give the sensitive one away, each with what it gives away."""
    for column in columns:
        found = giveaway(cells[column.name], secret.values, secret.unknown)
        if found is not None and found.too_much:
            yield column.name, found.words(sensitive)


def _twin(name: str, chosen: Sequence[Column], cells: Mapping[str, Ints]) -> str | None:
    """A column chosen before that tells the same rows apart."""
    own = int(cells[name].max(initial=0))
    for other in chosen:
        if int(cells[other.name].max(initial=0)) == own:
            both = numbered(together(cells[other.name], cells[name]))
            if int(both.max(initial=0)) == own:
                return other.name
    return None


def _with_others(
    name: str, chosen: Sequence[Column], sensitive: str, cells: Mapping[str, Ints], secret: Cells
) -> str | None:
    """Why the column cannot stand beside those that were chosen before."""
    for other in chosen:
        found = giveaway(together(cells[other.name], cells[name]), secret.values, secret.unknown)
        if found is not None and found.too_much:
            return f"together with {other.name}, {found.words(sensitive)}"
    return None
