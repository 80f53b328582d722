"""Values that look alike are found whatever makes them so, in a time that grows with the list, and settled by word."""

from __future__ import annotations

import time
import tomllib
from dataclasses import replace
from pathlib import Path
from unicodedata import name

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Integers, Listed, Policy, PolicyError
from discreet.schema.domain import domain_from_json
from discreet.schema.json_schema import json_schema
from discreet.schema.lookalikes import lookalike_warnings, twins_of
from discreet.schema.skeleton import LETTERS, skeletons
from discreet.schema.twins import alike_in, quoted

POLICY = """version = 1
[table]
quasi_identifiers = ["city"]
sensitive = "ill"
[domains.city]
{city}
[domains.ill]
{ill}
[mechanism]
kind = "buckets"
[mechanism.tolerance]
theta = 2
floor = 0.1
"""
CITY = 'values = ["Rome", "Oslo"]'
TWINS = {  # of HIV, and what makes them so
    "white space behind": "HIV ",
    "letter case": "hiv",
    "a zero-width space": "H\u200bIV",
    "turned around": "\u202eVIH",
    "a part turned around": "H\u202eVI\u202c",
    "a Greek iota": "H\u0399V",
    "a Cyrillic letter": "\u041dIV",
    "wide letters": "\uff28\uff29\uff36",
    "a no-break space before": "\u00a0HIV",
    "a Roman numeral": "H\u2163",
    "a variation selector": "HIV\ufe0f",
    "two at once": "\u200bh\u0456v",
}
OTHERS = {  # pairs that are no twins at all
    "other words": ("HIV", "HPV"),
    "an accent": ("r\u00e9sum\u00e9", "resume"),
    "small i and l": ("fail", "fall"),
    "other digits": ("10", "100"),
    "a leading zero": ("1", "01"),
    "a word more": ("Flu", "Flu B"),
    "two Greek words": ("\u03b7\u03c0\u03b1\u03c1", "\u03bd\u03c0\u03b1\u03c1"),
}
DOUBTFUL = {"one and l": ("A1", "Al"), "l and I": ("Al", "AI"), "zero": ("1O", "10"), "no space": ("FluB", "Flu B")}


def loaded(folder: Path, ill: str, city: str = CITY, *, valid: bool = True) -> Policy:
    path = folder / "policy.toml"
    text = POLICY.format(ill=ill, city=city)
    if valid:
        jsonschema.validate(tomllib.loads(text), json_schema())
    path.write_text(text, encoding="utf-8")
    return Policy.load(path)


def listed(*values: str) -> str:
    return f"values = [{', '.join(map(quoted, values))}]"


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
def test_a_twin_is_refused_until_it_is_joined_or_kept_apart(twin, tmp_path):
    """Each by itself, with the line of the values and words that can be pasted."""
    values = listed("Flu", "HIV", twin)
    with pytest.raises(PolicyError, match=r"policy.toml, line 8: ill: values must not look alike") as refused:
        loaded(tmp_path, values)
    said = str(refused.value)
    same, distinct = said[said.index("same = ") :].split(" to read", 1)[0], f'[["HIV", {quoted(twin)}]]'
    assert distinct in said
    joined = loaded(tmp_path, f"{values}\n{same}")
    assert joined.schema.domains["ill"].values == ("Flu", "HIV")
    assert joined.same == {"ill": {twin: "HIV"}}
    apart = loaded(tmp_path, f"{values}\ndistinct = {distinct}")
    assert apart.schema.as_json()["domains"]["ill"]["distinct"] == [["HIV", twin]]
    domains = {**apart.schema.domains, "ill": Listed(values=("HIV", twin))}
    with pytest.raises(PolicyError, match="must not look alike"):
        Policy(schema=replace(apart.schema, domains=domains), mechanism=apart.mechanism)


def test_a_script_of_its_own_has_twins_by_case(tmp_path):
    """A Greek word in capitals, of which each letter looks like a Latin one, is the same word in small letters."""
    assert alike_in(("\u0397\u03a0\u0391\u03a1", "\u03b7\u03c0\u03b1\u03c1"))[0].sure
    assert alike_in(("\u0441\u043e\u0440", "cop"))[0].sure


@pytest.mark.parametrize("pair", OTHERS.values(), ids=OTHERS)
def test_what_no_eye_confuses_is_no_twin(pair):
    """Neither refused nor warned of."""
    assert not alike_in(pair)


@pytest.mark.parametrize("pair", DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_people_tell_apart_is_only_warned_of(pair, tmp_path):
    """Codes are published, with a warning that a word in the domain silences; in a quasi-identifier nothing is said."""
    policy = loaded(tmp_path, listed(*pair), listed(*pair))
    (warning,) = lookalike_warnings(policy.schema)
    assert warning.startswith("ill has values that may be taken for one another")
    told = f"\ndistinct = [[{', '.join(map(quoted, pair))}]]"
    assert not list(lookalike_warnings(loaded(tmp_path, listed(*pair) + told, listed(*pair)).schema))


def test_a_quasi_identifier_is_warned_of(tmp_path):
    """Two spellings split no tolerance there."""
    policy = loaded(tmp_path, listed("Flu", "HIV"), listed("Rome", "rome"))
    (warning,) = lookalike_warnings(policy.schema)
    assert 'city has values that look alike: "Rome" and "rome" (letter case)' in warning
    told = loaded(tmp_path, listed("Flu", "HIV"), listed("Rome", "rome") + '\ndistinct = [["Rome", "rome"]]')
    assert not list(lookalike_warnings(told.schema))


WRONG = {
    "a value that is none": ('same = { hiv = "AIDS" }', 9, "must name a value of the domain behind"),
    "a chain": ('same = { hiv = "hiV", hiV = "HIV" }', 9, "must not name a text that is read as a third"),
    "a ring": ('same = { hiv = "HIV", HIV = "hiv" }', 9, "must not name a text that is read as a third"),
    "itself": ('same = { HIV = "HIV" }', 9, "must name another spelling than the value's own"),
    "no twin": ('same = { Grippe = "Flu" }', 9, "must name two texts that look alike"),
    "a mark": (
        'same = { hiv = "HIV" }\nmissing = "category"\nmissing_as = ["hiv"]',
        9,
        "not name a text of missing_as",
    ),
    "no table": ('same = ["hiv"]', 9, "must say which value a text is read as"),
    "no text": ("same = { hiv = 1 }", 9, "must say which value a text is read as"),
    "distinct that is no value": (
        'distinct = [["HIV", "hiv"]]',
        9,
        r'distinct \("hiv"\) must name values of the domain',
    ),
    "distinct that is no twin": ('distinct = [["HIV", "Flu"]]', 9, "must name values that look alike"),
    "distinct of one": ('distinct = [["HIV"]]', 9, "must be lists of two values or more"),
    "distinct of nothing": ("distinct = []", 9, "must be lists of two values or more"),
    "distinct of a text": ('distinct = "HIV"', 9, "must be lists of two values or more"),
    "a line of its own": ('[domains.ill.same]\nhiv = "AIDS"', 10, "must name a value of the domain behind"),
}


@pytest.mark.parametrize(("words", "line", "message"), WRONG.values(), ids=WRONG)
def test_wrong_words_are_one_sentence_with_their_line(words, line, message, tmp_path):
    """Each names the line of the policy where it stands."""
    path = tmp_path / "policy.toml"
    path.write_text(POLICY.format(city=CITY, ill=f'values = ["Flu", "HIV"]\n{words}'), encoding="utf-8")
    with pytest.raises(PolicyError, match=message) as refused:
        Policy.load(path)
    assert str(refused.value).startswith(f"policy.toml, line {line}: ill: ")
    assert "\n" not in str(refused.value)


def test_a_value_stands_in_one_list(tmp_path):
    """All that look alike are one list, and one that names some of them leaves the rest refused."""
    values = listed("HIV", "hiv", "Hiv")
    with pytest.raises(PolicyError, match="must name a value once; write all that look alike as one list"):
        loaded(tmp_path, f'{values}\ndistinct = [["HIV", "hiv"], ["hiv", "Hiv"]]')
    with pytest.raises(PolicyError, match="must not look alike"):
        loaded(tmp_path, f'{values}\ndistinct = [["HIV", "hiv"]]')
    assert loaded(tmp_path, f'{values}\ndistinct = [["HIV", "hiv", "Hiv"]]').schema.domains["ill"].distinct


def test_numbers_have_no_twins(tmp_path):
    """Whole numbers from-to and listed, decimals, dates: the words are refused, and nothing looks alike."""
    for ill in ("integers = [0, 9]", "values = [1, 2]", 'dates = ["2020-01-01", "2020-01-09"]'):
        assert not twins_of(loaded(tmp_path, ill).schema.domains["ill"])
        with pytest.raises(PolicyError, match="same is for listed text"):
            loaded(tmp_path, f'{ill}\nsame = {{ a = "b" }}', valid=False)
        with pytest.raises(PolicyError, match="distinct is for"):
            loaded(tmp_path, f'{ill}\ndistinct = [["1", "2"]]', valid=False)


def test_a_value_that_shows_nothing_is_a_twin_of_the_empty_cell(tmp_path):
    """It is to be read as one, or kept apart from it by the empty text."""
    values = 'values = ["Flu", "HIV", "\\u200b"]\nmissing = "category"'
    with pytest.raises(PolicyError, match=r'"\\u200b" and an empty cell .* say missing_as = \["\\u200b"\] to read'):
        loaded(tmp_path, values)
    told = loaded(tmp_path, f'{values}\ndistinct = [["\\u200b", ""]]')
    assert told.schema.domains["ill"].distinct == (("\u200b", ""),)


def test_leaves_of_a_hierarchy_may_be_twins(tmp_path):
    """Rows of other spellings are left out; those that are kept apart may differ in letter case alone."""
    (tmp_path / "ill.csv").write_text("HIV;virus;*\nhiv;virus;*\nFlu;virus;*\nH\u0399V;other;*\n", encoding="utf-8")
    beside = 'hierarchy = "ill.csv"'
    with pytest.raises(PolicyError, match="say same or distinct in the domain"):
        loaded(tmp_path, beside)
    with pytest.raises(PolicyError, match="must not look alike"):
        loaded(tmp_path, f'{beside}\nsame = {{ hiv = "HIV" }}')
    joined = loaded(tmp_path, f'{beside}\nsame = {{ hiv = "HIV", "H\\u0399V" = "HIV" }}')
    assert joined.schema.domains["ill"].values == ("HIV", "Flu")
    apart = loaded(tmp_path, f'{beside}\ndistinct = [["HIV", "hiv", "H\\u0399V"]]')
    assert len(apart.schema.domains["ill"]) == 4
    for policy in (joined, apart):
        again = Policy.load(policy.save(tmp_path / "saved.toml"))
        assert again == policy
        assert domain_from_json(policy.schema.as_json()["domains"]["ill"]) == policy.schema.domains["ill"]


def test_cells_that_are_published_as_one_label_are_no_twins(tmp_path):
    """What counts is what is published: two spellings under one label have one tolerance."""
    (tmp_path / "ill.csv").write_text("HIV;virus;*\nH\u0399V;{};*\nFlu;virus;*\nCut;other;*\n".replace("{}", "virus"))
    beside = 'hierarchy = "ill.csv"\npublish_level = 1'
    assert not twins_of(loaded(tmp_path, beside).schema.domains["ill"])
    (tmp_path / "ill.csv").write_text("HIV;virus;*\nH\u0399V;other;*\nFlu;virus;*\nCut;other;*\n")
    with pytest.raises(PolicyError, match="must not look alike"):
        loaded(tmp_path, beside)
    told = loaded(tmp_path, f'{beside}\ndistinct = [["HIV", "H\\u0399V"]]')
    assert "distinct" not in told.schema.as_json()["domains"]["ill"]  # the cells are nobody's business
    assert Policy.load(told.save(tmp_path / "saved.toml")) == told


def test_labels_that_are_published_may_be_twins(tmp_path):
    """A level is a list of values as any other."""
    (tmp_path / "ill.csv").write_text("HIV;ABC;*\nFlu;\u0410\u0412\u0421;*\n", encoding="utf-8")
    beside = 'hierarchy = "ill.csv"\npublish_level = 1'
    with pytest.raises(PolicyError, match="must not look alike"):
        loaded(tmp_path, beside)
    told = loaded(tmp_path, f'{beside}\ndistinct = [["ABC", "\\u0410\\u0412\\u0421"]]')
    assert told.schema.as_json()["domains"]["ill"]["distinct"] == [["ABC", "\u0410\u0412\u0421"]]
    assert Policy.load(told.save(tmp_path / "saved.toml")) == told


def test_other_spellings_are_no_other_policy(tmp_path):
    """How one table is written is nothing that a release states; that values are kept apart is."""
    plain = loaded(tmp_path, listed("Flu", "HIV"))
    joined = loaded(tmp_path, listed("Flu", "HIV", "hiv") + '\nsame = { hiv = "HIV" }')
    unlisted = loaded(tmp_path, listed("Flu", "HIV") + '\nsame = { hiv = "HIV" }')
    assert plain.digest == joined.digest == unlisted.digest
    assert Policy.load(joined.save(tmp_path / "saved.toml")) == joined
    apart = loaded(tmp_path, listed("Flu", "A1", "Al") + '\ndistinct = [["A1", "Al"]]')
    assert apart.digest != loaded(tmp_path, listed("Flu", "A1", "Al")).digest


@pytest.mark.parametrize(
    "distinct", [None, [], 0, "HIV", [["HIV"]], [["HIV", "Flu"]], [["HIV", None]], [[["HIV"], "hiv"]]]
)
def test_a_stranger_states_lists_or_nothing(distinct):
    """Anything else in a release is a sentence."""
    with pytest.raises(PolicyError):
        domain_from_json({"values": ["HIV", "hiv", "Flu"], "distinct": distinct})
    with pytest.raises(PolicyError):
        domain_from_json({"integers": [1, 2], "distinct": [["1", "2"]]})


def test_a_hundred_thousand_values_are_looked_at_in_about_a_second():
    """Also where all are twins, and where all have accents."""
    for values in (
        [f"code {number:06}" for number in range(100_000)],
        [f"{'X' if number % 2 else 'x'} {number // 2}" for number in range(100_000)],
        [" " * number + "HIV" for number in range(1_000)],
    ):
        start = time.process_time()
        Listed(values=tuple(values)).twins  # noqa: B018
        assert time.process_time() - start < 3  # a second, on a machine that others use
    start = time.process_time()
    assert len(alike_in([f"\u00c4 {'X' if number % 2 else 'x'}{number // 2}" for number in range(100_000)])) == 50_000
    assert time.process_time() - start < 6


def test_the_table_of_letters_is_what_it_says():
    """Letters of Greek and Cyrillic, and a few Latin ones, each as a Latin letter of the same case."""
    for sign, latin in LETTERS.items():
        assert name(chr(sign)).split()[0] in ("GREEK", "CYRILLIC", "LATIN")
        assert name(latin).startswith("LATIN")
        assert chr(sign).isupper() == latin.isupper()


@given(st.text())
def test_a_text_is_its_own_twin_however_it_is_written(text):
    """Case and white space around never make another value, and a skeleton is a skeleton of itself."""
    assert set(skeletons(text)) & set(skeletons(f" {text}\t"))
    for each in skeletons(text):
        assert each == " ".join(each.split())


def test_no_domain_without_text_is_looked_at():
    """A range of numbers is never listed for it."""
    assert twins_of(Integers(low=0, high=2**52)) == ()
