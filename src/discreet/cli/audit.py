"""discreet audit: what would an attacker get from a release?"""

from __future__ import annotations

import glob
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from discreet.attack.attacks import every_attack
from discreet.attack.audit import CONFIDENCE
from discreet.attack.audit import audit as audit_release
from discreet.attack.keep import check_place, keep
from discreet.attack.match import read_outside
from discreet.cli.options import AsJson, Delimiter, Encoding, NoHeader, csv_form
from discreet.cli.show import bar, guarded, say, show_json
from discreet.errors import PolicyError
from discreet.mechanism.load import load_for
from discreet.table.read import read_table
from discreet.table.table import Table

EXAMPLE = "Example: discreet audit release --against hospital.csv --policy hospital.toml"


@guarded
def audit(
    release: Annotated[Path | None, typer.Argument(help="The release folder.", show_default=False)] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="The table that the release was made of.", show_default="attacks by strangers"),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", help="The policy of the release, to read the tables by.", show_default=False),
    ] = None,
    attack: Annotated[
        list[str] | None, typer.Option("--attack", help="An attack by its name; may be said again.", show_default="all")
    ] = None,
    other: Annotated[
        list[Path] | None, typer.Option("--other", help="A further release about some of these people.")
    ] = None,
    outside: Annotated[
        str | None, typer.Option("--outside", help="A table that an outsider may have.", show_default=False)
    ] = None,
    kept_out: Annotated[
        str | None,
        typer.Option("--kept-out", help="People like these who are not in the release.", show_default=False),
    ] = None,
    series: Annotated[
        Path | None, typer.Option("--series", help="The series that made the release.", show_default="the user's own")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of every interval.")] = CONFIDENCE,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Attack a release that does not verify, too.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Keep it: .json, .svg (a figure), else text. Never in a release.", show_default=False
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the attacks, and stop.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Attack a release and say how often attackers are right; exit 1 where the promise is beaten. Keep it in house."""
    if listed:
        return _list(as_json=as_json)
    if release is None:
        raise PolicyError("audit must be told a release folder; discreet audit --list lists the attacks")
    if output is not None:
        _check_free(output, against, outside, kept_out, policy, series)
    form = csv_form(delimiter, encoding, no_header)
    with ExitStack() as open_files, bar() as progress:

        def read(source: str | None) -> Table | str | None:
            """By the policy where there is one; else it is read with the release's own domains."""
            if source is None or policy is None:
                return source
            return open_files.enter_context(read_table(source, load_for(policy, source, csv=form), csv=form))

        def read_by_part(source: str | None) -> Table | str | None:
            """The same of a table that need not have all columns."""
            if source is None or policy is None:
                return source
            return open_files.enter_context(read_outside(source, load_for(policy, source, csv=form), csv=form))

        report = audit_release(
            release,
            read(against),
            attacks=attack,
            others=other or (),
            outside=read_by_part(outside),
            kept_out=read(kept_out),
            series=series,
            csv=form,
            confidence=confidence,
            unverified=unverified,
            progress=progress,
        )
    if output is not None:
        keep(report, output)
    if as_json:
        show_json(report.as_json())
    else:
        for line in report.lines:
            say(line)
    if not report.holds:
        raise typer.Exit(1)
    return None


def _check_free(output: Path, *read: str | Path | None) -> None:
    """Before anything is attacked: the audit has a place, and takes nobody's that is read for it."""
    check_place(output)
    given = [str(each) for each in read if each is not None]
    paths = [Path(path) for each in given for path in (glob.glob(each) or [each])]
    if any(path.exists() and output.exists() and output.samefile(path) for path in paths):
        raise PolicyError(f"audit ({output}) must not be a file that is read for it; name another one")


def _list(*, as_json: bool) -> None:
    """Every attack, for people or for programs."""
    found = [
        {"name": name, "group": each.group.value, "what": each.line, "needs": each.needs, "families": list(owners)}
        for name, each, owners in every_attack()
    ]
    if as_json:
        return show_json(found)
    for one in found:
        whose = f"{', '.join(one['families'])} releases" if one["families"] else "any release"
        say(f"{one['name']} ({one['group']}; {whose}{'; needs ' if one['needs'] else ''}{one['needs']})")
        say(f"    {one['what']}")
    return None
