"""Where the series is: one private file of the user, so that it follows the people and not a file's name."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path, user_state_path

from discreet.errors import SeriesRefusal
from discreet.ground.disk import make_private

NAMED = "DISCREET_SERIES"  # the environment variable that names another file
FILE = "people.series"


def usual_series(policy: Path | None) -> Path:
    """The user's own series, in a folder that nobody else may read; `policy` is the policy's file.

    Raises SeriesRefusal where a series lies beside the policy, as an earlier version put it: what it remembers must not
    be passed over.
    """
    if named := os.environ.get(NAMED):
        return Path(named)
    beside = policy.with_suffix(".series") if policy is not None else None
    if beside is not None and beside.exists():
        raise SeriesRefusal(
            f"series ({beside}) lies beside the policy, where an earlier version kept it, and may remember these "
            f"people; say --series {beside} (series={str(beside)!r}) to go on with it, or put it away"
        )
    folder = user_data_path("discreet")
    try:
        make_private(folder)
    except OSError as error:
        raise SeriesRefusal(
            f"the folder of the series ({folder}) must be one that can be made ({error.strerror}); name a file for the "
            "series, with --series or series="
        ) from None
    return folder / FILE


def usual_witness() -> Path:
    """Where it is noted which releases series made: apart from them, so that one put back from a backup is noticed."""
    return user_state_path("discreet") / "made.jsonl"
