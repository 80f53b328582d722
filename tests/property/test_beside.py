"""Policies with `known` and `fakes`: what they are refused for can be mended as is said, and without both nothing is
another policy than it was.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from cases import few, ward_frame, ward_schema
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import Infeasible
from discreet.mechanism.buckets.planning.broad import broadened, wanted_of
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets

QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
DIGEST = bytes.fromhex("5df2c4e7b7aa14cb7cc02c29379642b1f6ce810a89bbd06cb09d08e684895997")
SIZES = st.sampled_from(["optimal", "multi", "two", "one"])


# Remedies


@st.composite
def refused(draw) -> tuple[dict[str, Any], Infeasible]:
    """A plan that is refused, and how."""
    counts = dict(zip("abcdef", draw(st.lists(st.integers(1, 30), min_size=2, max_size=6)), strict=False))
    limits = st.sampled_from([Fraction(1, 5), Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(2, 3)])
    known, fakes = draw(st.integers(0, 4)), draw(st.integers(0, 6))
    given_ = {
        "counts": counts,
        "tolerance": {
            value: max(draw(limits), Fraction(count, sum(counts.values()))) for value, count in counts.items()
        },
        "sizes": draw(SIZES),
        "max_size": draw(st.integers(max(1, known + 1), 20)),
        "known": known,
        "fakes": fakes,
    }
    try:
        plan_buckets(**given_)
    except Infeasible as error:
        return given_, error
    assume(False)
    raise AssertionError


def mended(asked: dict[str, Any], error: Infeasible) -> list[dict[str, Any]]:
    """What is asked for, with each remedy that a refusal names."""
    message, found = str(error), []
    found += [{**asked, "max_size": int(size)} for size in re.findall(r"max_size (\d+) would do", message)]
    for text in re.findall(r"raising .+? to (\d+(?:/\d+)?) \([\d.]+%\) would do", message):
        limits = {
            value: max(limit, Fraction(text)) if value in error.values else limit
            for value, limit in asked["tolerance"].items()
        }
        found.append({**asked, "tolerance": limits})
    found += [{**asked, "sizes": "optimal"} for _ in re.findall(r'sizes = "optimal" would do', message)]
    for name in ("known", "fakes"):
        found += [{**asked, name: int(number)} for number in re.findall(rf"{name} (\d+) would do", message)]
    return found


@given(refused())
@settings(QUICK, max_examples=few(300))
def test_every_remedy_of_a_refusal_works(case):
    """Each by itself; all that would do are found by the words."""
    asked, error = case
    ways = mended(asked, error)
    assert str(error).count("would do") == len(ways)
    assert ways or "relax several" in str(error)
    for way in ways:
        plan_buckets(**way)


def test_fewer_fakes_or_known_are_the_most_that_would_do():
    """One more of either is refused."""
    counts = dict.fromkeys("abcd", 12)
    limits = dict.fromkeys("abcd", Fraction(2, 5))
    for name in ("known", "fakes"):
        asked: dict[str, Any] = {"counts": counts, "tolerance": limits, "max_size": 12, name: 11}
        with pytest.raises(Infeasible) as error:
            plan_buckets(**asked)
        (number,) = map(int, re.findall(rf"{name} (\d+) would do", str(error.value)))
        assert 0 < number < 11
        plan_buckets(**{**asked, name: number})
        with pytest.raises(Infeasible):
            plan_buckets(**{**asked, name: number + 1})


def test_a_remedy_for_what_fakes_are_not_to_blame_for_does_with_them():
    """Two people and one known: no buckets without fakes either, and max_size or fewer known must do with the fakes."""
    counts, limits = {"a": 6, "b": 6, "c": 6}, dict.fromkeys("abc", Fraction(1, 2))
    asked: dict[str, Any] = {"counts": counts, "tolerance": limits, "max_size": 3, "known": 2, "fakes": 1}
    with pytest.raises(Infeasible, match=r"max_size \(3\) must be at least 4 for a, b, c beside 2 known") as error:
        plan_buckets(**asked)
    assert mended(asked, error.value)
    for way in mended(asked, error.value):
        plan_buckets(**way)


# Digests


def policy_of(**mechanism: Any) -> discreet.Policy:
    tolerance = discreet.Tolerance(theta=2, floor="1/10", values={"HIV": "1/4"})
    return discreet.Policy(schema=ward_schema(), mechanism=discreet.Buckets(tolerance=tolerance, **mechanism))


def test_a_policy_without_both_has_the_digest_that_it_had():
    """Written down before there was either; and 0 of one is none of it."""
    assert policy_of().digest == DIGEST
    for nothing in ({"known": 0}, {"fakes": 0}, {"known": 0, "fakes": 0}):
        assert policy_of(**nothing).digest == DIGEST
    others = [policy_of(**each).digest for each in ({"known": 1}, {"known": 2}, {"fakes": 1}, {"known": 1, "fakes": 1})]
    assert len({DIGEST, *others}) == 5


@pytest.mark.parametrize("given_", [{"known": 2}, {"fakes": 3}, {"known": 1, "fakes": 1}, {}], ids=str)
def test_a_policy_that_was_saved_says_the_same(given_, tmp_path):
    """Both are in the file where they are above 0, and in no other."""
    policy = policy_of(**given_)
    path = policy.save(tmp_path / "p.toml")
    text = path.read_text(encoding="utf-8")
    assert all((f"{name} = " in text) == (name in given_) for name in ("known", "fakes"))
    again = discreet.Policy.load(path)
    assert again.mechanism == policy.mechanism
    assert again.digest == policy.digest


def test_the_same_rows_with_other_numbers_are_another_release(tmp_path):
    """And with known = 0, said or not, the same bytes."""
    folders = []
    for name, given_ in (("a", {}), ("b", {"known": 0, "fakes": 0}), ("c", {"known": 1}), ("d", {"fakes": 1})):
        policy = policy_of(**given_)
        with discreet.read_table(ward_frame(), policy) as table:
            discreet.publish(table, policy, to=tmp_path / name, seed=1).close()
        folders.append({path.name: path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()})
    assert folders[0] == folders[1]
    assert len({each["datapackage.json"] for each in folders}) == 3


# Broad classes


@given(
    st.dictionaries(st.integers(2, 30), st.integers(1, 60), min_size=1, max_size=5),
    st.integers(2, 12),
    st.integers(1, 3),
)
@settings(QUICK, max_examples=few(1000))
def test_broad_classes_have_the_same_rows_and_a_fake_for_every_value(own, values, fakes):
    """In sizes that were there before, cheapest first; none of them is what there was."""
    classes = tuple(sorted(own.items()))
    ways = broadened(classes, wanted_of(values, fakes))
    for way in ways:
        assert sum(size * buckets for size, buckets in way) == sum(size * buckets for size, buckets in classes)
        assert all(buckets * fakes >= values for _, buckets in way)
        assert {size for size, _ in way} <= set(own)
        assert way == tuple(sorted(way)) != classes
    losses = [sum(buckets * (size - 1) ** 2 for size, buckets in way) for way in ways]
    assert losses == sorted(losses)
    if all(buckets * fakes >= values for _, buckets in classes):
        assert ways == ()


def test_a_class_too_narrow_for_fakes_is_made_broad_where_giving_it_up_leaves_no_room():
    """Seven buckets of 8 for eight values: the cheapest way, all buckets of 4, has no room with this slack."""
    counts = {"A": 135, "B": 122, "C": 131, "D": 135, "E": 121, "F": 131, "G": 16, "H": 9}
    plan = plan_buckets(counts, dict.fromkeys(counts, Fraction(1, 4)), slack="0.3", fakes=1)
    assert plan.classes == ((4, 184), (8, 8))
    assert plan.kept_slack == Fraction(3, 10)
