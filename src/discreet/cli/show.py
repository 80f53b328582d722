"""Showing things in a terminal: JSON for programs, tables and bars for people, one sentence for errors."""

from __future__ import annotations

import functools
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from discreet.errors import DiscreetError
from discreet.ground.shown import name_of, plain

if TYPE_CHECKING:
    from discreet.estimate.estimate import Counts, Estimate
    from discreet.ground.progress import Progress

for _stream in (sys.stdout, sys.stderr):  # a terminal without Unicode gets the answer too, with signs spelt out
    if isinstance(_stream, io.TextIOWrapper):
        _stream.reconfigure(errors="backslashreplace")
console = Console(highlight=False, soft_wrap=True, emoji=False)
_aside = Console(stderr=True, highlight=False)

_F = TypeVar("_F", bound=Callable[..., None])


def fail(message: str, *, as_json: bool) -> None:
    """Say what is wrong: on standard error, or as JSON where JSON was asked for."""
    if as_json:
        show_json({"error": message}, indent=None)
    else:
        _print(f"discreet: {_plain_lines(message)}", sys.stderr)


def guarded(verb: _F) -> _F:
    """Turn what discreet raises on purpose, and what a disk refuses, into one sentence and exit 2; Ctrl-C into 130."""

    @functools.wraps(verb)
    def run(*args: Any, **options: Any) -> None:
        try:
            verb(*args, **options)
        except DiscreetError as error:
            fail(str(error), as_json=bool(options.get("as_json")))
            raise typer.Exit(2) from None
        except BrokenPipeError:
            raise  # whoever read has seen enough
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            fail(f"a file{where} could not be read or written: {error.strerror}", as_json=bool(options.get("as_json")))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            fail("stopped; nothing half made was left behind", as_json=bool(options.get("as_json")))
            raise typer.Exit(130) from None

    return run  # type: ignore[return-value] # the same signature, as functools.wraps says


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar on standard error for the work inside: the step that runs, the share that is done, the time that is left.

    It is gone when the work is over, and never there where standard error is not a terminal.
    """
    if not _aside.is_terminal:
        yield lambda step, done: None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bars(*columns, console=_aside, transient=True) as bars:
        task = bars.add_task("", total=1.0)
        yield lambda step, done: bars.update(task, description=step, completed=done)


def show_json(content: Any, indent: int | None = 1) -> None:
    """JSON on standard output; half of a surrogate pair, which only a stranger would write, is spelt out."""
    _print(json.dumps(content, ensure_ascii=False, indent=indent), sys.stdout)


def _print(text: str, to: TextIO) -> None:
    """One text as the stream can carry it; signs that it cannot are spelt out."""
    code = to.encoding or "utf-8"
    print(text.encode(code, "backslashreplace").decode(code), file=to)


def say(text: str = "", style: str = "") -> None:
    """Lines of plain text; what looks like markup in it is not, and what does not print is spelt out."""
    console.print(Text(_plain_lines(text), style=style))


def _plain_lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.split("\n"))


def show_bars(counts: Mapping[object, int], width: int = 40) -> None:
    """A histogram as bars."""
    total, most = sum(counts.values()), max(counts.values())
    name = max(len(name_of(value)) for value in counts)
    for value, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        bar = "█" * max(1, round(width * count / most)) if count else ""
        say(f"  {name_of(value):<{name}} {count:>7,} {count / total:>7.2%} {bar}")


def estimate_row(estimate: Estimate) -> tuple[str, str, str]:
    """Value, interval and bounds as a person reads them; the unit stands beside the value."""
    if estimate.exact:
        return f"{estimate.bounds[0]:,} {estimate.unit}", "exact", "exact"
    value = "unknown" if estimate.value is None else f"{estimate.value:,.0f} {estimate.unit}"
    return value, estimate.shown_interval, estimate.shown_bounds


def show_counts(counts: Counts, others: Counts | None, label: str) -> None:
    """A table of estimates, with another estimator's beside, where there is one."""
    from rich.markup import escape
    from rich.table import Table

    confidence = counts.rows[0][1].shown_confidence if counts.rows else "95%"
    beside = (label,) if others else ()
    table = Table(*counts.columns, "estimate", f"{confidence} interval", "certainly", *beside, box=None)
    for number, (group, estimate) in enumerate(counts):
        named = (escape(name_of(value)) for value in group)
        table.add_row(*named, *estimate_row(estimate), *([estimate_row(others.rows[number][1])[0]] if others else []))
    console.print(table)
