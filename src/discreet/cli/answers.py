"""Answers for people, as CSV and as JSON: one estimate, a table of groups, or one of either for each question."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from discreet.cli.show import design_of, estimate_row, say, show_counts
from discreet.estimate.estimate import ESTIMATE_FIELDS, MODEL, NOTHING, Counts, Estimate, Group
from discreet.ground.shown import name_of, name_some

_PAIRS = {"bounds": ("bounds_low", "bounds_high")}
_NESTED = "design"


class Answer(NamedTuple):
    """What was asked, and what the release said."""

    question: str
    found: Estimate | Counts

    @property
    def rows(self) -> tuple[tuple[Group, Estimate], ...]:
        """Groups with their estimates; one group without values where there is no GROUP BY."""
        return self.found.rows if isinstance(self.found, Counts) else (((), self.found),)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.found.columns if isinstance(self.found, Counts) else ()


def as_json(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """One entry a question: the estimate's own fields, or `groups` with a list of them."""
    return [
        {"question": each.question, "groups": each.found.as_json()}
        if isinstance(each.found, Counts)
        else {"question": each.question, **each.found.as_json()}
        for each in answers
    ]


def as_csv(answers: Sequence[Answer], *, asked: bool) -> str:
    """One line an estimate, after a header: the question where it is `asked` for, the groups' values, every field."""
    columns = tuple(dict.fromkeys(name for each in answers for name in each.columns))
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow([*(["question"] if asked else []), *columns, *_header()])
    for each in answers:
        for group, estimate in each.rows:
            own: Mapping[str, Any] = dict(zip(each.columns, group, strict=True))
            question = [each.question] if asked else []
            lines.writerow([*question, *(own.get(name) for name in columns), *_cells(estimate)])
    return written.getvalue().removesuffix("\n")


def _header(before: str = "") -> Iterator[str]:
    for each in ESTIMATE_FIELDS:
        if each != _NESTED:
            yield from (f"{before}{name}" for name in _PAIRS.get(each, (each,)))
        elif not before:
            yield from _header(f"{_NESTED}_")


def _cells(estimate: Estimate | None, *, nested: bool = False) -> Iterator[Any]:
    """Every field as a plain number or text, in the order of the header; nothing where there is no such estimate."""
    for each in ESTIMATE_FIELDS:
        value = getattr(estimate, each, None)
        if each == _NESTED:
            yield from () if nested else _cells(value, nested=True)
        elif each in _PAIRS:
            yield from value or (None, None)
        else:
            yield value


def show_answer(answer: Answer, words: str) -> None:
    """One answer for people; `words` say what must be known of its unit."""
    if isinstance(answer.found, Counts):
        show_counts(answer.found)
        _show_notes(answer.found)
        unit = answer.rows[0][1].unit if answer.rows else ""
    else:
        _show_one(answer.found)
        unit = answer.found.unit
    if words and unit:
        say(f"  {unit}: {words}")


def _show_one(answer: Estimate) -> None:
    if answer.exact:
        say(f"{answer.shown_exact}, exactly: the published tables leave no doubt")
        return
    value, interval, bounds = estimate_row(answer)
    say(f"{value}", style="bold")
    over = "the bounds" if answer.conditional_on == NOTHING else f"over {answer.conditional_on}"
    asked = f"{answer.shown_confidence} interval"
    say(f"  {asked:<14} {interval}{answer.shown_unit}  ({over})")
    say(f"  certainly      {bounds}{answer.shown_unit}")
    if answer.conditional_on == MODEL and answer.design is not None:
        say(f"  {'without model':<14} {design_of(answer)}{answer.shown_unit}  (over {answer.design.conditional_on})")
    if answer.note:
        say(f"  note: {answer.note}")


def _show_notes(counts: Counts) -> None:
    """Every note once, with the groups that have it."""
    noted: dict[str, list[str]] = {}
    for group, estimate in counts:
        if estimate.note:
            noted.setdefault(estimate.note, []).append(" and ".join(map(name_of, group)))
    for note, groups in noted.items():
        say(f"  note{'' if len(groups) == len(counts) else f' for {name_some(groups)}'}: {note}")
