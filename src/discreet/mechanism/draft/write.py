"""Writing a drafted policy: TOML that loads as it stands, with comments that say what a person must decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.ground.exact import exact, toml_number
from discreet.ground.shown import and_more
from discreet.guarantee.words import percent
from discreet.mechanism.draft.roles import Roles, number_of
from discreet.mechanism.draft.toml import WIDTH, annotated, array, key, quoted, shown
from discreet.mechanism.draft.words import sensitivity
from discreet.schema.domain import key_of
from discreet.schema.read import VERSION
from discreet.table.profile import MOST_VALUES, Column, Profile

if TYPE_CHECKING:
    from discreet.mechanism.draft.tolerance import Proposal

_SHOWN_VALUES = 20  # the most frequent, and as many of the rarest
_SHOWN_CANDIDATES = 10
_TOP = 4
_POINTS_AT_PEOPLE = 0.1  # distinct values for each row


def write_draft(profile: Profile, roles: Roles, proposal: Proposal) -> str:
    """The whole policy file."""
    sections = (
        _preface(profile),
        [f"version = {VERSION}"],
        _table(roles),
        _domains(roles),
        _mechanism(roles, proposal),
    )
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _preface(profile: Profile) -> list[str]:
    return _comment(
        f"A draft, made by discreet init from {shown(profile.name)}: {profile.rows:,} rows, "
        f"{len(profile.columns):,} columns.",
        "READ IT BEFORE YOU USE IT. It loads and runs as it stands, but only a person can decide:",
        "  1. Roles. Who somebody is, what others know of them, and what nobody should learn.",
        "  2. Domains. They were read off the table, and that leaks: a listed value says that somebody has it, a value "
        "that is not listed that nobody has. A release shows the domains to everyone. Replace them by public ones: "
        "what may occur, from a code book or a register.",
        "  3. Tolerance. How probable an inference of a sensitive value may become.",
        "The comments hold counts from the table: delete them before you hand this file to others.",
    )


def _table(roles: Roles) -> Iterator[str]:
    yield "[table]"
    yield from _comment("DECIDE: these say who somebody is. They are dropped; even their names stay out of a release.")
    yield from annotated("identifiers", roles.identifiers.items())
    if roles.person:
        yield from _comment("One row a person: checked whenever the table is read; never published.")
        yield f"person = {quoted(roles.person)}"
    else:
        yield from _comment(
            "DECIDE: no identifier is different in every row, but the promise is for one row a person. If some column "
            'can check that, say person = "...".'
        )
    yield from _comment(
        "DECIDE: these are published as they are, for everyone to read beside what they know of a person. Take out "
        f"what nobody needs, and what gives {shown(roles.sensitive.name)} away."
    )
    yield from annotated("quasi_identifiers", ((column.name, _warning(column)) for column in roles.quasi_identifiers))
    yield from _sensitive(roles)
    if roles.left_out:
        yield from _comment("Not named above, so not published:")
        for name, reason in roles.left_out.items():
            yield from _comment(f"  {shown(name)}: {reason}")


def _warning(column: Column) -> str:
    """What a person should know before a column is published as it is."""
    if sensitivity(column.name) is not None:
        return "DECIDE: its name sounds sensitive; take it out unless everyone may know it"
    if column.distinct > MOST_VALUES and column.distinct > _POINTS_AT_PEOPLE * column.rows:
        return f"DECIDE: {number_of(column)} different values point at people; take it out or put it into bands"
    return ""


def _sensitive(roles: Roles) -> Iterator[str]:
    guess = "" if sensitivity(roles.sensitive.name) is not None else " No name sounds sensitive: this one is a guess."
    yield from _comment(f"DECIDE: what nobody should be able to infer about a person.{guess}")
    yield f"sensitive = {quoted(roles.sensitive.name)}"
    if not roles.candidates:
        return
    yield from _comment("Others that could be sensitive (draft again with --sensitive COLUMN):")
    for column in roles.candidates[:_SHOWN_CANDIDATES]:
        top = sorted(column.histogram.items(), key=lambda pair: -pair[1])
        first = [f"{shown(value, 24)} {_share(count, column.rows)}" for value, count in top[:_TOP]]
        few = ", ".join(filter(None, (*first, and_more(len(top), _TOP))))
        yield from _comment(f"  {shown(column.name)}: {column.values:,} values: {few}")
    if more := and_more(len(roles.candidates), _SHOWN_CANDIDATES):
        yield from _comment(f"  {more}")


def _domains(roles: Roles) -> Iterator[str]:
    yield from _comment(
        "DECIDE: the values that may occur, in public. What stands here is what does occur in the table: lists to be "
        "completed, limits to be widened."
    )
    for number, column in enumerate((*roles.quasi_identifiers, roles.sensitive)):
        if number:
            yield ""
        yield f"[domains.{key(column.name)}]"
        yield from _domain(column, sensitive=column is roles.sensitive)


def _domain(column: Column, *, sensitive: bool) -> Iterator[str]:
    if column.kind == "whole" and column.low is not None and column.high is not None:
        if not sensitive or column.high - column.low < MOST_VALUES:
            yield f"integers = [{column.low}, {column.high}]  # the lowest and the highest are somebody's: widen them"
        else:
            yield from array("values", column.counts or ())
    else:
        yield from array("values", sorted(map(str, column.counts or ())))
    if column.missing:
        yield f'missing = "category"  # {column.missing:,} rows are empty: that counts as a value'


def _mechanism(roles: Roles, proposal: Proposal) -> Iterator[str]:
    plan = proposal.plan
    theta, floor = exact("theta", proposal.tolerance.theta), exact("floor", proposal.tolerance.floor)
    yield "[mechanism]"
    yield 'kind = "buckets"'
    yield f"sizes = {quoted(proposal.sizes)}"
    yield f"max_size = {proposal.max_size}"
    yield ""
    yield "[mechanism.tolerance]"
    yield from _comment(
        "DECIDE: how probable an inference of a value may become, for one who looks up a person's bucket: at most "
        "min(1, theta x the value's share of the rows + floor). Smaller protects better and makes larger buckets, so "
        "counts from the release become less exact.",
        f"With this the plan has {plan.buckets:,} buckets of {proposal.mean_size:.1f} records on average.",
    )
    yield from _strength(plan.tolerance, roles.sensitive)
    yield f"theta = {toml_number(theta)}"
    yield f"floor = {toml_number(floor)}"
    yield from _comment('Exceptions by value; 1 means not sensitive at all, and "" is the empty cell. Such as:')
    yield f"# values = {{ {_example(plan.tolerance, roles.sensitive)} }}"


def _strength(tolerance: Mapping[object, Fraction], column: Column) -> Iterator[str]:
    """The histogram of the sensitive attribute, with what may be inferred."""
    limits = {value: tolerance[value] for value in column.histogram}
    free = [value for value, limit in limits.items() if limit == 1]
    if len(free) == len(limits):
        yield from _comment("WARNING: no tolerance below 1 can be kept for any value; this promises nothing.")
    elif free:
        few = ", ".join(shown(value, 24) for value in free[:_TOP]) + (", ..." if len(free) > _TOP else "")
        yield from _comment(f"Too frequent to be protected with this theta (tolerance 100 %): {few}")
    yield f"# {'value':<40} {'rows':>12} {'share':>8}   may be inferred with at most"
    ordered = sorted(column.histogram.items(), key=lambda pair: -pair[1])
    hidden = range(_SHOWN_VALUES, len(ordered) - _SHOWN_VALUES)
    for position, (value, count) in enumerate(ordered):
        if position not in hidden:
            share = _share(count, column.rows)
            yield f"#   {shown(value, 38):<38} {count:>12,} {share:>8}   {percent(limits[value])}"
        elif position == hidden[0]:
            yield f"#   ... {len(hidden):,} more values ..."


def _example(tolerance: Mapping[object, Fraction], column: Column) -> str:
    """The rarest value with about the tolerance that it has."""
    rarest = min(column.histogram.items(), key=lambda pair: pair[1])[0]
    return f"{key(key_of(rarest))} = {math.ceil(100 * tolerance[rarest]) / 100}"


def _share(count: int, rows: int) -> str:
    return f"{100 * count / rows:.3g} %"


def _comment(*sentences: str) -> list[str]:
    """Sentences as comment lines, wrapped; those that begin with spaces stay indented."""
    lines = []
    for sentence in sentences:
        indent = " " * (len(sentence) - len(sentence.lstrip(" ")))
        line = ""
        for word in sentence.strip(" ").split(" "):
            if line and len(line) + len(word) + 1 > WIDTH - 2 - len(indent):
                lines.append(f"# {indent}{line}")
                line = f"   {word}" if indent else word
            else:
                line = f"{line} {word}" if line else word
        lines.append(f"# {indent}{line}")
    return lines
