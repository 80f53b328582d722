"""Checking a policy, and a table against it: everything that is wrong in one run, with the policy's lines; and what is
not wrong, but should be thought about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, Infeasible, PolicyError, TableError
from discreet.ground.progress import Progress
from discreet.mechanism.load import beside_the_table, line_first, problem_at
from discreet.mechanism.mechanism import publishing
from discreet.mechanism.plan import Plan
from discreet.mechanism.warn import DRAFT, warnings_of
from discreet.schema.lookalikes import lookalike_warnings
from discreet.schema.policy import PolicyFile, read_policy
from discreet.schema.read import DATA, Problem, from_the_top
from discreet.table.read import open_table
from discreet.table.source import CsvForm
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Review:
    """What is wrong with a policy and a table, what a person should think about although nothing is wrong, and `notes`
    that say what the policy amounts to.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check(
    policy: str | Path,
    source: Any = None,
    *,
    csv: CsvForm | None = None,
    show_values: bool = False,
    progress: Progress | None = None,
) -> tuple[Problem, ...]:
    """What is wrong with a policy file, how a table does not fit it, and whether it can be planned; empty if nothing.

    `show_values` puts cells of the table into the messages: for the custodian's eyes only.
    """
    found = read_policy(Path(policy))
    return _reviewed(found, source, csv=csv, show_values=show_values, progress=progress, warn=False).problems


def review(
    policy: str | Path,
    source: Any = None,
    *,
    csv: CsvForm | None = None,
    show_values: bool = False,
    progress: Progress | None = None,
) -> Review:
    """The same, with warnings: columns that give the sensitive one away, people who are like no other, values without
    protection. They name columns and numbers; nothing of them keeps a policy from being published. Notes are of a
    policy that can be read, such as which classic notion it equals.
    """
    found = read_policy(Path(policy))
    reviewed = _reviewed(found, source, csv=csv, show_values=show_values, progress=progress, warn=True)
    if found.policy is None:
        return reviewed
    return replace(reviewed, notes=publishing(found.policy.mechanism).notes(found.policy.schema))


def _reviewed(
    found: PolicyFile, source: Any, *, csv: CsvForm | None, show_values: bool, progress: Progress | None, warn: bool
) -> Review:
    draft = (DRAFT,) if found.parts is not None and found.parts.draft else ()
    if source is None or found.parts is None:
        return Review(problems=found.problems, warnings=(*draft, *_alike(found)))
    try:
        problems = beside_the_table(found, source, csv)
        roles, schema = found.parts.roles, found.parts.schema
        if schema is None:
            unchecked = "the cells were not checked; mend the sensitive column and its domain first"
            return Review(problems=(*problems, Problem(line=None, message=unchecked, key=DATA)), warnings=draft)
        table, misfits = open_table(
            source,
            schema,
            roles.identifiers,
            roles.person,
            marks=found.parts.marks,
            same=found.parts.same,
            csv=csv,
            show=show_values,
            progress=progress,
        )
    except DiscreetError as error:
        unread = Problem(line=None, message=str(error), key=DATA)
        return Review(problems=(*found.problems, unread), warnings=draft)
    fitting = [problem_at(misfit.key, misfit.message, found) for misfit in misfits]
    problems = sorted([*problems, *fitting], key=line_first)
    if table is None:
        return Review(problems=tuple(problems), warnings=draft)
    with table:
        plan = _planned(table, found, problems)
        if plan is None or found.policy is None or not warn:
            return Review(problems=tuple(problems), warnings=draft)
        return Review(problems=tuple(problems), warnings=warnings_of(table, found.policy, plan))


def _alike(found: PolicyFile) -> tuple[str, ...]:
    return tuple(lookalike_warnings(found.policy.schema)) if found.policy is not None else ()


def _planned(table: Table, found: PolicyFile, problems: list[Problem]) -> Plan | None:
    """The plan of a table that fits, asked for as `publish` does; else one problem more, or none where the policy
    itself is wrong.
    """
    if found.policy is None:
        return None
    mechanism = publishing(found.policy.mechanism)
    try:
        mechanism.fits(table)
        return mechanism.plan(table)
    except DiscreetError as error:
        told = error.key if isinstance(error, PolicyError | Infeasible | TableError) else ()
        problems.append(problem_at(from_the_top(told or (mechanism.blamed,)), str(error), found))
    return None
