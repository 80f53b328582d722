"""Slack and composition along the whole way: policy, release, what is stated and what verify makes of it."""

from __future__ import annotations

import json
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import Anatomy, Buckets, Tolerance
from discreet.release.difference import differences, release_content
from discreet.release.folder import read_manifest
from discreet.release.manifest import dump

ILLS = ["Flu"] * 90 + ["Cold"] * 70 + ["Asthma"] * 50 + ["HIV"] * 10
SCHEMA = discreet.Schema(
    quasi_identifiers=("age",),
    sensitive="ill",
    domains={"age": discreet.Integers(low=0, high=99), "ill": discreet.Listed(values=("Flu", "Cold", "Asthma", "HIV"))},
)
RULE = Tolerance(theta="1.5", floor="0.1")


def publish(to: Path, mechanism: Any = None) -> Path:
    policy = discreet.Policy(schema=SCHEMA, mechanism=mechanism or Buckets(tolerance=RULE))
    frame = pd.DataFrame({"age": [i % 100 for i in range(len(ILLS))], "ill": ILLS})
    with closing(discreet.read_table(frame, policy)) as table:
        discreet.publish(table, policy, to=to, seed=1).close()
    return to


def block_of(release: Path) -> dict[str, Any]:
    return dict(json.loads((release / "datapackage.json").read_text(encoding="utf-8"))["discreet"])


def broken(release: Path, **changes: Any) -> set[str]:
    """The checks that fail when the block says something else; a key of the mechanism is given as mechanism."""
    path = release / "datapackage.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["discreet"]["mechanism"].update(changes.pop("mechanism", {}))
    content["discreet"].update(changes)
    path.write_text(dump(content), encoding="utf-8")
    return {each.name for each in discreet.verify(release, allow_seeded=True).checks if not each.holds}


def test_the_default_has_slack_and_free_buckets_and_says_so(tmp_path):
    """In the policy, the plan, the manifest and the words; and it verifies."""
    assert (Buckets(tolerance=RULE).slack, Buckets(tolerance=RULE).composition) == (Fraction(3, 10), "free")
    release = publish(tmp_path / "release")
    block = block_of(release)
    assert block["mechanism"]["slack"] == block["kept_slack"] == "3/10"
    assert block["mechanism"]["composition"] == "free"
    assert "freely" in block["facts"]["composition"]
    assert "30 %" in block["facts"]["composition"]
    assert discreet.verify(release, allow_seeded=True).holds


def test_the_sizes_of_the_least_loss_do_not_leave_the_slack_that_somebody_states(tmp_path):
    """A release without slack that says it had some is refused, and nothing but that and the words."""
    release = publish(tmp_path / "release", Buckets(tolerance=RULE, slack=0))
    assert block_of(release)["kept_slack"] == "0"
    assert broken(release) == set()
    assert broken(release, mechanism={"slack": "3/10"}, kept_slack="3/10") == {"slack", "words"}


@pytest.mark.parametrize("kept", ["1/5", "3/320", "9/10"])
def test_what_is_kept_must_be_what_was_asked_for_halved_some_times(tmp_path, kept):
    """Any other number was made by no plan."""
    assert "slack" in broken(publish(tmp_path / "release"), kept_slack=kept)


@pytest.mark.parametrize("kept", ["-1/5", "1", "much", 0.3, None])
def test_a_slack_that_is_none_cannot_be_read(tmp_path, kept):
    """Nothing after the manifest is checked then."""
    assert "manifest" in broken(publish(tmp_path / "release"), kept_slack=kept)


def test_random_is_the_old_name_of_even(tmp_path):
    """The policy is the same by either name, and so are the buckets."""
    old, new = (Buckets(tolerance=RULE, composition=name) for name in ("random", "even"))
    assert old == new
    one, two = (publish(tmp_path / name, each) for name, each in (("one", old), ("two", new)))
    assert (one / "data" / "st.parquet").read_bytes() == (two / "data" / "st.parquet").read_bytes()
    assert block_of(one)["mechanism"]["composition"] == "even"


@pytest.mark.parametrize("composition", ["free", "even", "round-robin"])
def test_anatomy_can_be_composed_in_every_way(tmp_path, composition):
    """Every value stays at most once in l; there is no slack to state."""
    release = publish(tmp_path / "release", Anatomy(l=2, composition=composition))
    assert block_of(release)["mechanism"] == {"kind": "anatomy", "l": 2, "composition": composition}
    assert block_of(release)["kept_slack"] == "0"
    assert discreet.verify(release, allow_seeded=True).holds


def test_two_releases_that_differ_in_slack_are_told_apart(tmp_path):
    """diff says what it means."""
    releases = [publish(tmp_path / str(slack), Buckets(tolerance=RULE, slack=slack)) for slack in (0, "0.3")]
    found = {each.name: each for each in differences(*(release_content(read_manifest(each)) for each in releases))}
    assert (found["slack"].a, found["slack"].b) == ("0", "3/10")
    assert "the promise does not depend on it" in found["slack"].meaning
    assert "answers more exact" in found["kept_slack"].meaning
