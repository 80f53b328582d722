"""Messages name the first few, and say how many more there are."""

from collections.abc import Iterator

import pytest

from discreet.ground.shown import FEW, and_more, name_some, shown


def test_a_few_names_are_all_named():
    """Nothing is said of more where there is no more."""
    assert name_some([]) == ""
    assert name_some(["a"]) == "a"
    assert name_some("abcde") == "a, b, c, d, e"


def test_of_many_names_the_first_few_are_named_and_the_rest_is_counted():
    """The number has separators where it is long."""
    assert name_some("abcdef") == "a, b, c, d, e and 1 more"
    assert name_some(range(10_000), most=2) == "0, 1 and 9,998 more"
    assert name_some(dict.fromkeys("abc"), most=1) == "a and 2 more"
    assert name_some((name for name in "abc"), most=1) == "a and 2 more"


def test_a_total_may_be_said_where_names_come_one_by_one():
    """Then no more than the first few are asked for."""

    def names() -> Iterator[str]:
        yield from "abcde"
        raise AssertionError("the sixth was asked for")

    assert name_some(names(), 1_000_000) == "a, b, c, d, e and 999,995 more"


def test_with_none_named_only_their_number_is_said():
    """A list of none reads as words, too."""
    assert name_some("abc", most=0) == "and 3 more"


@pytest.mark.parametrize(
    ("total", "words"), [(0, ""), (FEW, ""), (FEW + 1, "and 1 more"), (FEW + 1234, "and 1,234 more")]
)
def test_and_more_counts_what_was_not_named(total, words):
    """It is nothing up to the few that are named."""
    assert and_more(total) == words


def test_what_is_shown_is_one_short_line():
    """Nothing that a terminal would obey, and never the whole of a long text."""
    assert shown("a\nb\x1b[31m") == "a b [31m"
    assert shown("x" * 41) == "x" * 40 + "..."
    assert shown("x" * 40) == "x" * 40
    assert shown(7) == "7"
