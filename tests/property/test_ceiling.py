"""A ceiling for tolerances: what it promises, what a release says of those whom it leaves out, and what is compared."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet
from discreet import Buckets, Listed, Tolerance
from discreet.cli.main import app

SHARES = st.fractions(min_value="1/100", max_value=1, max_denominator=1000)
COUNTS = st.lists(st.integers(0, 400), min_size=1, max_size=12).filter(any).map(lambda each: dict(enumerate(each)))
ILLS = ["Flu"] * 60 + ["Cold"] * 25 + ["HIV"] * 10 + [None] * 25  # type: ignore[list-item]


def schema() -> discreet.Schema:
    return discreet.Schema(
        quasi_identifiers=("age",),
        sensitive="ill",
        domains={
            "age": discreet.Integers(low=0, high=99),
            "ill": Listed(values=("Flu", "Cold", "HIV", "Plague"), missing=True),
        },
    )


def policy(**tolerance: Any) -> discreet.Policy:
    return discreet.Policy(schema=schema(), mechanism=Buckets(tolerance=Tolerance(**tolerance)))


def publish(own: discreet.Policy, to: Path) -> Path:
    frame = pd.DataFrame({"age": [i % 100 for i in range(len(ILLS))], "ill": ILLS})
    with closing(discreet.read_table(frame, own)) as table:
        discreet.publish(table, own, to=to, seed=1).close()
    return to


def block(release: Path) -> dict[str, Any]:
    return json.loads((release / "datapackage.json").read_text(encoding="utf-8"))["discreet"]


# The rule


@given(COUNTS, SHARES, SHARES, SHARES, st.dictionaries(st.integers(0, 3), SHARES, max_size=2))
def test_no_value_has_more_than_the_ceiling_but_those_named(counts, theta, floor, ceiling, named):
    """min(ceiling, theta f + floor), in exact fractions; a value that is named has its own."""
    found = Tolerance(theta=8 * theta, floor=floor, ceiling=ceiling, values=named).of(counts)
    rows = sum(counts.values())
    for value, count in counts.items():
        linear = 8 * theta * Fraction(count, rows) + floor
        assert found[value] == named.get(value, linear if linear < ceiling else ceiling)


@given(COUNTS, SHARES, SHARES)
def test_without_a_ceiling_it_is_1_as_in_the_papers(counts, theta, floor):
    """The same tolerances, and the same value."""
    assert Tolerance(theta=theta, floor=floor) == Tolerance(theta=theta, floor=floor, ceiling="1.0")
    assert Tolerance(theta=theta, floor=floor).of(counts) == Tolerance(theta=theta, floor=floor, ceiling=1).of(counts)


@pytest.mark.parametrize("ceiling", [0, "-0.1", "1.01", "much", True])
def test_a_ceiling_is_a_probability_above_0(ceiling):
    """Anything else is refused, with its key."""
    with pytest.raises(discreet.PolicyError, match=r"ceiling \(") as refused:
        Tolerance(theta=1, ceiling=ceiling)
    assert refused.value.key == ("ceiling",)


# The policy


def test_what_is_not_set_does_not_count_for_the_digest():
    """A policy without a ceiling has the digest of one with 1."""
    plain = discreet.Schema(
        quasi_identifiers=("age",),
        sensitive="ill",
        domains={"age": discreet.Integers(low=0, high=9), "ill": Listed(values=("a", "b", "c"))},
    )
    digests = [
        discreet.Policy(
            schema=plain,
            mechanism=Buckets(tolerance=Tolerance(theta=8, floor="0.02", values={"a": "1/2"}, **ceiling)),
        ).digest.hex()
        for ceiling in ({}, {"ceiling": 1}, {"ceiling": "0.9"})
    ]
    assert digests[0] == digests[1] == "b8eef93c9424fdaccae6550da34db5036a720effa165e989cf5a64cedf775be2"
    assert digests[2] != digests[0]


@given(SHARES)
def test_a_policy_with_a_ceiling_comes_back_as_it_was_saved(tmp_path_factory, ceiling):
    """Exactly, whatever fraction it is."""
    own = policy(theta=2, floor="0.1", ceiling=ceiling)
    assert discreet.Policy.load(own.save(tmp_path_factory.mktemp("policy") / "policy.toml")) == own


def test_a_wrong_ceiling_is_a_problem_with_its_line(tmp_path):
    """And a misspelt one is answered with the right word."""
    path = policy(theta=2, floor="0.1", ceiling="0.8").save(tmp_path / "policy.toml")
    text = path.read_text(encoding="utf-8")
    for new, words in (("ceiling = 2", "must be above 0 and at most 1"), ("celing = 0.8", "did you mean ceiling")):
        path.write_text(text.replace("ceiling = 0.8", new), encoding="utf-8")
        (problem,) = discreet.Policy.check(path)
        assert words in problem.message
        assert text.splitlines()[(problem.line or 1) - 1].startswith("ceiling")


# The release


def test_with_a_ceiling_below_1_nobody_stands_alone(tmp_path):
    """In every bucket every value's share is at most the ceiling, counted here; verify agrees."""
    release = publish(policy(theta=8, floor="0.02", ceiling="0.75"), tmp_path / "release")
    buckets: dict[int, Counter[Any]] = {}
    for row in pq.read_table(release / "data" / "st.parquet").to_pylist():
        buckets.setdefault(row["BID"], Counter())[row["ill"]] += row["COUNT"]
    for each in buckets.values():
        assert sum(each.values()) > 1
        assert all(Fraction(count, sum(each.values())) <= Fraction(3, 4) for count in each.values())
    assert block(release)["mechanism"]["tolerance"]["ceiling"] == "3/4"
    assert block(release)["unprotected"] == []
    assert block(release)["facts"]["unprotected"] == []
    assert discreet.verify(release, allow_seeded=True).holds


def test_a_release_names_every_value_without_protection_and_its_people(tmp_path):
    """Also one that nobody has, and the missing cell, which is not called None; the numbers are those of the table."""
    own = policy(theta=8, floor="0.02", values={"Plague": 1, None: 1, "Cold": "0.5", "HIV": "0.5"})
    release = publish(own, tmp_path / "release")
    found = block(release)
    assert found["unprotected"] == [["Flu", 60], ["Plague", 0], [None, 25]]
    assert found["facts"]["unprotected"][2] == {"value": None, "people": 25}
    words = found["facts"]["words"]
    assert "Flu (60), Plague (0), a missing cell (25). That is 85 of 120 people" in words
    alone = sum(each["buckets"] for each in found["classes"] if each["size"] == 1)
    assert alone > 0
    assert f"{alone} of them stand in a bucket alone" in words
    readme = (release / "README.md").read_text(encoding="utf-8")
    assert words in readme
    assert "None" not in words
    assert "The 85 people whose value has a tolerance of 1" in readme
    assert discreet.verify(release, allow_seeded=True).holds


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=5), st.integers(1, 3))
def test_a_plan_never_counts_more_people_in_buckets_of_one_value_than_there_are(tmp_path_factory, counts, least):
    """What it says of them holds whatever the coins give; a bucket of one person is counted exactly."""
    ills = [name for name, count in zip("abcde", counts, strict=False) for _ in range(count)]
    frame = pd.DataFrame({"age": 1, "ill": ills})
    own = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("age",),
            sensitive="ill",
            domains={"age": discreet.Integers(low=0, high=9), "ill": Listed(values=tuple("abcde"))},
        ),
        mechanism=Buckets(tolerance=Tolerance(floor="0.9", values={"a": 1}), min_size=least),
    )
    with closing(discreet.read_table(frame, own)) as table:
        try:
            plan: Any = discreet.plan(table, own)
        except discreet.Infeasible:
            return
        to = tmp_path_factory.mktemp("release") / "release"
        discreet.publish(table, own, to=to, seed=1).close()
    rows = pq.read_table(to / "data" / "st.parquet").to_pylist()
    values = Counter(row["BID"] for row in rows)
    certain = [row["COUNT"] for row in rows if values[row["BID"]] == 1]
    assert plan.alone == certain.count(1) <= plan.certain <= sum(certain)


@pytest.mark.parametrize(
    "edit",
    [
        lambda each: each["mechanism"]["tolerance"].update(ceiling="4/5"),
        lambda each: each["mechanism"]["tolerance"].pop("ceiling"),
        lambda each: each["unprotected"].append(["HIV", 10]),
        lambda each: each["unprotected"].clear(),
        lambda each: each["unprotected"][0].__setitem__(1, 24),
    ],
)
def test_what_is_stated_otherwise_does_not_hold(edit, tmp_path):
    """The ceiling and who is not protected are worked out again from the tables."""
    release = publish(policy(theta=8, floor="0.02", ceiling="0.75", values={None: 1}), tmp_path / "release")
    path = release / "datapackage.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content["discreet"])
    path.write_text(json.dumps(content), encoding="utf-8")
    broken = {each.name for each in discreet.verify(release, allow_seeded=True).checks if not each.holds}
    assert "promise" in broken


def test_version_2_states_who_is_not_protected_and_version_1_does_not(tmp_path):
    """A block of either version with the keys of the other is refused."""
    release = publish(policy(theta=8, floor="0.02"), tmp_path / "release")
    path = release / "datapackage.json"
    for edit in ({"words": 1}, {}):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["discreet"].update(edit)
        if not edit:
            del content["discreet"]["unprotected"]
        (tmp_path / "other").mkdir(exist_ok=True)
        (tmp_path / "other" / "datapackage.json").write_text(json.dumps(content), encoding="utf-8")
        verdict = discreet.verify(tmp_path / "other", allow_seeded=True)
        assert not verdict.holds
        assert "exactly the keys" in str(verdict.checks[0].detail)


def test_plan_and_publish_say_who_is_not_protected(tmp_path):
    """By name and number, in words and as JSON."""
    frame = pd.DataFrame({"age": [i % 100 for i in range(len(ILLS))], "ill": ILLS})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    path = policy(theta=8, floor="0.02").save(tmp_path / "policy.toml")
    words = [str(each) for each in (tmp_path / "rows.csv", "--policy", path)]
    said = CliRunner().invoke(app, ["plan", *words]).stdout
    assert "not protected, with tolerance 1: Flu (60), Cold (25), (missing) (25); that is 110 of 120 people" in said
    plan = json.loads(CliRunner().invoke(app, ["plan", *words, "--json"]).stdout)
    assert plan["unprotected"] == {"Flu": 60, "Cold": 25, "": 25}
    assert plan["alone"] == next(each["buckets"] for each in plan["classes"] if each["size"] == 1)
    said = CliRunner().invoke(app, ["publish", *words, "-o", str(tmp_path / "release"), "--json"]).stdout
    assert json.loads(said)["facts"]["unprotected"][0] == {"value": "Flu", "people": 60}


# Side by side


def meanings(a: discreet.Policy, b: discreet.Policy, folder: Path) -> dict[str, str]:
    a.save(folder / "a.toml")
    b.save(folder / "b.toml")
    said = CliRunner().invoke(app, ["diff", str(folder / "a.toml"), str(folder / "b.toml"), "--json"]).stdout
    return {each["what"]: each["meaning"] for each in json.loads(said)}


def test_a_lower_ceiling_is_stronger(tmp_path):
    """Also where the other policy has none."""
    found = meanings(policy(theta=8), policy(theta=8, ceiling="0.8"), tmp_path)
    assert found == {"ceiling": "stronger for frequent values without a tolerance of their own"}
    found = meanings(policy(theta=8, ceiling="0.5"), policy(theta=8), tmp_path)
    assert found == {"ceiling": "weaker for frequent values without a tolerance of their own"}


@pytest.mark.parametrize(
    ("ceiling", "meaning"),
    [
        ("0.4", "weaker"),
        ("0.5", "weaker where its share is below 6.25 %, else the same"),
        ("0.6", "weaker where its share is below 6.25 %, else stronger or the same"),
    ],
)
def test_a_named_tolerance_beside_a_rule_with_a_ceiling(ceiling, meaning, tmp_path):
    """The rule never allows more than its ceiling: below it, 0.5 is always weaker."""
    before, after = policy(theta=8, ceiling=ceiling), policy(theta=8, ceiling=ceiling, values={"Flu": "0.5"})
    assert meanings(before, after, tmp_path) == {"tolerance of Flu": meaning}


def test_an_old_release_without_a_ceiling_means_1(tmp_path):
    """Beside a new one that states 1 there is no difference of ceilings."""
    golden = Path(__file__).parents[1] / "golden"
    said = (
        CliRunner()
        .invoke(
            app,
            ["diff", str(golden / "buckets-named" / "release"), str(golden / "buckets-words-2" / "release"), "--json"],
        )
        .stdout
    )
    assert "ceiling" not in {each["what"] for each in json.loads(said)}
