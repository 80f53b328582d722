"""discreet check: is the policy right, and does the table fit it?"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import AsJson, Delimiter, Encoding, NoHeader, PolicyFile, csv_form
from discreet.cli.show import bar, guarded, say, show_json
from discreet.mechanism.check import review
from discreet.schema.policy import told_of

EXAMPLE = "Example: discreet check hospital.csv --policy hospital.toml"


@guarded
def check(
    policy: PolicyFile,
    data: Annotated[str | None, typer.Argument(help="The table, to be checked too.", show_default=False)] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show the cells that do not fit: for the custodian's eyes only.")
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Check a policy, and a table against it; everything that is wrong is said at once, and what to think about."""
    form = csv_form(delimiter, encoding, no_header)
    with bar() as progress:
        found = review(policy, data, csv=form, show_values=show_values, progress=progress)
    problems = found.problems
    if as_json:
        listed = [{"line": problem.line, "message": problem.message} for problem in problems]
        show_json(
            {"ok": not problems, "problems": listed, "warnings": list(found.warnings), "notes": list(found.notes)}
        )
    else:
        for problem in problems:
            say(told_of(policy, [problem]))
        if not problems:
            say("the policy is right" + (" and the table fits it" if data else ""))
        for warning in found.warnings:
            say(f"warning: {warning}")
        for note in found.notes:
            say(f"note: {note}")
    if problems:
        raise typer.Exit(2)
