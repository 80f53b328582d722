"""Drafting a policy from a table: a first version that runs, for a person to read and correct."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from discreet.errors import PolicyError
from discreet.ground.progress import Progress
from discreet.mechanism.draft.choose import Chosen, choose, give_away
from discreet.mechanism.draft.domain import dates_of
from discreet.mechanism.draft.family import DEFAULT, Drafts, drafts_of
from discreet.mechanism.draft.person import Persons, propose_person
from discreet.mechanism.draft.roles import Roles, none_published, propose_roles
from discreet.mechanism.draft.spellings import joined, spellings_in
from discreet.mechanism.draft.write import Proposed, write_draft
from discreet.schema.mechanisms import MECHANISMS, Mechanism
from discreet.table.looking import Looking
from discreet.table.names import check_names
from discreet.table.profile import open_profile
from discreet.table.source import CsvForm

_COMPARE = "comparing columns"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A proposed policy: `text` is the TOML file, with comments on what must be decided before it is used.

    Its domains and the counts in its comments are read off the table: read it before anybody else does.
    `identifiers` and `left_out` give the reason for each column; `candidates` could be sensitive as well. `persons`
    says by which column people are told apart, and how many have several rows; `unique` counts the rows that no other
    is like in the quasi-identifiers. `spellings` counts, for each
    published column, the texts that are proposed to be read as a value that they look like.
    """

    text: str = field(repr=False)
    rows: int
    identifiers: Mapping[str, str] = field(hash=False)
    persons: Persons
    quasi_identifiers: tuple[str, ...]
    sensitive: str
    candidates: tuple[str, ...]
    left_out: Mapping[str, str] = field(hash=False)
    unique: int
    mechanism: Mechanism
    spellings: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def person(self) -> str | None:
        """The column that tells persons apart."""
        return self.persons.column

    def save(self, path: str | Path, *, replace: bool = False) -> Path:
        """Write the file, whole or not at all; a file of that name is replaced only if that is asked for."""
        to = Path(path)
        beside = to.with_name(f".{to.name}.{os.getpid()}.part")
        try:
            beside.write_text(self.text, encoding="utf-8", newline="\n")
            check_free(to, replace=replace)
            beside.replace(to)
        except OSError as error:
            raise PolicyError(f"policy ({path}) must be writable: {error.strerror}") from None
        finally:
            beside.unlink(missing_ok=True)
        return to


def check_free(path: Path, *, replace: bool) -> None:
    """Raise PolicyError where a file of that name would be overwritten without being asked for."""
    if path.is_dir():
        raise PolicyError(f"policy ({path}) must be a file, not a folder; name one such as policy.toml")
    if os.path.lexists(path) and not replace:
        raise PolicyError(f"policy ({path}) must not exist yet; name another file, or say replace (--replace)")


def draft_policy(
    source: Any,
    sensitive: str | None = None,
    *,
    kind: str = DEFAULT,
    csv: CsvForm | None = None,
    progress: Progress | None = None,
) -> Draft:
    """Propose a policy that runs with this table: roles, domains, a mechanism of that kind that can be planned.

    `source` is what read_table takes; `sensitive` names the sensitive column where you know it. The domains are read
    off the table, which leaks which values occur: replace them by public ones before anything is published. Raises
    TableError where no column can be sensitive, or none is left to publish.
    """
    drafts = drafts_of(kind)
    with open_profile(source, csv, progress, {_COMPARE: 1.0}) as (profile, looking):
        roles = joined(propose_roles(profile, sensitive))
        looking.join(spellings_in(roles))
        looking.cut({each.name: dates.by for each in profile.columns if (dates := dates_of(each)) is not None})
        chosen = _chosen(roles, drafts, looking, profile.name)
        named = [column for column in profile.columns if column.name in roles.identifiers]
        persons = propose_person(named, profile.rows, looking)
        unique = looking.unlike([column.name for column in chosen.columns], profile.rows)
    published = [column.name for column in (*chosen.columns, roles.sensitive)]
    check_names(source, csv, [*published, *([persons.column] if persons.column else [])])
    section = drafts.section(chosen.columns, roles.sensitive)
    proposed = Proposed(
        profile=profile,
        roles=roles,
        chosen=chosen,
        persons=persons,
        unique=unique,
        drafts=drafts,
        section=section,
    )
    return Draft(
        text=write_draft(proposed),
        rows=profile.rows,
        identifiers=roles.identifiers,
        persons=persons,
        quasi_identifiers=tuple(column.name for column in chosen.columns),
        sensitive=roles.sensitive.name,
        candidates=tuple(column.name for column in roles.candidates),
        left_out=proposed.left_out,
        unique=unique,
        mechanism=cast("Any", MECHANISMS[kind])(**section.parameters),
        spellings={each.name: len(each.same) for each in (*chosen.columns, roles.sensitive) if each.same},
    )


def _chosen(roles: Roles, drafts: Drafts, looking: Looking, table: str) -> Chosen:
    """What is published of the usable columns; raises TableError where nothing can be."""
    secret = roles.sensitive
    with looking.step(_COMPARE) as tell:
        columns = [column.name for column in (*roles.usable, *roles.doubtful)]
        cells, values = looking.cells(columns, secret.name, secret.marks)
        worse = dict(give_away(roles.doubtful, secret.name, cells, values))
        chosen = choose(roles.usable, secret.name, cells, values, lambda few, one: drafts.fits(few, one, secret), tell)
    if not chosen.columns:
        raise none_published(table, secret.name, {**chosen.gives_away, **chosen.left_out, **roles.left_out})
    return replace(chosen, gives_away={**chosen.gives_away, **worse})
