"""What a later version of the words says that an earlier one left out, and that it is so."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, Case, policy_of, publish, ward_frame, ward_schema

import discreet
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest
from discreet.release.manifest import dump

GOLDENS = Path(__file__).parents[1] / "golden"
PUBLISHED = "That anything was published at all"
KINDS = ("alphabeta", "frapp", "diffgen")


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def _facts(name: str, version: int) -> dict[str, Any]:
    """What a golden release would say in some version of the words."""
    manifest = read_manifest(GOLDENS / name / "release")
    return FAMILIES[manifest.kind].words[version].facts(manifest.statement)


def _readme(name: str, version: int) -> str:
    manifest = read_manifest(GOLDENS / name / "release")
    words = FAMILIES[manifest.kind].words[version]
    return words.readme(manifest.statement, words.facts(manifest.statement))


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        (
            "diffgen-words-2",
            (
                "This holds for tables that have 1 row or more with the record and without it.",
                "even all other records of the table, as long as it has 1 row or more with the record and without it",
                "for two tables of 1 row or more, with epsilon = 2",
                f"{PUBLISHED}: an empty table is refused, so it tells a table of 1 row from one of 0.",
                "That a table changed or did not",
            ),
        ),
        (
            "diffgen-words-2-rows",
            (
                "This holds for tables that have 1 to 120 rows with the record and without it.",
                "even all other records of the table, as long as it has 1 to 120 rows with the record and without it",
                "for two tables of 1 to 120 rows, with epsilon = 2",
                f"{PUBLISHED}: an empty table is refused, and so is one of more than 120 rows (public_rows), so it "
                "tells a table of 1 row from one of 0, and one of 120 from one of 121.",
            ),
        ),
        (
            "frapp-words-2",
            (
                "when he has looked up how often the release shows it, unless that is twice or more",
                "reads nothing else of it",
                "One who reads the whole release instead of looking up one tuple",
            ),
        ),
        (
            "alphabeta-words-2",
            (
                f"{PUBLISHED}: a table without rows is refused, and so is one with more than 60 records or with more "
                "than 4 copies of a tuple.",
            ),
        ),
    ],
)
def test_version_2_says_it_and_version_1_does_not(name, sentences):
    """In the facts and in the README, which has the same sentences."""
    for sentence in sentences:
        for version, there in ((1, False), (2, True)):
            assert (sentence in json.dumps(_facts(name, version))) is there
            assert (sentence in _readme(name, version)) is there


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("alphabeta-independent", f"{PUBLISHED}: a table without rows is refused. One"),
        ("alphabeta-prior", "refused, and so is one with more than 60 distinct tuples. One"),
        ("alphabeta-views-1", f"{PUBLISHED}: a table without rows is refused. One"),
    ],
)
def test_alphabeta_says_which_tables_are_refused(name, sentence):
    """Nothing else of its facts is new."""
    before, after = _facts(name, 1), _facts(name, 2)
    assert sentence in after["not_covered"][-1]
    assert after == {**before, "not_covered": [*before["not_covered"], after["not_covered"][-1]]}


def test_a_public_number_of_one_row_promises_nothing_and_says_so():
    """One record more or less is never another table of one row."""
    statement = read_manifest(GOLDENS / "diffgen-words-2" / "release").statement
    one = replace(statement, schema=replace(statement.schema, public_rows=1))
    facts = FAMILIES["diffgen"].words[2].facts(one)
    assert "exactly 1 row" in facts["words"]
    assert facts["not_covered"][0].endswith("so here nothing is promised.")


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_releases_of_every_version_that_verify(kind):
    """A version that was published stays."""
    folders = [each.parent / "release" for each in GOLDENS.glob("*/answers.json")]
    found = {}
    for folder in folders:
        block = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))["discreet"]
        if block["mechanism"]["kind"] == kind:
            found[block["words"]] = folder
    assert set(found) == {1, 2, 3}
    assert all(discreet.verify(folder).holds for folder in found.values())


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_one_version_are_no_words_of_the_other(kind, tmp_path):
    """Stating another version of the words, with every hash put right, does not verify."""
    publish(ward_frame(), policy_of(_case(kind), tmp_path), tmp_path / "one")
    manifest = tmp_path / "one" / "datapackage.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    assert content["discreet"]["words"] == max(FAMILIES[kind].words) == 3
    assert discreet.verify(tmp_path / "one").holds
    for other in (1, 2):
        content["discreet"]["words"] = other
        manifest.write_text(dump(content), encoding="utf-8")
        assert [each.name for each in discreet.verify(tmp_path / "one").checks if not each.holds] == ["words"]


@pytest.mark.parametrize("name", ["alphabeta", "several views", "records", "frapp"])
def test_a_plan_says_the_facts_of_the_release(name, tmp_path):
    """In the newest version."""
    policy = policy_of(_case(name), tmp_path)
    with closing(discreet.read_table(ward_frame(), policy)) as table:
        planned = discreet.plan(table, policy).as_json()["facts"]
        with closing(discreet.publish(table, policy, to=tmp_path / "one")) as release:
            assert planned == release.facts


@pytest.mark.parametrize("name", ["diffgen", "pairs", "alphabeta"])
def test_the_tables_that_are_refused_are_those_that_the_words_name(name, tmp_path):
    """None at 0 rows; one at 1 and at N; none at N + 1, where N is public and all rows are distinct."""
    rows = ward_frame(5)
    policy = policy_of(_case(name), tmp_path, schema=ward_schema(public_rows=4))
    for number in (1, 4):
        publish(rows[:number], policy, tmp_path / f"of {number}", series=tmp_path / f"{number}.series")
    for number in (0, 5):
        with pytest.raises(discreet.TableError):
            publish(rows[:number], policy, tmp_path / "none", series=tmp_path / f"{number}.series")
    assert not (tmp_path / "none").exists()


# Version 3, and version 2 of buckets: what an answer counts

COUNTED = {  # by the golden whose statement it is
    "buckets-optimal": "people",
    "anatomy": "people",
    "alphabeta-words-3": "distinct tuples",
    "alphabeta-words-3-views": "distinct tuples",
    "alphabeta-words-3-source": "distinct tuples",
    "alphabeta-words-3-slots": "records",
    "frapp-words-3": "records",
    "diffgen-words-3": "people",
    "diffgen-words-3-target": "people",
}


@pytest.mark.parametrize(("name", "unit"), COUNTED.items())
def test_facts_and_readme_say_what_an_answer_counts(name, unit):
    """In the newest version, as the open release says it, and not in the one before the first that does."""
    manifest = read_manifest(GOLDENS / name / "release")
    newest = max(FAMILIES[manifest.kind].words)
    silent = 1 if FAMILIES[manifest.kind].name == "buckets" else 2
    facts, before = _facts(name, newest), _facts(name, silent)
    assert facts["counts"].startswith(f"{unit}: ")
    assert "counts" not in before
    readme, old = _readme(name, newest), _readme(name, silent)
    assert f"An answer counts {facts['counts']}." in readme
    assert f"It counts {unit}:" in readme
    assert "An answer counts" not in old
    with closing(discreet.open_release(GOLDENS / name / "release")) as release:
        assert release.unit == unit


@pytest.mark.parametrize("name", ["pairs", "pairs-kinds", "pairs-again", "pairs-none"])
def test_pairs_says_what_an_answer_counts_from_its_first_version_on(name):
    """And promises what DiffGen does, word for word."""
    facts, readme = _facts(name, 1), _readme(name, 1)
    assert facts["counts"].startswith("people: ")
    assert f"An answer counts {facts['counts']}." in readme
    assert "It counts people:" in readme
    promised = FAMILIES["diffgen"].words[3].facts(read_manifest(GOLDENS / name / "release").statement)
    assert facts == promised


@pytest.mark.parametrize("name", [name for name in COUNTED if "words-3" in name])
def test_version_3_promises_what_version_2_does(name):
    """Word for word, but for what is protected, which was called a unit as what is counted is."""
    facts = _facts(name, 3)
    assert {**_facts(name, 2), "counts": facts["counts"]} == facts
    readme, old = (_readme(name, version).partition("## What is here")[0] for version in (3, 2))
    assert readme == old.replace("- Unit: ", "- What is protected: ")


def test_words_are_rendered_of_a_source_that_fits_no_domain():
    """A stranger's may say what no custodian would: then what the tuples weigh is left out."""
    source = read_manifest(GOLDENS / "alphabeta-words-3-source" / "release").statement
    odd = replace(source, mechanism=replace(source.mechanism, source={"nothing": {"x": 1}}))
    words = FAMILIES["alphabeta"].words[3]
    assert "D = ..." in words.readme(odd, words.facts(odd))


# Version 5 of buckets: known and fakes


BESIDE = {
    "buckets-known": (
        "even if he knows the sensitive value of one other person of that bucket",
        "He may know the sensitive value of one other person of the bucket, or anything about it that does not depend",
        "COUNT(bucket, x) / (rows(bucket) - 1) <= tolerance(x)",
        "who already knows the sensitive values of more than one other person of the same bucket learns more",
        'such as "these two have the same"',
    ),
    "buckets-known-named": (
        "even if he knows the sensitive values of up to 2 other people of that bucket",
        "COUNT(bucket, x) / (rows(bucket) - 2) <= tolerance(x)",
        "for every bucket and every value x in it with a tolerance below 1",
        "more than 2 other people of the same bucket",
    ),
    "buckets-known-near": ("even if he knows", "The buckets are near", "What it tells that a window was refused"),
    "buckets-fakes": (
        "He may know anything about which values are fakes.",
        "or any other person's sensitive value",
        "a value of strain that is nobody's: a fake",
        "Fakes promise nothing by themselves",
        "of them stand in a bucket alone, which has a fake beside their value.",
        "so a count of strain alone is exact",
    ),
    "buckets-fakes-strict": (
        "at most, by the law of the draw, approximate; without fakes he would be certain. This is no promise.",
        "who also knows the values of people in other buckets",
    ),
    "buckets-known-fakes": (
        "2 values of strain that are nobody's: fakes",
        "even if he knows",
        "no part of the promise",
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_version_5_says_what_known_and_fakes_are(name):
    """In facts, and in the README too."""
    facts, readme = _facts(name, 5), _readme(name, 5)
    texts = [text for each in facts.values() for text in (each if isinstance(each, list) else [each])]
    for sentence in BESIDE[name]:
        assert any(sentence in text for text in texts if isinstance(text, str))
        assert sentence in readme


@pytest.mark.parametrize("name", BESIDE)
def test_version_5_says_nothing_that_known_or_fakes_make_untrue(name):
    """Not the old sentence on others, nor that who is alone beside a fake shows it; and certainty only with fakes."""
    manifest = read_manifest(GOLDENS / name / "release")
    facts = _facts(name, 5)
    whole = json.dumps(facts)
    assert "one who already knows the sensitive values of others in the same bucket learns more." not in whole
    assert ("Does not know the secret key or any other" in whole) == (not manifest.statement.mechanism.known)
    fakes = manifest.statement.mechanism.fakes
    assert {"fakes", "certainty"} & set(facts) == ({"fakes", "certainty"} if fakes else set())
    assert not (fakes and "stand in a bucket alone, which does" in whole)
    assert (str(manifest.statement.numbers.certainty) in facts.get("certainty", "")) == (
        fakes > 0 and manifest.statement.numbers.certainty != 1
    )


@pytest.mark.parametrize("name", ["buckets-words-3", "buckets-near", "anatomy-near"])
def test_releases_without_known_and_fakes_have_no_words_in_version_5(name, tmp_path):
    """And those with them have none in the others: stated so, neither is a release."""
    for golden, others in ((name, (5,)), ("buckets-known", (1, 2, 3, 4)), ("buckets-known-near", (3, 4))):
        for version in others:
            folder = tmp_path / f"{golden}-{version}"
            shutil.copytree(GOLDENS / golden / "release", folder)
            content = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
            content["discreet"]["words"] = version
            (folder / "datapackage.json").write_text(json.dumps(content), encoding="utf-8")
            assert [each.name for each in discreet.verify(folder).checks if not each.holds] == ["manifest"]


def test_values_without_a_fake_are_named():
    """Where the buckets of a size have fewer fakes than values; ties may fall either way."""
    statement = read_manifest(GOLDENS / "buckets-fakes" / "release").statement
    numbers = replace(
        statement.numbers,
        classes=((3, 2),),
        people=(("A", (2,)), ("B", (1,)), ("C", (2,)), ("D", (1,))),
        certainty=Fraction(1),
    )
    words = FAMILIES["buckets"].words[5]
    said = words.facts(replace(statement, numbers=numbers))["certainty"]
    assert said.endswith(
        "The buckets of 3 people have fewer fakes than values: these have none there, or may have none: B, D."
    )
    tied = replace(numbers, people=(("A", (3,)), ("B", (1,)), ("C", (1,)), ("D", (1,))))
    assert words.facts(replace(statement, numbers=tied))["certainty"].endswith("may have none: B, C, D.")
    enough = replace(numbers, people=(("A", (3,)), ("B", (3,))))
    assert "fewer fakes" not in words.facts(replace(statement, numbers=enough))["certainty"]
