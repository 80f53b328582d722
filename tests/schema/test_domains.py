"""Decimals, dates, bands, orders and published levels: read exactly, refused with a remedy, kept through files."""

from __future__ import annotations

import datetime
import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import (
    Dates,
    Decimals,
    Integers,
    Listed,
    Policy,
    PolicyError,
    hierarchy_of_bands,
    hierarchy_of_dates,
    hierarchy_of_decimals,
    published_at,
)
from discreet.schema.domain import Domain, domain_from_json
from discreet.schema.json_schema import json_schema

POLICY = """version = 1
[table]
quasi_identifiers = ["x"]
sensitive = "ill"
[domains.x]
{domain}
[domains.ill]
values = ["flu", "cold"]
[mechanism]
kind = "buckets"
tolerance = {{ floor = 1 }}
"""
HBA1C = Decimals(low=Decimal("4.0"), high=Decimal("14.0"), step=Decimal("0.1"))
GOOD = {
    "decimals": "decimals = [4.0, 14.0]\nstep = 0.1",
    "whole steps": "decimals = [-10, 10]\nstep = 2",
    "widths of decimals": "decimals = [4.0, 14.0]\nstep = 0.1\nwidths = [0.5, 1]",
    "bands of decimals": "decimals = [4.0, 14.0]\nstep = 0.1\nbands = [4, 6.5, 14.1]\npublish_level = 1",
    "days": 'dates = ["1990-01-01", "2026-12-31"]',
    "months": 'dates = ["1990-01-01", "2026-12-31"]\nby = "month"\nwidths = ["quarter", "year", "decade"]',
    "years": 'dates = ["1990-01-01", "2026-12-31"]\nby = "year"\nmissing = "category"',
    "bands of days": 'dates = ["2020-01-01", "2020-12-31"]\nbands = ["2020-01-01", "2020-04-01", "2021-01-01"]',
    "bands": "integers = [0, 110]\nbands = [0, 18, 40, 65, 111]",
    "labelled bands": "integers = [0, 110]\nbands = { child = 0, adult = 18, old = 65 }\npublish_level = 1",
    "ordered": 'values = ["low", "high"]\nordered = true',
    "a level of widths": "integers = [0, 99]\nwidths = [5, 10]\npublish_level = 2",
    "a level of prefixes": 'values = ["02139", "02140"]\nprefixes = [4]\npublish_level = 1',
}
BAD = {
    "no step": ("decimals = [4.0, 14.0]", "have a step"),
    "swapped": ("decimals = [14.0, 4.0]\nstep = 0.1", "swap them"),
    "off the steps": ("decimals = [4.05, 14.0]\nstep = 0.1", "whole multiples of step (0.10)"),
    "a step of nothing": ("decimals = [4.0, 14.0]\nstep = 0", "step (0.0) must be above 0"),
    "too many": ("decimals = [0.0, 100000.0]\nstep = 0.001", "at most 1,000,000 values"),
    "too fine": ("decimals = [0.0, 1.0]\nstep = 0.0000000001", "at most 9 digits"),
    "text": ('decimals = ["4.0", "14.0"]\nstep = 0.1', "two numbers"),
    "narrow": ("decimals = [4.0, 14.0]\nstep = 0.1\nwidths = [0.05]", "widths (0.05) must be above step"),
    "no date": ('dates = ["1990-02-30", "2026-12-31"]', "dates (1990-02-30) must be dates as text"),
    "too short": ('dates = ["1990-01", "2026-12-31"]', "dates (1990-01) must be dates as text"),
    "last before first": ('dates = ["2026-12-31", "1990-01-01"]', "swap them"),
    "by the week": ('dates = ["1990-01-01", "2026-12-31"]\nby = "week"', "by (week) must be one of day, month, year"),
    "too many days": ('dates = ["0001-01-01", "9999-12-31"]', "at most 1,000,000 days"),
    "narrow dates": ('dates = ["1990-01-01", "2026-12-31"]\nby = "year"\nwidths = ["month"]', "some of decade"),
    "few bands": ("integers = [0, 110]\nbands = [0, 111]", "be two at least"),
    "short bands": ("integers = [0, 110]\nbands = [0, 18, 65]", "end above 110"),
    "falling bands": ("integers = [0, 110]\nbands = [0, 65, 18, 111]", "bands must rise"),
    "bands of text": ('integers = [0, 110]\nbands = [0, "18", 111]', "bands (18) must be whole numbers"),
    "twice one label": (
        'dates = ["2020-01-01", "2020-12-31"]\nbands = { "*" = "2020-01-01", b = "2020-02-01" }',
        "'*'",
    ),
    "numbers in order": ("values = [1, 2]\nordered = true", "numbers have their own order"),
    "order of what": ('values = ["a", "b"]\nordered = "yes"', "ordered must be true or false"),
    "no such level": ("integers = [0, 99]\nwidths = [5, 10]\npublish_level = 3", "from 0 to 2"),
    "no levels": ("integers = [0, 99]\npublish_level = 1", "give the domain a hierarchy, widths or bands first"),
    "a level of text": ('integers = [0, 99]\nwidths = [5]\npublish_level = "1"', "publish_level (1) must be"),
    "two ways up": ("integers = [0, 99]\nwidths = [5]\nbands = [0, 50, 100]", "must have one of integers"),
    "a step of integers": ("integers = [0, 99]\nstep = 1", "must have one of integers"),
}


def written(domain: str, folder: Path) -> Path:
    path = folder / "policy.toml"
    path.write_text(POLICY.format(domain=domain), encoding="utf-8")
    return path


@pytest.mark.parametrize("domain", GOOD.values(), ids=GOOD)
def test_a_domain_is_the_same_from_a_policy_a_saved_policy_and_a_release(domain, tmp_path):
    """Nothing is lost on the way, and the JSON Schema takes what the loader takes."""
    policy = Policy.load(written(domain, tmp_path))
    jsonschema.validate(tomllib.loads((tmp_path / "policy.toml").read_text()), json_schema())
    again = Policy.load(policy.save(tmp_path / "again.toml"))
    assert again == policy
    assert again.digest == policy.digest
    own = policy.schema.domains["x"]
    assert again.schema.domains["x"].given == own.given
    read = domain_from_json(own.as_json())
    assert read == own
    assert list(read) == list(own)
    assert read.encoding == own.encoding


@pytest.mark.parametrize(("domain", "message"), BAD.values(), ids=BAD)
def test_what_is_no_domain_is_refused_with_a_remedy(domain, message, tmp_path):
    """One sentence, on the line of the domain."""
    (problem,) = Policy.check(written(domain, tmp_path))
    assert message in problem.message
    assert 5 <= problem.line <= 9


def test_decimals_are_what_their_text_says():
    """Every step is there, exactly, and nothing between."""
    assert list(HBA1C)[:3] == [Decimal("4.0"), Decimal("4.1"), Decimal("4.2")]
    assert len(HBA1C) == 101
    assert Decimal("9.5") in HBA1C
    assert 10 in HBA1C
    assert all(
        other not in HBA1C for other in (Decimal("9.55"), Decimal("14.1"), 9.5, "9.5", True, None, Decimal("NaN"))
    )
    assert HBA1C.texts[-1] == "14.0"


@given(
    step=st.decimals(min_value="0.001", max_value=3, places=3),
    low=st.integers(-50, 50),
    number=st.integers(1, 60),
)
def test_any_step_gives_multiples_of_itself(step, low, number):
    """The values are those of exact arithmetic."""
    domain = Decimals(low=low * step, high=(low + number) * step, step=step)
    assert [Fraction(value) for value in domain] == [Fraction(step) * each for each in range(low, low + number + 1)]
    assert all(value in domain for value in domain)
    assert Decimal(str(domain.high)) + step / 2 not in domain


@given(
    first=st.dates(datetime.date(1899, 1, 1), datetime.date(2101, 1, 1)),
    days=st.integers(0, 1200),
    by=st.sampled_from(("day", "month", "year")),
)
def test_dates_are_every_day_month_or_year(first, days, by):
    """The oracle walks through the calendar day by day."""
    every = [first + datetime.timedelta(days=day) for day in range(days + 1)]
    cut = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[by]
    domain = Dates(low=first.isoformat(), high=every[-1].isoformat(), by=by)
    expected = list(dict.fromkeys(day.strftime(cut) for day in every))
    assert list(domain) == expected
    assert list(domain.texts) == sorted(expected)
    assert all(value in domain for value in domain)


def test_dates_by_width_are_those_of_the_calendar():
    """Months, quarters, years and decades above days."""
    domain = Dates(low="1999-12-30", high="2000-04-01")
    paths = {path[0]: path[1:-1] for path in hierarchy_of_dates(domain, ["month", "quarter", "year", "decade"])}
    assert paths["1999-12-31"] == ("1999-12", "1999-Q4", "1999", "1990s")
    assert paths["2000-03-31"] == ("2000-03", "2000-Q1", "2000", "2000s")
    assert paths["2000-04-01"] == ("2000-04", "2000-Q2", "2000", "2000s")


@settings(max_examples=50)
@given(widths=st.lists(st.integers(2, 6), min_size=1, max_size=3), low=st.integers(-40, 40), number=st.integers(1, 80))
def test_ranges_of_decimals_hold_what_they_say(widths, low, number):
    """Each label's ends are the first and the last step that it may hold, and it holds the value."""
    step, wide, units = Decimal("0.05"), [], 1
    for width in widths:
        units *= width
        wide.append(units * step)
    domain = Decimals(low=low * step, high=(low + number) * step, step=step)
    for path in hierarchy_of_decimals(domain, wide):
        for label, width in zip(path[1:-1], wide, strict=True):
            cut = label.index("-", 1)
            first, last = Decimal(label[:cut]), Decimal(label[cut + 1 :])
            assert first <= Decimal(path[0]) <= last
            assert last - first == width - step
            assert first % width == 0


@given(edges=st.lists(st.integers(1, 110), min_size=1, max_size=6, unique=True))
def test_bands_go_from_each_start_to_the_next(edges):
    """Every value is in the band whose ends contain it."""
    starts = [0, *sorted(edges)]
    paths = hierarchy_of_bands(Integers(low=0, high=110), [*starts, 111])
    for value, label, root in paths:
        start = max(each for each in starts if each <= int(value))
        end = min([each for each in starts if each > int(value)], default=111) - 1
        assert label == (str(start) if start == end else f"{start}-{end}")
        assert root == "*"
    names = {f"band {number}": start for number, start in enumerate(starts)}
    assert [path[1] for path in hierarchy_of_bands(Integers(low=0, high=110), names)] == [
        f"band {sum(start <= int(path[0]) for start in starts) - 1}" for path in paths
    ]


def leveled(level: int, domain: Domain | None = None) -> Listed:
    found = published_at(domain or Integers(low=0, high=99, paths=widths_of_five_and_ten()), level)
    assert isinstance(found, Listed)
    return found


def widths_of_five_and_ten() -> tuple[tuple[str, ...], ...]:
    return tuple(
        (str(n), f"{n // 5 * 5}-{n // 5 * 5 + 4}", f"{n // 10 * 10}-{n // 10 * 10 + 9}", "*") for n in range(100)
    )


def test_a_published_level_is_a_list_of_its_labels_with_what_is_above():
    """Its order is the numbers', and the levels above it are there still."""
    found = leveled(1)
    assert found.values[:2] == ("0-4", "5-9")
    assert found.paths[0] == ("0-4", "0-9", "*")
    assert found.ordered
    assert leveled(2).paths == ()
    assert found.given.grouping is not None
    assert found.given.grouping.groups[57] == 11
    assert domain_from_json(found.as_json()).given.grouping is None  # a release says nothing of what it was


def test_a_level_of_a_list_has_no_order_unless_the_list_has_one():
    """Groups of scattered values are in no order either."""
    paths = (("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*"))
    plain = Listed(values=("a", "b", "c"), paths=paths)
    assert not leveled(1, plain).ordered
    assert not leveled(1, replace(plain, ordered=True)).ordered
    neat = (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"))
    assert leveled(1, replace(plain, paths=neat, ordered=True)).ordered


@pytest.mark.parametrize(
    "data",
    [
        {"decimals": ["4.0", "14.0"], "step": "1e-1"},
        {"decimals": ["4", "14.0"], "step": "0.1"},
        {"decimals": [4.0, 14.0], "step": 0.1},
        {"decimals": ["4.0", "x"], "step": "0.1"},
        {"decimals": ["0.0", "1e999999999"], "step": "0.1"},
        {"decimals": ["0.0", "1.0"], "step": "1e-999999999"},
        {"decimals": ["NaN", "Infinity"], "step": "0.1"},
        {"dates": ["1990-01-01", "2026-12-31"], "by": "month"},
        {"dates": ["1990-01-01", "2026-12-31"]},
        {"values": ["a"], "ordered": False},
        {"integers": [0, 9], "ordered": True},
    ],
    ids=str,
)
def test_a_release_writes_a_domain_in_one_way(data):
    """What is written otherwise is not read, so that two manifests never mean the same."""
    with pytest.raises(PolicyError):
        domain_from_json(data)
