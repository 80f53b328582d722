"""Version 4 of what a bucket release promises in words, for near buckets alone: what windows are, what they cost, and
what it tells that some were tried in vain. Releases say it, so it stays.
"""

from __future__ import annotations

from typing import Any

from discreet.release.buckets.facts_3 import facts_3
from discreet.release.buckets.manifest import BucketStatement

_COST = (
    "Near buckets were measured against random ones on several tables. They lose up to 1.7 times as much. Answers were "
    "about as close to the truth, and one who learns from all buckets guessed fewer values right: 77 % instead of 84 % "
    "on Adult, 43 % instead of 62 % on a census. The promise is the same."
)
_APART = (
    "Estimates treat every window apart: an unbiased one is the sum of one for each window, and what is learned is "
    "learned from all windows together, with every bucket in its own."
)
_RAISED = (
    "What it tells that a window was refused: some window of so many rows held too much of something to be bucketed. "
    "Whoever knows that another window, or other tolerances, were tried first can infer more than the tolerances "
    "allow, with few rows even with certainty."
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
    rows, declared = (near.window, near.declared) if near else (0, False)
    why = (
        "which the policy gave" if declared else "which follow from the counts of the sensitive values by a public rule"
    )
    if len(windows) == 1:
        cut = f"There is one window: {rows:,} rows, {why}, go into the table only once, so any rows may share a bucket"
    else:
        cut = f"The curve was cut into {len(windows):,} windows of {rows:,} rows, {why}; the last has the rest too"
    return (
        "The buckets are near: rows were ordered along a curve on which neighbours are alike in the columns of "
        f"data/qit.parquet, equal rows by coins. {cut}. Every bucket has rows of one window, and within a window its "
        "rows were drawn as at random as ever."
    )


def _refused(statement: BucketStatement) -> str:
    refused = statement.numbers.refused_windows or ()
    if not refused:
        return "The series of this release remembers no window of these people that was refused."
    listed = ", ".join(f"{each:,}" for each in refused)
    return f"The series of this release remembers that, of these people, windows of {listed} rows were refused before."
