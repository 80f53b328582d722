"""discreet reproduce: the papers' experiments, with their claims beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import AsJson
from discreet.cli.show import bar, guarded, say, show_json
from discreet.evaluate.reproduce.items import find_items
from discreet.evaluate.reproduce.write import reproduce as run

EXAMPLE = "Example: discreet reproduce mse --data data -o reproduction"


@guarded
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="What to reproduce, or all; without a name, the list.", show_default=False)
    ] = None,
    to: Annotated[Path, typer.Option("--output", "-o", help="The folder for pages, figures and CSV.")] = Path(
        "reproduction"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="A folder with the census tables and Adult (see datasets).", show_default="synthetic"
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small part of each, in seconds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the papers' experiments: a page, a CSV and figures for each."""
    if name is None:
        items = find_items("all")
        if as_json:
            show_json([{"name": item.name, "paper": item.paper, "line": item.line} for item in items])
            return
        width = max(len(item.name) for item in items)
        for item in items:
            say(f"{item.name:<{width}}  {item.line} ({item.paper})")
        return
    told = []
    for item in find_items(name):
        with bar() as progress:
            found = run(item, to, data=data, quick=quick, progress=progress)
        told.append({**found.as_json(), "page": str(to / f"{item.name}.md")})
        if not as_json:
            say(f"{item.name}: {to / item.name}.md")
            say(f"  the paper: {item.claim}")
            say(f"  ours:      {found.result.ours}")
    if as_json:
        show_json(told)
