"""Version 4 of what a bucket release promises in words, for near buckets alone: what windows are, what they cost, and
what it tells that some were tried in vain. Releases say it, so it stays.
"""

from __future__ import annotations

from typing import Any

from discreet.release.buckets.facts_3 import facts_3
from discreet.release.buckets.manifest import BucketStatement

_COST = (
    "What that costs and gains, as measured on five tables: buckets that lose 1.1 to 1.5 times as much as random ones, "
    "answers that are nearer to the truth on most, and fewer right guesses of one who learns from all buckets: .78 "
    "instead of .84 on Adult, .43 instead of .60 on a census. The promise is that of random buckets."
)
_APART = (
    "Estimates treat every window apart: the unbiased one adds up one of each, and what is learned is learned from all "
    "of them, each bucket within its window."
)
_RAISED = (
    "Windows that were refused: a window is refused where it holds values that no buckets of it can hide. Whoever "
    "knows that another window, or other tolerances, were tried before knows that some window then held too much of "
    "something, and with few rows that can tell a person's value."
)


def facts_4(statement: BucketStatement) -> dict[str, Any]:
    """The promise for people and for programs, and how rows were put into windows."""
    before = facts_3(statement)
    return {
        **before,
        "assignment": f"{_windows(statement)} {_COST} {_APART}",
        "not_covered": [*before["not_covered"], f"{_RAISED} {_refused(statement)}"],
    }


def _windows(statement: BucketStatement) -> str:
    near, windows = statement.mechanism.near, statement.numbers.windows or ()
    number = len(windows)
    rows = near.window if near else 0
    why = (
        "was declared in the policy"
        if near and near.declared
        else "follows from the number of rows, the counts of the sensitive values and their tolerances, by a public "
        "rule"
    )
    if number == 1:
        cut = f"They are one window, for the window of {rows:,} rows, which {why}, goes into them once"
    else:
        cut = f"They were cut into {number:,} windows of {rows:,} rows, a number that {why}; the last one has the rest"
    return (
        "The buckets are near: rows were ordered along a curve on which neighbours are alike in the quasi-identifiers, "
        f"coins deciding among equal rows. {cut}. Every bucket has rows of one window, and which of them is as random "
        "as ever."
    )


def _refused(statement: BucketStatement) -> str:
    refused = statement.numbers.refused_windows or ()
    if not refused:
        return "Of these people, the series of this release remembers no window that was refused."
    listed = ", ".join(f"{each:,}" for each in refused)
    return f"Of these people, the series of this release remembers that windows of {listed} rows were refused before."
