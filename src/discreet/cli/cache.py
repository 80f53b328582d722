"""discreet cache: what was learned of releases, and is kept for later questions."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import AsJson
from discreet.cli.show import guarded, say, show_json
from discreet.estimate.remembered import cache_folder, forget, held

EXAMPLE = "Example: discreet cache --clear"


@guarded
def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Let go of it; it is learned again when it is needed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say where it is kept what was learned of releases, so that later questions are quick; or clear it."""
    releases, size = forget() if clear else held()
    if as_json:
        show_json({"folder": str(cache_folder()), "releases": releases, "bytes": size, "cleared": clear})
        return
    done = "let go of" if clear else "remembers"
    say(f"{cache_folder()} {done} what was learned of {releases:,} releases: {size / 1e6:,.1f} MB")
