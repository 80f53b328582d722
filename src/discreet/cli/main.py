"""The command line: `discreet VERB`. Thin: every verb calls the package and shows what it gives.

A verb is loaded when it is asked: the list of verbs needs none of them.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from discreet.schema.register import at

VERBS = {  # where each stands, and its docstring
    "discreet.cli.demo:demo": "Publish, verify and ask a synthetic hospital table, with the true counts beside.",
    "discreet.cli.init:init": "Draft a policy from a table: roles, domains, a mechanism. A person must read it "
    "before anything is published.",
    "discreet.cli.check:check": "Check a policy, and a table against it; everything that is wrong is said at once, "
    "and what to think about.",
    "discreet.cli.plan:plan": "Plan a release: what would be published, what it costs, and how far off a count would "
    "be. Nothing is written.",
    "discreet.cli.compare:compare": "Rehearse policies on the table: how far off answers would be, beside what each "
    "promises.",
    "discreet.cli.publish:publish": "Publish a table as a release folder that may leave the house.",
    "discreet.cli.verify:verify": "Verify a release from its files alone; exit 1 where the promise does not hold.",
    "discreet.cli.query:query": "Ask a release how many meet a condition; every answer has an interval and says what "
    "it counts.",
    "discreet.cli.cache:cache": "Say where it is kept what was learned of releases, so that later questions are quick; "
    "or clear it.",
    "discreet.cli.audit:audit": "Attack a release and say how often attackers are right; exit 1 where the promise is "
    "beaten. Keep it in house.",
    "discreet.cli.diff:diff": "Compare two releases or two policies, in words; what a release says of itself is not "
    "verified.",
    "discreet.cli.reproduce:reproduce": "Reproduce the papers' experiments: a page, a CSV and figures for each.",
}
_PLACES = {place.rpartition(":")[2]: place for place in VERBS}


class Verbs(TyperGroup):
    """Verbs by name and docstring; the one that is asked is loaded and takes the place of its name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, (loaded(name) if name in _PLACES else listed), rest


def loaded(name: str) -> Any:
    """The verb itself, with its arguments and its example."""
    verb = typer.Typer(add_completion=False)
    example = at(f"{_PLACES[name].partition(':')[0]}:EXAMPLE")
    verb.command(name, epilog=example)(at(_PLACES[name]))
    return typer.main.get_command(verb)


app = typer.Typer(
    name="discreet",
    cls=Verbs,
    help="Publish a table about people with a promise that anyone can check, and count with honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they would show rows
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root() -> None:
    """Keeps the verbs verbs, even when there is one."""


for _name, _place in _PLACES.items():
    app.command(_name, help=VERBS[_place])(_root)


def _stop(number: int, frame: FrameType | None) -> None:
    """Asked to end, clean up as for Ctrl-C."""
    raise KeyboardInterrupt


def main() -> None:
    """Run, with one sentence and exit 2 for whatever is wrong with the input."""
    signal.signal(signal.SIGTERM, _stop)
    app()


if __name__ == "__main__":
    main()
