"""Near buckets along the whole way: policy, plan, release, what verify makes of it, and what the series remembers."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cases import CASES, ROWS, contents, policy_of, publish, saved, tolerance, ward_frame, ward_schema
from tampering import broken, copy_of, manifest_of, restate, table_of, write_manifest, write_table

import discreet
from discreet.mechanism.publish import plan
from discreet.release.difference import differences, release_content
from discreet.release.folder import read_manifest
from discreet.series.store import Series, _seal

NEAR = next(case for case in CASES if case.name == "near buckets")
KINDS = {
    "buckets": lambda **near: discreet.Buckets(tolerance=tolerance(), **near),
    "anatomy": lambda **near: discreet.Anatomy(l=2, **near),
}
EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    """One of each kind, with four windows of thirty rows."""
    folder = tmp_path_factory.mktemp("near")
    return {kind: made(folder, KINDS[kind](assignment="near", window=30), kind) for kind in KINDS}


def made(folder: Path, mechanism: Any, name: str, **options: Any) -> Path:
    policy = policy_of(NEAR, folder, f"{name}.toml", mechanism=mechanism)
    return publish(ward_frame(), policy, folder / name, **{"seed": 1, **options})


def block_of(release: Path) -> dict[str, Any]:
    return dict(manifest_of(release)["discreet"])


# What is published


@EVERY
def test_a_near_release_states_its_windows_and_holds(kind, releases):
    """Declared or by the rule; ids are consecutive, and every bucket has rows of one window."""
    block = block_of(releases[kind])
    assert {name: block["mechanism"][name] for name in ("assignment", "window", "window_declared")} == {
        "assignment": "near",
        "window": 30,
        "window_declared": True,
    }
    assert [each["rows"] for each in block["windows"]] == [30] * 4
    assert block["refused_windows"] == []
    held = table_of(releases[kind], "qit").to_pandas()
    for each in block["windows"]:
        assert held["BID"].between(each["first"], each["last"]).sum() == 30
    assert set(held["BID"]) == set(range(1, block["windows"][-1]["last"] + 1))
    assert block["words"] == 4
    assert "4 windows of 30 rows" in block["facts"]["assignment"]
    assert "## Near buckets" in (releases[kind] / "README.md").read_text(encoding="utf-8")
    verdict = discreet.verify(releases[kind], allow_seeded=True)
    assert verdict.holds
    assert any("refused_windows" in each for each in verdict.not_checkable)


@EVERY
def test_a_random_release_states_nothing_of_windows(kind, tmp_path):
    """It speaks in the words that it spoke before."""
    release = made(tmp_path, KINDS[kind](), "random")
    block = block_of(release)
    assert block["words"] == 3
    assert not {"windows", "refused_windows"} & set(block)
    assert not {"assignment", "window", "window_declared"} & set(block["mechanism"])
    with closing(discreet.open_release(release)) as opened:
        assert "assignment" not in opened.facts


@EVERY
def test_a_window_of_the_rule_is_stated_as_that(kind, tmp_path):
    """A small table is one window."""
    block = block_of(made(tmp_path, KINDS[kind](assignment="near"), "ruled"))
    assert (block["mechanism"]["window"], block["mechanism"]["window_declared"]) == (ROWS, False)
    assert len(block["windows"]) == 1


def test_windows_group_rows_that_are_alike(tmp_path):
    """Inside a window the columns vary less than in the whole table: that is what they are for."""
    coins = pd.Series(range(4_000)).sample(frac=1, random_state=1)
    frame = pd.DataFrame(
        {"age": coins % 100, "gender": ["M", "F"] * 2_000, "disease": ["Flu", "Flu", "Asthma", "Asthma"] * 1_000}
    )
    schema = ward_schema()
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("age", "gender"),
            sensitive="disease",
            domains={name: schema.domains[name] for name in ("age", "gender", "disease")},
        ),
        mechanism=discreet.Buckets(
            tolerance=discreet.Tolerance(values={"Flu": 1, "Asthma": "3/4"}), assignment="near", window=400
        ),
    )
    block = block_of(publish(frame, policy, tmp_path / "near", seed=1))
    held = table_of(tmp_path / "near", "qit").to_pandas()
    for each in block["windows"]:
        inside = held[held["BID"].between(each["first"], each["last"])]
        assert inside["gender"].nunique() == 1
        assert inside["age"].max() - inside["age"].min() <= 21


def test_the_plan_says_windows(releases, tmp_path):
    """How many, of how many rows, declared or not, and what each is planned as."""
    policy = policy_of(NEAR, tmp_path, mechanism=KINDS["buckets"](assignment="near", window=50))
    with closing(discreet.read_table(ward_frame(), policy)) as table:
        found = plan(table, policy)
    told = found.as_json()
    assert (told["assignment"], told["window"], told["window_declared"]) == ("near", 50, True)
    assert [each["rows"] for each in told["windows"]] == [50, 70]
    assert told["loss"] == sum(
        each["buckets"] * (each["size"] - 1) ** 2 for window in told["windows"] for each in window["classes"]
    )
    assert told["loss"] >= told["lower_bound"]
    assert any("2 windows of 50 rows (declared), the last of 70" in line for line in found.lines())


def test_a_difference_says_which_rows_may_share_a_bucket(tmp_path, releases):
    """The promise is the same, the windows and the words are not."""
    random = made(tmp_path, KINDS["buckets"](), "random")
    found = differences(*(release_content(read_manifest(each)) for each in (random, releases["buckets"])))
    told = {each.name: each.meaning for each in found if each.topic in ("mechanism", "release")}
    assert "the promise does not depend on it" in told["assignment"]
    assert told["windows"] == told["refused_windows"] == "only B states it"


# What verify refuses


def swapped(folder: Path, one: int, two: int, *, st: bool) -> None:
    """Exchange two bucket ids in the table of quasi-identifiers, and in the other one as well."""
    names = {one: two, two: one}
    for name in ("qit", "st") if st else ("qit",):
        table = table_of(folder, name).to_pandas()
        table["BID"] = table["BID"].map(lambda each: names.get(each, each))
        columns = ["BID", *(each for each in table.columns if each not in ("BID", "COUNT"))]
        places = {"gender": ["M", "F"], "postcode": ["9001", "0213", "0214"]}
        places["disease"] = ["Measles", "Asthma", "HIV", "Flu"]
        rank = table[columns].assign(**{c: table[c].map(places[c].index) for c in columns if c in places})
        rewritten(folder, name, table.loc[rank.sort_values(columns, kind="stable").index])


def rewritten(folder: Path, name: str, frame: pd.DataFrame) -> None:
    before = table_of(folder, name)
    write_table(folder, name, before.from_pandas(frame, schema=before.schema, preserve_index=False))


def of_one_size(folder: Path) -> tuple[int, int]:
    """A bucket of the first window and one of the last, with as many rows."""
    windows, sizes = block_of(folder)["windows"], table_of(folder, "qit").to_pandas().groupby("BID").size()
    first = {size: bucket for bucket, size in sizes.items() if bucket <= windows[0]["last"]}
    return next(
        (first[size], bucket) for bucket, size in sizes.items() if bucket >= windows[-1]["first"] and size in first
    )


@EVERY
@pytest.mark.parametrize("st", [True, False], ids=["bucket ids", "rows"])
def test_buckets_or_rows_in_another_window_are_found(kind, st, releases):
    """Exchanged with others of a window far off: everything else about them holds."""
    with copy_of(releases[kind]) as folder:
        swapped(folder, *of_one_size(folder), st=st)
        assert "windows" in broken(folder)
        if st:
            assert "order" not in broken(folder)
            assert "tolerance" not in broken(folder)


def test_one_row_in_another_window_is_found(releases):
    """A row of the first window and one of the last change their buckets: sizes and counts stay."""
    with copy_of(releases["buckets"]) as folder:
        table = table_of(folder, "qit").to_pandas()
        one, two = table.index[0], table.index[-1]
        table.loc[[one, two], "BID"] = table.loc[[two, one], "BID"].to_numpy()
        places = {"gender": ["M", "F"], "postcode": ["9001", "0213", "0214"]}
        rank = table.assign(**{name: table[name].map(known.index) for name, known in places.items()})
        rewritten(folder, "qit", table.loc[rank.sort_values(["BID", "age", "gender", "postcode"]).index])
        assert broken(folder) == ["windows"]


def other_windows(block: dict[str, Any], first: int, change: int) -> None:
    """Move the border between two windows by so many buckets."""
    block["windows"][first]["last"] += change
    block["windows"][first + 1]["first"] += change


STATED = {
    "a larger window": lambda block: block["mechanism"].update(window=31),
    "a smaller window": lambda block: block["mechanism"].update(window=29),
    "by the rule": lambda block: block["mechanism"].update(window_declared=False),
    "a border moved": lambda block: other_windows(block, 1, 1),
    "another border moved": lambda block: other_windows(block, 0, -1),
    "two windows in turn": lambda block: block["windows"].reverse(),
    "rows elsewhere": lambda block: (block["windows"][0].update(rows=29), block["windows"][1].update(rows=31)),
    "a window less": lambda block: block["windows"].pop(),
    "none": lambda block: block.update(windows=[]),
    "one window": lambda block: (
        block["mechanism"].update(window=120),
        block.update(windows=[{"rows": 120, "first": 1, "last": block["windows"][-1]["last"]}]),
    ),
    "not from 1 on": lambda block: block["windows"][0].update(first=2),
}


@EVERY
@pytest.mark.parametrize("what", STATED)
def test_other_windows_than_those_of_the_files_are_found(kind, what, releases):
    """By the check of windows, or, where the windows as stated could be, by the words that name them."""
    with copy_of(releases[kind]) as folder:
        manifest = manifest_of(folder)
        STATED[what](manifest["discreet"])
        write_manifest(folder, manifest)
        assert {"windows", "words"} & set(broken(folder))
        if what != "one window":
            assert "windows" in broken(folder)


FORMS = {
    "windows of a random release": lambda block: [
        block["mechanism"].pop(name) for name in ("assignment", "window", "window_declared")
    ],
    "no windows": lambda block: block.pop("windows"),
    "nothing of refusals": lambda block: block.pop("refused_windows"),
    "no declaration": lambda block: block["mechanism"].pop("window_declared"),
    "another assignment": lambda block: block["mechanism"].update(assignment="random"),
    "window 0": lambda block: block["mechanism"].update(window=0),
    "window true": lambda block: block["mechanism"].update(window=True),
    "a window more than an object": lambda block: block["windows"][0].update(more=1),
    "windows in text": lambda block: block.update(windows="1-30"),
    "refusals in turn": lambda block: block.update(refused_windows=[9, 8]),
    "refusals twice": lambda block: block.update(refused_windows=[8, 8]),
    "words of random buckets": lambda block: block.update(words=3),
}


@pytest.mark.parametrize("what", FORMS)
def test_what_is_no_description_of_windows_is_no_release(what, releases):
    """The check `manifest` alone says so."""
    with copy_of(releases["buckets"]) as folder:
        manifest = manifest_of(folder)
        FORMS[what](manifest["discreet"])
        write_manifest(folder, manifest)
        assert broken(folder) == ["manifest"]


def test_a_random_release_cannot_speak_of_windows(tmp_path):
    """Version 4 of the words is for near buckets alone."""
    release = made(tmp_path, KINDS["buckets"](), "random")
    manifest = manifest_of(release)
    manifest["discreet"]["words"] = 4
    write_manifest(release, manifest)
    assert broken(release) == ["manifest"]


def test_a_window_that_leaves_less_slack_than_stated_is_found(tmp_path):
    """Slack is checked window by window: where all buckets together leave it, one window may not."""
    release = made(tmp_path, KINDS["buckets"](assignment="near", window=40, slack=0, composition="even"), "tight")
    manifest = manifest_of(release)
    manifest["discreet"]["mechanism"]["slack"] = manifest["discreet"]["kept_slack"] = "3/10"
    write_manifest(release, manifest)
    restate(release)
    assert "slack" in broken(release)


# Bad input

BAD = {
    "assignment": ({"assignment": "far"}, "assignment (far) must be one of random, near"),
    "no text": ({"assignment": 3}, "assignment (3) must be one of random, near"),
    "window of random": ({"window": 40}, 'window (40) must go with assignment = "near"; say that, or leave window out'),
    "window 1": ({"assignment": "near", "window": 1}, "window (1) must be a whole number of rows, 2 or more"),
    "window true": ({"assignment": "near", "window": True}, "window (True) must be a whole number of rows, 2 or more"),
    "a fraction": ({"assignment": "near", "window": 2.5}, "window (2.5) must be a whole number of rows, 2 or more"),
}


@EVERY
@pytest.mark.parametrize("what", BAD)
def test_a_wrong_parameter_is_one_sentence(kind, what):
    """It blames its own line."""
    given, sentence = BAD[what]
    with pytest.raises(discreet.PolicyError) as raised:
        KINDS[kind](**given)
    assert str(raised.value) == sentence
    assert raised.value.key == (("assignment",) if "assignment (" in sentence else ("window",))


def test_a_window_smaller_than_the_smallest_bucket_is_no_policy():
    """Of l rows, or of min_size."""
    for build in (
        lambda: discreet.Anatomy(l=4, assignment="near", window=3),
        lambda: discreet.Buckets(tolerance=tolerance(), min_size=4, assignment="near", window=3),
    ):
        with pytest.raises(
            discreet.PolicyError, match=r"window \(3\) must be at least 4, the rows of the smallest"
        ) as bad:
            build()
        assert bad.value.key == ("window",)


@pytest.mark.parametrize(
    ("kind", "window", "sentence"),
    [
        ("buckets", 121, "must be at most the 120 rows"),
        ("anatomy", 121, "must be at most the 120 rows"),
        ("buckets", 3, "must be at least 4, the smallest bucket that may hold HIV"),
    ],
)
def test_a_window_that_no_table_like_this_can_have_is_one_sentence(kind, window, sentence, tmp_path):
    """Larger than the table, or too small to hold some value at all: told by plan, check and publish."""
    policy = policy_of(NEAR, tmp_path, mechanism=KINDS[kind](assignment="near", window=window))
    with closing(discreet.read_table(ward_frame(), policy)) as table:
        for step in (lambda: plan(table, policy), lambda: discreet.publish(table, policy, to=tmp_path / "no")):
            with pytest.raises(discreet.PolicyError) as raised:
                step()
            assert sentence in str(raised.value)
            assert raised.value.key == ("window",)
    assert not (tmp_path / "no").exists()
    (problem,) = discreet.check(policy.path, ward_frame())
    assert sentence in problem.message
    assert problem.line is not None


# A window that cannot be planned

TIGHT = {"tolerance": discreet.Tolerance(values={"HIV": "1/5", "Measles": 1, "Asthma": 1, "Flu": 1})}


def ill_together() -> pd.DataFrame:
    """A ward in which the oldest share a rare disease: no buckets of theirs alone can hide it."""
    frame = ward_frame().sort_values("age", ignore_index=True)
    return frame.assign(disease=["Flu"] * 100 + ["HIV"] * 10 + ["Flu"] * 10, gender="M", postcode="9001")


def refused_policy(folder: Path, window: int | None, name: str = "tight.toml") -> discreet.Policy:
    return policy_of(NEAR, folder, name, mechanism=discreet.Buckets(**TIGHT, assignment="near", window=window))


def test_what_is_said_of_a_refused_window_names_nothing_of_it(tmp_path):
    """Plan, check and publish say the same sentence: no value, no number of windows, no place; and what it costs."""
    policy = refused_policy(tmp_path, 30)
    said = []
    with closing(discreet.read_table(ill_together(), policy)) as table:
        for step in (lambda: plan(table, policy), lambda: discreet.publish(table, policy, to=tmp_path / "no")):
            with pytest.raises(discreet.Infeasible) as raised:
                step()
            said.append(str(raised.value))
            assert raised.value.values == ()
    (problem,) = discreet.check(policy.path, ill_together())
    assert {*said, problem.message} == {said[0]}
    assert said[0].startswith("window (30, as declared) must be")
    assert "tells" in said[0] or "learns" in said[0]
    numbers = [each for each in "".join(c if c.isdigit() else " " for c in said[0]).split() if each != "30"]
    assert not numbers
    assert not any(name in said[0] for name in ("HIV", "Flu", "Measles", "Asthma"))
    assert not (tmp_path / "no").exists()


def test_a_refused_window_is_remembered_by_another_process_and_stated(tmp_path):
    """Publish writes it down before it says anything; a later near release of the same people states it for good."""
    policy, series = refused_policy(tmp_path, 30), tmp_path / "people.series"
    ill_together().to_parquet(tmp_path / "ward.parquet")
    script = (
        "import sys, discreet\n"
        "policy = discreet.Policy.load(sys.argv[1])\n"
        "with discreet.read_table(sys.argv[2], policy) as table:\n"
        "    discreet.publish(table, policy, to=sys.argv[3], series=sys.argv[4])\n"
    )
    told = [str(policy.path), str(tmp_path / "ward.parquet"), str(tmp_path / "no"), str(series)]
    for _ in range(2):  # told twice, remembered once
        words = [sys.executable, "-c", script, *told]
        run = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our interpreter
        assert "Infeasible: window (30, as declared)" in run.stderr
    with Series(series) as memory:
        assert [each.what for each in memory.refusals()] == ["30"]
        assert memory.entries() == ()
    wide = refused_policy(tmp_path, 60, "wide.toml")
    release = publish(tmp_path / "ward.parquet", wide, tmp_path / "wide", series=series)
    block = block_of(release)
    assert block["refused_windows"] == [30]
    assert "windows of 30 rows were refused before" in " ".join(block["facts"]["not_covered"])
    assert discreet.verify(release).holds
    again = publish(tmp_path / "ward.parquet", wide, tmp_path / "again", series=series)
    assert contents(again) == contents(release)


def test_a_refusal_after_a_release_does_not_change_it(tmp_path):
    """Made again, it states what it stated; a new series of these people states both."""
    series = tmp_path / "people.series"
    first = publish(ill_together(), refused_policy(tmp_path, 60), tmp_path / "one", series=series)
    with pytest.raises(discreet.Infeasible):
        publish(ill_together(), refused_policy(tmp_path, 30, "b.toml"), tmp_path / "b", series=series, new_series=True)
    again = publish(ill_together(), refused_policy(tmp_path, 60), tmp_path / "again", series=series)
    assert contents(first) == contents(again)
    later = publish(
        ill_together(), refused_policy(tmp_path, 58, "c.toml"), tmp_path / "c", series=series, new_series=True
    )
    assert (block_of(first)["refused_windows"], block_of(later)["refused_windows"]) == ([], [30])


def test_other_people_have_no_refusal(tmp_path):
    """What was refused of one table is not stated of another with other people."""
    series = tmp_path / "people.series"
    with pytest.raises(discreet.Infeasible):
        publish(ill_together(), refused_policy(tmp_path, 30), tmp_path / "no", series=series)
    others = ward_frame(seed=9).assign(bed_tag=[f"other_{row}" for row in range(ROWS)])
    release = publish(others, policy_of(NEAR, tmp_path, "others.toml"), tmp_path / "others", series=series)
    assert block_of(release)["refused_windows"] == []


def test_plan_and_check_leave_no_trace(tmp_path):
    """They write nothing, so whoever tries there must keep it to himself: the sentence says so."""
    policy = refused_policy(tmp_path, 30)
    discreet.check(policy.path, ill_together())
    with closing(discreet.read_table(ill_together(), policy)) as table, pytest.raises(discreet.Infeasible) as raised:
        plan(table, policy)
    assert "plan and check remember nothing" in str(raised.value)
    assert not list(tmp_path.rglob("*.series"))


def test_a_series_that_forgot_a_refusal_is_damaged(tmp_path):
    """Its number is sealed, too."""
    series = tmp_path / "people.series"
    with pytest.raises(discreet.Infeasible):
        publish(ill_together(), refused_policy(tmp_path, 30), tmp_path / "no", series=series)
    with closing(sqlite3.connect(series)) as database, database:
        database.execute("DELETE FROM refusal")
    with pytest.raises(discreet.SeriesRefusal, match="damaged"):
        publish(ill_together(), refused_policy(tmp_path, 60, "b.toml"), tmp_path / "b", series=series)


def test_a_series_of_the_format_before_is_read_and_renewed(tmp_path):
    """Format 5 knew no refusals: its releases are made again as they were, and from then on it knows some."""
    series, policy = tmp_path / "people.series", refused_policy(tmp_path, 60)
    first = publish(ill_together(), policy, tmp_path / "one", series=series)
    with closing(sqlite3.connect(series)) as database, database:
        (key,) = database.execute("SELECT key FROM series").fetchone()
        database.execute("DROP TABLE refusal")
        database.execute("UPDATE series SET format = 5, seal = ?", (_seal(key, 5, key, 1),))
    again = publish(ill_together(), policy, tmp_path / "again", series=series)
    assert contents(first) == contents(again)
    with pytest.raises(discreet.Infeasible):
        publish(ill_together(), refused_policy(tmp_path, 30, "b.toml"), tmp_path / "b", series=series, new_series=True)
    with Series(series) as memory:
        assert (len(memory.entries()), [each.after for each in memory.refusals()]) == (1, [1])


@pytest.mark.parametrize("over", ["sizes", "theta", "max_size"])
def test_plans_side_by_side_are_near_too(over, tmp_path):
    """Other sizes, tolerances and limits, each in windows; the one of the policy is among them."""
    policy = policy_of(NEAR, tmp_path, mechanism=KINDS["buckets"](assignment="near", window=40))
    with closing(discreet.read_table(ward_frame(), policy)) as table:
        found = policy.mechanism.alternatives(table, over).as_json()["plans"]
        own = plan(table, policy).loss
    assert own in [each["loss"] for each in found]


def test_a_window_that_would_be_billions_is_no_work(releases):
    """A stranger's manifest may state any numbers: what they would give is never listed."""
    with copy_of(releases["buckets"]) as folder:
        manifest = manifest_of(folder)
        manifest["discreet"].update(rows=10**15)
        manifest["discreet"]["mechanism"].update(window=1)
        write_manifest(folder, manifest)
        assert {"rows", "windows"} <= set(broken(folder))


def test_a_policy_that_was_saved_says_the_same(tmp_path):
    """TOML and JSON keep assignment and window, and leave out what is not said."""
    for near in ({}, {"assignment": "near"}, {"assignment": "near", "window": 40}):
        policy = discreet.Policy(schema=ward_schema(), mechanism=KINDS["buckets"](**near))
        assert saved(policy, tmp_path / "saved.toml").mechanism == policy.mechanism
        text = (tmp_path / "saved.toml").read_text(encoding="utf-8")
        assert ("near" in text, "window" in text) == (bool(near), "window" in near)
    json.dumps(policy.mechanism.as_json())
