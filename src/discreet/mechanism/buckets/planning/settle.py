"""From problems in parts of a record to a setting and how many people of each value each of its classes has.

Without fakes the planner's setting has an allocation, for caps are whole numbers. With fakes a class has room for
people in parts of a record only, so a setting may have none in whole ones: then a little more slack is tried, and
planners of fewer sizes. Classes are made broad first (broad.py), as long as that costs little, and values that have few
people in a class are gathered in another one (gather.py): both make people and fakes harder to tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.allocate import allocate_with_slack
from discreet.mechanism.buckets.planning.broad import broadened, wanted_of
from discreet.mechanism.buckets.planning.caps import Classes, caps_of, most_people
from discreet.mechanism.buckets.planning.gather import gathered
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.planners import PLANNERS, Found, Problem
from discreet.mechanism.buckets.planning.slack import UNIT, scaled_caps

_MORE = (Fraction(0), Fraction(1, 1000), Fraction(1, 100), Fraction(1, 20))  # slack, for an allocation in whole people
_FEWER = {"optimal": ("two", "one"), "multi": ("two", "one"), "two": ("one",), "one": ()}  # they have no small classes
_SEVERAL = (16, 8)  # fakes of each value that a class has room for, where that costs little
_LITTLE = Fraction(103, 100)  # times the loss


def settled_setting(problem: Problem, sizes: str) -> tuple[Found, Ints] | None:
    """Classes that keep the slack, and how many people of each value each of them has; None where none are found."""
    for found in _tried(problem, sizes):
        chosen = np.array([size for size, _ in found.classes], dtype=np.int64)
        buckets = np.array([number for _, number in found.classes], dtype=np.int64)
        caps = caps_of(problem.limits, chosen, problem.defence)
        most = most_people(caps, found.classes, problem.defence.fakes)
        scaled = scaled_caps(caps, chosen, problem.slacks or (), problem.defence.fakes)
        shares = allocate_with_slack(scaled, problem.counts, found.classes, UNIT, most)
        if (shares.sum(axis=1) == problem.counts).all():
            if problem.defence.fakes:
                room = np.minimum(-(-scaled * buckets // UNIT), most)
                shares = gathered(shares, room, chosen, problem.defence.fakes)
            return found, shares
    return None


def _tried(problem: Problem, sizes: str) -> Iterator[Found]:
    """Settings to be tried."""
    slacks, fakes = problem.slacks or (), problem.defence.fakes
    for name in (sizes, *_FEWER[sizes]) if fakes else (sizes,):
        for more in _MORE if fakes else _MORE[:1]:
            raised = [max(slack, more) for slack in slacks]
            if (found := PLANNERS[name](replace(problem, slacks=raised))) is None:
                break
            if fakes:
                yield from _broader(found, replace(problem, slacks=raised), name)
            yield found


def _broader(found: Found, problem: Problem, name: str) -> Iterator[Found]:
    """Settings like one, in which every class has several fakes for each value, or one."""
    values, fakes = len(problem.counts), problem.defence.fakes
    for times in (*_SEVERAL, 1):
        for classes in _with_buckets(found.classes, wanted_of(times * values, fakes), problem, name):
            if times == 1 or loss_of(classes) <= _LITTLE * loss_of(found.classes):
                yield replace(found, classes=classes)


def _with_buckets(classes: Classes, wanted: int, problem: Problem, name: str) -> Iterator[Classes]:
    """Settings with so many buckets of every size: of the sizes that have them already, or by a few rows of others."""
    broad = np.array([size for size, buckets in classes if buckets >= wanted], dtype=np.int64)
    if 0 < len(broad) < len(classes) and (again := PLANNERS[name](replace(problem, sizes=broad))):
        yield from broadened(again.classes, wanted)
        yield again.classes
    yield from broadened(classes, wanted)
