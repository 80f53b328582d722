"""A short search of every door finds nothing, and a search finds what was planted."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from cases import ATHERIS

from fuzz import planted
from fuzz.run import DOORS, Limits, search

pytestmark = pytest.mark.skipif(find_spec("atheris") is None, reason=ATHERIS)
INPUTS = 400  # of each door


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_a_short_search_of_a_door_finds_nothing(door: str, tmp_path: Path) -> None:
    """The same start each time, and so many inputs whatever the machine."""
    outcome = search(door, DOORS[door], tmp_path, Limits(seconds=900, inputs=INPUTS))
    assert not outcome.finds, "\n".join((find / "why.txt").read_text(encoding="utf-8") for find in outcome.finds)
    assert outcome.inputs >= INPUTS
    assert outcome.edges > 500, "nothing guides the search"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (planted.Raising, "traceback"),
        (planted.Crashing, "crash"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (planted.Showing, "shown"),
                (planted.Silent, "silent"),
                (planted.Wasting, "memory"),
                (planted.Dawdling, "slow"),
                (planted.Hanging, "timeout"),
            )
        ),
    ],
)
def test_what_is_planted_is_found_and_its_input_kept(fault: type[planted.Planted], kind: str, tmp_path: Path) -> None:
    """A fault of each kind, behind a word that a search without guidance would meet once in 16 million inputs."""
    limits = Limits(seconds=240, finds=1, hang=5 if fault is planted.Hanging else 120)
    outcome = search("planted", f"fuzz.planted:{fault.__name__}", tmp_path, limits)
    (find,) = outcome.finds
    assert find.name.startswith(kind)
    assert (find / "input").read_bytes()[2:5] == fault.word
