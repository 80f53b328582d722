"""Loading a policy for a table: a name that is wrong in it is held against the columns that the table has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, PolicyError
from discreet.schema.lines import line_of
from discreet.schema.nearest import nearest_name
from discreet.schema.policy import Policy, PolicyFile, read_policy, told_of
from discreet.schema.read import Problem
from discreet.table.inspect import missing_column
from discreet.table.names import columns_in
from discreet.table.source import CsvForm


def load_for(policy: str | Path, source: Any, *, csv: CsvForm | None = None) -> Policy:
    """The policy for a table; raises PolicyError with every problem, where a wrong name is held against the table's."""
    found = read_policy(Path(policy))
    if found.policy is not None:
        return found.policy
    try:
        problems = beside_the_table(found, source, csv)
    except DiscreetError:
        problems = list(found.problems)  # the policy must be mended first, whatever the table is like
    raise PolicyError(told_of(policy, problems))


def beside_the_table(found: PolicyFile, source: Any, csv: CsvForm | None) -> list[Problem]:
    """The problems of a policy; a name in it that the table has not got is said to be that, and what follows from it
    is not said.
    """
    parts, problems = found.parts, list(found.problems)
    if parts is None:
        return problems
    asked = [
        (role, name)
        for role, name in parts.roles
        if parts.schema is None or (name in parts.roles.published and name not in parts.schema.columns)
    ]
    if not asked:
        return problems
    present = columns_in(source, csv, [name for _, name in parts.roles])
    folded = {name.casefold() for name in present}
    for role, name in asked:
        if name.casefold() in folded:
            continue
        meant = nearest_name(name, present)
        problems = [
            each for each in problems if each.key != ("table", role, name) and each.key[:2] != ("domains", meant)
        ]
        misfit = missing_column(name, role, present)
        problems.append(problem_at(misfit.key, misfit.message, found))
    return sorted(problems, key=line_first)


def line_first(problem: Problem) -> int:
    """The order in which problems are said."""
    return problem.line or 0


def problem_at(key: tuple[str, ...], message: str, found: PolicyFile) -> Problem:
    """A problem with a key, and the line on which that stands."""
    return Problem(line=line_of(key, found.lines), message=message, key=key)
