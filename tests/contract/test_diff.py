"""What `discreet diff` says about two releases or two policies, and what it does with a stranger's files."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import cases
import numpy as np
import pandas as pd
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.release.alike import domain_change
from discreet.release.buckets.strength import Rule, meaning
from discreet.release.difference import differences, policy_content
from discreet.schema.domain import Integers, Listed

POLICY = """\
version = 1
[table]
identifiers = ["name"]
quasi_identifiers = ["age", "gender"]
sensitive = "disease"
person = "name"
[domains.age]
integers = [0, 110]
[domains.gender]
values = ["F", "M"]
[domains.disease]
values = ["Flu", "HIV", "Asthma", "Gout"]
[mechanism]
kind = "buckets"
sizes = "two"
max_size = 50
[mechanism.tolerance]
theta = 2
floor = 0.1
values = { HIV = 0.25, Flu = 1 }
"""


def run(*words: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `discreet diff ...`."""
    done = CliRunner().invoke(app, ["diff", *map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def found(*words: object) -> list[dict[str, object]]:
    code, out, _ = run(*words, "--json")
    assert code == 0, out
    return json.loads(out)


def policies(folder: Path, *edits: tuple[str, str]) -> tuple[Path, Path]:
    """The policy, and the policy with these texts replaced."""
    changed = POLICY
    for old, new in edits:
        assert old in changed
        changed = changed.replace(old, new)
    paths = folder / "a.toml", folder / "b.toml"
    for path, text in zip(paths, (POLICY, changed), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def frame(rows: int = 200, seed: int = 3) -> pd.DataFrame:
    coins = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"Zyx {i}" for i in range(rows)],
            "age": coins.integers(0, 100, rows),
            "gender": coins.choice(["F", "M"], rows),
            "disease": coins.choice(["Flu", "HIV", "Asthma", "Gout"], rows, p=[0.4, 0.1, 0.3, 0.2]),
        }
    )


def publish(policy: Path, to: Path, rows: pd.DataFrame | None = None, **options: object) -> Path:
    return cases.publish(frame() if rows is None else rows, discreet.Policy.load(policy), to, **{"seed": 1, **options})


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    return publish(policies(folder)[0], folder / "release")


def stranger(release: Path, folder: Path, edit) -> Path:
    """A copy of the manifest alone, edited: there is no other file to read."""
    folder.mkdir()
    manifest = json.loads((release / "datapackage.json").read_text(encoding="utf-8"))
    edit(manifest)
    (folder / "datapackage.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


# Two policies


def test_a_policy_says_the_same_as_itself(tmp_path):
    """Comments, layout and another way to write a number are no difference."""
    a, b = policies(tmp_path, ("floor = 0.1", "floor = '1/10'   # a tenth"))
    assert found(a, b) == []
    assert "two policies that say the same" in run(a, b)[1]


EDITS = [
    ("HIV = 0.25", "HIV = 0.5", {"what": "tolerance of HIV", "a": "1/4", "b": "1/2", "meaning": "weaker"}),
    ("HIV = 0.25", "HIV = 0.2", {"what": "tolerance of HIV", "a": "1/4", "b": "1/5", "meaning": "stronger"}),
    ("theta = 2", "theta = 3", {"what": "theta", "a": "2", "b": "3", "meaning": "weaker for"}),
    ("floor = 0.1", "floor = 0.05", {"what": "floor", "a": "1/10", "b": "1/20", "meaning": "stronger for"}),
    ("max_size = 50", "max_size = 60", {"what": "max_size", "a": 50, "b": 60, "meaning": "the promise does not"}),
    ('sizes = "two"', 'sizes = "one"', {"what": "sizes", "a": "two", "b": "one", "meaning": "bucket sizes"}),
    (
        "max_size = 50",
        "max_size = 50\nknown = 2",
        {"what": "known", "a": None, "b": 2, "meaning": "stronger against who knows others"},
    ),
    (
        "max_size = 50",
        "max_size = 50\nfakes = 1",
        {"what": "fakes", "a": None, "b": 1, "meaning": "the promise does not depend on it. One who knows all others"},
    ),
    ("[0, 110]", "[0, 112]", {"what": "domain of age", "b": "0 to 112", "meaning": "2 added (111, 112)"}),
    ("[0, 110]", "[18, 110]", {"what": "domain of age", "meaning": "18 removed (0, 1, 2, 3, 4 and 13 more)"}),
    ('"Asthma", "Gout"', '"Asthma", "Gout", "Cold"', {"what": "domain of disease", "meaning": "1 added (Cold)"}),
    ('["F", "M"]', '["M", "F"]', {"what": "domain of gender", "meaning": "the same values in another order"}),
    ("[0, 110]", '[0, 110]\nmissing = "category"', {"what": "domain of age", "meaning": "1 added ((missing))"}),
    ('["age", "gender"]', '["gender", "age"]', {"what": "order of columns", "meaning": "another order"}),
    ('identifiers = ["name"]', "identifiers = []", {"what": "name", "a": "identifier", "b": None, "meaning": "B does"}),
    ('person = "name"\n', "", {"what": "person", "a": "name", "b": None, "meaning": "is not checked"}),
]


def test_less_known_is_weaker_and_fewer_fakes_leave_one_more_certain(tmp_path):
    """The other way round than above; of fakes it is said that they are no part of the promise."""
    policies(tmp_path, ("max_size = 50", "max_size = 50\nknown = 2\nfakes = 3"))
    (tmp_path / "b.toml").rename(tmp_path / "more.toml")
    _, less = policies(tmp_path, ("max_size = 50", "max_size = 50\nknown = 1\nfakes = 1"))
    known, fakes = found(tmp_path / "more.toml", less)
    assert (known["a"], known["b"]) == (2, 1)
    assert known["meaning"].startswith("weaker against who knows others")
    assert "is more certain as a rule" in fakes["meaning"]
    assert "the promise does not depend on it" in fakes["meaning"]


def test_two_releases_with_fakes_say_which_leaves_one_less_certain(tmp_path):
    """By the stated numbers; people are shown by value."""
    kinds = [*"ABCDEFGH"]
    rows = frame(2_000).assign(disease=np.random.default_rng(4).choice(kinds, 2_000))
    edits = [
        ('["Flu", "HIV", "Asthma", "Gout"]', json.dumps(kinds)),
        ("theta = 2\nfloor = 0.1\nvalues = { HIV = 0.25, Flu = 1 }", "floor = 0.25"),
    ]
    paths = []
    for number in (1, 2):
        _, policy = policies(tmp_path, *edits, ("max_size = 50", f"max_size = 50\nslack = 0\nfakes = {number}"))
        paths.append(publish(policy, tmp_path / str(number), rows[number * 100 :]))
    differences = {each["what"]: each for each in found(*paths)}
    one, two = (Fraction(differences["certainty"][side]) for side in "ab")
    assert one > two
    assert "B leaves one who knows all others of a bucket less certain at most" in differences["certainty"]["meaning"]
    assert "no part of the promise" in differences["certainty"]["meaning"]
    assert "how many people have each value" in differences["people"]["meaning"]


@pytest.mark.parametrize(("old", "new", "expected"), EDITS, ids=[f"{old} -> {new}" for old, new, _ in EDITS])
def test_one_change_of_a_policy_is_one_difference(old, new, expected, tmp_path):
    """It names the thing, gives both sides, and says what it means; in words it says the same."""
    a, b = policies(tmp_path, (old, new))
    [difference] = found(a, b)
    assert set(difference) == {"what", "a", "b", "meaning"}
    assert expected["meaning"] in difference["meaning"]
    assert {key: difference[key] for key in expected if key != "meaning"} | {"meaning": ""} == expected | {
        "meaning": ""
    }
    code, words, _ = run(a, b)
    assert code == 0
    assert "two policies with 1 difference\n" in words
    assert difference["meaning"] in words


def test_a_tolerance_is_shown_in_percent(tmp_path):
    """As a person would say it."""
    assert "  HIV: 25 % -> 50 %, weaker\n" in run(*policies(tmp_path, ("HIV = 0.25", "HIV = 0.5")))[1]


def test_tolerances_that_look_alike_in_percent_are_shown_exactly(tmp_path):
    """A difference never reads as if there were none."""
    words = run(*policies(tmp_path, ("HIV = 0.25", "HIV = 0.2500001")))[1]
    assert "  HIV: 1/4 -> 2500001/10000000, weaker\n" in words


def test_weaker_tolerances_come_first_and_the_rest_are_counted(tmp_path):
    """Of many values a person sees the first few and how many are stronger or weaker."""
    names = [f"v{i:02d}" for i in range(20)]
    listed, limits = json.dumps(names), ", ".join(f"{name} = 0.5" for name in names)
    lower = limits.replace("0.5", "0.4").replace("v17 = 0.4", "v17 = 0.6")
    base = POLICY.replace('["Flu", "HIV", "Asthma", "Gout"]', listed)
    paths = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for path, each in zip(paths, (limits, lower), strict=True):
        path.write_text(base.replace("HIV = 0.25, Flu = 1", each), encoding="utf-8")
    words = run(*paths)[1].splitlines()
    start = words.index("tolerances")
    assert words[start + 1] == "  v17: 50 % -> 60 %, weaker"
    assert words[start + 9] == "  and 12 more: 12 stronger"
    assert len(found(*paths)) == 20


def test_a_column_that_becomes_public_is_named(tmp_path):
    """From identifier to quasi-identifier, and from sensitive to public: what B does with it is said."""
    a, b = policies(
        tmp_path,
        ('identifiers = ["name"]', "identifiers = []"),
        ('person = "name"\n', ""),
        ('["age", "gender"]', '["age", "gender", "name"]'),
        ("[domains.gender]", '[domains.name]\nvalues = ["x"]\n[domains.gender]'),
    )
    first = found(a, b)[0]
    assert first == {"what": "name", "a": "identifier", "b": "quasi-identifier", "meaning": "B publishes it as it is"}


def test_other_sensitive_columns_have_no_tolerances_to_compare(tmp_path):
    """The columns' roles differ; a tolerance of one column is not set against that of another."""
    a, b = policies(
        tmp_path,
        ('["age", "gender"]', '["age", "disease"]'),
        ('sensitive = "disease"', 'sensitive = "gender"'),
        ("HIV = 0.25, Flu = 1", "F = 0.6"),
    )
    entries = {entry["what"]: entry for entry in found(a, b)}
    assert entries["gender"]["b"] == "sensitive"
    assert entries["disease"]["b"] == "quasi-identifier"
    assert not [what for what in entries if what.startswith("tolerance")]


def test_a_value_of_one_policy_only_has_its_tolerance_on_one_side(tmp_path):
    """A new value with a tolerance of its own is a new value, not a weaker promise."""
    a, b = policies(tmp_path, ('"Asthma", "Gout"', '"Asthma", "Gout", "Cold"'), ("Flu = 1", "Flu = 1, Cold = 0.3"))
    entry = next(entry for entry in found(a, b) if entry["what"] == "tolerance of Cold")
    assert entry == {"what": "tolerance of Cold", "a": None, "b": "3/10", "meaning": "only B has this value"}


@settings(max_examples=few(150), deadline=None)
@given(
    theta=st.fractions(0, 4, max_denominator=8),
    floor=st.fractions(0, 1, max_denominator=10),
    limit=st.fractions(0, 1, max_denominator=10).filter(bool),
)
def test_a_rule_beside_a_fixed_tolerance_is_judged_right_for_every_share(theta, floor, limit):
    """Where the words say weaker the rule allows more at that share, and never less."""
    if not theta or floor == 1:
        return
    words = meaning(limit, Rule(theta=theta, floor=floor))
    turn = (limit - floor) / theta
    for share in (Fraction(i, 24) for i in range(25)):
        side = min(Fraction(1), theta * share + floor) - limit
        if words.startswith("weaker"):
            assert side > 0 or (side == 0 and share == 0 and "the same" in words)
        elif words == "stronger":
            assert side < 0
        else:
            assert words.startswith("stronger where its share is below")
            assert (side < 0) == (share < turn)
            assert side <= 0 or words.endswith("weaker or the same")


SMALL = st.one_of(
    st.builds(
        lambda low, span, missing: Integers(low=low, high=low + span, missing=missing),
        st.integers(-3, 3),
        st.integers(0, 6),
        st.booleans(),
    ),
    st.builds(
        lambda values, missing: Listed(values=tuple(values), missing=missing),
        st.one_of(
            st.lists(st.integers(-3, 9), min_size=1, max_size=7, unique=True),
            st.lists(st.sampled_from(["a", "b", "1", "2"]), min_size=1, unique=True),
        ),
        st.booleans(),
    ),
)


@settings(max_examples=few(300), deadline=None)
@given(before=SMALL, after=SMALL)
def test_what_a_domain_gained_and_lost_is_counted_like_sets(before, after):
    """However the domains are declared; nothing is said exactly where they are the same."""
    words = domain_change(before, after)
    for verb, ours, theirs in (("added", after, before), ("removed", before, after)):
        only = set(ours) - set(theirs)
        assert (f"{len(only)} {verb}" in words) == bool(only)
    assert (words == "") == (before == after)


@settings(max_examples=few(60), deadline=None)
@given(edits=st.sets(st.sampled_from([(old, new) for old, new, _ in EDITS[1:]]), max_size=4))
def test_seen_from_the_other_side_a_and_b_change_places(edits):
    """The same things differ, whichever is named first."""
    text = POLICY
    for old, new in sorted(edits):
        text = text.replace(old, new)
    contents = [policy_content(_parsed(each)) for each in (POLICY, text)]
    there, back = differences(*contents), differences(*reversed(contents))
    assert {(each.what, str(each.a), str(each.b)) for each in there} == {
        (each.what, str(each.b), str(each.a)) for each in back
    }
    assert bool(there) == (text != POLICY)


def _parsed(text: str) -> discreet.Policy:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.toml"
        path.write_text(text, encoding="utf-8")
        return discreet.Policy.load(path)


# Two releases


def test_a_release_is_the_same_as_its_copy(release, tmp_path):
    """By what they state and by the hashes; the folder's name does not matter."""
    shutil.copytree(release, tmp_path / "copy")
    assert found(release, tmp_path / "copy") == []
    assert "the same release: what they state and every stated hash is the same\n" in run(release, tmp_path / "copy")[1]


def test_csv_copies_do_not_make_another_release(release, tmp_path):
    """The copies are named; the release is the same."""
    with_csv = publish(policies(tmp_path)[0], tmp_path / "csv", csv=True)
    assert {entry["what"] for entry in found(release, with_csv)} == {"data/qit.csv", "data/st.csv"}
    assert "; only copies differ" in run(release, with_csv)[1]


def test_the_same_rows_under_other_coins_are_not_the_same_release(release, tmp_path):
    """Only the bytes differ, and the words say what that may cost the people in both."""
    other = publish(policies(tmp_path)[0], tmp_path / "other", seed=2)
    entries = {entry["what"]: entry for entry in found(release, other)}
    assert set(entries) == {"data/qit.parquet", "data/st.parquet"}
    assert "no promise covers what both give away together" in entries["data/qit.parquet"]["meaning"]
    assert "not the same release" in run(release, other)[1]


def test_rows_classes_loss_promise_and_facts_are_compared(release, tmp_path):
    """Of a smaller table under a stricter policy, every number that the manifests state."""
    policy = policies(tmp_path, ("HIV = 0.25", "HIV = 0.2"))[1]
    other = publish(policy, tmp_path / "other", frame(150))
    entries = {entry["what"]: entry for entry in found(release, other)}
    assert entries["rows"] == {"what": "rows", "a": 200, "b": 150, "meaning": "50 fewer"}
    assert entries["tolerance of HIV"] == {"what": "tolerance of HIV", "a": "1/4", "b": "1/5", "meaning": "stronger"}
    assert entries["loss"]["meaning"].endswith("but of another number of rows")
    assert "rows a bucket on average" in entries["classes"]["meaning"]
    assert "20 %" in entries["fact: words"]["b"]
    assert "HIV: 25 % -> 20 %, stronger" in run(release, other)[1]


def test_a_seeded_release_beside_a_secret_one_protects_nobody(release, tmp_path):
    """Randomness is a difference, with the side that is worse."""
    secret = publish(policies(tmp_path)[0], tmp_path / "secret", seed=None, series=tmp_path / "s.series")
    entry = next(entry for entry in found(secret, release) if entry["what"] == "randomness")
    assert (entry["a"], entry["b"]) == ("secure", "seeded")
    assert entry["meaning"].startswith("B: anyone can toss these coins again")


def test_a_continued_series_is_a_difference(release, tmp_path):
    """The flag, the warning in the facts, and who said so."""

    def edit(manifest):
        manifest["discreet"]["continued"] = True
        manifest["discreet"]["facts"]["warning"] = "There was one before."

    entries = {entry["what"]: entry for entry in found(release, stranger(release, tmp_path / "b", edit))}
    assert set(entries) == {"continued", "fact: warning"}
    assert entries["continued"]["meaning"].startswith("B says that its custodian published")
    assert entries["fact: warning"] == {
        "what": "fact: warning",
        "a": None,
        "b": "There was one before.",
        "meaning": "stated in one only",
    }


def test_a_tolerance_that_is_only_named_otherwise_is_told_apart_from_a_weaker_one(release, tmp_path):
    """The promise is the same and the words say so."""

    def edit(manifest):
        del manifest["discreet"]["mechanism"]["tolerance"]["values"]["Flu"]

    [entry] = found(release, stranger(release, tmp_path / "b", edit))
    assert entry["what"] == "tolerance named for Flu"
    assert entry["meaning"] == "the promised tolerance is the same"


def test_every_key_of_the_block_is_compared(release, tmp_path):
    """Whatever the block states, another statement is a difference: nothing is passed over."""
    block = json.loads((release / "datapackage.json").read_text(encoding="utf-8"))["discreet"]
    changed = {
        "version": "9.9",
        "mechanism": {"kind": "anatomy", "l": 3},
        "schema": {**block["schema"], "domains": {**block["schema"]["domains"], "age": {"integers": [0, 9]}}},
        "guarantee": {**block["guarantee"], "tolerance": [["HIV", "1/9"]]},
        "facts": {},
        "rows": 7,
        "classes": [{"size": 1, "buckets": 1}],
        "loss": 1,
        "unprotected": [["HIV", 3]],
        "kept_slack": "1/7",
        "continued": True,
        "randomness": "secure",
        "readme": "sha256:0",
    }
    assert set(changed) | {"format", "words"} == set(block)
    for number, (key, value) in enumerate(changed.items()):
        other = stranger(release, tmp_path / str(number), lambda each, k=key, v=value: each["discreet"].update({k: v}))
        assert found(release, other), key
        assert "not the same release" in run(release, other)[1]


# Bad input


def test_only_two_of_a_kind_are_compared(release, tmp_path):
    """A release beside a policy is exit 2 and one sentence, also as JSON."""
    policy, _ = policies(tmp_path)
    code, out, err = run(release, policy)
    assert (code, out) == (2, "")
    assert "A is a release and B is a policy" in err
    code, out, _ = run(policy, release, "--json")
    assert code == 2
    assert "compare two of a kind" in json.loads(out)["error"]


@pytest.mark.parametrize("kind", ["nothing", "folder", "text", "policy", "json", "link"])
def test_what_is_neither_release_nor_policy_is_refused(kind, release, tmp_path):
    """In one sentence, on either side, with exit 2 and no traceback."""
    good, bad = policies(tmp_path)[0], tmp_path / "bad"
    if kind == "text":
        bad.write_text("hello", encoding="utf-8")
    elif kind == "policy":
        bad.write_text(POLICY.replace("version = 1", "version = 7"), encoding="utf-8")
    elif kind != "nothing":
        good = release
        bad.mkdir()
        if kind == "json":
            (bad / "datapackage.json").write_text('{"discreet": {"format": 99}}', encoding="utf-8")
        if kind == "link":
            (bad / "datapackage.json").symlink_to(release / "datapackage.json")
    for pair in ((good, bad), (bad, good)):
        code, out, err = run(*pair)
        assert (code, out) == (2, "")
        assert err.startswith("discreet: ")
        assert "Traceback" not in err


# A release is a stranger's


def test_only_the_manifest_is_read(release, tmp_path):
    """No data file is opened: a folder with the manifest alone compares like the whole."""
    assert found(release, stranger(release, tmp_path / "alone", lambda manifest: None)) == []


HOSTILE = {
    "escape": lambda block: block["facts"].update(words="\x1b[2J\x1b]0;owned\x07 \u009b31m \u202e"),
    "surrogate": lambda block: block["facts"].update({"words": "\ud800", "\udfff": 1}),
    "markup": lambda block: block.update(version="[bold red]x[/bold red] [link=file:///etc/passwd]y[/link]"),
    "wide": lambda block: block["schema"]["domains"].update(age={"integers": [-(2**52), 2**52]}),
    "name": lambda block: block["schema"].update(
        quasi_identifiers=["\x1b[31m", "gender"],
        domains={"\x1b[31m": {"integers": [0, 1]}, **{k: block["schema"]["domains"][k] for k in ("gender", "disease")}},
    ),
    "objects": lambda block: block["facts"].update(words={"a": [1, {"b": None}]}, not_covered=[[], {}, 1.5]),
}


REFUSED = {
    "exponent": lambda block: block["mechanism"]["tolerance"].update(theta="1e999999999"),
    "digits": lambda block: block["mechanism"]["tolerance"].update(floor="1/" + "9" * 4000),
    "zero": lambda block: block["mechanism"]["tolerance"].update(floor="1/0"),
    "no tolerance": lambda block: block["mechanism"].update(tolerance=[1, 2]),
    "numbers": lambda block: block["mechanism"].update(max_size=float("nan"), sizes=float("inf")),
    "another type": lambda block: block["mechanism"].update(max_size=50.0),
    "other coins": lambda block: block.update(randomness="\x1b[2Jthrown"),
}


@pytest.mark.parametrize("edit", REFUSED.values(), ids=REFUSED)
def test_what_no_release_states_is_refused_in_a_sentence(edit, release, tmp_path):
    """Parameters that are none are not compared: exit 2, nothing on standard output, no traceback."""
    other = stranger(release, tmp_path / "b", lambda manifest: edit(manifest["discreet"]))
    for pair in ((release, other), (other, release)):
        code, out, err = run(*pair)
        assert (code, out) == (2, "")
        assert err.startswith("discreet: ")
        assert all(sign.isprintable() or sign == "\n" for sign in err)


@pytest.mark.parametrize("edit", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_manifest_is_shown_as_plain_text_and_valid_json(edit, release, tmp_path):
    """Nothing in it moves the cursor, hangs, crashes or vanishes."""
    other = stranger(release, tmp_path / "b", lambda manifest: edit(manifest["discreet"]))
    for pair in ((release, other), (other, release)):
        code, words, _ = run(*pair)
        assert code == 0
        assert "not the same release" in words
        assert all(sign.isprintable() or sign == "\n" for sign in words)
        code, out, _ = run(*pair, "--json")
        assert code == 0
        entries = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert entries
        assert all(sign.isprintable() for sign in json.dumps(entries, ensure_ascii=False))


def test_markup_in_a_manifest_is_shown_as_it_stands(release, tmp_path):
    """Brackets of a stranger are letters, not colours or links."""
    other = stranger(release, tmp_path / "b", lambda manifest: HOSTILE["markup"](manifest["discreet"]))
    assert "[bold red]x[/bold red] [link=file:///etc/passwd]y[/link]" in run(release, other)[1]


@pytest.mark.parametrize("words", ["\x1b[2J", "\ud800", "\u202e"])
def test_an_error_about_a_hostile_manifest_is_plain_text_too(words, release, tmp_path):
    """What is quoted from a stranger's file is spelt out, also in the sentence that refuses it, also as JSON."""
    other = stranger(release, tmp_path / "b", lambda manifest: manifest["discreet"].update(format=words))
    code, _, err = run(release, other)
    assert code == 2
    assert all(sign.isprintable() or sign == "\n" for sign in err)
    assert words.encode("unicode_escape").decode() in err
    code, out, _ = run(release, other, "--json")
    assert code == 2
    assert words in json.loads(out)["error"]


def test_a_manifest_that_nests_too_deep_is_refused(release, tmp_path):
    """In one sentence, before anything recurses into it."""

    def edit(manifest):
        deep: list[object] = []
        for _ in range(300):
            deep = [deep]
        manifest["discreet"]["facts"]["words"] = deep

    code, _, err = run(release, stranger(release, tmp_path / "b", edit))
    assert code == 2
    assert re.search(r"nests at most \d+ deep", err)


@pytest.mark.parametrize("kind", ["other", True, None, ["buckets"]])
def test_a_mechanism_of_an_unknown_kind_is_one_sentence(kind, release, tmp_path):
    """Nobody can say what such a release must hold."""
    other = stranger(release, tmp_path / "b", lambda manifest: manifest["discreet"]["mechanism"].update(kind=kind))
    code, words, errors = run(release, other)
    assert code == 2
    assert "must be of a kind that is known: buckets, anatomy, alphabeta" in words + errors
