"""Two spellings of one value split no promise: refused by every verb, joined on reading, or stated and verified."""

from __future__ import annotations

import json
import time
import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import as_json
from commands import discreet as run

import discreet
from discreet.attack.match import read_outside
from discreet.mechanism.check import check, review
from discreet.release.difference import differences, policy_content, release_content
from discreet.release.folder import read_manifest
from discreet.schema.twins import quoted

TWINS = ("HIV", "HIV ", "hiv", "H\u200bIV", "H\u0399V", "\uff28IV")
TABLE = """version = 1
[table]
quasi_identifiers = ["age"]
sensitive = "disease"
[domains.age]
integers = [0, 99]
[domains.disease]
{domain}
[mechanism]
"""
KINDS = {
    "buckets": 'kind = "buckets"\n[mechanism.tolerance]\ntheta = 2\nfloor = 0.3\n',
    "alphabeta": 'kind = "alphabeta"\nprior = 0.02\nposterior = 0.5\nadversary = "independent"\n',
    "diffgen": 'kind = "diffgen"\nepsilon = 1\n',
    "pairs": 'kind = "pairs"\nepsilon = 1\n',
}
VALUES = f"values = [{', '.join(map(quoted, ('Flu', 'Cold', *TWINS)))}]"
SAME = f"same = {{ {', '.join(f'{quoted(each)} = {quoted(TWINS[0])}' for each in TWINS[1:])} }}"
DISTINCT = f"distinct = [[{', '.join(map(quoted, TWINS))}]]"
ROWS = 240


def frame() -> pd.DataFrame:
    """A tenth of the people have HIV, in six spellings."""
    coins = np.random.default_rng(4)
    ill = np.array([*TWINS * (ROWS // 60), *["Flu"] * (ROWS // 2), *["Cold"] * (ROWS // 2 - 6 * (ROWS // 60))])
    return pd.DataFrame({"age": coins.integers(0, 99, ROWS), "disease": coins.permutation(ill)})


@pytest.fixture
def written(tmp_path):
    """A policy file of a kind, with these lines for the sensitive domain."""

    def write(domain: str, kind: str = "buckets", name: str = "policy.toml"):
        path = tmp_path / name
        path.write_text(TABLE.format(domain=domain) + KINDS[kind], encoding="utf-8")
        return path

    return write


def published(policy, folder):
    with discreet.read_table(frame(), discreet.Policy.load(policy)) as table:
        discreet.publish(table, discreet.Policy.load(policy), to=folder, seed=1).close()
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_refuses_them_and_writes_nothing(kind, written, tmp_path):
    """The promise of no family is stated over values that nobody can tell apart."""
    policy = written(VALUES, kind)
    frame().to_csv(tmp_path / "rows.csv", index=False)
    words = ("--policy", policy)
    for verb in (("check", "rows.csv", *words), ("check", *words), ("plan", "rows.csv", *words)):
        done = run(*verb, cwd=tmp_path, code=2)
        assert "policy.toml, line 8: disease: values must not look alike" in done.stdout + done.stderr
    run("publish", "rows.csv", *words, "-o", "release", cwd=tmp_path, code=2)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("form", ["pandas", "csv", "parquet", "dictionary"])
def test_spellings_are_joined_on_reading(form, written, tmp_path):
    """Whatever the source is: the one value has the people of all, and is alone in the published domain."""
    policy = discreet.Policy.load(written(f"{VALUES}\n{SAME}"))
    rows, source = frame(), tmp_path / f"rows.{'csv' if form == 'csv' else 'parquet'}"
    if form == "csv":
        rows.to_csv(source, index=False)
    elif form == "parquet":
        rows.to_parquet(source, index=False)
    elif form == "dictionary":
        table = pa.Table.from_pandas(rows, preserve_index=False)
        pq.write_table(table.set_column(1, "disease", table["disease"].dictionary_encode()), source)
    with discreet.read_table(rows if form == "pandas" else source, policy) as table:
        assert table.histogram == {"Flu": 120, "Cold": 96, "HIV": 24}
        release = discreet.publish(table, policy, to=tmp_path / "release", seed=1)
        assert release.count("disease = 'HIV'").value == 24
        release.close()
    stated = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))
    assert stated["discreet"]["schema"]["domains"]["disease"] == {"values": ["Flu", "Cold", "HIV"]}


def test_a_table_in_other_spellings_is_the_same_table(written, tmp_path, monkeypatch):
    """The series knows the rows again: to spell them otherwise gets nobody fresh coins."""
    monkeypatch.chdir(tmp_path)
    policy = discreet.Policy.load(written(f"{VALUES}\n{SAME}"))
    rows, bytes_of = frame(), []
    for number, source in enumerate((rows, rows.replace(list(TWINS[1:]), "HIV"))):
        with discreet.read_table(source, policy) as table:
            discreet.publish(table, policy, to=tmp_path / f"{number}", series=tmp_path / "series").close()
        bytes_of.append((tmp_path / f"{number}" / "data" / "qit.parquet").read_bytes())
    assert bytes_of[0] == bytes_of[1]


def test_many_spellings_are_read_in_seconds(written, tmp_path):
    """A cell is looked up, not held against each of them."""
    start = time.perf_counter()
    spellings = ["HIV" + " " * (each % 90) + "\u200b" * (each // 90) for each in range(1, 4_000)]
    values = [f"HIV{number:03}" for number in range(40)]
    spellings = [f"{values[number % 40]}{each[3:]}" for number, each in enumerate(spellings)]
    same = "".join(f"{quoted(each, most=None)} = {quoted(each[:6])}\n" for each in spellings)
    policy = discreet.Policy.load(written(f"values = {json.dumps([*values, 'Flu'])}\n[domains.disease.same]\n{same}"))
    rows = pd.DataFrame({"age": [1] * 400_000, "disease": [*spellings[:200]] * 1_000 + ["Flu"] * 200_000})
    with discreet.read_table(rows, policy) as table:
        assert table.histogram == {**dict.fromkeys(values, 5_000), "Flu": 200_000}
    assert time.perf_counter() - start < 30  # of a list that is handed on with every row, five minutes


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_apart_is_stated_and_verified(kind, written, tmp_path):
    """The schema says it, verify names it; without it a promise by value does not hold, and others are not touched."""
    release = published(written(f"{VALUES}\n{DISTINCT}", kind), tmp_path / "release")
    (found,) = (each for each in discreet.verify(release, allow_seeded=True).checks if each.name == "lookalikes")
    assert found.holds
    assert found.detail.startswith('stated as distinct although they look alike: of disease "HIV" and "HIV " and "hiv"')
    assert discreet.verify(release, allow_seeded=True).holds
    manifest = release / "datapackage.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    del content["discreet"]["schema"]["domains"]["disease"]["distinct"]
    manifest.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    verdict = discreet.verify(release, allow_seeded=True)
    (found,) = (each for each in verdict.checks if each.name == "lookalikes")
    by_value = kind in ("buckets", "alphabeta")
    assert found.holds is not by_value
    assert verdict.holds is not by_value
    assert "look alike" in found.detail


def test_a_quasi_identifier_is_reported_and_breaks_nothing(written, tmp_path):
    """Nothing is promised of it."""
    policy = written('values = ["Flu", "HIV"]')
    text = policy.read_text(encoding="utf-8").replace("integers = [0, 99]", 'values = ["old", "Old"]')
    policy.write_text(text, encoding="utf-8")
    rows = pd.DataFrame({"age": ["old", "Old"] * 50, "disease": ["Flu", "Flu", "HIV", "HIV"] * 25})
    assert any("age has values that look alike" in each for each in review(policy, rows).warnings)
    assert any("age has values that look alike" in each for each in review(policy).warnings)
    said: list[str] = []
    loaded = discreet.Policy.load(policy)
    with discreet.read_table(rows, loaded) as table:
        discreet.publish(table, loaded, to=tmp_path / "r", series=tmp_path / "s", say=said.append).close()
    assert any("age has values that look alike" in each for each in said)
    verdict = discreet.verify(tmp_path / "r")
    assert verdict.holds
    assert any(
        each.detail == 'values look alike where no promise rests on it: of age "old" and "Old" (letter case)'
        for each in verdict.checks
    )
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert "note: age has values that look alike" in run("plan", "rows.csv", "--policy", policy, cwd=tmp_path).stdout


def test_check_names_twins_beside_what_else_is_wrong(written):
    """Everything is said in one run."""
    policy = written(VALUES)
    policy.write_text(policy.read_text(encoding="utf-8").replace("floor = 0.3", "floor = 7"), encoding="utf-8")
    found = check(policy)
    assert {each.line for each in found} == {8, 13}


def test_diff_says_what_is_kept_apart_and_what_is_joined(written, tmp_path):
    """Of two policies and of two releases."""
    values = 'values = ["Flu", "Cold", "A1", "Al"]'
    plain, apart = (
        discreet.Policy.load(written(each, name=f"{number}.toml"))
        for number, each in enumerate((values, f'{values}\ndistinct = [["A1", "Al"]]'))
    )
    (found,) = differences(policy_content(plain), policy_content(apart))
    assert found.meaning == "other values are kept apart although they look alike (none -> A1 and Al)"
    same = discreet.Policy.load(written(f'{values}\nsame = {{ flu = "Flu" }}', name="same.toml"))
    (found,) = differences(policy_content(plain), policy_content(same))
    assert (found.name, found.b) == ("same", {"disease": {"flu": "Flu"}})
    rows = frame().replace(list(TWINS), "A1")
    for number, policy in enumerate((plain, apart)):
        with discreet.read_table(rows, policy) as table:
            discreet.publish(table, policy, to=tmp_path / f"{number}", seed=1).close()
    contents = [release_content(read_manifest(tmp_path / f"{number}")) for number in (0, 1)]
    assert any("kept apart" in each.meaning for each in differences(*contents))


def test_init_proposes_to_join_them(tmp_path):
    """The draft names every one, joins them to the most frequent, and runs; a person decides."""
    rows = pd.concat([frame(), pd.DataFrame({"age": [5] * 9, "disease": ["hiv"] * 9})])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    told = as_json("init", "rows.csv", "-o", "p.toml", "--sensitive", "disease", cwd=tmp_path)
    assert told["spellings"] == {"disease": 5}
    text = (tmp_path / "p.toml").read_text(encoding="utf-8")
    domain = tomllib.loads(text)["domains"]["disease"]
    assert domain["values"] == ["Cold", "Flu", "hiv"]
    assert domain["same"] == {each: "hiv" for each in TWINS if each != "hiv"}
    assert "H\\u0399V" in text
    assert "DECIDE: these look alike" in text
    assert not check(tmp_path / "p.toml", tmp_path / "rows.csv")
    said = run("init", "rows.csv", "-o", "q.toml", "--sensitive", "disease", cwd=tmp_path).stdout
    assert "spellings          disease: 5 look like another value" in said


def test_init_keeps_two_spellings_apart_where_there_is_nothing_else(tmp_path):
    """A column of m and M alone is no column if they are one."""
    coins = np.random.default_rng(1)
    rows = pd.DataFrame({"age": coins.integers(0, 9, 90), "kind": coins.choice(["m", "M"], 90)})
    path = discreet.draft_policy(rows, "kind").save(tmp_path / "p.toml")
    assert discreet.Policy.load(path).schema.domains["kind"].distinct == (("M", "m"),)


def test_identifiers_that_differ_in_case_alone_stay_identifiers(tmp_path):
    """Only what is published is joined: a key such as aB and Ab is two people's."""
    keys = [f"{a}{b}" for a in "abcdeABCDE" for b in "abcdeABCDE"]
    coins = np.random.default_rng(1)
    ill, ages = coins.choice(["Flu", "Cold"], len(keys)), coins.integers(0, 9, len(keys))
    draft = discreet.draft_policy(pd.DataFrame({"patient_id": keys, "age": ages, "ill": ill}), "ill")
    assert draft.person == "patient_id"
    assert not draft.spellings


def test_the_table_is_known_again_in_its_own_spellings(written, tmp_path):
    """An audit reads it as the policy does."""
    policy = written(f"{VALUES}\n{SAME}")
    release = published(policy, tmp_path / "release")
    with discreet.open_release(release) as opened, read_outside(frame(), discreet.Policy.load(policy)) as table:
        assert table.histogram["HIV"] == opened.count("disease = 'HIV'").value == 24
