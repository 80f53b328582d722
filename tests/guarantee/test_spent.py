"""Parts of a spent epsilon: values that say what they paid for, and names that say the same in a release."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import PolicyError
from discreet.guarantee.epsilon import EpsilonPrivacy, epsilon_from_json
from discreet.guarantee.spent import For, Part, part_named

GOLDEN = Path(__file__).parents[1] / "golden"
RELEASES = sorted(GOLDEN.glob("diffgen*/release/datapackage.json"))
NAMES = {
    For.AGAIN: "tables again",
    For.LEAVES: "leaves",
    For.SELECTIONS: "selections",
    For.SPLITS: "split points",
    For.UNSPENT: "not needed",
    For.TOTAL: "total",
}
IN_ROUNDS = {For.CHOICE: "choice of round ", For.PAIR: "pair of round "}
SHARE = Fraction(1, 3)
WRONG = ("", "gift", "Leaves", "leaves ", "table of", "tables", "TABLE")


@pytest.mark.parametrize(("paid", "name"), NAMES.items())
def test_a_part_has_the_name_that_releases_state(paid, name):
    """Names of format 2: a release that was published keeps them."""
    part = Part(paid=paid, share=SHARE)
    assert part.name == name
    assert part_named(name, SHARE) == part


def test_every_part_has_a_name_of_its_own():
    """None is left out of what is checked here."""
    assert {*NAMES, *IN_ROUNDS, For.TABLE} == set(For)


@pytest.mark.parametrize(("paid", "name"), IN_ROUNDS.items())
@pytest.mark.parametrize("number", [1, 9, 10, 1234])
def test_what_is_paid_in_rounds_is_named_with_its_round(paid, name, number):
    """A choice and the table that it led to have the same number."""
    part = Part(paid=paid, share=SHARE, round=number)
    assert part.name == f"{name}{number}"
    assert part_named(part.name, SHARE) == part


@pytest.mark.parametrize("wrong", [{"paid": For.CHOICE}, {"paid": For.PAIR}, {"paid": For.TOTAL, "round": 1}])
def test_a_round_is_named_by_what_is_paid_in_rounds_and_by_nothing_else(wrong):
    """Else two values would have one name."""
    with pytest.raises(PolicyError, match="must name a round where it was paid in rounds, and only there"):
        Part(share=SHARE, **wrong)


@given(st.text())
def test_a_table_is_named_with_its_column_whatever_that_is_called(column):
    """Also a column called 'leaves', or one whose name is empty."""
    part = Part(paid=For.TABLE, column=column, share=SHARE)
    assert part.name == f"table of {column}"
    assert part_named(part.name, SHARE) == part


@pytest.mark.parametrize(
    "name",
    [*WRONG, "pair of round ", "pair of round 0", "pair of round 01", "choice of round 10000", "choice of round -1"],
)
def test_another_name_is_refused(name):
    """Nothing is guessed."""
    with pytest.raises(PolicyError, match=r"parts of epsilon \(.*\) must be tables of columns or one of tables again"):
        part_named(name, SHARE)


@pytest.mark.parametrize("wrong", [{"paid": For.TABLE}, {"paid": For.LEAVES, "column": "age"}])
def test_a_column_is_named_by_a_table_and_by_nothing_else(wrong):
    """Else two values would have one name."""
    with pytest.raises(PolicyError, match="must name a column where it paid for a table, and only there"):
        Part(share=SHARE, **wrong)


def test_what_a_part_cost_is_asked_by_what_it_paid_for():
    """A table by its column; what is not there is None."""
    parts = (
        Part(paid=For.TABLE, column="leaves", share=Fraction(1, 2)),
        Part(paid=For.SELECTIONS, share=Fraction(0)),
        Part(paid=For.LEAVES, share=Fraction(1, 4)),
        Part(paid=For.UNSPENT, share=Fraction(1, 4)),
    )
    found = EpsilonPrivacy(epsilon=Fraction(1), parts=parts)
    assert found.share(For.TABLE, "leaves") == Fraction(1, 2)
    assert found.share(For.LEAVES) == found.unspent == Fraction(1, 4)
    assert found.share(For.TABLE, "age") is None
    assert found.share(For.AGAIN) is None
    assert found.holds
    assert found.counts_cost  # choices may be free, for they need not be counted


@pytest.mark.parametrize("paid", [For.AGAIN, For.LEAVES])
def test_counts_must_not_be_free(paid):
    """What cost nothing would be exact."""
    parts = (Part(paid=paid, share=Fraction(0)), Part(paid=For.SELECTIONS, share=Fraction(1)))
    assert not EpsilonPrivacy(epsilon=Fraction(1), parts=parts).counts_cost
    assert not EpsilonPrivacy(epsilon=Fraction(1), parts=parts[1:]).counts_cost


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parts[-3])
def test_the_parts_of_published_releases_are_read_and_written_as_they_stand(path):
    """In the same order, letter by letter."""
    stated = json.loads(path.read_text(encoding="utf-8"))["discreet"]["guarantee"]
    assert json.dumps(epsilon_from_json(stated).as_json()) == json.dumps(stated)
