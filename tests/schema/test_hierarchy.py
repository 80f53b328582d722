"""Hierarchies: read exactly, refused with every problem at once, kept through files and releases, built by rule."""

from __future__ import annotations

import copy
import json
import pickle
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from cases import SHARED, few, needs_shared
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy, PolicyError
from discreet.ground.shown import FEW
from discreet.schema.domain import Integers, Listed, domain_from_json
from discreet.schema.hierarchy import hierarchy_of_prefixes, hierarchy_of_ranges, read_hierarchy, write_hierarchy
from discreet.schema.json_schema import json_schema
from discreet.schema.paths import LONGEST, checked, interval

ARX = SHARED / "hierarchies"
SECONDS = 2  # of CPU, for 100,000 leaves

GOOD = (("Flu", "lung", "organ", "*"), ("Ulcer", "gut", "organ", "*"), ("Gout", "toe", "limb", "*"))
POLICY = """\
version = 1
[table]
quasi_identifiers = ["age", "zipcode"]
sensitive = "disease"
[domains.age]
{age}
[domains.zipcode]
{zipcode}
[domains.disease]
values = ["Flu", "HIV"]
[mechanism]
kind = "buckets"
[mechanism.tolerance]
theta = 8
floor = "1/50"
"""


def problems(rows, values=None) -> list[str]:
    """What the checker says of rows, a line for each kind of problem."""
    try:
        checked(rows, values)
    except PolicyError as error:
        head, *found = str(error).split("\n  - ")
        assert head == "hierarchy must be a tree with one path for each value; mend:"
        return found
    return []


def write_policy(folder: Path, age: str = "integers = [0, 9]", zipcode: str = 'values = ["02139", "02140"]') -> Path:
    path = folder / "policy.toml"
    path.write_text(POLICY.format(age=age, zipcode=zipcode), encoding="utf-8")
    return path


# Reading the file


@pytest.mark.parametrize(
    "content",
    [
        b"Flu;lung;*\nUlcer;gut;*\n",
        b"Flu;lung;*\nUlcer;gut;*",
        b"Flu;lung;*\r\nUlcer;gut;*\r\n",
        b"\xef\xbb\xbfFlu;lung;*\nUlcer;gut;*\n",
        b"Flu,lung,*\nUlcer,gut,*\n",
        b'"Flu";"lung";"*"\n"Ulcer";gut;*\n',
        b"Flu;lung;*\n\nUlcer;gut;*\n\n",
    ],
    ids=["plain", "no last line end", "CRLF", "BOM", "comma", "quoted", "blank lines"],
)
def test_every_form_of_the_file_gives_the_same_paths(content, tmp_path):
    """Line ends, a byte-order mark, quotes and the separator are not part of a label."""
    (tmp_path / "h.csv").write_bytes(content)
    assert read_hierarchy(tmp_path / "h.csv") == (("Flu", "lung", "*"), ("Ulcer", "gut", "*"))


@pytest.mark.parametrize(
    ("text", "leaf", "parent"),
    [
        ('"a;b";"say ""x""";*\n', "a;b", 'say "x"'),
        ('"a;b","c,d",*\n', "a;b", "c,d"),
        ("a,b;c,d;*\n", "a,b", "c,d"),
        ("Zürich;Schweiz;*\n", "Zürich", "Schweiz"),
    ],
)
def test_quotes_protect_separators_and_quotes(text, leaf, parent, tmp_path):
    """A label may hold any printable character."""
    (tmp_path / "h.csv").write_text(text, encoding="utf-8")
    assert read_hierarchy(tmp_path / "h.csv") == ((leaf, parent, "*"),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"hierarchy \(h.csv\) must be a file that can be read"),
        (b"Fl\xfc;*\n", r"hierarchy \(h.csv\) must be UTF-8 \(byte 3 is not\)"),
        ("Flu;*\n".encode("utf-16"), "must be UTF-8"),
        (b'Flu;*\n"Ulcer;*\n', r"hierarchy \(h.csv\) must be CSV; mend line 2"),
        (b"", "rows must be there"),
        (b"\n\n", "rows must be there"),
    ],
    ids=["no file", "Latin-1", "UTF-16", "open quote", "empty", "blank"],
)
def test_a_file_that_cannot_be_read_is_a_policy_error(content, message, tmp_path):
    """The message names the file and what is wrong, and there is no traceback."""
    if content is not None:
        (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(PolicyError, match=message):
        read_hierarchy(tmp_path / "h.csv")


def test_a_folder_is_not_a_file(tmp_path):
    """Neither is it read nor written."""
    with pytest.raises(PolicyError, match="must be a file that can be read"):
        read_hierarchy(tmp_path)
    with pytest.raises(PolicyError, match="must be writable"):
        write_hierarchy(GOOD, tmp_path)


@needs_shared("hierarchies")
def test_arx_own_hierarchies_load():
    """Every hierarchy that ARX ships for Adult is right, with the leaves of its file as text."""
    files = sorted(ARX.glob("adult_hierarchy_*.csv"))
    assert len(files) >= 9
    for file in files:
        paths = read_hierarchy(file)
        assert [";".join(path) for path in paths] == file.read_text(encoding="utf-8").splitlines()
        assert Listed(values=tuple(path[0] for path in paths), paths=paths).paths == paths


@needs_shared("hierarchies")
def test_arx_own_ages_are_shifted_by_one():
    """Read as whole numbers, ARX's ages stand under ranges that do not contain them: 5 under '0-4'."""
    with pytest.raises(PolicyError, match=r"intervals \('0-4' over 5, '5-9' over 10, '0-9' over 10") as error:
        read_hierarchy(ARX / "adult_hierarchy_age.csv", range(1, 101))
    assert str(error.value).count("\n  - ") == 1


# Every problem, alone

ALONE = {
    "columns": ((*GOOD, ("Cold", "lung", "*")), None, "rows ('Cold' with 3) must have 4 columns"),
    "no root": ((*GOOD, ("Cold", "nose", "face", "head")), None, "rows ('Cold') must end in '*'"),
    "early root": ((*GOOD, ("Cold", "nose", "*", "*")), None, "rows ('Cold') must have '*' at the end only"),
    "duplicate": ((*GOOD, GOOD[0]), None, "leaves ('Flu') must stand once each"),
    "two parents": (
        (*GOOD, ("Cold", "lung", "limb", "*")),
        None,
        "labels of level 1 ('lung' under 'organ' and 'limb') must have one parent each",
    ),
    "empty": ((*GOOD, ("Cold", "", "organ", "*")), None, "labels (row 4) must not be empty"),
    "empty leaf": ((*GOOD, ("", "lung", "organ", "*")), None, "labels (row 4) must not be empty"),
    "case twins": ((*GOOD, ("fLU", "lung", "organ", "*")), None, "leaves ('Flu' and 'fLU') must differ in more"),
    "space twins": (
        (*GOOD, ("Hay Fever", "lung", "organ", "*"), ("HayFever", "lung", "organ", "*")),
        None,
        "leaves ('Hay Fever' and 'HayFever') must differ in more than letter case and white space",
    ),
    "label twins": (
        (*GOOD, ("Cold", "Lung", "organ", "*")),
        None,
        "labels of level 1 ('lung' and 'Lung') must differ in more than letter case and white space",
    ),
    "space around": (
        (*GOOD, ("Cold", "nose ", "organ", "*")),
        None,
        "labels ('nose ') must not begin or end with white space",
    ),
    "no text": ((*GOOD, ("Co\x1bld", "nose", "organ", "*")), None, r"labels ('Co\x1bld') must be one line of text"),
    "missed": (GOOD, ("Flu", "Ulcer", "Gout", "HIV"), "values ('HIV') must have a row each"),
    "unused": (GOOD, ("Flu", "Gout"), "leaves ('Ulcer') must be values of the domain"),
    "missed number": ((("1", "*"), ("3", "*")), range(1, 4), "values (2) must have a row each"),
    "unused number": ((("1", "*"), ("2", "*"), ("3", "*")), (1, 3), "leaves (2) must be values of the domain"),
    "no number": ((("1", "*"), ("one", "*")), range(1, 2), "leaves ('one') must be whole numbers"),
    "same number": ((("7", "*"), ("07", "*")), range(7, 8), "leaves (7) must stand once each"),
    "interval": ((("4", "0-4", "*"), ("5", "0-4", "*")), range(4, 6), "intervals ('0-4' over 5) must contain"),
    "no rows": ((), None, "rows must be there"),
    "no labels": ((("Flu", "*"), ()), None, "rows must be there"),
}


@pytest.mark.parametrize("kind", ALONE)
def test_a_problem_alone_is_named_alone(kind):
    """One mistake gives one line, with the values that it is about and what to do."""
    rows, values, message = ALONE[kind]
    (found,) = problems(rows, values)
    assert found.startswith(message)
    assert ";" in found


def test_a_right_hierarchy_has_no_problem():
    """The rows that the mistakes above are made in are right themselves."""
    assert not problems(GOOD)
    assert not problems(GOOD, ("Gout", "Flu", "Ulcer"))


def test_a_leaf_under_two_parents_is_a_duplicate_with_two_parents():
    """Both are said: the row is there twice, and the two disagree."""
    found = problems([*GOOD, ("Flu", "gut", "organ", "*")])
    assert [line.split(" must")[0] for line in found] == ["leaves ('Flu' under 'lung' and 'gut')", "leaves ('Flu')"]


def test_a_row_of_the_root_alone_is_refused():
    """'*' is no leaf."""
    assert any(line.startswith("rows ('*') must have '*' at the end only") for line in problems([("*",)]))


def test_all_problems_are_in_one_message():
    """A file with every mistake is refused once, and the message has a line for each."""
    rows = [
        ("1", "0-4", "0-9", "*"),
        ("1", "5-9", "0-9", "*"),
        ("2", "0-4", "0-9 ", "*"),
        ("3", "", "0-9", "*"),
        ("4", "0-4", "*"),
        ("6", "0-4", "0-9", "*"),
        ("7", "*", "0-9", "*"),
        ("8", "big", "0-9", "root"),
        ("8 ", "Big", "0-9", "*"),
        ("nine", "5-\n9", "0-9", "*"),
        ("30", "30-34", "30-39", "*"),
    ]
    found = problems(rows, range(10))
    assert [line.split(";")[0] for line in found] == [
        "rows ('4' with 3) must have 4 columns, as most rows do",
        "rows ('8') must end in '*'",
        "rows ('7') must have '*' at the end only",
        "labels (row 4) must not be empty",
        "labels ('0-9 ', '8 ') must not begin or end with white space",
        r"labels ('5-\n9') must be one line of text",
        "leaves ('8' and '8 ') must differ in more than letter case and white space",
        r"labels of level 1 ('5-9' and '5-\n9', 'big' and 'Big') must differ in more than letter case and white space",
        "labels of level 2 ('0-9' and '0-9 ') must differ in more than letter case and white space",
        "leaves ('1' under '0-4' and '5-9') must have one parent each",
        "labels of level 1 ('0-4' under '0-9' and '0-9 ') must have one parent each",
        "leaves (1, 8) must stand once each",
        "leaves ('nine') must be whole numbers, as the domain's values are",
        "leaves (30) must be values of the domain",
        "values (0, 5, 9) must have a row each",
        "intervals ('5-9' over 1, '0-4' over 6) must contain the leaves below them",
    ]


def test_the_first_few_are_named_and_the_rest_counted():
    """Of 100 bad rows the message has five and says that there are 95 more."""
    (found,) = problems([*GOOD, *((f"x{i}", "y", "z", "w") for i in range(100))])
    assert found.startswith("rows ('x0', 'x1', 'x2', 'x3', 'x4' and 95 more) must end in '*'")
    (found,) = problems([*GOOD, *((f"x{i}", "y", "z", "w") for i in range(FEW))])
    assert "more" not in found


def test_a_long_label_is_cut():
    """A label of a million characters does not fill the screen."""
    (found,) = problems([*GOOD, ("x" * 10**6, "y", "z", "w")])
    assert len(found) < LONGEST + 100


def test_a_domain_far_beyond_the_hierarchy_is_refused_at_once():
    """The values that a hierarchy misses are counted, not enumerated."""
    (found,) = problems([("1", "*"), ("3", "*")], range(2**52))
    assert found.startswith(f"values (0, 2, 4, 5, 6 and {2**52 - 7:,} more) must have a row each")


def test_masked_labels_may_differ_in_the_place_of_a_space():
    """'E1 6**' and 'E16 **' hide different postcodes; 'High School' and 'HighSchool' are one thing spelt twice."""
    assert not problems([("E1 6AN", "E1 6**", "*"), ("E16 2A", "E16 **", "*")])


# Intervals


@pytest.mark.parametrize(
    "form", ["{a}-{b}", "{a} - {b}", "{a}..{b}", "{a}–{b}", "[{a}, {b}]", "[{a},{e}[", "[{a}, {e})"]
)
@given(a=st.integers(-50, 50), width=st.integers(1, 9), leaf=st.integers(-60, 60))
def test_an_interval_is_read_in_every_spelling(form, a, width, leaf):
    """A leaf is refused under an interval exactly where it is outside, bounds of either sign."""
    b = a + width - 1
    label = form.format(a=a, b=b, e=b + 1)
    assert bool(problems([(str(leaf), label, "*")], (leaf,))) == (not a <= leaf <= b)


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("]0, 5]", (1, 5), (0, 6)),
        ("(0,5)", (1, 4), (0, 5)),
        ("<5", (4, -9), (5,)),
        ("<= 5", (5,), (6,)),
        ("≤5", (5,), (6,)),
        (">5", (6,), (5,)),
        (">=65", (65, 999), (64,)),
        ("≥65", (65,), (64,)),
        ("65+", (65, 999), (64,)),
    ],
)
def test_open_bounds_and_open_ends_are_read(label, inside, outside):
    """What a bracket or a sign leaves out is out."""
    low, high = interval(label)
    assert all(low <= value <= high for value in inside)
    assert not any(low <= value <= high for value in outside)


@pytest.mark.parametrize(
    "label", ["young", "5", "*", "0-", "-", "0213*", "7th-8th", "[0, 5", "1-2-3", "9" * 5000 + "-1"]
)
def test_other_labels_are_no_intervals(label):
    """They are left alone."""
    assert interval(label) is None


def test_text_values_may_stand_under_any_interval():
    """Only whole numbers are compared with intervals: '5' as text is a name."""
    assert not problems([("5", "0-4", "*")], ("5",))
    assert problems([("5", "0-4", "*")], (5,))


# Domains keep their paths


def domains():
    """A domain of each kind that has paths."""
    return {
        "integers": Integers(low=0, high=11, paths=hierarchy_of_ranges(0, 11, (2, 4))),
        "integers, missing": Integers(low=-3, high=5, paths=hierarchy_of_ranges(-3, 5, (5,)), missing=True),
        "text": Listed(values=("Gout", "Flu", "Ulcer"), paths=GOOD),
        "text, missing": Listed(values=("Gout", "Flu", "Ulcer"), paths=GOOD, missing=True),
        "numbers": Listed(values=(7, 3), paths=(("3", "odd", "*"), ("07", "odd", "*"))),
    }


@pytest.mark.parametrize("kind", domains())
def test_paths_stand_in_the_order_of_the_values(kind):
    """The path of a value is found at the value's own place, its leaf written as the value is."""
    domain = domains()[kind]
    assert [path[0] for path in domain.paths] == [str(value) for value in domain if value is not None]


@pytest.mark.parametrize("kind", domains())
def test_a_domain_comes_back_from_json(kind):
    """What a release says of a domain is read as the same domain, and says the same again."""
    domain = domains()[kind]
    data = json.loads(json.dumps(domain.as_json()))
    assert domain_from_json(data) == domain
    assert domain_from_json(data).as_json() == data


@pytest.mark.parametrize("kind", domains())
def test_a_domain_can_be_copied(kind):
    """A copy, a pickle and a replaced field keep the paths."""
    domain = domains()[kind]
    assert copy.deepcopy(domain) == pickle.loads(pickle.dumps(domain)) == domain  # noqa: S301 - our own bytes
    assert replace(domain, missing=not domain.missing).paths == domain.paths


def test_values_and_a_hierarchy_in_json_are_the_hierarchy_in_the_order_of_the_values():
    """Both forms of a text domain are the same domain."""
    paths = [list(path) for path in GOOD]
    both = domain_from_json({"values": ["Gout", "Flu", "Ulcer"], "hierarchy": paths})
    assert both == domain_from_json({"hierarchy": [paths[2], paths[0], paths[1]]})
    assert both.values == ("Gout", "Flu", "Ulcer")


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"hierarchy": []},
        {"hierarchy": "h.csv"},
        {"hierarchy": {"Flu": "*"}},
        {"hierarchy": [[]]},
        {"hierarchy": ["Flu"]},
        {"hierarchy": [["Flu", 1, "*"]]},
        {"hierarchy": [["Flu", ["x"], "*"]]},
        {"hierarchy": [["Flu", "x"]]},
        {"hierarchy": [["Flu", "*"], ["Flu", "*"]]},
        {"hierarchy": [["Flu\ud800", "*"]]},
        {"hierarchy": [["Flu", "*"]], "widths": [5]},
        {"hierarchy": [["Flu", "*"]], "missing": False},
        {"values": ["HIV"], "hierarchy": [["Flu", "*"]]},
        {"values": ["Flu"], "hierarchy": []},
        {"values": ["Flu", "Flu"], "hierarchy": [["Flu", "*"]]},
        {"values": [["Flu"]], "hierarchy": [["Flu", "*"]]},
        {"values": [1], "hierarchy": [["1" * 5000, "*"]]},
        {"integers": [0, 1], "hierarchy": [["0", "*"]]},
        {"integers": [0, 0], "hierarchy": [["0", "1-4", "*"]]},
        {"integers": [0, 2**53 - 1], "hierarchy": [["0", "*"]]},
        {"integers": [0, 0], "values": [0], "hierarchy": [["0", "*"]]},
        {"integers": [False, True]},
        {"integers": [0, 0], "hierarchy": None},
    ],
)
def test_a_release_with_a_wrong_domain_is_refused(data):
    """A release is anyone's file: what is not a domain is a PolicyError, whatever it is."""
    with pytest.raises(PolicyError):
        domain_from_json(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab*1 ", max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["integers", "values", "hierarchy", "missing"]), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_domain_or_a_policy_error(data):
    """Nothing else comes out."""
    try:
        domain = domain_from_json(data)
    except PolicyError:
        return
    assert domain_from_json(domain.as_json()) == domain


# Policies

DECLARED = [
    ("integers = [0, 9]", 'hierarchy = "zip.csv"'),
    ('integers = [0, 9]\nhierarchy = "age.csv"', 'values = ["02140", "02139"]\nhierarchy = "zip.csv"'),
    ("integers = [0, 9]\nwidths = [2, 4]", 'values = ["02140", "02139"]\nprefixes = [4, 3, 2]'),
    ('integers = [0, 9]\nwidths = [5]\nmissing = "category"', 'hierarchy = "zip.csv"\nmissing = "category"'),
    ('values = [9, 0]\nhierarchy = "two.csv"', "values = [2139, 2140]\nprefixes = [3]"),
]


@pytest.fixture
def folder(tmp_path):
    """A folder with the hierarchies that the policies above name."""
    write_hierarchy(hierarchy_of_ranges(0, 9, (5,)), tmp_path / "age.csv")
    write_hierarchy(hierarchy_of_prefixes(["02139", "02140"], (4, 3)), tmp_path / "zip.csv")
    write_hierarchy([("0", "even", "*"), ("9", "odd", "*")], tmp_path / "two.csv")
    return tmp_path


def accepted_by_schema(path: Path) -> bool:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(json_schema()).is_valid(document)


@pytest.mark.parametrize(("age", "zipcode"), DECLARED)
def test_a_policy_comes_back_from_its_file(age, zipcode, folder):
    """load, save and load again give the same policy, and the JSON Schema accepts both files."""
    path = write_policy(folder, age, zipcode)
    policy = Policy.load(path)
    (folder / "elsewhere").mkdir()
    saved = policy.save(folder / "elsewhere" / "copy.toml")
    assert Policy.load(saved) == policy
    assert Policy.load(saved).digest == policy.digest
    assert accepted_by_schema(path)
    assert accepted_by_schema(saved)


def test_widths_and_prefixes_say_what_their_files_would(folder):
    """A hierarchy built from the policy is the one in a file that a builder wrote."""
    built = Policy.load(
        write_policy(folder, "integers = [0, 9]\nwidths = [5]", 'values = ["02139", "02140"]\nprefixes = [4, 3]')
    )
    read = Policy.load(write_policy(folder, 'integers = [0, 9]\nhierarchy = "age.csv"', 'hierarchy = "zip.csv"'))
    assert built.schema == read.schema
    assert built.digest == read.digest
    assert built.schema.domains["age"].paths[7] == ("7", "5-9", "*")
    assert built.schema.domains["zipcode"].paths[1] == ("02140", "0214*", "021**", "*")


def test_a_hierarchy_changes_the_policy(folder):
    """With and without a hierarchy are two policies: a mechanism may generalize by one."""
    plain, built = (Policy.load(write_policy(folder, f"integers = [0, 9]{more}")) for more in ("", "\nwidths = [5]"))
    assert plain.digest != built.digest


@pytest.mark.parametrize(
    ("age", "zipcode"),
    [
        ('values = ["a"]\nintegers = [0, 9]', None),
        ('integers = [0, 9]\nwidths = [5]\nhierarchy = "age.csv"', None),
        ("integers = [0, 9]\nprefixes = [1]", None),
        ("integers = [0, 9]\nwidths = []", None),
        ("integers = [0, 9]\nwidths = 5", None),
        ("integers = [0, 9]\nwidths = [5, 5]", None),
        ("integers = [0, 9]\nwidths = [1]", None),
        ('integers = [0, 9]\nwidths = ["5"]', None),
        ("integers = [0, 9]\nwidths = [true]", None),
        ("integers = [0, 9]\nhierarchy = 7", None),
        ("integers = [false, true]", None),
        ("widths = [5]", None),
        (None, 'values = ["02139"]\nwidths = [5]'),
        (None, 'values = ["02139"]\nprefixes = []'),
        (None, 'values = ["02139"]\nprefixes = [0]'),
        (None, 'values = ["02139"]\nprefixes = "4"'),
        (None, 'hierarchy = "zip.csv"\nprefixes = [4]'),
        (None, "prefixes = [4]"),
    ],
)
def test_the_schema_and_the_loader_refuse_the_same(age, zipcode, folder):
    """Keys that do not go together and lists that are none are mistakes for editor and loader."""
    path = write_policy(folder, age or "integers = [0, 9]", zipcode or 'values = ["02139"]')
    assert Policy.check(path)
    assert not accepted_by_schema(path)


def test_a_policy_names_the_problems_of_its_values_and_of_its_hierarchy(folder):
    """Both are said in one run, each with its own line."""
    (folder / "bad.csv").write_text("02139;0213*\n", encoding="utf-8")
    path = write_policy(folder, zipcode='values = ["02139", "02139"]\nhierarchy = "bad.csv"')
    one, two = Policy.check(path)
    assert "values must be distinct" in one.message
    assert "hierarchy (bad.csv) must be a tree" in two.message
    assert "rows ('02139') must end in '*'" in two.message
    assert two.line == one.line + 1


def test_the_problems_of_all_hierarchies_are_named_before_any_data_is_read(folder):
    """A policy with two bad hierarchies is refused with the problems of both."""
    (folder / "bad.csv").write_text("02139;0213*\n", encoding="utf-8")
    path = write_policy(folder, 'integers = [0, 19]\nhierarchy = "age.csv"', 'hierarchy = "bad.csv"')
    with pytest.raises(PolicyError, match=r"(?s)age: hierarchy \(age.csv\).*zipcode: hierarchy \(bad.csv\)"):
        Policy.load(path)


# Builders


@given(
    low=st.integers(-60, 60),
    size=st.integers(1, 80),
    steps=st.lists(st.integers(2, 4), min_size=1, max_size=4),
)
def test_ranges_are_what_counting_gives(low, size, steps):
    """Every number stands under the range of each width that starts at a multiple of the width and contains it."""
    high = low + size - 1
    widths = [steps[0]]
    for step in steps[1:]:
        widths.append(widths[-1] * step)
    paths = hierarchy_of_ranges(low, high, widths)
    assert [path[0] for path in paths] == [str(value) for value in range(low, high + 1)]
    for value, (_, *above, root) in zip(range(low, high + 1), paths, strict=True):
        assert root == "*"
        for width, label in zip(widths, above, strict=True):
            (start,) = (each for each in range(value - width + 1, value + 1) if each % width == 0)
            assert label == f"{start}-{start + width - 1}"
    assert Integers(low=low, high=high, paths=paths).paths == paths


def test_ranges_have_the_widths_of_arx_unless_told():
    """Fives, tens and twenties."""
    assert hierarchy_of_ranges(0, 110)[37] == ("37", "35-39", "30-39", "20-39", "*")


@pytest.mark.parametrize("widths", [(), (0,), (1, 2), (-5,), (5, 5), (10, 5), (5, 12), (5.0,), ("5",), (True,)])
def test_widths_that_do_not_nest_are_refused(widths):
    """Ranges of one width must be whole in the ranges of the next."""
    with pytest.raises(PolicyError, match=r"widths \(.*\) must be whole numbers from 2, each a multiple"):
        hierarchy_of_ranges(0, 10, widths)


@pytest.mark.parametrize(("low", "high"), [(1, 0), (0, 10**15), (0.0, 5), (False, True)])
def test_ranges_over_no_domain_are_refused(low, high):
    """Neither an empty domain nor one too large to write down."""
    with pytest.raises(PolicyError, match=r"integers \(.*\) must be \[lowest, highest\]"):
        hierarchy_of_ranges(low, high)


@given(
    values=st.lists(st.text("012", min_size=1, max_size=6), min_size=1, max_size=30, unique=True),
    keep=st.sets(st.integers(1, 6), min_size=1),
)
def test_prefixes_are_what_grouping_gives(values, keep):
    """Two values stand under one label of a level exactly where the characters kept are the same."""
    keep = sorted(keep, reverse=True)
    paths = hierarchy_of_prefixes(values, keep)
    assert [path[0] for path in paths] == values
    for level, length in enumerate(keep, start=1):
        for one, path in zip(values, paths, strict=True):
            assert path[level].rstrip("*") == one[:length]
            for other, beside in zip(values, paths, strict=True):
                assert (path[level] == beside[level]) == (one[:length] == other[:length])
    assert all(path[-1] == "*" for path in paths)
    assert Listed(values=tuple(values), paths=paths).paths == paths


def test_prefixes_mask_zip_codes():
    """The levels of a five-digit zip code, unless told otherwise."""
    assert hierarchy_of_prefixes(["02139"]) == (("02139", "0213*", "021**", "02***", "*"),)


@pytest.mark.parametrize("keep", [(), (0,), (2, 3), (3, 3), (-1,), (2.0,), ("2",), (True,)])
def test_prefixes_out_of_order_are_refused(keep):
    """Each level keeps fewer characters than the one below."""
    with pytest.raises(PolicyError, match=r"prefixes \(.*\) must be whole numbers from 1, longest first"):
        hierarchy_of_prefixes(["02139"], keep)


@pytest.mark.parametrize("values", [(), ("a", "a"), ("ab1", "AB1"), ("*",), ("", "ab"), (" a", "b")])
def test_prefixes_of_values_that_are_no_leaves_are_refused(values):
    """What a file would be refused for, a builder is refused for."""
    with pytest.raises(PolicyError, match="hierarchy of prefixes"):
        hierarchy_of_prefixes(values, (1,))


LABELS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Z")) | st.sampled_from(';,"'), min_size=1
)


@given(leaves=st.lists(LABELS, min_size=1, max_size=8, unique_by=lambda leaf: "".join(leaf.split()).casefold()))
@settings(max_examples=few(200))
def test_what_is_written_is_read_again(leaves, tmp_path_factory):
    """Any labels that pass the check survive the file, separators and quotes and all; others are not written."""
    rows = [(leaf, f"over {leaf}", "*") for leaf in leaves]
    file = tmp_path_factory.mktemp("any") / "h.csv"
    if problems(rows):
        with pytest.raises(PolicyError):
            write_hierarchy(rows, file)
        assert not file.exists()
    else:
        assert read_hierarchy(write_hierarchy(rows, file)) == tuple(rows)


# Size


@pytest.mark.slow
def test_a_hundred_thousand_leaves_are_read_in_seconds(tmp_path):
    """Reading and checking are linear: 100,000 numbers on six levels, from a policy and from a release."""
    write_hierarchy(hierarchy_of_ranges(0, 99_999, (5, 10, 100, 1_000)), tmp_path / "age.csv")
    path = write_policy(tmp_path, 'integers = [0, 99999]\nhierarchy = "age.csv"')
    start = time.process_time()
    domain = Policy.load(path).schema.domains["age"]
    loaded = time.process_time()
    assert loaded - start < SECONDS
    data = domain.as_json()
    start = time.process_time()
    assert domain_from_json(data) == domain
    assert time.process_time() - start < SECONDS


def test_a_hundred_thousand_bad_leaves_are_named_in_seconds():
    """The same for rows that are all wrong, and the message stays short."""
    rows = [(f"{'Xx'[i % 2]}{i // 2 % 30_000} ", f"y{i % 7}", f"z{i % 11}", "") for i in range(100_000)]
    start = time.process_time()
    found = problems(rows, range(100_000))
    assert time.process_time() - start < SECONDS
    assert len("".join(found)) < 3_000


def test_equal_labels_are_one_object():
    """A hundred thousand rows do not hold a hundred thousand copies of their parents' labels."""
    rows = [[f"leaf {i}", "".join(["par", "ent"]), "*"] for i in range(50)]
    paths = domain_from_json({"hierarchy": rows}).paths
    assert len({id(path[1]) for path in paths}) == 1
