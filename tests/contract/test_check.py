"""`check` says what `plan` and `publish` refuse, for every family, and blames the right line of the policy."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from cases import ward_frame, ward_schema
from commands import as_json
from commands import discreet as run

import discreet
from discreet.mechanism.check import check
from discreet.mechanism.load import load_for

ROWS = 60
LONG = f"{10**198 + 9}/{10**198 + 7}"  # 399 characters: the longest that a policy may write
TABLE = """version = 1
[table]
identifiers = ["name"]
quasi_identifiers = ["age", "gender"]
sensitive = "disease"
person = "name"
[domains.age]
integers = [0, 9]
[domains.gender]
values = ["F", "M"]
[domains.disease]
values = ["Flu", "Asthma", "HIV"]
[mechanism]
"""
BUCKETS = 'kind = "buckets"\n[mechanism.tolerance]\ntheta = 2\nfloor = 0.3\n'
ANATOMY = 'kind = "anatomy"\nl = 2\n'
ALPHABETA = 'kind = "alphabeta"\nprior = 0.02\nposterior = 0.5\nadversary = "independent"\n'
FRAPP = 'kind = "frapp"\nprior = 0.02\nposterior = 0.5\n'
DIFFGEN = 'kind = "diffgen"\nepsilon = 1\n'
PAIRS = 'kind = "pairs"\nepsilon = 1\n'
PUBLIC = ('sensitive = "disease"', f'sensitive = "disease"\npublic_rows = {ROWS}')
RIGHT = {
    "buckets": (BUCKETS,),
    "anatomy": (ANATOMY,),
    "alphabeta": (ALPHABETA,),
    "slots": (ALPHABETA + "slots = 9\n",),
    "frapp": (FRAPP, PUBLIC),
    "diffgen": (DIFFGEN,),
    "pairs": (PAIRS,),
}


def public(number: int) -> tuple[str, str]:
    return (PUBLIC[0], PUBLIC[1].replace(str(ROWS), str(number)))


WRONG = {  # what is refused: the mechanism, changes of the policy, the line that is blamed, a word of the message
    "a tolerance below the share": (BUCKETS, ("floor = 0.3", "floor = 0.3\nvalues = { Flu = 0.1 }"), "values", "Flu"),
    "buckets that are too small": (BUCKETS, ('kind = "buckets"', 'kind = "buckets"\nmax_size = 1'), None, ""),
    "a tolerance that is too long": (
        BUCKETS,
        ("theta = 2\nfloor = 0.3", f'theta = "{LONG}"\nfloor = "11/37"'),
        "[mechanism.tolerance]",
        "",
    ),
    **{
        f"{name} = {number}": (
            BUCKETS,
            ('kind = "buckets"', f'kind = "buckets"\n{name} = {number}'),
            name,
            f"{name} ({shown}) must be a whole number between 0 and 50",
        )
        for name in ("known", "fakes")
        for number, shown in (
            ("1.5", "3/2"),
            ("true", "True"),
            ("-1", "-1"),
            ("51", "51"),
            ('"1"', "1"),
            ("[1]", "[1]"),
        )
    },
    "as many known as the largest bucket has people": (
        BUCKETS,
        ('kind = "buckets"', 'kind = "buckets"\nmax_size = 7\nknown = 7'),
        "known",
        "known (7) must be below max_size (7), the people of the largest bucket; lower it, or raise max_size",
    ),
    "more known than buckets allow": (
        BUCKETS,
        ('kind = "buckets"', 'kind = "buckets"\nmax_size = 7\nknown = 6'),
        None,
        "max_size (7) must be at least 8 for HIV beside 6 known; max_size 9 would do",
    ),
    "fakes that no domain can hold": (
        BUCKETS,
        (
            'kind = "buckets"\n[mechanism.tolerance]\ntheta = 2\nfloor = 0.3',
            'kind = "buckets"\nfakes = 20\n[mechanism.tolerance]\nfloor = 0.45',
        ),
        None,
        "fakes (20) must fit within the tolerances beside the people, and no setting with sizes up to 50 fits these",
    ),
    "fakes of near buckets": (
        BUCKETS,
        ('kind = "buckets"', 'kind = "buckets"\nassignment = "near"\nfakes = 1'),
        "fakes",
        'fakes (1) must go with assignment = "random": the few buckets of one size in a window cannot hide them',
    ),
    "known on anatomy": (
        ANATOMY + "known = 1\n",
        (),
        "known",
        'known must go with kind = "buckets"; Anatomy has nothing against who knows others',
    ),
    "fakes on anatomy": (
        ANATOMY + "fakes = 1\n",
        (),
        "fakes",
        'fakes must go with kind = "buckets"; Anatomy has nothing against who knows others',
    ),
    "too many a bucket": (ANATOMY, ("l = 2", "l = 3"), "l = 3", "l (3)"),
    "fewer distinct tuples in public": (ALPHABETA, public(5), "public_rows", "public_rows (5)"),
    "fewer records in public": (ALPHABETA + "slots = 9\n", public(59), "public_rows", "public_rows (59)"),
    "fewer slots than copies": (ALPHABETA + "slots = 2\n", (), "slots = 2", "slots (2)"),
    "a prior that is too long": (
        ALPHABETA.replace("0.02", f'"{LONG}"').replace("0.5", "0.99"),
        public(51),
        "prior",
        "400",
    ),
    "another number in public": (FRAPP, public(ROWS + 1), "public_rows", "public_rows (61)"),
    "no number in public": (FRAPP, (), "[table]", "public_rows"),
    "a prior of frapp that is too long": (
        FRAPP.replace("0.02", f'"{LONG}"'),
        (*public(ROWS), "[0, 9]", "[0, 96]"),
        "prior",
        "400",
    ),
    "fewer rows in public": (DIFFGEN, public(ROWS - 1), "public_rows", "public_rows (59)"),
    "an epsilon that is too long": (DIFFGEN.replace("= 1", f'= "{LONG}"'), (), "epsilon", "400"),
    "fewer rows than there are for pairs": (PAIRS, public(ROWS - 1), "public_rows", "public_rows (59)"),
    "an epsilon of pairs that is too long": (PAIRS.replace("= 1", f'= "{LONG}"'), (), "epsilon", "400"),
    "choices that are too long": (
        f'kind = "diffgen"\nepsilon = "{LONG}"\nguide = "exponential"\nspecializations = 7\n',
        (),
        "epsilon",
        "400",
    ),
    "a target that is no column": (DIFFGEN + 'target = "ag"\n', (), "target", "did you mean age?"),
    "a misspelt sensitive column": (
        BUCKETS,
        ('"disease"', '"diseas"'),
        'sensitive = "diseas"',
        "did you mean disease?",
    ),
    "a misspelt quasi-identifier": (ALPHABETA, ('"age"', '"agee"'), "quasi_identifiers", "did you mean age?"),
    "a misspelt person": (DIFFGEN, ('person = "name"', 'person = "nam"'), "person", "did you mean name?"),
    "a misspelt identifier": (DIFFGEN, ('["name"]', '["naem"]'), "identifiers", "did you mean name?"),
}


@pytest.fixture
def data(tmp_path) -> Path:
    """60 people; some tuples have four copies and more."""
    rows = [f"p{i},{i % 4},{'FM'[i % 2]},{('Flu', 'Asthma', 'Flu', 'HIV', 'Asthma')[i % 5]}" for i in range(ROWS)]
    (tmp_path / "rows.csv").write_text("\n".join(["name,age,gender,disease", *rows]) + "\n", encoding="utf-8")
    return tmp_path / "rows.csv"


def _policy(data: Path, mechanism: str, *change: str) -> Path:
    text = TABLE + mechanism
    for old, new in zip(change[::2], change[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    path = data.with_name("policy.toml")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_checked_to_be_right_is_published(name, data, tmp_path):
    """No family refuses what `check` lets pass."""
    mechanism, *changes = RIGHT[name]
    path = _policy(data, mechanism, *(changes[0] if changes else ()))
    assert check(path, data) == ()
    policy = load_for(path, data)
    with closing(discreet.read_table(data, policy)) as table:
        discreet.plan(table, policy)
        discreet.publish(table, policy, to=tmp_path / "one").close()


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_said_by_check_with_its_line(name, data, tmp_path):
    """By all three, in one problem, and nothing is written."""
    mechanism, change, line, words = WRONG[name]
    path = _policy(data, mechanism, *change)
    problems = [each for each in check(path, data) if "were not checked" not in each.message]
    assert len(problems) == 1, problems
    assert words in problems[0].message
    if line is not None:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert problems[0].line is not None, problems
        assert lines[problems[0].line - 1].startswith(line), (problems, lines[problems[0].line - 1])
    for make in (_planned, _published):
        with pytest.raises((discreet.PolicyError, discreet.TableError, discreet.Infeasible)) as refused:
            make(path, data, tmp_path)
        assert problems[0].message in str(refused.value)
    assert not (tmp_path / "one").exists()


def _planned(path: Path, data: Path, to: Path) -> None:
    policy = load_for(path, data)
    with closing(discreet.read_table(data, policy)) as table:
        discreet.plan(table, policy)


def _published(path: Path, data: Path, to: Path) -> None:
    policy = load_for(path, data)
    with closing(discreet.read_table(data, policy)) as table:
        discreet.publish(table, policy, to=to / "one")


# One mistake is one problem


@pytest.mark.parametrize("mechanism", [FRAPP, FRAPP.replace("0.02", "2"), ALPHABETA.replace("0.02", "2"), DIFFGEN])
def test_a_wrong_public_number_is_one_problem(mechanism, data):
    """Nobody says that it is missing, or that a prior needs one."""
    for source in (None, data):
        (problem,) = check(_policy(data, mechanism, *public(-1)), source)
        assert "public_rows must be a whole number, 1 or more" in problem.message


@pytest.mark.parametrize("mechanism", [ALPHABETA, FRAPP, DIFFGEN + 'target = "age"\n'])
def test_a_wrong_domain_is_one_problem(mechanism, data):
    """What the mechanism would say of a domain that cannot be read is not said; what is wrong anyway is."""
    public_rows = public(ROWS) if mechanism == FRAPP else ()
    path = _policy(data, mechanism, *public_rows)
    path.write_text(path.read_text().replace("[0, 9]", "[9, 0]"), encoding="utf-8")
    (problem,) = check(path)
    assert problem.message.startswith("age: integers")
    path.write_text(path.read_text().replace("[mechanism]\n", "[mechanism]\nnoise = 3\n"), encoding="utf-8")
    assert sorted(each.message.split()[0] for each in check(path)) == ["age:", "noise"]


def test_without_a_table_a_misspelt_name_is_held_against_the_domains(data):
    """There is nothing else to compare with."""
    messages = [each.message for each in check(_policy(data, BUCKETS, '"disease"', '"diseas"'))]
    assert messages == [
        "[domains.diseas] is missing; declare the values that diseas may take",
        "disease is not a quasi-identifier and not sensitive; did you mean diseas?",
    ]


def test_a_first_line_of_people_is_not_shown_as_names(data):
    """A file without a header has people where names should be: only a close name is ever told."""
    lines = data.read_text().splitlines()[1:]
    data.write_text("\n".join(lines) + "\n")
    for problem in check(_policy(data, BUCKETS, '"disease"', '"diseas"'), data):
        assert not any(cell in problem.message for cell in ("p0", "Flu", "p1"))


# Files that are no policy or no table


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [(b"version = 1\n# \xfc\n", 2, "save it as UTF-8"), (b"version 1\n", 1, "must be TOML"), (b"\x00\xff", 1, "UTF-8")],
)
def test_a_file_that_is_no_policy_names_its_line(content, line, words, tmp_path):
    """And no codec's own words."""
    (tmp_path / "p.toml").write_bytes(content)
    (problem,) = check(tmp_path / "p.toml")
    assert problem.line == line
    assert words in problem.message
    assert "codec" not in problem.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("p3,3,", "p3,3,3,"), "the row at line 5 has 5 cells and the first has 4"),
        (("p3,3,M,HIV", "p3,3"), "the row at line 5 has 2 cells and the first has 4"),
        (("p3,3,M,HIV", 'p3,3,"M,HIV'), "the same number of cells"),
        (("p3,", "p\xfc,"), "--encoding latin-1"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "read", "init"])
def test_a_csv_file_that_is_no_table_says_where_and_what_to_do(verb, change, words, data, tmp_path):
    """From every verb that reads a table, and no cell is in it."""
    data.write_bytes(data.read_text().replace(*change).encode("latin-1"))
    path = _policy(data, BUCKETS)
    if verb == "check":
        told = "\n".join(each.message for each in check(path, data))
    else:
        with pytest.raises(discreet.DiscreetError) as refused:
            discreet.read_table(data, discreet.Policy.load(path)) if verb == "read" else discreet.draft_policy(data)
        told = str(refused.value)
    assert words in told
    assert "HIV" not in told
    assert "p3" not in told


def test_an_empty_file_is_said_to_be_empty(data):
    """Not that each of its columns is missing."""
    path = _policy(data, BUCKETS)
    for content in (b"", b"\n\n"):
        data.write_bytes(content)
        (problem,) = check(path, data)
        assert problem.message == "table (rows.csv) must have a header and rows; it is empty"


@pytest.mark.parametrize("verb", ["check", "init"])
def test_a_file_of_bytes_is_said_to_be_no_text(verb, data):
    """Not that its rows have different numbers of cells."""
    path = _policy(data, BUCKETS)
    data.write_bytes(bytes(range(256)) * 20)
    if verb == "check":
        (problem,) = check(path, data)
        told = problem.message
    else:
        with pytest.raises(discreet.TableError) as refused:
            discreet.draft_policy(data)
        told = str(refused.value)
    assert told == "table (rows.csv) must be a CSV file; it holds zero bytes, so it is no text"


@pytest.mark.parametrize(
    ("tolerance", "said"),
    [
        ({"floor": "1/2"}, "l-diversity in the share form with l = 2"),
        ({"theta": 3}, "basic beta-likeness with beta = 2"),
    ],
)
def test_check_and_plan_say_which_classic_notion_a_policy_equals(tolerance, said, tmp_path):
    """As notes, for people and for programs; nothing of them is about rows."""
    policy = discreet.Policy(
        schema=ward_schema(), mechanism=discreet.Buckets(tolerance=discreet.Tolerance(**tolerance))
    )
    policy.save(tmp_path / "ward.toml")
    ward_frame(400).to_csv(tmp_path / "ward.csv", index=False)
    found = as_json("check", "--policy", "ward.toml", cwd=tmp_path)
    assert any(said in note for note in found["notes"])
    assert said in run("check", "--policy", "ward.toml", cwd=tmp_path).stdout
    assert said in run("plan", "ward.csv", "--policy", "ward.toml", cwd=tmp_path).stdout


def test_cells_outside_a_list_are_counted_where_every_column_of_a_csv_has_one(tmp_path):
    """Also where no cell fits: they are not taken for rows with too few cells."""
    data, policy = tmp_path / "rows.csv", tmp_path / "policy.toml"
    data.write_text("age,disease\n" + "0,Flu\n1,HIV\n" * 20, encoding="utf-8")
    policy.write_text(
        'version = 1\n[table]\nquasi_identifiers = ["age"]\nsensitive = "disease"\n[domains.age]\n'
        'values = ["0-9", "10-19"]\n[domains.disease]\nvalues = ["Flu", "HIV"]\n[mechanism]\n' + BUCKETS,
        encoding="utf-8",
    )
    done = run("check", data, "--policy", policy, cwd=tmp_path, code=2)
    assert "age is outside its domain in 40 of 40 rows" in done.stdout + done.stderr
