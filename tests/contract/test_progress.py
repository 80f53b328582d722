"""Progress is right about what is left: it starts at 0, ends at 1, never goes back, and keeps pace with the clock."""

from __future__ import annotations

import time

import pytest

import discreet
from discreet.datasets.hospital import write_hospital
from discreet.ground.progress import Steps


class Watch:
    """Remembers when each thing was said."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.said: list[tuple[float, str, float]] = []

    def __call__(self, step: str, done: float) -> None:
        self.said.append((time.monotonic() - self.start, step, done))

    @property
    def shares(self) -> list[float]:
        return [done for _, _, done in self.said]


def check_course(watch: Watch) -> None:
    assert watch.shares[0] == 0
    assert watch.shares[-1] == pytest.approx(1)
    assert watch.shares == sorted(watch.shares)


def work(folder, patients):
    """Everything that shows a bar, each with its own watch."""
    data, policy_file = write_hospital(folder / "h", patients)
    policy = discreet.Policy.load(policy_file)
    watches = {}
    watches["read"] = Watch()
    table = discreet.read_table(data, policy, progress=watches["read"])
    watches["publish"] = Watch()
    discreet.publish(table, policy, to=folder / "release", progress=watches["publish"]).close()
    table.close()
    watches["verify"] = Watch()
    discreet.verify(folder / "release", progress=watches["verify"])
    watches["draft"] = Watch()
    discreet.draft_policy(data, progress=watches["draft"])
    return watches


def test_every_long_piece_of_work_tells_how_far_it_is(tmp_path):
    """Reading, publishing, verifying and drafting go from 0 to 1 and never back."""
    for watch in work(tmp_path, 3_000).values():
        check_course(watch)
        assert len({step for _, step, _ in watch.said}) > 1


@pytest.mark.slow
def test_the_share_that_is_done_keeps_pace_with_the_clock(tmp_path):
    """On a table large enough for a bar to matter, what is said to be done is within a quarter of the time that is."""
    for name, watch in work(tmp_path, 2_000_000).items():
        check_course(watch)
        whole = watch.said[-1][0]
        off = max(abs(when / whole - done) for when, _, done in watch.said)
        assert off < 0.25, (name, off)


def test_steps_never_go_back_whatever_they_are_told():
    """A statement that starts anew inside a step does not turn the bar back, nor past the step's end."""
    said: list[float] = []
    steps = Steps(lambda step, done: said.append(done), {"a": 1, "b": 3})
    with steps.step("a") as tell:
        for done in (0.5, 0.2, 7.0):
            tell(done)
    with steps.step("b") as tell:
        tell(0.5)
    assert said == sorted(said)
    assert said[-1] == 1
    assert 0.625 in said
