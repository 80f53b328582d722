"""Showing things in a terminal: JSON for programs, tables and bars for people, one sentence for errors."""

from __future__ import annotations

import functools
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import typer
from rich.cells import cell_len
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
TRACEBACK = "DISCREET_TRACEBACK"
CLOSED_PIPE = 141  # as where SIGPIPE ends a program: 1 would say that a promise does not hold


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `guarded`, as for everything else that is printed."""
        raise BrokenPipeError


console = _Console(highlight=False, soft_wrap=True, emoji=False)
_aside = Console(stderr=True, highlight=False)

_F = TypeVar("_F", bound=Callable[..., None])


def fail(message: str, *, as_json: bool) -> None:
    """Say what is wrong: on standard error, or as JSON where JSON was asked for."""
    if as_json:
        show_json({"error": message}, indent=None)
    else:
        _print(f"discreet: {_plain_lines(message)}", sys.stderr)


def guarded(verb: _F) -> _F:
    """Turn what discreet raises on purpose, and what a disk refuses, into one sentence and exit 2.

    Ctrl-C is exit 130, and a reader who closed the pipe 141. A fault of the program's own is a sentence too, for what
    it says of itself may quote a cell.
    """

    @functools.wraps(verb)
    def run(*args: Any, **options: Any) -> None:
        try:
            verb(*args, **options)
            sys.stdout.flush()
        except DiscreetError as error:
            fail(str(error), as_json=bool(options.get("as_json")))
            raise typer.Exit(2) from None
        except BrokenPipeError:  # whoever read has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(CLOSED_PIPE) from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            fail(f"a file{where} could not be read or written: {error.strerror}", as_json=bool(options.get("as_json")))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            fail("stopped; nothing half made was left behind", as_json=bool(options.get("as_json")))
            raise typer.Exit(130) from None
        except (
            typer.Exit,
            typer.Abort,
            typer.BadParameter,
        ):  # how a verb ends with a number, and what typer says itself
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            fail(
                f"this should not happen ({type(error).__name__}): it is a fault of discreet, and nothing was done. "
                f"Please report it; {TRACEBACK}=1 shows where, with what may be cells of your table",
                as_json=bool(options.get("as_json")),
            )
            raise typer.Exit(2) from None

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


def show_text(text: str) -> None:
    """Text for programs on standard output, as it is."""
    _print(text, sys.stdout)


def _print(text: str, to: TextIO) -> None:
    """One text as the stream can carry it; signs that it cannot are spelt out."""
    code = to.encoding or "utf-8"
    print(text.encode(code, "backslashreplace").decode(code), file=to)


def say(text: str = "", style: str = "") -> None:
    """Lines of plain text; what looks like markup in it is not, and what does not print is spelt out."""
    console.print(Text(_plain_lines(text), style=style))


def say_aside(text: str) -> None:
    """The same on standard error: about the work, and no part of the result."""
    _aside.print(Text(_plain_lines(text)), soft_wrap=True)


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
        return estimate.shown_exact, "exact", "exact"
    return estimate.shown_value, estimate.shown_interval, estimate.shown_bounds


def show_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table: whole lines where they are read by a program, cells of several lines in a terminal that is narrow."""
    listed = [[plain(cell) for cell in row] for row in (header, *rows)]
    if console.is_terminal:
        from rich.table import Column, Table

        table = Table(*(Column(header=Text(name), overflow="fold") for name in listed[0]), box=None)
        for row in listed[1:]:
            table.add_row(*map(Text, row))
        console.print(table)
        return
    widths = [max(map(cell_len, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        say(" " + "  ".join(padded).rstrip())


def design_of(estimate: Estimate) -> str:
    """What holds whatever a model is worth: the unbiased value with its interval, as they came out."""
    if estimate.exact:
        return "exact"
    if estimate.design is None or estimate.design.value is None:
        return "unknown"
    return f"{estimate.design.value:,.{estimate.design.digits}f} ({estimate.design.shown_interval})"


def show_counts(counts: Counts) -> None:
    """A table of estimates; where one leans on a model, with what holds without it."""
    from discreet.estimate.estimate import MODEL

    confidence = counts.rows[0][1].shown_confidence if counts.rows else "95%"
    leans = any(estimate.conditional_on == MODEL for _, estimate in counts)
    rows = [
        [*map(name_of, group), *estimate_row(estimate), *([design_of(estimate)] if leans else [])]
        for group, estimate in counts
    ]
    header = [*counts.columns, "estimate", f"{confidence} interval", "certainly"]
    show_table([*header, "without model"] if leans else header, rows)
