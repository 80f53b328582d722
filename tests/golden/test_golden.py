"""Golden releases: whatever changes in the package, what was published stays readable and means the same numbers."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, policy_of, publish, ward_frame
from golden.asking import NOBODY, SINGLE, counts_of, differences, read_amended, read_answers, said_by, stated_by

import discreet
from discreet.release.family import FAMILIES, Words
from discreet.release.folder import read_manifest
from discreet.release.statement import README
from discreet.schema.mechanisms import MECHANISMS

HERE = Path(__file__).parent
GOLDENS = sorted(path.parent for path in HERE.glob("*/answers.json"))
OURS = {kind: each for kind, each in MECHANISMS.items() if each.__module__.startswith("discreet.")}
HEAD = ("kind", "format", "words", "notion", "randomness", "rows", "size", "unit")
every_golden = pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
every_kind = pytest.mark.parametrize("kind", OURS)

# Another default for every parameter that has one.
OTHER: dict[str, dict[str, Any]] = {
    "buckets": {
        "sizes": "one",
        "min_size": 3,
        "max_size": 6,
        "slack": "0",
        "composition": "even",
        "assignment": "near",
        "window": 40,
        "known": 1,
        "fakes": 0,  # which do not go with near: a golden with them is enough
    },
    "anatomy": {"composition": "even", "assignment": "near", "window": 40},
    "alphabeta": {
        "adversary": "independent",
        "tuning": "paper",
        "views": 2,
        "slots": 5,
        "source": {"gender": {"M": 1, "F": 2}},
    },
    "frapp": {},
    "diffgen": {
        "specializations": 1,
        "score": "max",
        "consistency": "none",
        "guide": "exponential",
        "target": "visits",
    },
    "pairs": {},
}


UNSPOKEN = {"anatomy": {5}}  # versions of a family's words that have none for a kind: it has neither known nor fakes


def _of_kind(kind: str) -> list[Path]:
    return [golden for golden in GOLDENS if stated_by(golden / "release")["mechanism"]["kind"] == kind]


def _kept(golden: Path) -> dict[str, Any]:
    return read_amended(golden)


def _broken(golden: Path) -> Iterator[str]:
    """Checks that do not hold or are gone, and answers that are not the same."""
    kept, folder = _kept(golden), golden / "release"
    verdict = discreet.verify(folder, allow_seeded=kept["randomness"] == "seeded")
    holding = {check.name for check in verdict.checks if check.holds}
    yield from (f"{golden.name}: {check.name}: {check.detail}" for check in verdict.checks if not check.holds)
    yield from (f"{golden.name}: {name} is not checked" for name in kept["checks"] if name not in holding)
    if verdict.holds:
        questions = dict.fromkeys((each["asked"], each["by"]) for each in kept["answers"])
        with closing(discreet.open_release(folder)) as release:
            answers = [count for each in questions for count in counts_of(release, *each, kept["confidence"])]
            found = said_by(release) | {"answers": answers}
        for name in (*HEAD, "answers"):
            near = SINGLE.get(kept["kind"], NOBODY)
            yield from differences(kept[name], found[name], f"{golden.name}: {name}", near)


# What was published stays


@every_golden
def test_a_golden_release_holds_and_answers_the_same(golden):
    """Every check that it passed then, and the same numbers, bounds and words from every estimator."""
    assert not list(_broken(golden))


@every_golden
def test_the_estimators_of_then_are_there_and_the_default_is_the_same(golden):
    """One more is no change of meaning."""
    with closing(discreet.open_release(golden / "release")) as release:
        assert release.estimators[0] == _kept(golden)["estimators"][0]
        assert (
            set(release.estimators)
            >= set(_kept(golden)["estimators"])
            == {each["by"] for each in _kept(golden)["answers"]}
        )


@every_golden
def test_readme_and_facts_are_what_the_stated_version_renders(golden):
    """The renderer of an old version stays in the tree."""
    manifest = read_manifest(golden / "release")
    words = FAMILIES[manifest.kind].words[stated_by(golden / "release")["words"]]
    facts = words.facts(manifest.statement)
    assert manifest.facts == facts
    assert (golden / "release" / README).read_bytes() == words.readme(manifest.statement, facts).encode()


@every_golden
def test_the_manifest_states_every_parameter(golden):
    """So that no default of a later day is needed to read it."""
    block = stated_by(golden / "release")
    stated, later = block["mechanism"], set() if block["words"] > 1 else {"ceiling"}  # which came with words 2
    named = {"buckets": {"slack"}, "anatomy": {"composition"}} if block["words"] < 3 else {}  # and these with words 3
    near = {"assignment", "window"} if "assignment" not in stated else set()  # which near releases alone have
    every = {"kind", *(each.name for each in fields(OURS[stated["kind"]]))}
    beside = {"known", "fakes"} - set(stated)  # which are stated where they are above 0
    assert set(stated) - {"window_declared"} == every - named.get(stated["kind"], set()) - near - beside
    assert ("window_declared" in stated) == ("window" in stated)
    if "tolerance" in stated:
        assert set(stated["tolerance"]) == {each.name for each in fields(discreet.Tolerance)} - later


@every_golden
def test_what_a_golden_release_answers_is_possible(golden):
    """A value lies in its interval and the interval in its bounds."""
    for each in _kept(golden)["answers"]:
        (least, most), value = each["bounds"], each["value"]
        assert least <= each["low"] <= each["high"] <= most, each
        assert value is None or each["low"] <= value <= each["high"], each


@every_golden
def test_a_decision_changed_what_it_says_and_nothing_else(golden):
    """022: intervals are wider, if anything, and no point; and what no value of the domains meets is exactly nobody.

    033: the value of best is another, and what is said of its being cut; its interval holds it, and is wider or less
    wide only as far as the old value or the new one needs it.
    """
    assert {path.name for path in golden.glob("answers-*.json")} <= {"answers-022.json", "answers-033.json"}
    first = read_answers(golden / "answers.json")["answers"]
    wider, latest = read_amended(golden, "022")["answers"], _kept(golden)["answers"]
    for old, new in zip(first, wider, strict=True):
        moved = {name for name in old if any(differences(old[name], new[name]))}
        if new["bounds"] == [0, 0]:
            assert (new["value"], new["design"]) == (old["value"], old["design"])
        else:
            assert moved <= {"low", "high"}, new
            assert (new["low"] < new["high"]) == (new["bounds"][0] < new["bounds"][1]), new
            assert new["low"] <= old["low"] <= old["high"] <= new["high"], new
    for old, new in zip(wider, latest, strict=True):
        moved = {name for name in old if any(differences(old[name], new[name]))}
        assert moved <= ({"value", "note", "low", "high"} if new["by"] == "best" else set()), new
        for end in {"low", "high"} & moved:
            assert old[end] == old["value"] or new[end] == new["value"], new


def test_a_seeded_release_does_not_hold_by_itself():
    """Only the check of the coins fails, and only there."""
    seeded = [golden for golden in GOLDENS if _kept(golden)["randomness"] == "seeded"]
    assert seeded
    for golden in seeded:
        verdict = discreet.verify(golden / "release")
        assert [check.name for check in verdict.checks if not check.holds] == ["randomness"]


# Nothing is without a golden


@every_kind
def test_every_kind_of_mechanism_has_a_golden(kind):
    """A new mechanism of the package comes with one."""
    assert _of_kind(kind)


@every_kind
def test_every_estimator_and_every_version_of_words_has_a_golden(kind):
    """A new one of either comes with one more golden."""
    kept = [_kept(golden) for golden in _of_kind(kind)]
    family = FAMILIES[kind]
    kin = [_kept(golden) for other in family.mechanisms for golden in _of_kind(other)]
    assert {name for each in kin for name in each["estimators"]} == set(family.estimators)
    assert {each["words"] for each in kept} == set(family.words) - UNSPOKEN.get(kind, set())


@every_kind
def test_every_parameter_is_there_with_more_than_one_value(kind):
    """Else a reader that leans on a default might not be noticed."""
    plain = {name: each.default for name, each in inspect.signature(OURS[kind]).parameters.items()}
    assert set(OTHER[kind]) == {name for name, default in plain.items() if default is not inspect.Parameter.empty}
    for name in OTHER[kind]:
        stated = [stated_by(golden / "release")["mechanism"].get(name) for golden in _of_kind(kind)]
        assert len({json.dumps(each) for each in stated}) > 1, name


# A changed default changes nothing


@pytest.fixture
def other_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every default of every mechanism is another one, and so is the number of choices that an open policy pays for."""
    for kind, others in OTHER.items():
        for name, value in others.items():
            monkeypatch.setitem(OURS[kind].__init__.__kwdefaults__, name, value)
            assert inspect.signature(OURS[kind]).parameters[name].default == value
    monkeypatch.setattr("discreet.mechanism.diffgen.planning.settings.DEFAULT_SPECIALIZATIONS", 2)


@every_kind
def test_a_changed_default_does_not_change_what_was_published(kind, other_defaults):
    """It verifies and answers as before."""
    for golden in _of_kind(kind):
        assert not list(_broken(golden))


def test_changed_defaults_do_change_what_is_published(other_defaults, tmp_path):
    """The defaults above are those that publishing takes: without this, the test above could not fail."""
    case = next(case for case in CASES if case.name == "buckets")
    publish(ward_frame(), policy_of(case, tmp_path), tmp_path / "one", seed=1)
    stated = {"fakes": 0, **stated_by(tmp_path / "one")["mechanism"]}
    assert stated.items() >= OTHER["buckets"].items()
    assert {each["size"] for each in stated_by(tmp_path / "one")["classes"]} <= {3, 4, 5, 6}


@pytest.mark.parametrize(("kind", "name"), [("alphabeta", "slots"), ("buckets", "theta"), ("diffgen", "target")])
def test_a_reader_that_fills_in_a_default_of_today_is_noticed(kind, name, monkeypatch, other_defaults):
    """Such a reader is put in place of the true one, for one parameter."""
    family, today = FAMILIES[kind], {"theta": 3, **OTHER[kind]}[name]
    forgetful = replace(family, mechanism=lambda data: replace(family.mechanism(data), **{name: today}))
    monkeypatch.setitem(FAMILIES, kind, forgetful)
    assert [golden for golden in _of_kind(kind) if any(_broken(golden))]


# A changed estimator is noticed


@pytest.mark.parametrize(
    ("kind", "constant", "value"),
    [
        ("buckets", "discreet.estimate.buckets.regression.SPREAD", 0.05),
        ("anatomy", "discreet.estimate.buckets.regression.SPREAD", 0.05),
        ("alphabeta", "discreet.estimate.alphabeta.model._ALONE", 1e-3),
        ("frapp", "discreet.estimate.alphabeta.model._ALONE", 1e-3),
        ("diffgen", "discreet.estimate.diffgen.leaves.LEAST_DEPENDENCE", 0.9),
        ("pairs", "discreet.estimate.diffgen.pairs.answers._WIDER", 2.0),
    ],
)
def test_a_changed_estimator_is_noticed(kind, constant, value, monkeypatch):
    """One of its constants is another, and some golden answers otherwise; its checks hold still."""
    monkeypatch.setattr(constant, value)
    found = next(filter(None, (list(_broken(golden)) for golden in _of_kind(kind))))
    assert all(": answers " in each for each in found)


def test_a_changed_rule_of_the_format_is_noticed(monkeypatch):
    """How many cells DiffGen makes of whole numbers is in no manifest: releases of wide domains depend on it."""
    monkeypatch.setattr("discreet.schema.taxonomy.MOST_CELLS", 100)
    assert any(_broken(HERE / "diffgen-second-wide"))


@pytest.mark.parametrize(
    ("kept", "found", "same"),
    [
        (1.0, 1.0 + 1e-12, True),
        (0.0, 3e-8, True),
        (1000.0, 1000.001, False),
        (1.0, 1, True),
        (1.0, True, False),
        (1, 2, False),
        (1.0, None, False),
        ("people", "records", False),
        ([1.0, 2.0], [1.0], False),
        ({"value": 1.0}, {"value": 1.0, "more": 2.0}, False),
        ({"value": [1.0]}, {"value": [1.1]}, False),
    ],
)
def test_rounding_is_no_difference_and_everything_else_is(kept, found, same):
    """What the comparison above sees."""
    assert (not list(differences(kept, found))) == same


# Words have versions


def _with_one_more_version(monkeypatch: pytest.MonkeyPatch, kind: str) -> int:
    """Register one more version of a family's words, for all its kinds; its number."""
    family = FAMILIES[kind]
    before = family.words[max(family.words)]
    after = Words(
        facts=lambda statement: {**before.facts(statement), "words": "In other words."},
        readme=lambda statement, facts: f"# {facts['words']}\n",
    )
    number = max(family.words) + 1
    changed = replace(family, words={**family.words, number: after})
    for each in family.mechanisms:
        monkeypatch.setitem(FAMILIES, each, changed)
    return number


@every_kind
def test_one_more_version_of_words_leaves_the_goldens_as_they_are(kind, monkeypatch):
    """They are compared with the version that they state."""
    number = _with_one_more_version(monkeypatch, kind)
    for golden in _of_kind(kind):
        assert stated_by(golden / "release")["words"] < number
        assert discreet.verify(golden / "release", allow_seeded=True).holds


@every_kind
def test_a_release_speaks_in_the_newest_words_and_an_older_package_says_so(kind, monkeypatch, tmp_path):
    """It states its version and verifies; a package that does not know it says one sentence."""
    case = next(case for case in CASES if case.mechanism().kind == kind)
    folder = tmp_path / "one"
    with monkeypatch.context() as newer:
        number = _with_one_more_version(newer, kind)
        publish(ward_frame(), policy_of(case, tmp_path), folder)
        assert stated_by(folder)["words"] == number
        assert (folder / README).read_text(encoding="utf-8") == "# In other words.\n"
        assert discreet.verify(folder).holds
    sentence = f"words ({number}) must be a version that is known; update discreet to read it"
    with pytest.raises(discreet.ReleaseError) as raised:
        discreet.open_release(folder)
    assert str(raised.value) == sentence
    assert [(check.name, check.detail) for check in discreet.verify(folder).checks] == [("manifest", sentence)]


# The script


def _make(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(HERE / "make.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script


def test_the_script_has_nothing_left_to_make():
    """Every release that it knows is here, and without a name it touches none of them."""
    done = _make()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_the_script_does_not_make_anew_what_is_there():
    """Not without --again, and then it says what to do; also where one of the same series is named."""
    before = {path: path.stat().st_mtime_ns for golden in GOLDENS for path in golden.rglob("*")}
    for words, old in ((["alphabeta-views-2"], "alphabeta-views-1"), (["--all"], "anatomy")):
        done = _make(*words)
        assert done.returncode == 1
        assert old in done.stderr
        assert "CHANGELOG.md" in done.stderr
    assert {path: path.stat().st_mtime_ns for golden in GOLDENS for path in golden.rglob("*")} == before


@pytest.mark.slow
def test_the_script_makes_one_elsewhere(tmp_path):
    """It verifies and has answers that are its own."""
    done = _make("anatomy", "--to", str(tmp_path))
    assert (done.returncode, done.stdout.split()) == (0, ["anatomy"]), done.stderr
    assert not list(_broken(tmp_path / "anatomy"))
