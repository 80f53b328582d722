"""discreet plan: what would be published, and what other choices would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.options import AsJson, Data, Delimiter, Encoding, NoHeader, PolicyFile, csv_form
from discreet.cli.show import bar, guarded, say, show_json
from discreet.errors import PolicyError
from discreet.evaluate.compare.glance import glance, told
from discreet.evaluate.figure import Curve, Figure, save_figure
from discreet.mechanism.load import load_for
from discreet.mechanism.mechanism import check_compared, check_explains, publishing, varied
from discreet.mechanism.plan import Alternatives
from discreet.mechanism.warn import DRAFT
from discreet.schema.lookalikes import lookalike_warnings
from discreet.table.read import read_table

EXAMPLE = "Example: discreet plan hospital.csv --policy hospital.toml --sizes all"


@guarded
def plan(
    data: Data,
    policy: PolicyFile,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", help="Plan with other sizes than the policy's: optimal, multi, two, one; or all."),
    ] = None,
    over: Annotated[
        str | None, typer.Option("--sweep", help="Show how the cost moves with theta or with max_size.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Draw the sweep into this file (.png or .svg).", show_default=False),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what a higher tolerance would save, value by value.")
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Plan a release: what would be published, what it costs, and how far off a count would be. Nothing is written."""
    form = csv_form(delimiter, encoding, no_header)
    loaded = load_for(policy, data, csv=form)
    if figure is not None and over is None:
        raise PolicyError("--figure draws a sweep; say --sweep theta or --sweep max_size as well")
    mechanism = publishing(loaded.mechanism)
    for name, asked in (("sizes", sizes), (over or "", over)):
        if asked is not None:
            check_compared(mechanism, name)
    if explain:
        check_explains(mechanism, alone=over is None and sizes != "all")
    if sizes is not None and sizes != "all":
        mechanism = varied(mechanism, sizes=sizes)
    with bar() as progress:
        table = read_table(data, loaded, csv=form, progress=progress)
    with closing(table), bar() as progress:
        if over is not None or sizes == "all":
            found = mechanism.alternatives(table, over or "sizes")
            if figure is not None:
                _draw(found, figure)
            return _show(found.as_json, found.lines, as_json=as_json)
        mechanism.fits(table)
        planned = mechanism.plan(table, progress)
        seen = glance(table, mechanism)
        warnings = (*((DRAFT,) if loaded.draft else ()), *lookalike_warnings(table.schema), *planned.warnings)
        notes = dict.fromkeys((*warnings, *mechanism.notes(table.schema)))
        _show(
            lambda: {
                **planned.as_json(explain=explain),
                **({"draft": True} if loaded.draft else {}),
                "accuracy": None if seen is None else seen.as_json(),
            },
            lambda: chain(planned.lines(explain=explain), (f"note: {each}" for each in notes), told(seen)),
            as_json=as_json,
        )
    return None


def _show(content: Callable[[], Any], lines: Callable[[], Iterable[str]], *, as_json: bool) -> None:
    """JSON, or lines for people."""
    if as_json:
        return show_json(content())
    for line in lines():
        say(line)
    return None


def _draw(found: Alternatives, to: Path) -> None:
    over, cost, points = found.curve
    curve = Curve(label=cost, points=points)
    save_figure(Figure(title=f"cost against {over}", x=over, y=cost, curves=(curve,)), to)
