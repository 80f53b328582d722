"""The policy: it comes back as it was saved, says all that is wrong at once, and no message has a cell."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import tomli_w
from cases import apart, few
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import discreet
from discreet.schema.domain import Domain, Integers, Listed

QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

GOOD = """\
# a policy
version = 1

[table]
identifiers = ["name", "ssn"]
quasi_identifiers = ["age", "gender"]
sensitive = "disease"
person = "ssn"

[domains.age]
integers = [0, 110]

[domains.gender]
values = ["F", "M"]

[domains.disease]
values = [
  "Flu",
  "HIV",
  "Cancer",
]

[mechanism]
kind = "buckets"
sizes = "two"
max_size = 40
composition = "random"

[mechanism.tolerance]
theta = 4
floor = 0.05
values = { HIV = 0.3, Flu = 1 }
"""


def line_with(start: str, text: str = GOOD) -> int:
    """The number of the only line that starts so."""
    (number,) = [i for i, line in enumerate(text.splitlines(), start=1) if line.startswith(start)]
    return number


def problems_of(text: str, encoding: str = "utf-8") -> tuple[Any, ...]:
    """What is wrong with a policy of this text; `load` must agree with `check`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.toml"
        path.write_bytes(text.encode(encoding))
        found = discreet.Policy.check(path)
        if found:
            with pytest.raises(discreet.PolicyError) as raised:
                discreet.Policy.load(path)
            for problem in found:
                assert problem.message in str(raised.value)
                assert problem.line is None or f"p.toml, line {problem.line}: {problem.message}" in str(raised.value)
        else:
            discreet.Policy.load(path)
    return found


def test_the_good_policy_is_good():
    """What the tests below break is right before."""
    assert problems_of(GOOD) == ()


# Saved and loaded


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
FRACTIONS = st.fractions(0, 1, max_denominator=60) | st.decimals(0, 1, places=30).map(Fraction)


@st.composite
def hierarchies(draw: st.DrawFn) -> Listed:
    """Leaves under groups under '*'."""
    label = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6).filter("*".__ne__)
    labels = draw(st.lists(label, min_size=1, max_size=6))
    leaves = [f"{number}{each}" for number, each in enumerate(labels)]  # no two differ in case alone
    group = st.integers(0, 9).map("group {}".format)
    groups = draw(st.lists(group, min_size=len(leaves), max_size=len(leaves)))
    paths = tuple((leaf, group, "*") for leaf, group in zip(leaves, groups, strict=True))
    return apart(Listed(values=tuple(leaves), paths=paths, missing=draw(st.booleans())))


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    kind = draw(st.sampled_from(["integers", "numbers", "texts", "hierarchy"]))
    if kind == "hierarchy":
        return draw(hierarchies())
    missing = draw(st.booleans())
    if kind == "integers":
        low = draw(st.integers(-(2**53) + 1, 2**53 - 2))
        return Integers(low=low, high=min(low + draw(st.integers(0, 50)), 2**53 - 1), missing=missing)
    values: st.SearchStrategy[Any] = st.integers(-(2**53) + 1, 2**53 - 1) if kind == "numbers" else TEXT
    return apart(Listed(values=tuple(draw(st.lists(values, min_size=1, max_size=5, unique=True))), missing=missing))


@st.composite
def policies(draw: st.DrawFn) -> discreet.Policy:
    free = TEXT.filter(lambda name: name.upper() not in ("BID", "COUNT"))
    names = draw(st.lists(free, min_size=3, max_size=6, unique_by=str.casefold))
    sensitive, *others = names
    cut = draw(st.integers(1, len(others)))
    quasi, identifiers = tuple(others[:cut]), tuple(others[cut:])
    person = draw(st.sampled_from([None, *identifiers])) if identifiers else None
    chosen = {name: draw(domains()) for name in (*quasi, sensitive)}
    listed = [value for value, _ in zip(chosen[sensitive], range(60), strict=False)]
    limits = draw(st.dictionaries(st.sampled_from(listed), FRACTIONS.filter(bool), max_size=3))
    return discreet.Policy(
        schema=discreet.Schema(quasi_identifiers=quasi, sensitive=sensitive, domains=chosen),
        mechanism=discreet.Buckets(
            tolerance=discreet.Tolerance(
                theta=draw(FRACTIONS.map(lambda each: each * 37)), floor=draw(FRACTIONS.filter(bool)), values=limits
            ),
            sizes=draw(st.sampled_from(["one", "two"])),
            max_size=draw(st.integers(1, 200)),
            composition=draw(st.sampled_from(["random", "round-robin"])),
        ),
        identifiers=identifiers,
        person=person,
    )


@given(policies())
@settings(QUICK, max_examples=few(100))
def test_a_policy_comes_back_as_it_was_saved(policy):
    """Any names, values, hierarchies and exact numbers; and it has the same digest, so the same releases."""
    with tempfile.TemporaryDirectory() as folder:
        path = policy.save(Path(folder) / "policy.toml")
        loaded = discreet.Policy.load(path)
        assert loaded == policy
        assert loaded.digest == policy.digest
        assert loaded.path == path
        text = path.read_text(encoding="utf-8")
        loaded.save(path)
        assert path.read_text(encoding="utf-8") == text


def test_numbers_are_read_as_they_are_written(tmp_path):
    """0.05 is 1/20 and '1/3' is a third: no double comes in between."""
    (tmp_path / "p.toml").write_text(GOOD.replace("floor = 0.05", "floor = '1/3'").replace("HIV = 0.3", "HIV = 0.1"))
    tolerance = discreet.Policy.load(tmp_path / "p.toml").mechanism.tolerance
    assert (tolerance.theta, tolerance.floor) == (4, Fraction(1, 3))
    assert tolerance.values == {"HIV": Fraction(1, 10), "Flu": 1}


def test_what_is_private_is_not_in_the_digest(tmp_path):
    """Identifiers and the person column decide nothing about a release."""
    (tmp_path / "a.toml").write_text(GOOD)
    (tmp_path / "b.toml").write_text(GOOD.replace('["name", "ssn"]', "[]").replace('person = "ssn"\n', ""))
    (tmp_path / "c.toml").write_text(GOOD.replace("theta = 4", "theta = 5"))
    one, two, three = (discreet.Policy.load(tmp_path / f"{name}.toml").digest for name in "abc")
    assert one == two
    assert one != three


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_policy_written_on_any_machine_is_read(encoding, ending):
    """With a byte-order mark and with any line ends; lines are counted the same."""
    text = GOOD.replace("\n", ending)
    assert problems_of(text, encoding) == ()
    (problem,) = problems_of(text.replace("theta = 4", "theta = -4"), encoding)
    assert problem.line == line_with("theta")


# Everything that is wrong, at once, with its line


# name: (the line that is replaced, its new text, words of the message, lines that are right besides its own)
MISTAKES: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "version": ("version = 1", "version = 2", ("version (2)", "must be 1"), ()),
    "unknown key in table": ("person", 'persn = "ssn"', ("persn", "did you mean person?"), ()),
    "identifiers": ("identifiers", 'identifiers = "name"', ("identifiers", "list"), ()),
    "two roles": ("quasi", 'quasi_identifiers = ["age", "gender", "Disease"]', ("one role",), ("sensitive",)),
    "reserved": ("quasi", 'quasi_identifiers = ["age", "gender", "bid"]', ("must not be called bid",), ()),
    "swapped range": ("integers", "integers = [110, 0]", ("age", "[lowest, highest]"), ("[domains.age]",)),
    "double value": ('values = ["F"', 'values = ["F", "M", "F"]', ("gender", "twice"), ("[domains.gender]",)),
    "unknown domain key": (
        'values = ["F"',
        'values = ["F", "M"]; valeus = 1'.replace("; ", "\n"),
        ("valeus", "values"),
        (),
    ),
    "kind": ("kind", 'kind = "bucket"', ("kind (bucket)", "did you mean buckets?"), ()),
    "sizes": ("sizes", 'sizes = "three"', ("sizes (three)",), ()),
    "max_size": ("max_size", "max_size = 0", ("max_size (0)",), ()),
    "composition": ("composition", 'composition = "rnd"', ("composition (rnd)",), ()),
    "unknown parameter": ("composition", "compositon = 1", ("compositon", "did you mean composition?"), ()),
    "theta": ("theta", "theta = -1", ("theta (-1)",), ()),
    "floor": ("floor", "floor = 1.5", ("floor (",), ()),
    "floor text": ("floor", 'floor = "much"', ("floor (much)", "number"), ()),
    "zero": ("values = { HIV", "values = { HIV = 0, Flu = 1 }", ("HIV", "above 0"), ()),
    "stranger": ("values = { HIV", "values = { HiV = 0.3 }", ("HiV", "did you mean HIV?"), ()),
    "unknown tolerance": ("theta", "thete = 4", ("thete", "did you mean theta?"), ()),
}
# without these the mechanism cannot be read at all
HIDES = {
    "kind": (
        "sizes",
        "max_size",
        "composition",
        "unknown parameter",
        "theta",
        "floor",
        "floor text",
        "zero",
        "stranger",
        "unknown tolerance",
    )
}


@given(st.lists(st.sampled_from(list(MISTAKES)), min_size=1, max_size=6, unique_by=lambda name: MISTAKES[name][0]))
@settings(QUICK, max_examples=few(120))
@example(["swapped range", "theta"])
@example(["sizes", "max_size", "composition", "theta", "floor", "zero"])
def test_all_mistakes_are_named_at_once_with_their_lines(chosen):
    """Any of them together: each is in the list, with the line it stands on or the line of its table."""
    if hidden := [name for first in chosen for name in HIDES.get(first, ())]:
        chosen = [name for name in chosen if name not in hidden]
    lines = GOOD.splitlines()
    for name in chosen:
        lines[line_with(MISTAKES[name][0]) - 1] = MISTAKES[name][1]
    text = "\n".join(lines) + "\n"
    found = problems_of(text)
    for name in chosen:
        _, new, words, besides = MISTAKES[name]
        right = {line_with(new.splitlines()[-1], text), *(line_with(start, text) for start in besides)}
        assert [
            problem for problem in found if problem.line in right and all(word in problem.message for word in words)
        ], f"{name} at {right} is not among {found}"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('[domains.gender]\nvalues = ["F", "M"]\n', "", "[domains.gender] is missing"),
        ('sensitive = "disease"\n', "", "sensitive must name"),
        ("quasi_identifiers", "identifers_quasi", "quasi_identifiers must name"),
        ('person = "ssn"', 'person = "age"', "person (age) must not be published"),
        ('["age", "gender"]', '["age", "gender", "AGE"]', "AGE must have one role"),
        ('["name", "ssn"]', '["name", "Gender"]', "must have one role"),
        ("[domains.age]", "[domains.agee]", "[domains.age] is missing"),
        ("[domains.age]", "[domains.agee]", "did you mean age?"),
        ("integers = [0, 110]", "integers = [0]", "age: integers must be"),
        ("integers = [0, 110]", "integers = [0.5, 1.5]", "age: integers must be"),
        ("integers = [0, 110]", "integers = [false, true]", "age: integers must be"),
        ("integers = [0, 110]", "integers = [0, 9007199254740992]", "2^53"),
        ('values = ["F", "M"]', "values = []", "must not be empty"),
        ('values = ["F", "M"]', 'values = ["F", 1]', "all text or all whole numbers"),
        ('values = ["F", "M"]', "values = [true, false]", "all text or all whole numbers"),
        ('values = ["F", "M"]', 'values = "F"', "must be a list"),
        ('values = ["F", "M"]', "values = [100000000000000000000, 1]", "gender"),
        ('values = ["F", "M"]', 'hierarchy = "gone.csv"', "gone.csv"),
        ('values = ["F", "M"]', 'missing = "category"', "[domains.gender] must have"),
        ('values = ["F", "M"]', 'values = ["F", "M"]\nmissing = "maybe"', '"refuse" or "category"'),
        (
            "[mechanism.tolerance]\ntheta = 4\nfloor = 0.05\nvalues = { HIV = 0.3, Flu = 1 }\n",
            "",
            "[mechanism.tolerance] is missing",
        ),
        ("theta = 4\nfloor = 0.05\n", "", "above 0 for every value"),
        ("theta = 4\nfloor = 0.05\n", 'theta = "0"\nfloor = "0"\n', "above 0 for every value"),
        ("theta = 4", "theta = nan", "theta (nan)"),
        ("theta = 4", "theta = inf", "theta (inf)"),
        ("theta = 4", "theta = true", "theta (True)"),
        ("theta = 4", 'theta = "1/0"', "theta (1/0)"),
        ("floor = 0.05", "floor = -0.05", "floor (-1/20)"),
        ("HIV = 0.3", "HIV = 1.01", "above 0 and at most 1"),
        ("HIV = 0.3", 'HIV = "a"', "number"),
        ("values = { HIV = 0.3, Flu = 1 }", "values = 3", "values must be a table"),
        ("[mechanism]", "[mechanisms]", "did you mean mechanism?"),
        ("version = 1", "", "write version = 1"),
        ("version = 1", "version = true", "write version = 1"),
        ("[table]", "[table", "the file must be TOML"),
    ],
)
def test_a_contradiction_is_named(old, new, words):
    """Each contradiction by itself: the message has the words that help."""
    assert GOOD.count(old) >= 1
    found = problems_of(GOOD.replace(old, new, 1))
    assert any(words in problem.message for problem in found), found


@pytest.mark.parametrize("name", ["BID", "bid", "Bid", "COUNT", "count", "cOUNT"])
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_reserved_names_are_refused_in_any_case(role, name):
    """A release adds BID and COUNT; a column of that name says so, and one that is dropped may have it."""
    old = "gender" if role == "quasi" else "disease"
    text = GOOD.replace(f'"{old}"', f'"{name}"').replace(f"[domains.{old}]", f"[domains.{name}]")
    assert any(f"must not be called {name}" in problem.message for problem in problems_of(text))
    assert problems_of(GOOD.replace('["name", "ssn"]', f'["{name}", "ssn"]')) == ()


@pytest.mark.parametrize(
    "name", ["# visits", "a]b", "x.y", "it's", 'in "quotes"', "über", "a=b", "[z]", " ", "tab\there"]
)
def test_the_line_is_right_whatever_a_column_is_called(name):
    """Headers with quoted names, also with signs that TOML uses itself."""
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'
    text = GOOD.replace('"gender"', quoted).replace("[domains.gender]", f"[domains.{quoted}]")
    assert problems_of(text) == ()
    found = problems_of(text.replace('["F", "M"]', '["F", "F"]'))
    assert [problem.line in (13, 14) for problem in found] == [True]


def test_lines_inside_texts_are_no_keys():
    """A text over several lines that looks like a policy does not mislead the count; nor do odd separators."""
    text = GOOD.replace("# a policy", "# a\u2028policy\u0085of mine").replace(
        'composition = "random"', 'composition = """\n[mechanism.tolerance]\ntheta = 1"""'
    )
    found = problems_of(text.replace("theta = 4", "theta = -4"))
    lines = text.replace("theta = 4", "theta = -4").split("\n")
    assert lines.index("theta = -4") + 1 in [problem.line for problem in found if "theta (-4)" in problem.message]


# Anything at all in a policy


LEAVES = (
    st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats(-1e6, 1e6)
    | st.sampled_from([float("inf"), float("nan")])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    | st.dates()
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "values", "kind"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def _places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    keys = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in keys:
        found += _places(content[key], (*path, key))
    return found


PLACES = [
    *_places(tomllib.loads(GOOD)),
    ("domains", "gender", "missing"),
    ("domains", "age", "widths"),
    ("domains", "gender", "prefixes"),
]


@given(st.sampled_from(PLACES), ANYTHING)
@settings(QUICK, max_examples=few(300))
@example(("mechanism", "kind"), ["buckets"])
@example(("mechanism", "sizes"), ["two"])
@example(("domains", "gender", "missing"), ["category"])
@example(("domains", "age", "integers"), [0, 2**65])
def test_anything_in_the_place_of_anything_is_a_problem_or_right(place, value):
    """Wrong types never end in a traceback."""
    document = tomllib.loads(GOOD)
    node = document
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    problems_of(tomli_w.dumps(document))


@given(st.text(max_size=30) | st.text(st.sampled_from('[]{}=."#\n a1'), max_size=40))
@settings(QUICK, max_examples=few(60))
def test_any_text_is_a_policy_or_a_list_of_problems(text):
    """Not one word of TOML, or TOML of something else."""
    assert problems_of(text.encode(errors="replace").decode())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x = \xe9", b"[" * 5000, b"x = " + b"[" * 5000 + b"]" * 5000])
def test_bytes_that_are_no_toml_are_a_problem(content, tmp_path):
    """Also nested beyond what a parser can follow."""
    (tmp_path / "p.toml").write_bytes(content)
    assert discreet.Policy.check(tmp_path / "p.toml")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("theta = 4", "theta = 1e999999999"),
        ("floor = 0.05", "floor = 1e-999999999"),
        ("floor = 0.05", "floor = 1e-99999999999999999999"),
        ("floor = 0.05", "floor = 0." + "0" * 100_000 + "1"),
        ("theta = 4", "theta = " + "9" * 100_000),
        ('values = [\n  "Flu",\n  "HIV",\n  "Cancer",\n]', "integers = [0, 9007199254740990]"),
    ],
)
def test_a_few_characters_cannot_stop_the_check(old, new, tmp_path):
    """A number with a billion digits or a domain of 2^53 values is said to be wrong, or is right, within seconds."""
    (tmp_path / "p.toml").write_text(GOOD.replace(old, new).replace("values = { HIV = 0.3, Flu = 1 }\n", ""))
    code = (
        "import resource, discreet\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "discreet.Policy.check('p.toml')\n"
    )
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=8, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.fail("the check took more than 8 seconds")
    assert done.returncode == 0, done.stderr[-300:]


# Policies built in Python


def _built(quasi: dict[str, Domain], sensitive: str, domain: Domain, **tolerance: Any) -> discreet.Policy:
    return discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=tuple(quasi), sensitive=sensitive, domains={**quasi, sensitive: domain}
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(**{"floor": "1/2", **tolerance})),
    )


LETTERS = Listed(values=("x", "y", "z"))
AGES = Integers(low=0, high=9)
WRONG_IN_PYTHON: dict[str, Callable[[], discreet.Policy]] = {
    "a reserved quasi-identifier": lambda: _built({"BID": AGES}, "d", LETTERS),
    "a reserved sensitive column": lambda: _built({"age": AGES}, "count", LETTERS),
    "a column in two roles": lambda: _built({"age": AGES, "d": LETTERS}, "d", LETTERS),
    "columns that differ in case": lambda: _built({"age": AGES, "AGE": AGES}, "d", LETTERS),
    "a tolerance for a stranger": lambda: _built({"age": AGES}, "d", LETTERS, values={"X": "0.1"}),
    "a tolerance for a digit in place of a number": lambda: _built({"age": AGES}, "d", AGES, values={"3": "0.5"}),
    "an identifier that is published": lambda: discreet.Policy(
        schema=_built({"age": AGES}, "d", LETTERS).schema,
        mechanism=_built({"age": AGES}, "d", LETTERS).mechanism,
        identifiers=("Age",),
    ),
    "no quasi-identifier": lambda: _built({}, "d", LETTERS),
    "a number that is too large": lambda: _built({"age": Listed(values=(10**20, 1))}, "d", LETTERS),
}


@pytest.mark.parametrize("wrong", WRONG_IN_PYTHON)
def test_a_policy_built_in_python_is_checked_like_one_from_a_file(wrong):
    """What a file would be refused for is refused when it is built: a misspelt tolerance must not protect nobody."""
    with pytest.raises(discreet.PolicyError):
        WRONG_IN_PYTHON[wrong]()


# A table that does not fit


SECRETS = ["Qz7secret", "-987654", "Flu ", "hiv", "1e3", "12.5", "0x1F"]


def write(frame: pd.DataFrame, kind: str, folder: Path) -> object:
    if kind == "pandas":
        return frame
    path = folder / f"rows.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    return path


def refusal(source: object, policy: discreet.Policy) -> str:
    with pytest.raises(discreet.TableError) as raised:
        discreet.read_table(source, policy).close()
    return str(raised.value)


@pytest.fixture(scope="module")
def policy(tmp_path_factory) -> discreet.Policy:
    path = tmp_path_factory.mktemp("policy") / "p.toml"
    path.write_text(GOOD)
    return discreet.Policy.load(path)


def people(rows: int = 30) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"Nnn{i}" for i in range(rows)],
            "ssn": [f"sss{i}" for i in range(rows)],
            "age": [str(i % 90) for i in range(rows)],
            "gender": ["F", "M"] * (rows // 2),
            "disease": ["Flu", "HIV", "Cancer"] * (rows // 3),
        }
    )


@given(
    st.dictionaries(
        st.sampled_from(["age", "gender", "disease"]),
        st.tuples(st.sets(st.integers(0, 29), max_size=9), st.sets(st.integers(0, 29), max_size=9)),
        min_size=1,
    ).filter(lambda bad: any(strange or empty for strange, empty in bad.values())),
    st.sampled_from(["pandas", "csv", "parquet"]),
    st.randoms(use_true_random=False),
)
@settings(QUICK, max_examples=few(50))
def test_cells_that_do_not_fit_are_counted_by_column_and_never_shown(policy, bad, kind, coins):
    """All columns at once, with the numbers of strange and of empty cells; no cell, no name."""
    frame = people()
    shown = set()
    for column, (strange, empty) in bad.items():
        for row in strange:
            cell = coins.choice([each for each in SECRETS if column != "age" or each != "hiv"])
            frame.loc[row, column] = cell
        frame.loc[sorted(empty), column] = None
        shown |= {str(cell).strip() for cell in frame[column].dropna() if cell in SECRETS}
    with tempfile.TemporaryDirectory() as folder:
        message = refusal(write(frame, kind, Path(folder)), policy)
    for column, (strange, empty) in bad.items():
        if strange - empty:
            assert f"{column} is outside its domain in {len(strange - empty)} of 30 rows" in message
        if empty:
            assert f"{column} is empty in {len(empty)} of 30 rows" in message
    for column in {"age", "gender", "disease"} - set(bad):
        assert f"{column} is" not in message
    for secret in (*(shown - {"Flu"}), "Nnn", "sss"):
        assert secret not in message


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
def test_repeated_persons_are_counted_and_not_named(kind, policy, tmp_path):
    """The promise is for one row a person."""
    frame = people()
    frame.loc[:3, "ssn"] = "sss29"
    frame.loc[7, "ssn"] = None
    message = refusal(write(frame, kind, tmp_path), policy)
    assert "ssn must be different in every row" in message
    assert "4 rows repeat a person" in message
    assert "1 name none" in message
    assert "sss" not in message


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
def test_missing_columns_are_all_named_with_the_nearest(kind, policy, tmp_path):
    """Also an identifier that is not there: it may be misspelt, and then it would be kept."""
    frame = people().rename(columns={"gender": "gendre", "disease": "diseases", "name": "nome"})
    message = refusal(write(frame, kind, tmp_path), policy)
    for name, near in (("gender", "gendre"), ("disease", "diseases"), ("name", "nome")):
        assert name in message
        assert f"did you mean {near}?" in message


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
@pytest.mark.parametrize("order", [["disease", "Disease"], ["Disease", "disease"]])
def test_two_columns_that_differ_in_case_are_not_confused(order, kind, policy, tmp_path):
    """The column that is spelt like the policy's is taken, or the table is refused: never silently the other."""
    frame = people().assign(Disease="Flu")
    frame = frame[["name", "ssn", "age", "gender", *order]]
    try:
        table = discreet.read_table(write(frame, kind, tmp_path), policy)
    except discreet.TableError:
        return
    histogram = table.histogram
    table.close()
    assert histogram == {"Flu": 10, "HIV": 10, "Cancer": 10}


@pytest.mark.parametrize("kind", ["pandas", "csv"])
def test_two_columns_of_the_same_name_are_refused(kind, policy, tmp_path):
    """Nobody can know which was meant."""
    frame = pd.concat([people(), pd.DataFrame({"disease": ["Flu"] * 30})], axis=1)
    assert "disease" in refusal(write(frame, kind, tmp_path), policy)


def test_names_that_differ_in_case_only_are_found(policy, tmp_path):
    """AGE is age, if nothing else is."""
    table = discreet.read_table(people().rename(columns=str.upper), policy)
    rows = table.rows
    table.close()
    assert rows == 30


BROKEN_CSV = {
    "no header": lambda lines: lines[1:],
    "a header that is too short": lambda lines: ["name,ssn,age,gender", *lines[1:]],
    "a header that is too long": lambda lines: [lines[0] + ",more", *lines[1:]],
    "short first rows": lambda lines: [lines[0], *(line.rsplit(",", 1)[0] for line in lines[1:4]), *lines[4:]],
    "long first rows": lambda lines: [lines[0], *(line + ",x" for line in lines[1:4]), *lines[4:]],
    "a long row at the end": lambda lines: [*lines, lines[-1] + ",x"],
    "a short row at the end": lambda lines: [*lines, lines[-1].rsplit(",", 1)[0]],
    "an open quote": lambda lines: [*lines[:9], lines[9].replace("Nnn", '"Nnn'), *lines[10:]],
}


@pytest.mark.parametrize("how", BROKEN_CSV)
def test_a_broken_csv_is_refused_without_a_cell(how, policy, tmp_path):
    """Wherever it is broken, no cell of anybody is in the message: not the first row's, taken for a header, either."""
    lines = people().assign(age=[str(50 + i) for i in range(30)]).to_csv(index=False).splitlines()
    (tmp_path / "rows.csv").write_text("\n".join(BROKEN_CSV[how](lines)) + "\n")
    message = refusal(tmp_path / "rows.csv", policy)
    for cell in ("Nnn", "sss", "HIV", "Flu", "Cancer"):
        assert cell not in message.replace("rows.csv", "")


def test_a_first_row_that_is_taken_for_a_header_is_not_listed(policy, tmp_path):
    """One cell of it is called like a column, so the others pass for names; they are not shown."""
    lines = people().assign(gender="age").to_csv(index=False, header=False)
    (tmp_path / "rows.csv").write_text(lines, encoding="utf-8")
    message = refusal(tmp_path / "rows.csv", policy)
    assert "column disease is missing from the table" in message
    for cell in ("Nnn", "sss", "HIV", "Flu", "Cancer"):
        assert cell not in message


@pytest.mark.parametrize("name", ["a\nb", "a\u2028b", "a\x85b", "a\x0bb"], ids=repr)
def test_a_header_with_a_line_break_inside_a_name_is_read_whole(name, policy, tmp_path):
    """Inside quotes the header goes on, and only line ends end a line; the columns after such a name are found."""
    path = tmp_path / "rows.csv"
    frame = people().rename(columns={"gender": "x"})
    frame.insert(0, name, "1")
    path.write_bytes(frame.assign(gender="F").to_csv(index=False, sep=";").encode())
    table = discreet.read_table(path, policy)
    rows = table.rows
    table.close()
    assert rows == 30


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_empty_lines_before_the_header_are_skipped_in_every_file_or_refused(end, policy, tmp_path):
    """A row of a file that begins otherwise is never taken for its header."""
    rows = people()
    texts = [part.to_csv(index=False, lineterminator=end) for part in (rows[:10], rows[10:])]
    for name, text in zip(("a.csv", "b.csv"), texts, strict=True):
        (tmp_path / name).write_bytes((end * 2 + text).encode())
    table = discreet.read_table(str(tmp_path / "*.csv"), policy)
    read = table.rows
    table.close()
    assert read == 30
    (tmp_path / "b.csv").write_bytes(texts[1].encode())
    assert "begin alike" in refusal(str(tmp_path / "*.csv"), policy)


@pytest.mark.parametrize("kind", ["UNION(a INTEGER, b VARCHAR)", "TIME", "UBIGINT[]"])
def test_what_is_no_number_is_no_column_of_whole_numbers(kind, policy):
    """A type is known by its whole name: that UUID begins like UBIGINT does not make it a number."""
    frame = people()
    source = duckdb.sql(f"SELECT * REPLACE (CAST(NULL AS {kind}) AS age) FROM frame")
    assert f"age holds {kind} but its domain whole numbers" in refusal(source, policy)
    del frame


def test_a_uuid_is_no_whole_number(policy, tmp_path):
    """Parquet keeps the type, which begins like the types of whole numbers without a sign."""
    frame = people()
    duckdb.sql("SELECT * REPLACE (uuid() AS age) FROM frame").write_parquet(str(tmp_path / "rows.parquet"))
    assert "age holds UUID but its domain whole numbers" in refusal(tmp_path / "rows.parquet", policy)
    del frame


def test_a_very_long_name_in_a_header_is_refused_in_a_sentence(policy, tmp_path):
    """Python's reader of CSV stops at such a cell."""
    people().rename(columns={"gender": "n" * 200_000}).to_csv(tmp_path / "rows.csv", index=False)
    assert "must" in refusal(tmp_path / "rows.csv", policy) or "missing" in refusal(tmp_path / "rows.csv", policy)


@pytest.mark.parametrize(
    "source", [5, None, {"age": [1]}, [1], "gone.csv", "rows.xlsx", Path("/"), pd.DataFrame({0: [1]}), pd.Series([1])]
)
def test_what_is_no_table_is_refused(source, policy):
    """With a sentence."""
    assert refusal(source, policy)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.csv.gz"])
@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"PAR1xxxxPAR1", bytes(range(256)) * 20], ids=["empty", "zeros", "magic", "bytes"]
)
def test_a_file_of_garbage_is_refused(content, name, policy, tmp_path):
    """With a sentence that does not repeat it."""
    (tmp_path / name).write_bytes(content)
    message = refusal(tmp_path / name, policy)
    assert "PAR1" not in message
    assert message.isprintable() or "\n" in message
