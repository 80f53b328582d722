"""Proposing the column that tells persons apart: the patient's number before the visit's, and who has several rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.mechanism.draft.words import numbers_events, numbers_persons, sounds_identifying
from discreet.table.column import Column
from discreet.table.looking import Looking


@dataclass(frozen=True, kw_only=True)
class Persons:
    """The column that tells persons apart, if one does, how many different persons the rows are of, and how many of
    them have `several`.

    `events` are columns that are different in every row because they number visits or rows: they tell nobody apart.
    """

    column: str | None
    rows: int
    people: int | None = None
    several: int = 0
    events: tuple[str, ...] = ()


def propose_person(identifiers: Sequence[Column], rows: int, looking: Looking) -> Persons:
    """The column named after a person, also where it repeats: then the table does not have one row a person.

    Without one, an identifier that is different in every row, unless its name says that it numbers something else.
    """
    own = [column for column in identifiers if numbers_persons(column.name) and not column.missing]
    unique = [column for column in identifiers if column.unique]
    events = tuple(column.name for column in unique if numbers_events(column.name))
    if own:
        people = own[0].distinct if own[0].exact else looking.people(own[0].name)
        several = people - looking.unlike([own[0].name], rows) if people < rows else 0
        return Persons(column=own[0].name, rows=rows, people=people, several=several, events=events)
    others = [column for column in unique if column.name not in events]
    named = [column for column in others if sounds_identifying(column.name)]
    found = next((column.name for column in (*named, *others)), None)
    return Persons(column=found, rows=rows, people=rows if found else None, events=events)
