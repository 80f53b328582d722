"""Proposing roles: who somebody is, what nobody should learn, what is published as it is, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.errors import PolicyError, TableError
from discreet.ground.shown import and_more
from discreet.mechanism.draft.domain import dates_of, width_of
from discreet.mechanism.draft.words import (
    demographic_rank,
    half_identifying,
    is_a_number_of,
    numbers_events,
    numbers_persons,
    sensitivity,
    sounds_demographic,
    sounds_identifying,
)
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import RESERVED
from discreet.table.column import MOST_VALUES, Column
from discreet.table.profile import Profile

MOST_SENSITIVE = 200  # values of a sensitive attribute, unless it was named
_MOST_CODES = 50  # whole numbers with more values are measures rather than categories
_MOST_STEPS = 100  # dates and fractions with more values are left out
_NEARLY_UNIQUE = 0.95
_POINTS_AT_PEOPLE = 0.2  # different values for each row: five rows or fewer have the same one, on average
_KNOWN_POINTS = 0.5  # the same for ages and places, which an analyst looks for, and a table of few people has
_ENOUGH_ROWS = 50  # below, nearly unique says nothing
_LONG = 25  # characters of text with spaces, on average


@dataclass(frozen=True, kw_only=True)
class Roles:
    """A role for each column; `identifiers` and `left_out` say why, `candidates` could be sensitive as well.

    `usable` are all columns that could be published, the likeliest first: which of them are is chosen later. `doubtful`
    are columns that are left out although their values could be listed.
    """

    identifiers: Mapping[str, str]
    usable: tuple[Column, ...]
    doubtful: tuple[Column, ...]
    sensitive: Column
    candidates: tuple[Column, ...]
    left_out: Mapping[str, str]


def propose_roles(profile: Profile, sensitive: str | None = None) -> Roles:
    """A role for every column, from its name and its own values; `sensitive` names the sensitive one where the
    custodian knows it.

    Raises TableError where no column can be sensitive or none is left to publish.
    """
    if profile.rows < 2:
        raise TableError(f"table ({profile.name}) must have two rows or more; it has {profile.rows}: nobody can hide")
    chosen = _named(profile, sensitive) if sensitive is not None else None
    identifiers, left_out, usable = _sorted_out([column for column in profile.columns if column is not chosen])
    reasons = {**identifiers, **left_out}
    ranked = _candidates(usable)
    if chosen is None:
        if not ranked:
            raise TableError(_none_sensitive(profile, reasons))
        chosen = ranked[0]
    unfit = {column.name: _unfit_to_publish(column) for column in usable if column is not chosen}
    left_out |= {name: reason for name, reason in unfit.items() if reason}
    published = [column for column in usable if column is not chosen and not unfit[column.name]]
    if not published:
        raise none_published(profile.name, chosen.name, {**identifiers, **left_out})
    return Roles(
        identifiers=identifiers,
        usable=tuple(sorted(published, key=_likeliest)),
        doubtful=tuple(column for column in usable if unfit.get(column.name)),
        sensitive=chosen,
        candidates=tuple(column for column in ranked if column is not chosen and not sounds_demographic(column.name)),
        left_out=left_out,
    )


def none_published(table: str, sensitive: str, reasons: Mapping[str, str]) -> TableError:
    """What is said where no column is left to publish."""
    return TableError(
        f"table ({table}) must have a column to publish beside {sensitive}, such as an age or a region; {_why(reasons)}"
    )


def _likeliest(column: Column) -> tuple[int, int]:
    """What others know of people first, then what has few values."""
    return demographic_rank(column.name), column.values


def _unfit_to_publish(column: Column) -> str | None:
    """Why a column is not to be published as it is, though it could be."""
    if sensitivity(column.name) is not None:
        return "its name sounds sensitive; name it only if everyone may know it"
    known = sounds_demographic(column.name)
    if is_a_number_of(column.name) and not known:
        return "its name is that of a number which stands for something; name it only if it points at nobody"
    least, most = (MOST_SENSITIVE, _KNOWN_POINTS) if known else (_ENOUGH_ROWS, _POINTS_AT_PEOPLE)
    values = column.distinct if dates_of(column) is None else min(column.distinct, width_of(column))
    if values > max(least, most * column.rows):
        each = f"{number_of(column)} different values, {column.rows / column.distinct:.1f} rows each on average"
        return f"{each}, point at people; put them into bands to publish it"
    return None


def _sorted_out(columns: Sequence[Column]) -> tuple[dict[str, str], dict[str, str], list[Column]]:
    """Identifiers and what is left out, each with its reason, and the columns that can be published."""
    identifiers: dict[str, str] = {}
    left_out: dict[str, str] = {}
    usable: list[Column] = []
    for column in columns:
        if reason := _unusable(column):
            left_out[column.name] = reason
        elif reason := _identifying(column):
            identifiers[column.name] = reason
        elif reason := _too_many(column):
            left_out[column.name] = reason
        else:
            usable.append(column)
    return identifiers, left_out, usable


def _named(profile: Profile, sensitive: str) -> Column:
    """The column that the custodian named, if it can be the sensitive one."""
    exact = [column for column in profile.columns if column.name == sensitive]
    alike = exact or [column for column in profile.columns if column.name.casefold() == sensitive.casefold()]
    if not alike:
        hint = did_you_mean(sensitive, [column.name for column in profile.columns])
        raise PolicyError(f"sensitive ({sensitive}) must be a column of the table{hint}")
    column = alike[0]
    if reason := _unusable(column):
        raise PolicyError(f"sensitive ({sensitive}) must be a column that can be published; {reason}")
    if column.counts is None or column.values < 2:
        raise PolicyError(
            f"sensitive ({sensitive}) must have 2 to {MOST_VALUES:,} different values; it has {number_of(column)}: "
            "put them into groups or bands first"
        )
    return column


def _unusable(column: Column) -> str | None:
    """Why no role fits the column at all."""
    if column.ambiguous:
        return "its name differs from another column's in upper and lower case only; rename one"
    if "\0" in column.name:
        return "its name holds a zero byte; rename it"
    if column.name.upper() in RESERVED:
        return f"a release adds its own {column.name.upper()}; rename it to publish it"
    if not column.filled:
        return "it is empty in every row"
    if column.kind == "other":
        return f"it holds {column.type.partition('(')[0]}, which no domain can list"
    return "it has the same value in every row" if column.exact and column.values == 1 else None


def _identifying(column: Column) -> str | None:
    """Why the column says who somebody is."""
    if sounds_identifying(column.name) or numbers_persons(column.name):
        return "its name says who somebody is"
    if numbers_events(column.name):
        return "its name is that of a number which every visit or row has of its own"
    if column.rows <= _ENOUGH_ROWS or column.kind in ("date", "fraction") or _is_free_text(column):
        return None
    share = column.distinct / column.rows
    if column.exact and share >= _NEARLY_UNIQUE:
        return f"{column.distinct:,} different values in {column.rows:,} rows"
    if half_identifying(column.name) and share >= 0.5:
        return f"its name says so, and it has {number_of(column)} different values in {column.rows:,} rows"
    return None


def _is_free_text(column: Column) -> bool:
    long = column.kind == "text" and column.spaced and column.length > _LONG
    return long and column.distinct > min(MOST_SENSITIVE, column.filled / 2)


def _too_many(column: Column) -> str | None:
    """Why the column's values cannot be listed."""
    values = number_of(column)
    if _is_free_text(column):
        return f"free text: {column.length:.0f} characters on average, {values} different; it may name people"
    if column.kind == "date" and dates_of(column) is None and column.distinct > _MOST_STEPS:
        return f"a date with {values} different values, not written as 2020-03-31; write it so to publish it by month"
    if column.kind == "fraction" and column.distinct > _MOST_STEPS:
        return f"a number with fractions and {values} different values; to publish it in bands, see docs/domains.md"
    if column.kind not in ("whole", "date") and column.counts is None:
        return f"{values} different texts, more than {MOST_VALUES:,}; group them, or write a hierarchy, to publish it"
    return None


def number_of(column: Column) -> str:
    """How many values a column has, in words."""
    return f"{column.distinct:,}" if column.exact else f"about {column.distinct:,}"


def _candidates(usable: Sequence[Column]) -> list[Column]:
    """The columns that could be sensitive, the likeliest first."""
    ranked = []
    for position, column in enumerate(usable):
        rank = sensitivity(column.name)
        if column.counts is None or not 2 <= column.values <= MOST_SENSITIVE or column.kind in ("date", "fraction"):
            continue
        two = column.values < 3
        if rank is not None:
            ranked.append(((0, two, *rank, position), column))
            continue
        known = sounds_demographic(column.name)
        if column.kind == "whole" and (known or two or column.values > _MOST_CODES):
            continue
        ranked.append(((1, known, two, column.kind == "whole", -position), column))  # the last column is often the one
    return [column for _, column in sorted(ranked, key=lambda pair: pair[0])]


def _none_sensitive(profile: Profile, reasons: Mapping[str, str]) -> str:
    return (
        f"table ({profile.name}) must have a column that can be sensitive: texts or codes with 2 to {MOST_SENSITIVE} "
        f"different values, such as a diagnosis; none of its {len(profile.columns)} columns has ({_why(reasons)}); "
        "put numbers into bands, or name a column with --sensitive"
    )


def _why(reasons: Mapping[str, str], most: int = 5) -> str:
    """The first few columns with what keeps them out."""
    first = [f"{name}: {reason}" for name, reason in list(reasons.items())[:most]]
    return "; ".join(filter(None, (*first, and_more(len(reasons), most)))) or "there is no other column"
