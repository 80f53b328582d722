"""Asking on the command line: several questions at once, CSV, units beside numbers, and output that stays whole."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from commands import ENVIRONMENT, alone, as_json, discreet, mistake
from typer.testing import CliRunner

from discreet.cli.demo import NEXT
from discreet.cli.main import app
from discreet.estimate.buckets.unbiased import Unbiased
from discreet.estimate.open import open_release

GOLDENS = Path(__file__).parents[1] / "golden"
QUESTIONS = (
    "gender = 'F'",
    "disease = 'Hypertension' AND age > 60",
    "SELECT gender, COUNT(*) FROM release WHERE disease = 'Asthma' GROUP BY gender",
    "TRUE",
)
GROUPED = "SELECT disease, gender, COUNT(*) FROM release WHERE age > 30 GROUP BY disease, gender"


@pytest.fixture
def asked(tmp_path) -> Path:
    """A file of questions, with comments and blank lines."""
    path = tmp_path / "questions.txt"
    path.write_text("# everyone\n\n" + "\n\n  # more\n".join(QUESTIONS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def house(hospital) -> Path:
    """The custodian's folder: a table and a policy."""
    return hospital


def _table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _flat(estimate: dict[str, Any], before: str = "") -> dict[str, str]:
    """The fields of an estimate as CSV has them."""
    found: dict[str, str] = {}
    for name, value in estimate.items():
        if name == "bounds":
            found |= {f"{before}bounds_low": str(value[0]), f"{before}bounds_high": str(value[1])}
        elif name == "design":
            found |= _flat(value, "design_") if value else {}
        else:
            found[before + name] = "" if value is None else str(value)
    return found


# Several questions


def test_answers_come_in_the_order_of_the_questions(asked, demo):
    """As JSON: each is what the question alone gives."""
    found = as_json("query", "release", "--questions", asked, cwd=demo)
    assert [each["question"] for each in found] == list(QUESTIONS)
    for each in found:
        alone_it_gives = as_json("query", "release", each.pop("question"), cwd=demo)
        assert each.get("groups", each) == alone_it_gives


def test_answers_for_people_follow_their_questions(asked, demo):
    """The text of each question stands above what the question alone shows."""
    shown = discreet("query", "release", "--questions", asked, cwd=demo).stdout
    expected = [line for each in QUESTIONS for line in (each, discreet("query", "release", each, cwd=demo).stdout)]
    assert shown == "".join(line if line.endswith("\n") else f"{line}\n" for line in expected)


def test_questions_are_read_from_standard_input(asked, demo):
    """`-` is the file's name."""
    done = CliRunner().invoke(
        app, ["query", str(demo / "release"), "--questions", "-", "--json"], input=asked.read_bytes()
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.output) == as_json("query", "release", "--questions", asked, cwd=demo)


def test_questions_share_the_passes(asked, demo, monkeypatch):
    """All that have no GROUP BY are one call of the estimator."""
    calls: list[int] = []
    real = Unbiased.estimates

    def counted(self: Unbiased, asked: Any, confidence: float) -> Any:
        calls.append(len(asked.conditions))
        return real(self, asked, confidence)

    monkeypatch.setattr(Unbiased, "estimates", counted)
    with open_release(demo / "release") as release:
        release.query_many(QUESTIONS, estimator="unbiased")
    assert calls == [3, 2]


def test_every_wrong_question_is_named_by_its_line_before_one_is_answered(demo, tmp_path):
    """Exit 2, all of them at once, and nothing on standard output."""
    path = tmp_path / "wrong.txt"
    path.write_text("gender = 'F'\n# no\nages > 3\n\nSELECT MAX(age) FROM release\n", encoding="utf-8")
    for form in ([], ["--csv"]):
        first, second = mistake("query", "release", "--questions", path, *form, cwd=demo).splitlines()
        assert first.startswith("wrong.txt, line 3: column ages does not exist; did you mean age?")
        assert second.startswith("wrong.txt, line 5: MAX cannot be answered")


def test_too_many_groups_are_told_before_anything_is_answered(tmp_path):
    """Asking whether a question is answered goes the same way as answering it."""
    path = tmp_path / "wide.txt"
    path.write_text(
        "TRUE\nSELECT COUNT(*) FROM release GROUP BY age, visits, gender, postcode, disease\n", encoding="utf-8"
    )
    release = GOLDENS / "diffgen-words-3" / "release"
    assert "line 2: GROUP BY gives" in mistake("query", release, "--questions", path, cwd=tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must have a question"),
        (b"# only\n\n  # comments\n", "must have a question"),
        (b"gender = 'F'\ndisease = '\xfc'\n", "line 2 is not"),
        (b"a" * 1_000_000, "line 1: a question must be text of at most 65,536 characters"),
        (b"age > 3\0", "line 1: a question must be text"),
    ],
    ids=["empty", "comments", "latin-1", "long", "zero byte"],
)
def test_a_file_that_is_no_questions_is_one_sentence(content, words, demo, tmp_path):
    """Exit 2."""
    path = tmp_path / "questions.txt"
    path.write_bytes(content)
    message = mistake("query", "release", "--questions", path, cwd=demo)
    assert words in message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "a question must be given"),
        (["age > 3", "--questions", "x"], "give one of the two"),
        (["--questions", "gone.txt"], "No such file"),
        (["--questions", "."], "Is a directory"),
    ],
)
def test_a_question_or_a_file_of_them_is_wanted(words, told, demo):
    """One of the two, and a file that can be read."""
    assert told in mistake("query", "release", *words, cwd=demo)


def test_two_forms_of_one_answer_exclude_each_other(demo):
    """JSON was asked for, so the mistake is JSON."""
    assert "choose one" in as_json("query", "release", "age > 3", "--csv", cwd=demo, code=2)["error"]


def test_a_file_with_a_mark_and_windows_lines_is_read(demo, tmp_path):
    """As editors on Windows write it."""
    path = tmp_path / "questions.txt"
    path.write_bytes("\ufeffgender = 'F'\r\n\r\n# x\r\nage > 60\r\n".encode())
    found = as_json("query", "release", "--questions", path, cwd=demo)
    assert [each["question"] for each in found] == ["gender = 'F'", "age > 60"]


# CSV


def test_csv_has_every_field_as_a_plain_number(demo):
    """A header and one line, the same as JSON."""
    for question in ("disease = 'Hypertension' AND age > 60", "disease = 'HIV' AND age < 30", "age > 60"):
        (row,) = _table(discreet("query", "release", question, "--csv", cwd=demo).stdout)
        expected = _flat(as_json("query", "release", question, cwd=demo))
        assert {name: value for name, value in row.items() if value or name in expected} == expected
        assert {name for name in row if not name.startswith("design_")} == {
            name for name in expected if not name.startswith("design_")
        }


def test_csv_has_a_line_for_each_group(demo):
    """The columns of GROUP BY come first."""
    text = discreet("query", "release", GROUPED, "--csv", cwd=demo).stdout
    assert text.startswith("disease,gender,value,standard_error,low,high,confidence,bounds_low,bounds_high,unit,")
    expected = as_json("query", "release", GROUPED, cwd=demo)
    for row, group in zip(_table(text), expected, strict=True):
        assert (row["disease"], row["gender"], row["value"]) == (
            group["disease"],
            group["gender"],
            "" if group["value"] is None else str(group["value"]),
        )


def test_csv_of_several_questions_begins_with_the_question(asked, demo):
    """Columns of groups are those of all questions; a question without them leaves them empty."""
    rows = _table(discreet("query", "release", "--questions", asked, "--csv", cwd=demo).stdout)
    assert [row["question"] for row in rows] == [QUESTIONS[0], QUESTIONS[1], QUESTIONS[2], QUESTIONS[2], QUESTIONS[3]]
    assert [row["gender"] for row in rows] == ["", "", "F", "M", ""]
    assert list(rows[0])[:3] == ["question", "gender", "value"]
    assert all(row["unit"] == "people" for row in rows)


# Units


@pytest.mark.parametrize(
    ("name", "unit", "words"),
    [
        ("alphabeta-words-3", "distinct tuples", "alike in every published column are one distinct tuple"),
        ("alphabeta-words-3-slots", "records", "one row of the custodian's table"),
        ("frapp-words-3", "records", "one row of the custodian's table"),
        ("diffgen-words-3", "people", ""),
        ("pairs", "people", ""),
        ("buckets-optimal", "people", ""),
    ],
)
def test_the_unit_stands_beside_every_number(name, unit, words, tmp_path):
    """And what it means stands below, where the word does not say it all."""
    release = GOLDENS / name / "release"
    one = discreet("query", release, "age > 3 AND disease = 'Flu'", cwd=tmp_path).stdout.splitlines()
    assert all(unit in line for line in one[:3])
    groups = discreet("query", release, "SELECT COUNT(*) FROM release GROUP BY disease", cwd=tmp_path).stdout
    assert all(unit in line for line in groups.splitlines()[1:5])
    for shown in ("\n".join(one), groups):
        assert (f"  {unit}: " in shown) == bool(words)
        assert words in shown


def test_help_says_what_the_units_are(tmp_path):
    """In `query --help`, where one asks."""
    shown = " ".join(discreet("query", "--help", cwd=tmp_path).stdout.replace("│", " ").split())
    assert "people, records (rows of the custodian's table) or distinct tuples" in shown
    assert "so there are fewer of these than people" in shown


def test_publish_and_plan_say_what_is_counted(house):
    """`size` is no number of people, and says so; the plan says why tuples are fewer than rows."""
    text = (house / "hospital.toml").read_text().partition("[mechanism]")[0]
    kinds = {
        "alphabeta": 'prior = 0.0005\nposterior = 0.2\nadversary = "independent"\n',
        "diffgen": "epsilon = 1\n",
    }
    for kind, rest in kinds.items():
        (house / f"{kind}.toml").write_text(f'{text}[mechanism]\nkind = "{kind}"\n{rest}')
    plan = discreet("plan", "hospital.csv", "-p", "alphabeta.toml", cwd=house).stdout
    assert "distinct tuples of 2,000 rows" in plan
    assert "so there are fewer of these than people" in plan
    assert as_json("plan", "hospital.csv", "-p", "alphabeta.toml", cwd=house)["unit"] == "distinct tuples"
    told = as_json("publish", "hospital.csv", "-p", "diffgen.toml", "-o", "noisy", "--series", "a", cwd=house)
    assert told["rows"] is None
    assert told["holds"] == "noisy counts (one for each leaf and class; not people)"
    shown = discreet("publish", "hospital.csv", "-p", "alphabeta.toml", "-o", "view", "--series", "b", cwd=house).stdout
    assert "tuples (all that the view shows, whether true or random) as view" in shown
    assert "its counts are of distinct tuples" in shown
    assert "distinct tuples: people who are alike" in shown


@pytest.mark.parametrize(
    ("policy", "more", "words"),
    [
        ('kind = "anatomy"\nl = 2\n', [], "anatomy has no tolerance for each value"),
        ('kind = "diffgen"\nepsilon = 1\n', [], "diffgen has no tolerance for each value"),
        ('kind = "alphabeta"\nprior = 0.0005\nposterior = 0.2\n', [], "alphabeta has no tolerance for each value"),
        (None, ["--sizes", "all"], "--explain is for one plan"),
        (None, ["--sweep", "theta"], "--explain is for one plan"),
    ],
)
def test_an_explanation_that_there_is_not_is_refused(policy, more, words, house):
    """Exit 2, instead of a plan without it."""
    if policy is not None:
        text = (house / "hospital.toml").read_text().partition("[mechanism]")[0]
        (house / "hospital.toml").write_text(f"{text}[mechanism]\n{policy}")
    message = mistake("plan", "hospital.csv", "-p", "hospital.toml", "--explain", *more, cwd=house)
    assert words in message
    assert "\n" not in message


def test_the_demo_ends_with_what_to_do_next(tmp_path):
    """First of all a policy for one's own table; every step is a verb that there is."""
    shown = discreet("demo", "--patients", 2_000, cwd=tmp_path).stdout
    steps = shown.partition("Next, with a table of your own\n")[2].splitlines()
    assert steps[0].startswith("  1. discreet init my.csv -o my.toml")
    assert len(steps) == len(NEXT)
    for command, _ in NEXT:
        discreet(command.split()[1], "--help", cwd=tmp_path)


# Output that stays whole


def test_lines_are_whole_where_a_program_reads_them(demo):
    """However narrow the terminal is said to be: one line a group, no sign of a cut, labels and notes in full."""
    for columns in ("20", "80"):
        for more in ({}, {"NO_COLOR": "1"}):
            shown = alone("query", "release", GROUPED, cwd=demo, COLUMNS=columns, **more).stdout
            assert "…" not in shown
            assert "\x1b" not in shown
            header, *rows = [line for line in shown.splitlines() if not line.startswith("  note")]
            assert header.split("  ")[0].strip() == "disease"
            assert len(rows) == len(as_json("query", "release", GROUPED, cwd=demo))
            assert any(line.startswith(" Breast cancer  F ") for line in rows)


@pytest.mark.parametrize("columns", [20, 40])
def test_labels_are_wrapped_in_a_narrow_terminal(columns, demo):
    """No sign is lost: a label goes on below itself, in its own column."""
    shown = _in_a_terminal(columns, "query", "release", "SELECT COUNT(*) FROM release GROUP BY disease", cwd=demo)
    assert "…" not in shown
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    second = min(found.end() for line in lines if (found := re.match(r" [A-Za-z ]*? {2,}(?=[0-9])", line)))
    labels = "".join(line[:second].replace(" ", "") for line in lines)
    for label in ("Tuberculosis", "Schizophrenia", "Hypertension", "Heartfailure"):
        assert label in labels


def _in_a_terminal(columns: int, *words: str, cwd: Path) -> str:
    """What a command shows in a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = {name: value for name, value in ENVIRONMENT.items() if name != "COLUMNS"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "discreet.cli.main", *words]
    process = subprocess.Popen(command, cwd=cwd, stdout=theirs, env=env)  # noqa: S603 - our interpreter
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:  # the other side is gone
        pass
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


@pytest.mark.parametrize(
    "words", [["query", "release", GROUPED], ["verify", "release"], ["query", "release", "age > 3", "--csv"]]
)
def test_a_reader_who_has_seen_enough_ends_it_quietly(words, demo):
    """Exit 141, as for a program that SIGPIPE ends: not 1, which says that a promise does not hold. No traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "discreet.cli.main", *words]
    process = subprocess.Popen(  # noqa: S603 - our interpreter
        command, cwd=demo, stdout=writing, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    os.close(writing)
    _, said = process.communicate()
    assert (process.returncode, said) == (141, b"")
