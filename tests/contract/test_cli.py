"""The command line: every verb does what its help says, exits with 0, 1 or 2, and a mistake is one sentence."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import typer
from cases import usual_series
from commands import PATIENTS, alone, as_json, discreet, mistake, snapshot

from discreet.cli import show

VERBS = ("demo", "check", "plan", "compare", "publish", "verify", "query")
ESTIMATE = {"value", "standard_error", "low", "high", "confidence", "bounds", "conditional_on"}


@pytest.fixture
def house(hospital) -> Path:
    """The custodian's folder: a table and a policy."""
    return hospital


# Help and examples


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_an_example_that_runs(verb, demo, tmp_path):
    """Word for word, on the demo's files."""
    shown = discreet(verb, "--help", cwd=tmp_path).stdout
    example = re.search(r"Example: discreet (.*?)\s*[│\n]", shown)
    assert example, shown
    words = shlex.split(example[1])
    assert words[0] == verb
    house = tmp_path / "house"
    house.mkdir()
    wanted = {"check", "plan", "compare", "publish", "query", "verify"}
    for name in ("hospital.csv", "hospital.toml", "zipcode.csv") if verb in wanted else ():
        shutil.copy(demo / name, house / name)
    if verb in ("verify", "query"):
        shutil.copytree(demo / "release", house / "release")
    before = set(snapshot(house))
    discreet(*words, *(["--patients", PATIENTS] if verb == "demo" else []), cwd=house)
    assert (set(snapshot(house)) != before) == (verb in ("demo", "publish"))


def test_without_a_verb_the_help_names_all_verbs(tmp_path):
    """And nothing happens."""
    shown = discreet("--help", cwd=tmp_path).stdout
    assert all(verb in shown for verb in VERBS)
    assert not list(tmp_path.iterdir())


# Each verb, for people and for programs


def test_demo_tells_the_story_as_json(tmp_path):
    """Verified, with the truth beside every estimate, and nothing is left behind."""
    story = as_json("demo", "--patients", PATIENTS, cwd=tmp_path)
    assert story["verified"] is True
    assert story["rows"] == PATIENTS
    assert sum(each["size"] * each["buckets"] for each in story["classes"]) == PATIENTS
    for question in story["questions"]:
        assert set(question) >= ESTIMATE | {"question", "truth"}
        assert question["bounds"][0] <= question["truth"] <= question["bounds"][1]
    assert not list(tmp_path.iterdir())


def test_demo_keeps_its_files_only_in_a_new_folder(demo):
    """An existing folder is not touched."""
    assert "must not exist" in mistake("demo", "--keep", "hospital", cwd=demo.parent)


def test_check_says_that_all_is_right(house):
    """Without and with the table."""
    assert "the policy is right" in discreet("check", "--policy", "hospital.toml", cwd=house).stdout
    assert "fits" in discreet("check", "hospital.csv", "--policy", "hospital.toml", cwd=house).stdout
    found = as_json("check", "hospital.csv", "-p", "hospital.toml", cwd=house)
    assert (found["ok"], found["problems"]) == (True, [])
    assert "like no other" in found["warnings"][0]


def test_plan_shows_the_buckets_and_writes_nothing(house):
    """With the fields of the design; classes hold every record, and the loss is theirs."""
    before = snapshot(house)
    plan = as_json("plan", "hospital.csv", "--policy", "hospital.toml", cwd=house)
    assert set(plan) >= {"loss", "lower_bound", "proved_optimal", "classes", "records", "tolerance"}
    assert all(set(each) == {"size", "buckets"} for each in plan["classes"])
    assert sum(each["size"] * each["buckets"] for each in plan["classes"]) == plan["records"] == PATIENTS
    assert plan["loss"] == sum(each["buckets"] * (each["size"] - 1) ** 2 for each in plan["classes"])
    assert plan["lower_bound"] <= plan["loss"]
    assert plan["tolerance"]["HIV"] == "1/20"
    assert plan["tolerance"]["Flu"] == "1"
    text = discreet("plan", "hospital.csv", "--policy", "hospital.toml", cwd=house).stdout
    assert f"{plan['loss']:,}" in text
    assert snapshot(house) == before


def test_publish_verify_and_query_follow_each_other(house):
    """The whole way, with copies, and the series stays out of it."""
    published = as_json("publish", "hospital.csv", "--policy", "hospital.toml", "-o", "out", "--csv", cwd=house)
    assert published["rows"] == PATIENTS
    assert {"notion", "words", "adversary", "inequality", "not_covered"} <= set(published["facts"])
    assert usual_series().stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (house / "out" / "data").iterdir()) == [
        "qit.csv",
        "qit.parquet",
        "st.csv",
        "st.parquet",
    ]
    verdict = as_json("verify", "out", cwd=house)
    assert set(verdict) == {"holds", "checks", "not_checkable"}
    assert verdict["holds"] is True
    assert all(set(check) == {"name", "holds", "detail"} and check["holds"] for check in verdict["checks"])
    assert verdict["not_checkable"]
    assert as_json("query", "out", "", cwd=house)["bounds"] == [PATIENTS, PATIENTS]


def test_publish_says_what_is_promised_and_what_is_not(house):
    """And where the key is; the folder may leave the house."""
    shown = discreet("publish", "hospital.csv", "-p", "hospital.toml", "-o", "out", cwd=house).stdout
    assert f"{PATIENTS:,} rows" in shown
    assert "not covered" in shown
    assert str(usual_series()) in shown


def test_publish_refuses_a_changed_table_until_the_risk_is_said(house):
    """Exit 2 with the earlier release and the way out; --new-series goes on and warns."""
    discreet("publish", "hospital.csv", "-p", "hospital.toml", "-o", "one", cwd=house)
    lines = (house / "hospital.csv").read_text().splitlines()
    (house / "fewer.csv").write_text("\n".join(lines[:-1]) + "\n")
    message = mistake("publish", "fewer.csv", "-p", "hospital.toml", "-o", "two", cwd=house)
    assert "one" in message
    assert "--new-series" in message
    shown = discreet("publish", "fewer.csv", "-p", "hospital.toml", "-o", "two", "--new-series", cwd=house).stdout
    assert "note: The custodian has released rows" in shown
    again = discreet("publish", "hospital.csv", "-p", "hospital.toml", "-o", "one", "--replace", cwd=house)
    assert again.returncode == 0
    assert as_json("verify", "two", cwd=house)["holds"]


def test_publish_uses_the_series_it_is_given(house):
    """And no other."""
    discreet("publish", "hospital.csv", "-p", "hospital.toml", "-o", "out", "--series", "own.series", cwd=house)
    assert (house / "own.series").is_file()
    assert not usual_series().exists()


def test_verify_exits_with_1_where_the_promise_does_not_hold(demo, tmp_path):
    """For people in words, for programs with the check that fails."""
    shutil.copytree(demo / "release", tmp_path / "out")
    with (tmp_path / "out" / "README.md").open("a") as file:
        file.write("more\n")
    assert "FAIL hashes" in discreet("verify", "out", cwd=tmp_path, code=1).stdout
    verdict = as_json("verify", "out", cwd=tmp_path, code=1)
    assert verdict["holds"] is False
    assert [check["name"] for check in verdict["checks"] if not check["holds"]] == ["hashes", "words"]


def test_verify_accepts_a_seeded_release_only_when_told(house):
    """A test release is no release."""
    code = (
        "import discreet; p = discreet.Policy.load('hospital.toml'); t = discreet.read_table('hospital.csv', p);"
        "discreet.publish(t, p, to='out', seed=1)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=house, check=True)  # noqa: S603 - our interpreter
    assert "FAIL randomness" in discreet("verify", "out", cwd=house, code=1).stdout
    discreet("verify", "out", "--allow-seeded", cwd=house)


@pytest.fixture(scope="session")
def truth(demo) -> pd.DataFrame:
    return pd.read_csv(demo / "hospital.csv", dtype={"zipcode": str})


def test_query_answers_a_condition(demo, truth):
    """With an interval inside hard bounds that hold the truth; exact where nothing sensitive is asked."""
    answer = as_json("query", "release", "age >= 60 AND disease = 'Hypertension'", cwd=demo)
    assert set(answer) >= ESTIMATE
    real = int(((truth["age"] >= 60) & (truth["disease"] == "Hypertension")).sum())
    assert answer["bounds"][0] <= real <= answer["bounds"][1]
    assert answer["bounds"][0] <= answer["low"] <= answer["high"] <= answer["bounds"][1]
    assert answer["confidence"] == 0.95
    assert (answer["conditional_on"], answer["design"]["conditional_on"]) == ("model", "publisher's coins")
    women = as_json("query", "release", "SELECT COUNT(*) FROM release WHERE gender = 'F'", cwd=demo)
    assert women["bounds"] == [int((truth["gender"] == "F").sum())] * 2
    assert "exactly" in discreet("query", "release", "gender = 'F'", cwd=demo).stdout


def test_query_offers_the_other_estimator_and_another_confidence(demo):
    """The model is called a model, and less confidence is a narrower interval."""
    where = "age < 30 AND disease = 'Asthma'"
    model = as_json("query", "release", where, "--estimator", "uniform", cwd=demo)
    assert model["conditional_on"] == "model"
    wide, narrow = (as_json("query", "release", where, "--confidence", level, cwd=demo) for level in (0.99, 0.5))
    assert narrow["high"] - narrow["low"] < wide["high"] - wide["low"]


def test_query_counts_by_groups(demo, truth):
    """GROUP BY gives a list with the groups' values; the table for people has a line for each."""
    sql = "SELECT gender, zipcode, COUNT(*) FROM release WHERE age < 50 GROUP BY gender, zipcode"
    rows = as_json("query", "release", sql, cwd=demo)
    real = Counter(truth[truth["age"] < 50][["gender", "zipcode"]].itertuples(index=False, name=None))
    assert {(row["gender"], row["zipcode"]): row["bounds"][0] for row in rows if row["bounds"][0]} == dict(real)
    assert all(set(row) >= ESTIMATE | {"gender", "zipcode"} for row in rows)
    by_disease = as_json("query", "release", "SELECT COUNT(*) FROM release GROUP BY disease", cwd=demo)
    assert {row["disease"]: row["bounds"] for row in by_disease} == {
        disease: [count, count] for disease, count in truth["disease"].value_counts().items()
    }
    shown = discreet("query", "release", sql, cwd=demo).stdout
    assert len(shown.strip().splitlines()) == len(rows) + 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_query_takes_public_tables(kind, demo, truth, tmp_path):
    """--aux NAME=FILE for IN (SELECT ...), from CSV and Parquet."""
    public = pd.DataFrame({"years": [30, 31, 32, 90], "kind": ["x", "y", "x", "y"]})
    path = tmp_path / f"ages.{kind}"
    public.to_csv(path, index=False) if kind == "csv" else public.to_parquet(path)
    where = "age IN (SELECT years FROM ages WHERE kind = 'x')"
    answer = as_json("query", "release", where, "--aux", f"ages={path}", cwd=demo)
    assert answer["bounds"] == [int(truth["age"].isin([30, 32]).sum())] * 2


def test_codes_with_leading_zeros_in_a_public_csv_file_are_text(demo, truth, tmp_path):
    """A column in which some cell begins with a zero keeps its zeros; the others stay numbers."""
    some = sorted(truth["zipcode"].unique())[:2]
    rows = "".join(f"{code},{number}\n" for number, code in enumerate([*some, "00001"]))
    (tmp_path / "codes.csv").write_text(f"zip,n\n{rows}", encoding="utf-8")
    where = "zipcode IN (SELECT zip FROM codes WHERE n < 2)"
    answer = as_json("query", "release", where, "--aux", f"codes={tmp_path / 'codes.csv'}", cwd=demo)
    assert answer["bounds"] == [int(truth["zipcode"].isin(some).sum())] * 2


# Mistakes


@pytest.mark.parametrize("verb", ["check", "plan", "publish"])
def test_a_table_that_is_not_there_is_one_sentence(verb, house):
    """Exit 2 and nothing written."""
    more = ["-o", "out"] if verb == "publish" else []
    before = snapshot(house)
    done = discreet(verb, "gone.csv", "--policy", "hospital.toml", *more, cwd=house, code=2)
    assert "gone.csv" in done.stdout + done.stderr
    assert len((done.stdout + done.stderr).strip().splitlines()) == 1
    assert snapshot(house) == before


@pytest.mark.parametrize("verb", ["check", "plan", "publish"])
def test_a_policy_that_is_not_there_is_one_sentence(verb, house):
    """Exit 2 and nothing written."""
    more = ["-o", "out"] if verb == "publish" else []
    before = snapshot(house)
    done = discreet(verb, "hospital.csv", "--policy", "gone.toml", *more, cwd=house, code=2)
    assert "gone.toml" in done.stdout + done.stderr
    assert snapshot(house) == before


def spoil(house: Path) -> dict[int, str]:
    """Make three mistakes in the policy; returns a word of each message by its line."""
    lines = (house / "hospital.toml").read_text().splitlines()
    wrong = {"person =": 'persn = "ssn"', "integers =": "integers = [110, 0]", "theta =": "theta = -8"}
    found = {}
    for start, new in wrong.items():
        (place,) = [i for i, line in enumerate(lines) if line.startswith(start)]
        lines[place] = new
        found[place + 1] = {"person =": "persn", "integers =": "age", "theta =": "theta (-8)"}[start]
    (house / "hospital.toml").write_text("\n".join(lines) + "\n")
    return found


@pytest.mark.parametrize("verb", ["check", "plan", "publish"])
def test_all_mistakes_of_a_policy_come_at_once_with_their_lines(verb, house):
    """A line for each, in the order of the file."""
    expected = spoil(house)
    more = ["-o", "out"] if verb == "publish" else []
    before = snapshot(house)
    done = discreet(verb, "hospital.csv", "--policy", "hospital.toml", *more, cwd=house, code=2)
    said = done.stdout + done.stderr
    numbers = [int(number) for number in re.findall(r"hospital\.toml, line (\d+):", said)]
    assert numbers == sorted(numbers)
    for line, word in expected.items():
        assert re.search(rf"line ({line}|{line - 1}): [^\n]*{re.escape(word)}", said), said
    assert snapshot(house) == before


def test_check_lists_the_mistakes_of_a_policy_as_json(house):
    """With lines as numbers; exit 2."""
    expected = spoil(house)
    told = as_json("check", "--policy", "hospital.toml", cwd=house, code=2)
    assert told["ok"] is False
    for line, word in expected.items():
        assert any(each["line"] in (line, line - 1) and word in each["message"] for each in told["problems"])


@pytest.mark.parametrize("verb", ["check", "plan", "publish"])
def test_a_cell_outside_its_domain_is_counted_and_never_shown(verb, house):
    """The message names the column and how many rows; not the cell, not the person, on no channel and in no format."""
    lines = (house / "hospital.csv").read_text().splitlines()
    for row in (5, 6, 7):
        cells = lines[row].split(",")
        cells[-1] = f'"Qzx{row}secret"'
        lines[row] = ",".join(cells)
    person = lines[5].split(",")[0].strip('"')
    (house / "hospital.csv").write_text("\n".join(lines) + "\n")
    more = ["-o", "out"] if verb == "publish" else []
    before = snapshot(house)
    for form in ([], ["--json"]):
        done = discreet(verb, "hospital.csv", "--policy", "hospital.toml", *more, *form, cwd=house, code=2)
        said = done.stdout + done.stderr
        assert f"disease is outside its domain in 3 of {PATIENTS:,} rows" in said
        assert "Qzx" not in said
        assert person not in said
        if form:
            json.loads(done.stdout)
    assert snapshot(house) == before


def test_an_infeasible_tolerance_names_the_value_and_a_remedy(house):
    """Exit 2: no plan keeps it, and what would do."""
    text = (house / "hospital.toml").read_text()
    (house / "hospital.toml").write_text(text.replace("HIV = 0.05", "HIV = 0.0001"))
    for verb, more in (("plan", []), ("publish", ["-o", "out"])):
        message = mistake(verb, "hospital.csv", "--policy", "hospital.toml", *more, cwd=house)
        assert "HIV" in message
        assert "would do" in message


def test_json_is_asked_for_and_given_also_for_a_mistake(house):
    """{"error": ...} on standard output, exit 2."""
    told = as_json("plan", "gone.csv", "--policy", "hospital.toml", cwd=house, code=2)
    assert "gone.csv" in told["error"]


@pytest.mark.parametrize("json_too", [False, True])
def test_publish_does_not_overwrite(json_too, house):
    """A folder of that name stays, with --replace too if it is no release."""
    (house / "out").mkdir()
    (house / "out" / "mine.txt").write_text("x")
    for more in ([], ["--replace"]):
        before = snapshot(house)
        done = discreet(
            "publish", "hospital.csv", "-p", "hospital.toml", "-o", "out", *more, *(["--json"] if json_too else []),
            cwd=house, code=2,
        )  # fmt: skip
        assert "out" in done.stdout + done.stderr
        assert snapshot(house) == before


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("ages > 30", "did you mean age?"),
        ("ssn = '1'", "column ssn does not exist"),
        ("name = 'Ada'", "column name does not exist"),
        ("BID = 1", "column BID does not exist"),
        ("disease = 'HIVV'", "did you mean HIV?"),
        ("age = 200", "from 0 to 110"),
        ("age >", "cannot be read"),
        ("SELECT SUM(disease) FROM release", "disease holds text, so it has no SUM"),
        ("1 = 1; DROP TABLE qit", "no other statement"),
        ("age IN (SELECT x FROM public)", "public was not handed in"),
        ("age = (SELECT 1)", "cannot be answered"),
        ("'a' = read_text('/etc/passwd')", "cannot be answered"),
        ("SELECT COUNT(*) FROM 'other.parquet'", "FROM"),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_sentence(question, words, demo):
    """Exit 2, with the nearest that can be."""
    message = mistake("query", "release", question, cwd=demo)
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "option",
    [
        ["--estimator", "best"],
        ["--confidence", "2"],
        ["--confidence", "nan"],
        ["--aux", "gone"],
        ["--aux", "a=gone.csv"],
    ],
)
def test_a_wrong_option_is_one_sentence(option, demo):
    """Exit 2."""
    assert "\n" not in mistake("query", "release", "age > 3", *option, cwd=demo)


@pytest.mark.parametrize(
    "words", [["verify", "gone"], ["query", "gone", "age > 3"], ["query", "hospital.csv", "age > 3"]]
)
def test_a_release_that_is_not_there_is_one_sentence(words, demo):
    """Exit 2: there is nothing to verify or to ask."""
    assert "must be a folder" in mistake(*words, cwd=demo)


def test_a_folder_that_is_no_release_is_told_from_one(demo, tmp_path):
    """verify says that it does not hold (1), query that it cannot be asked (2)."""
    (tmp_path / "empty").mkdir()
    assert "FAIL manifest" in discreet("verify", "empty", cwd=tmp_path, code=1).stdout
    assert "datapackage.json" in mistake("query", "empty", "age > 3", cwd=tmp_path)


def test_a_wrong_word_is_told_by_exit_2(tmp_path):
    """Unknown verbs and options."""
    discreet("publsh", cwd=tmp_path, code=2)
    discreet("plan", "--polcy", "x", cwd=tmp_path, code=2)


# Releases and terminals made to hurt


@pytest.mark.parametrize("text", ["\ud800", "\x1b]0;owned\x07\x1b[2J", "[bold red]x[/]", ":x:"])
def test_what_a_release_says_is_shown_as_text(text, demo, tmp_path):
    """Signs that a terminal would obey, or that cannot be printed, come out harmless: exit 1, no traceback."""
    shutil.copytree(demo / "release", tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    manifest["discreet"]["format"] = text
    (tmp_path / "out" / "datapackage.json").write_text(json.dumps(manifest))
    for form in ([], ["--json"]):
        shown = discreet("verify", "out", *form, cwd=tmp_path, code=1).stdout
        assert "\x1b" not in shown
        assert "\x07" not in shown
        if text.isprintable():
            assert text in shown


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_an_answer(demo, tmp_path):
    """Bars and names may be written otherwise, but they are written."""
    sql = "SELECT COUNT(*) FROM release GROUP BY disease"
    alone("query", "release", sql, cwd=demo, PYTHONIOENCODING="ascii")
    alone("demo", "--patients", PATIENTS, cwd=tmp_path, PYTHONIOENCODING="ascii")


@pytest.mark.slow
def test_the_installed_command_is_the_same(demo):
    """`discreet` itself: exit codes 0, 1 and 2 of a process of its own."""
    alone("verify", "release", cwd=demo)
    alone("verify", ".", cwd=demo, code=1)
    alone("verify", "gone", cwd=demo, code=2)


@pytest.mark.parametrize("confidence", ["0.9999999999999999", "1", "0", "nan", "-1"])
def test_a_confidence_that_no_interval_can_have_is_one_sentence(confidence, demo):
    """As near to certain as numbers come is refused too."""
    done = discreet(
        "query", demo / "release", "age > 50 AND disease = 'HIV'", "--confidence", confidence, cwd=demo, code=2
    )
    assert "confidence" in done.stdout + done.stderr


def test_a_fault_of_the_program_is_one_sentence_without_what_it_says(monkeypatch, capsys):
    """For that may quote a cell; who asks for it is shown where it was."""

    @show.guarded
    def verb(*, as_json: bool = False) -> None:
        raise KeyError("Ada Brook")

    with pytest.raises(typer.Exit) as ended:
        verb()
    assert ended.value.exit_code == 2
    said = capsys.readouterr()
    assert "KeyError" in said.err
    assert "Ada" not in said.out + said.err
    monkeypatch.setenv("DISCREET_TRACEBACK", "1")
    with pytest.raises(KeyError):
        verb()
