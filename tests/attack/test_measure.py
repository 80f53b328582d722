"""Any table and any release is measured: however it is handed in, the numbers are the same, and no cell is shown."""

import json
from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import policy_of, publish, sources, ward_frame, ward_schema

import discreet
from discreet.attack.measure import measure
from discreet.errors import ReleaseError, TableError
from discreet.evaluate.scratch import opened
from discreet.release.alphabeta.manifest import VIEW
from discreet.release.buckets.manifest import ST
from discreet.release.diffgen.leaves import UNIT

QI, SENSITIVE = ["gender", "postcode"], "disease"
JOINED = pd.DataFrame(  # [W14] Tables 2.1 and 2.2
    {
        "Job": ["Engineer", "Lawyer", "Engineer", "Singer", "Singer", "Dancer", "Dancer"],
        "Sex": ["Male"] * 3 + ["Female"] * 4,
        "Age": [35, 38, 38, 30, 30, 30, 30],
        "Disease": ["Cancer", "HIV", "Cancer", "Flu", "HIV", "HIV", "Flu"],
    }
)


def numbers(report):
    """What a report says, without the name of what it is about."""
    return {**report.as_json(), "name": ""}


@pytest.fixture
def release(case, tmp_path):
    """A release of the ward by each mechanism."""
    folder = publish(ward_frame(), policy_of(case, tmp_path), tmp_path / "release", seed=1)
    with discreet.open_release(folder) as found:
        yield found


def test_a_table_gives_the_same_numbers_however_it_is_handed_in(tmp_path):
    """pandas, Arrow, Polars, DuckDB, CSV, Parquet; by a policy too, but for classes' numbers."""
    frame = ward_frame()
    expected = numbers(measure(frame, QI, SENSITIVE))
    arrow = pa.Table.from_pandas(frame)
    listed = {**sources(frame, tmp_path / "rows"), "polars": pl.from_arrow(arrow)}
    listed |= {"lazy": listed["polars"].lazy(), "text": str(listed["csv"]), "duckdb": duckdb.from_arrow(arrow)}
    for name, each in listed.items():
        assert numbers(measure(each, QI, SENSITIVE)) == expected, name
    schema = ward_schema()
    with opened(arrow.select(schema.columns), discreet.Policy(schema=schema, mechanism=discreet.Anatomy(l=2))) as table:
        found = numbers(measure(table, QI, SENSITIVE))
    assert [each["number"] for each in found["measured"]] == [each["number"] for each in expected["measured"]]


def test_counts_of_a_frame_are_those_of_plain_python():
    """k, the largest share and the distinct values, by hand."""
    frame = ward_frame()
    groups = Counter(zip(*(frame[name] for name in QI), strict=True))
    cells = Counter(zip(*(frame[name] for name in [*QI, SENSITIVE]), strict=True))
    found = measure(frame, QI, SENSITIVE)
    assert found["k-anonymity"].number == min(groups.values())
    assert found["l-diversity by shares"].number == min(
        Fraction(groups[cell[:-1]], count) for cell, count in cells.items()
    )
    assert found["distinct l-diversity"].number == min(len({c for c in cells if c[:-1] == group}) for group in groups)
    assert (found.rows, found.classes, found.values) == (len(frame), len(groups), frame[SENSITIVE].nunique())


def test_a_permuted_index_changes_nothing():
    """Neither shuffled rows nor another index."""
    frame = ward_frame()
    shuffled = frame.sample(frac=1, random_state=3)
    moved = shuffled.set_axis(np.arange(len(frame)) * 7 + 3)
    assert measure(frame, QI, SENSITIVE) == measure(shuffled, QI, SENSITIVE) == measure(moved, QI, SENSITIVE)


def test_a_category_that_does_not_occur_changes_nothing():
    """A categorical column with unused categories, in any order of them."""
    frame = ward_frame()
    other = frame.assign(
        disease=pd.Categorical(frame["disease"], ["Zoster", "Measles", "Flu", "HIV", "Asthma", "Ague"])
    )
    assert measure(frame, QI, SENSITIVE) == measure(other, QI, SENSITIVE)


def test_the_ordered_distance_is_for_values_in_order():
    """Numbers have one, text has none; nor has a column with empty cells."""
    frame = ward_frame()
    ordered = "t-closeness, ordered distance"
    assert measure(frame, ["gender"], "age")[ordered].number > 0
    with pytest.raises(KeyError):
        measure(frame, ["gender"], "disease")[ordered]
    with pytest.raises(KeyError):
        measure(frame.assign(age=frame["age"].astype("Int64").mask(frame.index == 5)), ["gender"], "age")[ordered]


def test_an_empty_cell_is_one_more_value():
    """As a quasi-identifier and as a sensitive value."""
    frame = pd.DataFrame({"q": ["a", "a", None, None], "s": ["x", None, "x", None]})
    found = measure(frame, ["q"], "s")
    assert (found.classes, found.values, found["l-diversity by shares"].number) == (2, 2, 2)


def test_joining_with_outside_people_identifies_three():
    """[W14] Example 1: Bob, John and Jack; numbers are found again as text."""
    known = JOINED.assign(Name=["Bob", "John", "Jack", "Alice", "Mary", "Gayze", "Emily"]).drop(columns="Disease")
    found = measure(JOINED, ["Job", "Sex", "Age"], "Disease", outside=known)["delta-presence"]
    assert (found.number, found.certain, found.alone) == (1, 7, 3)
    by_text = known.astype(str).sample(frac=1, random_state=1)
    assert measure(JOINED, ["Job", "Sex", "Age"], "Disease", outside=by_text)["delta-presence"] == found


def test_presence_among_more_people_is_a_share():
    """Twice as many engineers of 38 outside: one in two of them is in the table."""
    more = pd.concat([JOINED, JOINED.iloc[[2]], JOINED.iloc[[0]].assign(Age=50)])
    found = measure(JOINED, ["Job", "Sex", "Age"], "Disease", outside=more)["delta-presence"]
    assert (found.number, found.least, found.certain, found.alone) == (1, 0, 6, 2)


def test_every_family_is_measured_or_says_why_not(case, release):
    """By the classes that its release has; counts of pairs have none."""
    if getattr(release, "classes", None) is None:
        with pytest.raises(ReleaseError, match=r"must show classes of people; it holds .*measure the table"):
            measure(release)
        return
    found = measure(release)
    assert numbers(measure(release.path)) == numbers(found)
    assert json.loads(json.dumps(found.as_json()))["measured"]
    assert str(found).count("\n") >= 9


def test_classes_that_are_no_classes_of_alike_people_say_so(case, release):
    """Views and leaves hold noise; in buckets quasi-identifiers are as they are."""
    if getattr(release, "classes", None) is not None:
        word = "as they are" if getattr(release, "known", None) is not None else "not of people"
        assert word in measure(release).note
    assert not measure(ward_frame(), QI, SENSITIVE).note


@pytest.fixture
def bucket_release(tmp_path):
    """Anatomy of the ward."""
    policy = discreet.Policy(schema=ward_schema(), mechanism=discreet.Anatomy(l=3), identifiers=(), person="bed_tag")
    with discreet.publish(discreet.read_table(ward_frame(), policy), policy, to=tmp_path / "r", seed=1) as found:
        yield found


def test_classes_of_buckets_are_the_buckets(bucket_release):
    """As the ST has them, by their ids."""
    st = pq.read_table(bucket_release.path / ST).to_pandas()
    sizes = st.groupby("BID")["COUNT"].sum()
    found = measure(bucket_release)
    assert found.kind == "buckets"
    assert found["k-anonymity"].number == sizes.min() == 3
    assert found["k-anonymity"].group == sizes.idxmin()
    assert found["l-diversity by shares"].number == 3
    assert found["distinct l-diversity"].number == 3
    assert found["entropy l-diversity"].holds(3)
    whole = st.groupby("disease")["COUNT"].sum()
    cells = zip(st["BID"], st["disease"], strict=True)
    rises = [Fraction(1, int(sizes[b])) / Fraction(int(whole[d]), 120) - 1 for b, d in cells]
    assert found["beta-likeness"].number == max(rises)


def test_buckets_hide_nobodys_presence(bucket_release):
    """Quasi-identifiers are published as they are, so delta is that of the raw table."""
    frame = ward_frame()
    outside = pd.concat([frame, ward_frame(seed=6)])[list(ward_schema().quasi_identifiers)]
    shown = measure(bucket_release, outside=outside)["delta-presence"]
    raw = measure(frame, ward_schema().quasi_identifiers, SENSITIVE, outside=outside)["delta-presence"]
    for name in ("number", "least", "certain", "alone", "beyond"):
        assert getattr(shown, name) == getattr(raw, name)
    assert 0 < shown.certain < len(outside)


def test_classes_of_leaves_are_rounded_counts(tmp_path):
    """Every leaf's counts to the nearest whole number, empty ones left out."""
    policy = discreet.Policy(
        schema=ward_schema(), mechanism=discreet.DiffGen(epsilon=4), identifiers=(), person="bed_tag"
    )
    with discreet.publish(discreet.read_table(ward_frame(), policy), policy, to=tmp_path / "r", seed=1) as release:
        leaves = release.tables.leaves / UNIT
        kept = [leaf for leaf in np.floor(leaves.reshape(-1, leaves.shape[-1]) + 0.5) if leaf.any()]
        found = measure(release)
    assert found.classes == len(kept)
    assert found["k-anonymity"].number == min(leaf.sum() for leaf in kept)
    assert found.rows == sum(leaf.sum() for leaf in kept)


def test_classes_of_a_view_are_those_of_its_tuples(tmp_path):
    """Counted by hand from the file."""
    schema = ward_schema()
    policy = discreet.Policy(
        schema=schema,
        mechanism=discreet.AlphaBeta(prior=0.05, posterior=0.5),
        identifiers=(),
        person="bed_tag",
    )
    with discreet.publish(discreet.read_table(ward_frame(), policy), policy, to=tmp_path / "r", seed=1) as release:
        view = pq.read_table(release.path / VIEW).to_pandas()
        found = measure(release)
    sizes = view.groupby(list(schema.quasi_identifiers)).size()
    assert (found.rows, found.classes) == (len(view), len(sizes))
    assert found["k-anonymity"].number == sizes.min()
    assert (
        found["distinct l-diversity"].number == view.groupby(list(schema.quasi_identifiers))["disease"].nunique().min()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["gender"], "illness"), "column illness is missing"),
        ((["gendr"], "disease"), "column gendr is missing from the table.*gender"),
        (([], "disease"), "must name a column at least"),
        ((["gender", "disease"], "disease"), "must be different columns"),
        ((None, "disease"), "must name columns, where no policy"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(arguments, message):
    """Columns that are not there, none, or twice."""
    with pytest.raises(TableError, match=message) as raised:
        measure(ward_frame(), *arguments)
    assert "\n" not in str(raised.value)


def test_no_rows_are_one_sentence(bucket_release):
    """An empty frame; columns for a release; an outside table that shares no column; people in noise."""
    with pytest.raises(TableError, match="must have rows to be measured"):
        measure(ward_frame().head(0), QI, SENSITIVE)
    with pytest.raises(TableError, match="left out for a release"):
        measure(bucket_release, ["gender"])
    with pytest.raises(TableError, match="at least one"):
        measure(ward_frame(), QI, SENSITIVE, outside=pd.DataFrame({"shoe": [1]}))
    with pytest.raises(TableError, match="must be a path"):
        measure(object(), QI, SENSITIVE)


def test_a_report_shows_no_cell():
    """Classes have numbers, values have counts: no text of the table is in what is shown or kept."""
    frame = ward_frame()
    told = str(found := measure(frame, QI, SENSITIVE)) + json.dumps(found.as_json())
    cells = {*frame["disease"], *frame["postcode"], *frame["fullname"]}
    assert not any(cell in told for cell in cells)
