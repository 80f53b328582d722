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
from discreet.mechanism.draft.family import DEFAULT

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
    kind: Annotated[str, typer.Option("--kind", help="What to draft: buckets, alphabeta, diffgen or pairs.")] = DEFAULT,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a file of that name.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Draft a policy from a table: roles, domains, a mechanism. A person must read it before anything is published."""
    check_free(to, replace=replace)
    if to.exists() and any(to.samefile(path) for path in glob.glob(data) or [data] if Path(path).exists()):
        raise PolicyError(f"policy ({to}) must not be the table itself; name another file")
    with bar() as progress:
        draft = draft_policy(
            data, sensitive, kind=kind, csv=csv_form(delimiter, encoding, no_header), progress=progress
        )
    draft.save(to, replace=replace)
    if as_json:
        show_json(_as_json(draft, to))
    else:
        _show(draft, data, to)
    typer.echo(
        f"Read {to} before you use it: its domains are read off the table, and that leaks which values occur. Look for "
        "DECIDE, and take out the line draft = true when you have decided: until then nothing can be published.",
        err=True,
    )


def _as_json(draft: Draft, to: Path) -> dict[str, object]:
    """Names of columns and reasons; the values are in the file only."""
    return {
        "policy": str(to),
        "rows": draft.rows,
        "identifiers": dict(draft.identifiers),
        "person": draft.person,
        "people": draft.persons.people,
        "people_with_several_rows": draft.persons.several,
        "quasi_identifiers": list(draft.quasi_identifiers),
        "sensitive": draft.sensitive,
        "candidates": list(draft.candidates),
        "left_out": dict(draft.left_out),
        "unique": draft.unique,
        "spellings": dict(draft.spellings),
        "mechanism": draft.mechanism.as_json(),
    }


def _show(draft: Draft, data: str, to: Path) -> None:
    say(f"drafted {to} from {draft.rows:,} rows")
    say(f"  sensitive          {draft.sensitive}")
    if draft.candidates:
        say(f"    or                {name_some(draft.candidates, most=_NAMED)}")
    say(f"  quasi-identifiers  {name_some(draft.quasi_identifiers, most=_NAMED)}")
    say(f"  identifiers        {name_some(draft.identifiers, most=_NAMED) or 'none found'}")
    say(f"  person             {draft.person or 'none found: every promise is for one row, not for one person'}")
    if draft.persons.several:
        people = f"{draft.persons.several:,} of {draft.persons.people:,} people have several rows"
        say(f"    warning           {people}: keep one row of each, for every promise is for one row")
    say(f"  unique             {draft.unique:,} rows are like no other in the quasi-identifiers")
    for name, number in draft.spellings.items():
        say(f"  spellings          {name}: {number:,} look like another value and are read as it; decide (same)")
    for name, reason in list(draft.left_out.items())[:_LEFT_OUT]:
        say(f"  left out           {name}: {reason}")
    if more := and_more(len(draft.left_out), _LEFT_OUT):
        say(f"  left out           {more}")
    say(f"Next: read {to}, then discreet check {data} --policy {to}")
