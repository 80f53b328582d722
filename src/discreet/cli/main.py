"""The command line: `discreet VERB`. Thin: every verb calls the package and shows what it gives."""

from __future__ import annotations

import signal
from types import FrameType

import typer

from discreet.cli import check, demo, diff, init, plan, publish, query, reproduce, verify

app = typer.Typer(
    name="discreet",
    help="Publish a table about people with a promise that anyone can check, and count with honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they would show rows
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (demo, init, check, plan, publish, verify, query, diff, reproduce):
    app.command(epilog=verb.EXAMPLE)(verb.__dict__[verb.__name__.rpartition(".")[2]])


@app.callback()
def _root() -> None:
    """Keeps the verbs verbs, even when there is one."""


def _stop(number: int, frame: FrameType | None) -> None:
    """Asked to end, clean up as for Ctrl-C."""
    raise KeyboardInterrupt


def main() -> None:
    """Run, with one sentence and exit 2 for whatever is wrong with the input."""
    signal.signal(signal.SIGTERM, _stop)
    app()


if __name__ == "__main__":
    main()
