"""discreet check: is the policy right, and does the table fit it?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import discreet
from discreet.cli.options import AsJson, PolicyFile
from discreet.cli.show import guarded, say, show_json

EXAMPLE = "Example: discreet check hospital.csv --policy hospital.toml"


@guarded
def check(
    policy: PolicyFile,
    data: Annotated[Path | None, typer.Argument(help="The table, to be checked too.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Check a policy, and a table against it; everything that is wrong is said at once."""
    problems = [{"line": problem.line, "message": problem.message} for problem in discreet.Policy.check(policy)]
    if not problems and data is not None:
        try:
            discreet.read_table(data, discreet.Policy.load(policy)).close()
        except discreet.TableError as error:
            problems.append({"line": None, "message": str(error)})
    if as_json:
        show_json({"ok": not problems, "problems": problems})
    for problem in problems if not as_json else []:
        where = f"{policy.name}, line {problem['line']}: " if problem["line"] else ""
        say(f"{where}{problem['message']}")
    if problems:
        raise typer.Exit(2)
    if not as_json:
        say("the policy is right" + (" and the table fits it" if data else ""))
