"""Drafting a policy from a table: a first version that runs, for a person to read and correct."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.progress import Progress
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.draft.roles import propose_roles
from discreet.mechanism.draft.tolerance import propose_tolerance
from discreet.mechanism.draft.write import write_draft
from discreet.table.names import check_names
from discreet.table.profile import profile_table
from discreet.table.source import CsvForm


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A proposed policy: `text` is the TOML file, with comments on what must be decided before it is used.

    Its domains and the counts in its comments are read off the table: read it before anybody else does.
    `identifiers` and `left_out` give the reason for each column; `candidates` could be sensitive as well.
    """

    text: str = field(repr=False)
    rows: int
    identifiers: Mapping[str, str] = field(hash=False)
    person: str | None
    quasi_identifiers: tuple[str, ...]
    sensitive: str
    candidates: tuple[str, ...]
    left_out: Mapping[str, str] = field(hash=False)
    tolerance: Tolerance

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
    source: Any, sensitive: str | None = None, *, csv: CsvForm | None = None, progress: Progress | None = None
) -> Draft:
    """Propose a policy that runs with this table: roles, domains, a tolerance that can be kept.

    `source` is what read_table takes; `sensitive` names the sensitive column where you know it. The domains are read
    off the table, which leaks which values occur: replace them by public ones before anything is published. Raises
    TableError where no column can be sensitive, or none is left to publish.
    """
    profile = profile_table(source, csv, progress)
    roles = propose_roles(profile, sensitive)
    published = [column.name for column in (*roles.quasi_identifiers, roles.sensitive)]
    check_names(source, csv, [*published, *([roles.person] if roles.person else [])])
    proposal = propose_tolerance(roles.sensitive.histogram)
    return Draft(
        text=write_draft(profile, roles, proposal),
        rows=profile.rows,
        identifiers=roles.identifiers,
        person=roles.person,
        quasi_identifiers=tuple(column.name for column in roles.quasi_identifiers),
        sensitive=roles.sensitive.name,
        candidates=tuple(column.name for column in roles.candidates),
        left_out=roles.left_out,
        tolerance=proposal.tolerance,
    )
