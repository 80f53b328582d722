"""Questions in a file: one condition or SELECT a line, `#` comments; all are checked before the first is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from discreet.errors import QueryError
from discreet.estimate.release import Release
from discreet.ground.shown import and_more

STANDARD_INPUT = "-"
_MOST_BYTES = 1 << 26
_SAID = 20  # problems that are said, each with its line


class Question(NamedTuple):
    """A question and the line that it stands on."""

    line: int
    text: str


def read_questions(file: str) -> list[Question]:
    """The questions of a UTF-8 file, or of standard input for `-`; raises QueryError where there are none."""
    name = "standard input" if file == STANDARD_INPUT else file
    try:
        raw = _bytes(file)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise QueryError(
            f"questions ({name}) must be UTF-8 text; line {line} is not, so save the file as UTF-8"
        ) from None
    except OSError as error:
        raise QueryError(f"questions ({name}) must be a file that can be read: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise QueryError(f"questions ({name}) must have at most {_MOST_BYTES:,} bytes; split the file")
    lines = enumerate(text.replace("\r\n", "\n").split("\n"), start=1)
    found = [Question(number, line.strip()) for number, line in lines if line.strip() and line.strip()[0] != "#"]
    if not found:
        raise QueryError(
            f"questions ({name}) must have a question; write one condition or SELECT COUNT(*) a line; TRUE is everybody"
        )
    return found


def check_questions(release: Release, questions: list[Question], file: str, aux: Mapping[str, Any]) -> None:
    """Raise QueryError with every question that the release would not answer, and its line."""
    check_each(lambda text: release.check(text, aux=aux), questions, file)


def check_each(check: Callable[[str], object], questions: list[Question], file: str) -> None:
    """Raise QueryError with every question for which `check` raises one, and its line."""
    wrong = []
    for line, text in questions:
        try:
            check(text)
        except QueryError as error:
            wrong.append(f"{'standard input' if file == STANDARD_INPUT else Path(file).name}, line {line}: {error}")
    if wrong:
        more = and_more(len(wrong), _SAID)
        raise QueryError("\n".join([*wrong[:_SAID], *([more] if more else [])]))


def _bytes(file: str) -> bytes:
    """All of it, but no more than is taken."""
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    with Path(file).open("rb") as opened:
        return opened.read(_MOST_BYTES + 1)
