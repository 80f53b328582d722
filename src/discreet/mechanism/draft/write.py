"""Writing a drafted policy: TOML that loads as it stands, with comments that say what a person must decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.ground.shown import and_more, name_some
from discreet.mechanism.draft.choose import Chosen
from discreet.mechanism.draft.domain import domain_lines
from discreet.mechanism.draft.family import Drafts, Section
from discreet.mechanism.draft.person import Persons
from discreet.mechanism.draft.roles import Roles
from discreet.mechanism.draft.spellings import spelling_lines
from discreet.mechanism.draft.toml import annotated, comment, key, quoted, share, shown
from discreet.mechanism.draft.words import sensitivity
from discreet.schema.read import VERSION
from discreet.table.giveaway import Giveaway
from discreet.table.profile import Profile

_SHOWN_CANDIDATES = 10
_SHOWN_LEFT_OUT = 30
_TOP = 4
_WORTH_SAYING = 0.1  # of the rows that nobody could guess before


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """Everything that a draft says."""

    profile: Profile
    roles: Roles
    chosen: Chosen
    persons: Persons
    unique: int  # rows that no other is like in the published columns
    drafts: Drafts
    section: Section

    @property
    def left_out(self) -> dict[str, str]:
        """Why other columns are not published, those that would give the secret away first."""
        others = {**self.roles.left_out, **self.chosen.left_out}
        return {
            **self.chosen.gives_away,
            **{name: why for name, why in others.items() if name not in self.chosen.gives_away},
        }


def write_draft(proposed: Proposed) -> str:
    """The whole policy file."""
    sections = (
        _preface(proposed),
        [f"version = {VERSION}", "draft = true  # publish refuses a draft: take this line out when you have decided"],
        _table(proposed),
        _domains(proposed),
        proposed.section.lines,
    )
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _preface(proposed: Proposed) -> list[str]:
    profile = proposed.profile
    return comment(
        f"A draft, made by discreet init from {shown(profile.name)}: {profile.rows:,} rows, "
        f"{len(profile.columns):,} columns.",
        "READ IT BEFORE YOU USE IT. It loads, and check and plan run with it, but only a person can decide:",
        "  1. Roles. Who somebody is, what others know of them, and what nobody should learn.",
        "  2. Domains. They were read off the table, and that leaks: a listed value says that somebody has it, a value "
        "that is not listed that nobody has. A release shows the domains to everyone. Replace them by public ones: "
        "what may occur, from a code book or a register.",
        f"  3. {proposed.drafts.decision}",
        "The comments hold counts from the table: delete them before you hand this file to others.",
    )


def _table(proposed: Proposed) -> Iterator[str]:
    roles, chosen = proposed.roles, proposed.chosen
    yield "[table]"
    yield from comment("DECIDE: these say who somebody is. They are dropped; even their names stay out of a release.")
    yield from annotated("identifiers", roles.identifiers.items())
    yield ""
    yield from _person(proposed.persons)
    rows = proposed.profile.rows
    yield ""
    yield from comment(
        f"DECIDE: these are {proposed.drafts.shown}. Take out what nobody needs, or publish it in "
        f"bands (bands and publish_level in its domain: docs/domains.md). By them {proposed.unique:,} of "
        f"{rows:,} rows ({share(proposed.unique, rows)}) are like no other row. Each column, and each pair of them, "
        f"was tried for what it gives away of {shown(roles.sensitive.name)}; three together were not.",
    )
    yield from annotated(
        "quasi_identifiers", ((each.name, _told(chosen.told.get(each.name))) for each in chosen.columns)
    )
    yield ""
    yield from _sensitive(proposed)
    left_out = proposed.left_out
    if left_out:
        yield ""
        yield from comment("Not named above, so not published:")
        for name, reason in list(left_out.items())[:_SHOWN_LEFT_OUT]:
            yield from comment(f"  {shown(name)}: {reason}")
        if more := and_more(len(left_out), _SHOWN_LEFT_OUT):
            yield from comment(
                f"  {more}: {name_some([shown(name) for name in list(left_out)[_SHOWN_LEFT_OUT:]], most=200)}"
            )


def _person(persons: Persons) -> Iterator[str]:
    """The line `person`, with what it means; or why there is none."""
    if persons.column is None:
        numbered = (
            f"{shown(persons.events[0])} is different in every row, but it numbers no people. "
            if persons.events
            else ""
        )
        yield from comment(
            f"DECIDE: no column was found that tells persons apart. {numbered}Every promise is for one row: who has "
            'several is protected less. If some column tells persons apart, say person = "...".'
        )
        return
    if persons.several:
        yield from comment(
            f"DECIDE: {persons.several:,} of {persons.people:,} people have several of the {persons.rows:,} rows. "
            "Every promise is for one row: who has several is protected less. With this line such a table is refused. "
            "Keep one row of each person in the table, such as the first, or take the line out if you accept that."
        )
    else:
        yield from comment("One row a person: checked whenever the table is read; never published.")
    yield f"person = {quoted(persons.column)}"


def _told(found: Giveaway | None) -> str:
    """What a person should know before a column is published."""
    if found is None or found.gain < _WORTH_SAYING:
        return ""
    return (
        f"tells something: with it {100 * found.guessed:.0f} % are guessed right, without it {100 * found.before:.0f} %"
    )


def _sensitive(proposed: Proposed) -> Iterator[str]:
    sensitive, candidates = proposed.roles.sensitive, proposed.roles.candidates
    guess = "" if sensitivity(sensitive.name) is not None else " No name sounds sensitive: this one is a guess."
    yield from comment(f"DECIDE: what nobody should be able to infer about a person.{guess}")
    yield f"sensitive = {quoted(sensitive.name)}"
    if not candidates:
        return
    yield from comment("Others that could be sensitive (draft again with --sensitive COLUMN):")
    for column in candidates[:_SHOWN_CANDIDATES]:
        top = sorted(column.histogram.items(), key=lambda pair: -pair[1])
        first = [f"{shown(value, 24)} {share(count, column.rows)}" for value, count in top[:_TOP]]
        few = ", ".join(filter(None, (*first, and_more(len(top), _TOP))))
        yield from comment(f"  {shown(column.name)}: {column.values:,} values: {few}")
    if more := and_more(len(candidates), _SHOWN_CANDIDATES):
        yield from comment(f"  {more}")


def _domains(proposed: Proposed) -> Iterator[str]:
    yield from comment(
        "DECIDE: the values that may occur, in public. What stands here is what does occur in the table: lists to be "
        "completed, limits to be widened."
    )
    sensitive = proposed.roles.sensitive
    for number, column in enumerate((*proposed.chosen.columns, sensitive)):
        if number:
            yield ""
        yield f"[domains.{key(column.name)}]"
        yield from domain_lines(column, sensitive=column is sensitive)
        yield from spelling_lines(column)
