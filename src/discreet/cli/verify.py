"""discreet verify: does a release keep its promise?"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import AsJson, Folder
from discreet.cli.show import bar, guarded, say, show_json
from discreet.verifier.verify import verify as verify_release

EXAMPLE = "Example: discreet verify release"


@guarded
def verify(
    release: Folder,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", help="The public key that must have signed it: a file, or its line.", show_default="signed or not"
        ),
    ] = None,
    allow_seeded: Annotated[
        bool, typer.Option("--allow-seeded", help="Accept a test release made from a seed.")
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="What it may take, such as 2GB.", show_default="what releases of its size need"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify a release from its files alone; exit 1 where the promise does not hold."""
    with bar() as progress:
        verdict = verify_release(release, key=key, allow_seeded=allow_seeded, memory=memory, progress=progress)
    if as_json:
        show_json(verdict.as_json())
    else:
        say(str(verdict))
    if not verdict.holds:
        raise typer.Exit(1)
