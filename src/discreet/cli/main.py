"""The command line: `discreet VERB`. Thin: every verb calls the package and shows what it gives."""

from __future__ import annotations

import sys

import typer

from discreet.cli import check, demo, diff, init, plan, publish, query, verify
from discreet.cli.show import fail

app = typer.Typer(
    name="discreet",
    help="Publish a table about people with a promise that anyone can check, and count with honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they would show rows
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (demo, init, check, plan, publish, verify, query, diff):
    app.command(epilog=verb.EXAMPLE)(verb.__dict__[verb.__name__.rpartition(".")[2]])


@app.callback()
def _root() -> None:
    """Keeps the verbs verbs, even when there is one."""


def main() -> None:
    """Run, with one sentence and exit 2 for whatever is wrong with the input."""
    try:
        app()
    except KeyboardInterrupt:
        fail("stopped; nothing was left behind", as_json=False)
        sys.exit(130)


if __name__ == "__main__":
    main()
