"""What the way a release was planned gives away: nothing, unless windows were joined because of what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attack.attack import Finding
from discreet.attack.buckets.minimality import JOINED, Minimality, off_classes, off_cut, posterior, refused
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.mechanism.buckets.planning import near as planning
from discreet.mechanism.buckets.policy import bucketing
from discreet.release.buckets.windows import Near, Window

HALF = {"H": Fraction(1, 2)}
BUCKETS = [((1, 5), ("H", "-")), ((2, 3), ("H", "-")), ((4, 6), ("H", "-")), ((7, 8), ("-", "-"))]
WINDOWS = ((1, 2, 3, 4), (5, 6, 7, 8))


def joined(world: dict[int, str]) -> bool:
    """Whether some window of four cannot be bucketed, so that both were joined."""
    return any(refused([world[row] for row in window], HALF) for window in WINDOWS)


def test_joined_windows_give_a_value_away():
    """Windows 1-4 | 5-8, H up to 1/2, three H, joined: row 1 has H for certain, and 1/2 without the joining rule."""
    assert posterior(BUCKETS)[1]["H"] == Fraction(1, 2)
    assert posterior(BUCKETS, joined)[1] == {"H": 1}
    assert posterior(BUCKETS, joined)[4] == {"H": 1}
    assert posterior(BUCKETS, joined)[2]["H"] == Fraction(1, 2)
    assert posterior(BUCKETS, joined)[7] == {"-": 1}


def test_enlarging_a_window_gives_away_as_much():
    """A window of four that is tried first and enlarged to eight where it is refused: the same eight rows, the same."""
    assert posterior(BUCKETS, lambda world: refused([world[row] for row in WINDOWS[0]], HALF))[1] == {"H": 1}


def test_windows_of_a_declared_size_give_nothing_away():
    """Each is planned by its own counts, which are published: any rule of them holds for all worlds, or for none."""
    apart = [((1, 3), ("H", "-")), ((2, 4), ("-", "-")), ((5, 7), ("H", "-")), ((6, 8), ("H", "-"))]
    assert posterior(apart, lambda world: not joined(world)) == posterior(apart)
    with pytest.raises(ValueError, match="no way"):
        posterior(apart, joined)


def test_the_posterior_is_that_of_every_table():
    """Against all tables of eight rows with three H, kept where each bucket has its own number of H."""
    often, worlds = np.zeros(9, dtype=int), 0
    for rows in combinations(range(1, 9), 3):
        world = {row: "H" if row in rows else "-" for row in range(1, 9)}
        fits = all(sum(row in rows for row in own) == values.count("H") for own, values in BUCKETS)
        if fits and joined(world):
            worlds += 1
            often[list(rows)] += 1
    found = posterior(BUCKETS, joined)
    assert [found[row].get("H", 0) for row in range(1, 9)] == [Fraction(int(often[row]), worlds) for row in range(1, 9)]


def rows_along(crowded: int, seed: int = 1, rows: int = 2_400) -> pa.Table:
    """People along one column; in so many of its twelve stretches H is too frequent for 1/3, in the others rare."""
    coins = np.random.default_rng(seed)
    place = np.arange(rows)
    often = np.where(place * 12 // rows < crowded, 0.5, 0.05)
    value = np.where(coins.random(rows) < often, "H", np.char.add("v", coins.integers(0, 6, rows).astype(str)))
    return pa.table({"place": [f"{each:04d}" for each in place], "value": value.tolist()})


@contextmanager
def found(rows: pa.Table, mechanism: object, **options: object) -> Iterator[dict[str, Finding]]:
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        report = discreet.audit(release, table, attacks=[Minimality()], **options)
        yield {"holds": report.holds, **{each.title: each for each in report.findings}}


def plant(patch: pytest.MonkeyPatch) -> list[int]:
    """Let the publisher join a window that cannot be bucketed to the next, as papers do; returns the sizes he gets."""
    sizes: list[int] = []
    cut = bucketing.lay_along

    def lay(table, window, coins, tell=lambda done: None):
        along = cut(table, window, coins, tell)
        limit, name = Fraction(1, 3), list(table.schema.domains["value"]).index("H")
        number, place = np.zeros(along.windows, dtype=np.int32), 0
        held: list[int] = []
        sizes.clear()
        for k in range(along.windows):
            held.append(k)
            own = np.isin(along.window, held)
            number[k] = place
            if (along.value[own] == name).sum() <= limit * int(own.sum()):
                sizes.append(int(own.sum()))
                held, place = [], place + 1
        assert not held, "the last window cannot be joined to a next one"
        return replace(along, windows=place, window=number[along.window])

    patch.setattr(bucketing, "lay_along", lay)
    patch.setattr(planning, "sizes_of", lambda rows, window: list(sizes))
    return sizes


NEAR = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/3"), assignment="near", window=200)


@pytest.mark.parametrize("crowded", [4, 1])
def test_joined_windows_are_found_in_the_files(monkeypatch, crowded):
    """A publisher who joins windows is found by every person in a joined one, also where there is a quarter of them."""
    sizes = plant(monkeypatch)
    with found(rows_along(crowded), NEAR, unverified=True) as findings:
        windows = findings["minimality, windows"]
        inside = sum(size for size in sizes if size > 200)
        assert windows.details["people"] == inside >= 400
        assert windows.rate.rate == inside / 2_400
        assert windows.covered
        assert windows.beats
        assert not findings["holds"]
        assert windows.note == JOINED


def test_the_same_publisher_is_not_blamed_where_no_window_had_to_be_joined(monkeypatch):
    """The planted code changes nothing where every window can be bucketed, and then there is nothing to find."""
    plant(monkeypatch)
    with found(rows_along(0), NEAR) as findings:
        assert findings["minimality, windows"].rate.rate == 0
        assert findings["holds"]


@pytest.mark.parametrize(
    "mechanism",
    [
        discreet.Anatomy(l=3),
        discreet.Buckets(tolerance=discreet.Tolerance(theta=2, floor="0.1")),
        discreet.Buckets(tolerance=discreet.Tolerance(floor="1/3"), assignment="near"),
        discreet.Anatomy(l=3, assignment="near", window=170),
    ],
    ids=lambda mechanism: f"{mechanism.kind} {mechanism.assignment} {mechanism.window}",
)
def test_right_releases_give_nothing_away_by_how_they_were_planned(mechanism):
    """Random or near, with a declared window or by the rule: nobody is in another window or class than is stated."""
    with found(rows_along(0), mechanism) as findings:
        assert findings.pop("holds")
        assert ("minimality, windows" in findings) == (mechanism.assignment == "near")
        assert all(each.rate.rate == 0 and each.bound == 0 and each.covered for each in findings.values())


def test_another_window_than_the_rules_is_found(monkeypatch):
    """A publisher who says that the rule chose what he chose himself: no window is the rule's."""
    rows = rows_along(0)
    mine = bucketing.near_of
    monkeypatch.setattr(bucketing, "near_of", lambda window, *rest: replace(mine(200, *rest), declared=False))
    with found(rows, replace(NEAR, window=None), unverified=True) as findings:
        assert findings["minimality, windows"].rate.rate == 1


def test_classes_and_windows_are_compared_with_the_st():
    """Buckets that are there and not stated count by their people, and so do those that are stated and not there."""
    rows = rows_along(0)
    with (
        opened(rows, discreet.Policy(schema=schema_of(rows, "value"), mechanism=NEAR)) as table,
        released(table, discreet.Anatomy(l=3), 1) as release,
    ):
        composition = release.composition
        assert off_classes(composition, [(3, 800)]) == 0
        assert off_classes(composition, [(3, 790)]) == 30
        assert off_classes(composition, [(3, 780), (4, 15)]) == 60
        whole, one = Near(window=2_400, declared=True), Near(window=1_200, declared=True)
        assert off_cut(composition, whole, [Window(rows=2_400, first=1, last=800)]) == 0
        assert off_cut(composition, one, [Window(rows=2_400, first=1, last=800)]) == 2_400
        halves = [Window(rows=1_200, first=1, last=400), Window(rows=1_200, first=401, last=800)]
        assert off_cut(composition, one, halves) == 0
        assert off_cut(composition, one, [halves[0], Window(rows=1_200, first=401, last=799)]) == 1_200
