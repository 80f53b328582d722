"""discreet init: a policy to start from."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import AsJson, Data, Delimiter, Encoding, NoHeader, csv_form
from discreet.cli.show import bar, guarded, say, show_json
from discreet.errors import PolicyError
from discreet.ground.shown import and_more, name_some
from discreet.mechanism.draft.draft import Draft, check_free, draft_policy

EXAMPLE = "Example: discreet init hospital.csv -o hospital.toml"
_NAMED = 12  # names in a line
_LEFT_OUT = 8  # columns that are said to be left out, each with its reason


@guarded
def init(
    data: Data,
    to: Annotated[Path, typer.Option("--output", "-o", help="The policy file to write.", show_default=False)],
    sensitive: Annotated[
        str | None,
        typer.Option("--sensitive", help="The column that nobody should be able to infer.", show_default="guessed"),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a file of that name.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Draft a policy from a table: roles, domains, a tolerance. It runs as it stands, but a person must read it."""
    check_free(to, replace=replace)
    if to.exists() and any(to.samefile(path) for path in glob.glob(data) or [data] if Path(path).exists()):
        raise PolicyError(f"policy ({to}) must not be the table itself; name another file")
    with bar() as progress:
        draft = draft_policy(data, sensitive, csv=csv_form(delimiter, encoding, no_header), progress=progress)
    draft.save(to, replace=replace)
    if as_json:
        show_json(_as_json(draft, to))
    else:
        _show(draft, data, to)
    typer.echo(
        f"Read {to} before you use it: its domains are read off the table, and that leaks which values occur. Look for "
        "DECIDE.",
        err=True,
    )


def _as_json(draft: Draft, to: Path) -> dict[str, object]:
    """Names of columns and reasons; the values are in the file only."""
    return {
        "policy": str(to),
        "rows": draft.rows,
        "identifiers": dict(draft.identifiers),
        "person": draft.person,
        "quasi_identifiers": list(draft.quasi_identifiers),
        "sensitive": draft.sensitive,
        "candidates": list(draft.candidates),
        "left_out": dict(draft.left_out),
        "tolerance": {"theta": str(draft.tolerance.theta), "floor": str(draft.tolerance.floor)},
    }


def _show(draft: Draft, data: str, to: Path) -> None:
    say(f"drafted {to} from {draft.rows:,} rows")
    say(f"  sensitive          {draft.sensitive}")
    if draft.candidates:
        say(f"    or                {name_some(draft.candidates, most=_NAMED)}")
    say(f"  quasi-identifiers  {name_some(draft.quasi_identifiers, most=_NAMED)}")
    say(f"  identifiers        {name_some(draft.identifiers, most=_NAMED) or 'none found'}")
    say(f"  person             {draft.person or 'none found: no identifier is different in every row'}")
    for name, reason in list(draft.left_out.items())[:_LEFT_OUT]:
        say(f"  left out           {name}: {reason}")
    if more := and_more(len(draft.left_out), _LEFT_OUT):
        say(f"  left out           {more}")
    say(f"Next: discreet plan {data} --policy {to}")
