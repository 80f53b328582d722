"""Checking a policy, and a table against it: everything that is wrong in one run, with the policy's lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, Infeasible, PolicyError, TableError
from discreet.ground.progress import Progress
from discreet.mechanism.mechanism import publishing
from discreet.schema.lines import line_of
from discreet.schema.policy import read_policy
from discreet.schema.read import Problem, from_the_top
from discreet.table.read import open_table
from discreet.table.source import CsvForm


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
    problems = list(found.problems)
    if source is None or found.parts is None:
        return tuple(problems)
    parts, schema = found.parts, found.parts.schema
    if schema is None:
        unchecked = "the table was not checked; mend the domain of the sensitive column first"
        return (*problems, Problem(line=None, message=unchecked))
    try:
        table, misfits = open_table(
            source, schema, parts.identifiers, parts.person, csv=csv, show=show_values, progress=progress
        )
    except DiscreetError as error:
        return (*problems, Problem(line=None, message=str(error)))
    for misfit in misfits:
        at = ("domains", misfit.column) if misfit.column in schema.columns else ("table",)
        problems.append(Problem(line=line_of(at, found.lines), message=misfit.message))
    if table is not None and found.policy is not None:
        mechanism = publishing(found.policy.mechanism)
        try:
            mechanism.fits(table)
            mechanism.plan(table)
        except TableError as error:
            problems.append(Problem(line=line_of(("table", "public_rows"), found.lines), message=str(error)))
        except DiscreetError as error:
            told = error.key if isinstance(error, PolicyError | Infeasible) else ()
            key = from_the_top(told or (mechanism.blamed,))
            problems.append(Problem(line=line_of(key, found.lines), message=str(error)))
        finally:
            table.close()
    elif table is not None:
        table.close()
    return tuple(problems)
