"""The optimum with any number of sizes: against brute force, with a proof that a stranger can check.

The brute force shares no code with the planner: it lists every setting and tests every set of its sizes by the min-cut
condition in plain integers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import floor

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import CertificateError, Infeasible, Tolerance, plan_buckets
from discreet.mechanism.buckets.papers.ilp import solve_many_sizes, solve_two_sizes
from discreet.mechanism.buckets.papers.two_size_search import (
    search_two_sizes,
    with_full_pruning,
    with_loss_pruning,
    without_pruning,
)
from discreet.mechanism.buckets.planning import program, rounding, work
from discreet.mechanism.buckets.planning.caps import caps_of
from discreet.mechanism.buckets.planning.certificate import Certificate, Leaf, Split
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.two_size import best_two_sizes
from discreet.mechanism.buckets.planning.validity import find_violation

THREE_MAX = 7
THREE = (
    {"a": 8, "b": 7, "c": 2},
    {"a": Fraction(851, 1700), "b": Fraction(853, 1700), "c": Fraction(84, 425)},
)

Counts = Mapping[str, int]
Limits = Mapping[str, Fraction]


def is_valid(counts: list[int], limits: list[Fraction], setting: Mapping[int, int]) -> bool:
    """Every set of sizes can be filled: sum_i min(o_i, sum_j floor(f'_i S_j) b_j) >= sum_j S_j b_j."""
    used = [size for size, buckets in setting.items() if buckets]
    for number in range(1, len(used) + 1):
        for chosen in combinations(used, number):
            room = [sum(floor(limit * size) * setting[size] for size in chosen) for limit in limits]
            if sum(map(min, counts, room)) < sum(size * setting[size] for size in chosen):
                return False
    return True


def least_loss(counts: Counts, tolerance: Limits, max_size: int) -> int | None:
    """Every setting with sizes up to max_size, by recursion over the sizes."""
    held = [count for count in counts.values() if count]
    limits = [tolerance[value] for value, count in counts.items() if count]
    best: int | None = None

    def look(size: int, left: int, setting: dict[int, int], loss: int) -> None:
        nonlocal best
        if best is not None and loss >= best:
            return
        if size > max_size:
            if not left and is_valid(held, limits, setting):
                best = loss
            return
        for buckets in range(left // size, -1, -1):
            look(size + 1, left - buckets * size, {**setting, size: buckets}, loss + buckets * (size - 1) ** 2)

    look(1, sum(held), {}, 0)
    return best


@st.composite
def tables(draw: st.DrawFn, *, most: int = 8, values: int = 6) -> tuple[dict[str, int], dict[str, Fraction]]:
    counts = {
        f"x{i}": count for i, count in enumerate(draw(st.lists(st.integers(1, most), min_size=1, max_size=values)))
    }
    rows = sum(counts.values())
    theta = st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)])
    extra = st.integers(0, 20).map(lambda percent: Fraction(percent, 100))
    return counts, {
        value: min(Fraction(1), draw(theta) * Fraction(count, rows) + draw(extra)) for value, count in counts.items()
    }


def planned(counts: Counts, limits: Limits, sizes: str, max_size: int, **options: float) -> discreet.BucketPlan | None:
    try:
        return plan_buckets(counts, limits, sizes=sizes, max_size=max_size, **options)
    except Infeasible:
        return None


def check_plan(plan: discreet.BucketPlan, counts: Counts, limits: Limits) -> None:
    """Valid by the oracle, allocated within the caps, and its bound proved by its certificate."""
    assert plan.counts == counts
    assert is_valid(list(counts.values()), [limits[value] for value in counts], dict(plan.classes))
    for value, shares in plan.allocation.items():
        for size, records in shares.items():
            assert 0 < records <= floor(limits[value] * size) * dict(plan.classes)[size]
    for size, buckets in plan.classes:
        assert sum(shares.get(size, 0) for shares in plan.allocation.values()) == size * buckets
    assert plan.certificate.check(counts, limits) == plan.lower_bound <= plan.loss


@given(table=tables(), max_size=st.integers(2, 9))
@settings(max_examples=few(600), deadline=None)
def test_the_optimum_is_that_of_brute_force_and_is_proved(table, max_size):
    """With gap 0 the loss is the least of all settings, the proof meets it, and a refusal means that none exists."""
    counts, limits = table
    plan = planned(counts, limits, "optimal", max_size, gap=0)
    assert (None if plan is None else plan.loss) == least_loss(counts, limits, max_size)
    if plan is not None:
        check_plan(plan, counts, limits)
        assert plan.proved_optimal


@pytest.mark.slow
@given(table=tables(most=9), max_size=st.integers(2, 9))
@settings(max_examples=few(3_000), deadline=None)
def test_the_optimum_is_that_of_brute_force_on_thousands_of_tables(table, max_size):
    """The same, on more tables."""
    test_the_optimum_is_that_of_brute_force_and_is_proved.hypothesis.inner_test(table, max_size)


@given(table=tables(most=40, values=10), max_size=st.integers(3, 20))
@settings(max_examples=few(40), deadline=None)
def test_the_optimum_is_that_of_the_printed_integer_program(table, max_size):
    """[W14] section 6.1, solved as it stands, agrees on tables that brute force cannot reach."""
    counts, limits = table
    sizes = np.arange(1, max_size + 1)
    held = np.array(list(counts.values()))
    classes = solve_many_sizes(caps_of(list(limits.values()), sizes), held, sizes)
    plan = planned(counts, limits, "optimal", max_size, gap=0)
    assert (None if plan is None else plan.loss) == (None if classes is None else _loss(classes))


@given(table=tables(most=15), max_size=st.integers(2, 10))
@settings(max_examples=few(150), deadline=None)
def test_every_form_of_two_sizes_agrees_and_no_heuristic_beats_the_optimum(table, max_size):
    """Closed form, the papers' three searches and, with a proof, the optimum in the right order."""
    counts, limits = table
    held, sizes = np.array(list(counts.values())), np.arange(1, max_size + 1)
    caps = caps_of(list(limits.values()), sizes)
    two = best_two_sizes(caps, held, sizes)
    for search in (without_pruning, with_loss_pruning, with_full_pruning):
        found = search_two_sizes(caps, held, sizes, search)
        assert (found is None) == (two is None)
        assert found is None or two is None or _loss(found) == _loss(two)
    best = planned(counts, limits, "optimal", max_size, gap=0)
    for order in ("tolerant last", "listed"):
        multi = best_top_down(caps, held, sizes, order=order)
        assert (multi is None) == (two is None)
        if multi is not None and two is not None and best is not None:
            assert best.loss <= _loss(multi) <= _loss(two)
            assert find_violation(counts, limits, multi) is None


@given(table=tables(most=10, values=4), max_size=st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_the_two_size_program_agrees_with_the_closed_form(table, max_size):
    """One integer program for each pair of sizes."""
    counts, limits = table
    held, sizes = np.array(list(counts.values())), np.arange(1, max_size + 1)
    caps = caps_of(list(limits.values()), sizes)
    program, closed = solve_two_sizes(caps, held, sizes), best_two_sizes(caps, held, sizes)
    assert (program and _loss(program)) == (closed and _loss(closed))


@given(table=tables(), setting=st.dictionaries(st.integers(1, 8), st.integers(1, 4), min_size=1, max_size=4))
@settings(max_examples=few(400), deadline=None)
def test_a_setting_is_valid_exactly_where_every_set_of_its_sizes_can_be_filled(table, setting):
    """The flow and the min-cut condition agree, also for settings with more than two sizes."""
    counts, limits = table
    rows = sum(size * buckets for size, buckets in setting.items())
    counts = {**counts, "x0": max(1, counts["x0"] + rows - sum(counts.values()))}
    if sum(counts.values()) == rows:
        violation = find_violation(counts, limits, tuple(setting.items()))
        assert (violation is None) == is_valid(list(counts.values()), list(limits.values()), setting)
        assert violation is None or violation.available < violation.needed


def test_validity_is_exact_at_a_billion_rows():
    """One record too many of 10^9 is noticed, and exactly enough is enough."""
    counts = {"a": 500_000_000, "b": 500_000_000}
    limits = {"a": Fraction(1, 2), "b": Fraction(1, 2)}
    assert find_violation(counts, limits, ((2, 300_000_000), (4, 50_000_000), (10, 20_000_000))) is None
    off = {"a": 500_000_001, "b": 499_999_999}
    broken = find_violation(off, limits, ((2, 300_000_000), (4, 50_000_000), (10, 20_000_000)))
    assert broken is not None
    assert broken.needed - broken.available == 1


def _loss(classes) -> int:
    return sum(buckets * (size - 1) ** 2 for size, buckets in classes)


# Certificates

COUNTS = {f"x{i}": count for i, count in enumerate((2, 2, 2, 4, 4, 4, 4, 7, 7))}
LIMITS = Tolerance(theta=3, floor="0.02").of(COUNTS)


@pytest.fixture(scope="module")
def proof() -> Certificate:
    plan = plan_buckets(COUNTS, LIMITS, gap=0)
    assert plan.proved_optimal
    assert plan.certificate.leaves > 1
    return plan.certificate


def first_leaf(tree: Leaf | Split) -> Leaf:
    return tree if isinstance(tree, Leaf) else first_leaf(tree.fewer)


def test_a_bound_that_is_stated_too_high_or_too_low_is_rejected(proof):
    """The bound must be what the prices prove."""
    assert proof.check(COUNTS, LIMITS) == 72
    for bound in (71, 73, 10**9, -1):
        with pytest.raises(CertificateError, match="states a bound"):
            replace(proof, bound=bound).check(COUNTS, LIMITS)


@pytest.mark.parametrize("factor", [0, 2, -1, 1000])
def test_prices_that_were_changed_are_rejected(proof, factor):
    """A leaf whose prices are scaled no longer proves the bound."""
    leaf = first_leaf(proof.tree)
    with pytest.raises(CertificateError):
        replace(proof, tree=replace(leaf, prices=tuple(price * factor for price in leaf.prices))).check(COUNTS, LIMITS)


def test_a_tree_that_does_not_cover_everything_is_rejected(proof):
    """Taking one branch for the whole, or moving a split, leaves settings out."""
    assert isinstance(proof.tree, Split)
    for part in (proof.tree.fewer, proof.tree.more):
        with pytest.raises(CertificateError):
            replace(proof, tree=part).check(COUNTS, LIMITS)
    moved = replace(proof.tree, buckets=proof.tree.buckets + 3, more=proof.tree.fewer, fewer=proof.tree.more)
    with pytest.raises(CertificateError):
        replace(proof, tree=moved).check(COUNTS, LIMITS)


def test_a_certificate_is_for_one_table_and_one_tolerance(proof):
    """Other counts, tolerances or values are another matter."""
    for counts in ({**COUNTS, "x0": 30}, {**COUNTS, "y": 1}, {**COUNTS, "x0": 0}):
        with pytest.raises(CertificateError):
            proof.check(counts, {**LIMITS, "y": Fraction(1)})
    with pytest.raises(CertificateError):
        proof.check(COUNTS, {**LIMITS, "x0": Fraction(1)})


def test_leaves_with_too_few_prices_are_rejected(proof):
    """Every value has a price, and a denominator is above 0."""
    leaf = first_leaf(proof.tree)
    for broken in (replace(leaf, prices=leaf.prices[1:]), replace(leaf, denominator=0)):
        with pytest.raises(CertificateError, match="a leaf"):
            replace(proof, tree=broken).check(COUNTS, LIMITS)


@given(table=tables(), prices=st.lists(st.integers(-50, 50), min_size=6, max_size=6), max_size=st.integers(2, 8))
@settings(max_examples=few(300), deadline=None)
def test_no_prices_whatever_prove_more_than_the_optimum(table, prices, max_size):
    """Whoever makes up prices gets a bound that holds."""
    counts, limits = table
    best = least_loss(counts, limits, max_size)
    if best is not None:
        leaf = Leaf(prices=tuple(prices[: len(counts)]), denominator=7)
        assert Certificate.of(leaf, counts, limits, (1, max_size)).bound <= best


# A solver that is wrong


def test_a_solver_that_lies_about_the_setting_is_not_believed(monkeypatch):
    """An integer program whose setting breaks a tolerance: it is checked and refused, and the plan is valid."""
    counts = {f"x{i}": 40 + 17 * i for i in range(12)}
    limits = Tolerance(theta=2, floor="0.03").of(counts)
    honest = plan_buckets(counts, limits, gap=0, seconds=10)

    class Liar:
        """A solver whose solutions put everything into the smallest size that fills the table."""

        def __init__(self, solver):
            self._solver = solver

        def __getattr__(self, name):
            return getattr(self._solver, name)

        def getSolution(self):  # noqa: N802 - the solver's own name
            found = self._solver.getSolution()
            found.col_value = [round(value) for value in found.col_value]
            found.col_value[0] += 5
            return found

    monkeypatch.setattr(rounding, "quiet_solver", lambda: Liar(program.quiet_solver()))
    plan = plan_buckets(counts, limits, gap=0, seconds=10)
    check_plan(plan, counts, limits)
    assert plan.loss >= plan.lower_bound
    assert plan.loss <= honest.loss * 1.01


def test_a_solver_whose_prices_are_wrong_proves_less_but_nothing_false(monkeypatch):
    """Prices that are off by a tenth still give a bound that holds."""
    counts = {f"x{i}": 4 + 7 * i for i in range(6)}
    limits = Tolerance(theta=2, floor="0.03").of(counts)
    best = plan_buckets(counts, limits, gap=0).loss
    right = program.Program._prices
    monkeypatch.setattr(program.Program, "_prices", lambda self, duals: right(self, duals) * 1.1)
    plan = plan_buckets(counts, limits, gap=0, seconds=1)
    check_plan(plan, counts, limits)
    assert plan.lower_bound <= best <= plan.loss


# What a plan says


def test_three_sizes_work_where_no_two_do():
    """`optimal` finds the setting; `two` and `multi` refuse and name it as the remedy."""
    counts, limits = THREE
    assert plan_buckets(counts, limits, max_size=THREE_MAX).loss == least_loss(counts, limits, THREE_MAX)
    assert len(plan_buckets(counts, limits, max_size=THREE_MAX).classes) == 3
    for sizes in ("two", "multi"):
        with pytest.raises(Infeasible, match='sizes = "optimal" would do'):
            plan_buckets(counts, limits, sizes=sizes, max_size=THREE_MAX)


def test_the_gap_is_certified_and_the_search_stops_there():
    """A wide gap stops at once; a narrow one goes on; the plan states the gap that its certificate proves."""
    counts = {i: int(540 * 1.08**i) for i in range(50)}
    limits = Tolerance(theta=32, floor="0.02").of(counts)
    wide = plan_buckets(counts, limits, gap=1)
    narrow = plan_buckets(counts, limits, gap=1e-5, seconds=20)
    assert narrow.gap <= 1e-5
    assert narrow.loss < wide.loss
    for plan in (wide, narrow):
        assert plan.certificate.check(counts, limits) == plan.lower_bound
        assert plan.gap == (plan.loss - plan.lower_bound) / plan.loss


def test_the_clock_stops_the_search_with_what_it_has_and_the_plan_says_so():
    """A bound on the seconds that bites is told to people and programs, and the plan is no worse than a heuristic's."""
    counts = {i: int(540 * 1.08**i) for i in range(50)}
    limits = Tolerance(theta=2, floor="0.02").of(counts)
    plan = plan_buckets(counts, limits, gap=0, seconds=0.01)
    assert plan.stopped_by_clock
    assert plan.as_json()["stopped_by_clock"]
    assert "stopped by the clock" in plan.warnings[0]
    assert not plan.proved_optimal
    assert plan.loss <= plan_buckets(counts, limits, sizes="multi").loss
    assert plan.certificate.check(counts, limits) == plan.lower_bound
    patient = plan_buckets(counts, limits, seconds=600)
    assert not patient.stopped_by_clock
    assert patient.warnings == ()
    assert patient == plan_buckets(counts, limits)


def test_no_clock_is_looked_at_unless_seconds_are_given(monkeypatch):
    """A plan cannot depend on how fast a machine is if nobody asks what time it is."""

    def never() -> float:
        raise AssertionError("a plan asked for the time")

    for name in ("monotonic", "process_time", "perf_counter", "time"):
        monkeypatch.setattr(work.time, name, never)
    counts = {i: int(540 * 1.08**i) for i in range(30)}
    assert plan_buckets(counts, Tolerance(theta=2, floor="0.04").of(counts)).gap <= 1e-4


def test_the_same_counts_give_the_same_plan_in_another_process():
    """Classes, allocation and certificate, to the last number."""
    text = (
        "import discreet\ncounts = {i: 3 + 90_000 // (i + 1) for i in range(300)}\n"
        "plan = discreet.plan_buckets(counts, discreet.Tolerance(theta=8, floor='0.03').of(counts), max_size=60)\n"
        "print(plan, plan.certificate.tree, plan.certificate.bound, getattr(plan.certificate.tree, 'prices', None))"
    )
    runs = {output_of(text) for _ in range(2)}
    assert len(runs) == 1


def output_of(text: str) -> str:
    """What a program prints in a process of its own."""
    words = [sys.executable, "-c", text]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout  # noqa: S603 - our own text


def laws(values: int, rows: int) -> dict[str, list[int]]:
    """Counts of several kinds, each at least 1, about `rows` together."""
    rank, draw = np.arange(1, values + 1), np.random.default_rng(11)
    weights = {
        "1/rank": 1 / rank,
        "1/(rank + 30)": 1 / (rank + 30),
        "geometric": np.geomspace(1, 60, values),
        "uniform": draw.uniform(0.2, 1.8, values),
        "lognormal": draw.lognormal(0, 1, values),
    }
    return {
        name: np.maximum(1, np.rint(each / each.sum() * rows)).astype(int).tolist() for name, each in weights.items()
    }


@pytest.mark.parametrize("law", ["1/rank", "1/(rank + 30)", "geometric", "uniform", "lognormal"])
@pytest.mark.parametrize(
    ("values", "rows", "theta", "floor", "gap"),
    [(5_000, 290_000, 8, "0.0575", 1e-3), (10_000, 970_000, 8, "0.02", 5e-3), (700, 290_000, 2, "0.03", 1e-3)],
)
def test_large_domains_are_planned_close_to_the_bound_and_never_worse_than_multi(law, values, rows, theta, floor, gap):
    """Thousands of values, smallest size 17 and others: the certified gap, and the heuristic beside it."""
    counts = dict(enumerate(laws(values, rows)[law]))
    limits = Tolerance(theta=theta, floor=floor).of(counts)
    plan = plan_buckets(counts, limits)
    assert plan.gap <= gap
    assert plan.loss <= plan_buckets(counts, limits, sizes="multi").loss


@given(table=tables(most=60, values=12), max_size=st.integers(2, 30), gap=st.sampled_from([0.0, 1e-4, 0.05, 1.0]))
@settings(max_examples=few(200), deadline=None)
def test_optimal_is_never_worse_than_any_other_way(table, max_size, gap):
    """Whatever gap is asked for, no other planner finds less."""
    counts, limits = table
    best = planned(counts, limits, "optimal", max_size, gap=gap)
    for sizes in ("multi", "two", "one"):
        other = planned(counts, limits, sizes, max_size)
        assert other is None or (best is not None and best.loss <= other.loss)


def test_a_plan_that_needs_no_program_loads_no_solver():
    """One tolerance for all, and Anatomy: neither scipy nor the solver is loaded by planning, and the proof stands."""
    text = (
        "import sys\nfrom discreet.mechanism.buckets.planning.plan_buckets import plan_buckets\n"
        "counts = {i: 1500 + 137 * i for i in range(14)}\nlimits = dict.fromkeys(counts, '1/4')\n"
        "plan = plan_buckets(counts, limits)\nassert plan.certificate.check(counts, limits) == plan.lower_bound\n"
        "assert plan.gap <= 1e-4, plan.gap\n"
        "print('highspy' in sys.modules, any(name.startswith('discreet.mechanism.buckets') for name in sys.modules))"
    )
    assert output_of(text).split() == ["False", "True"]


def test_reasons_name_the_values_that_force_large_buckets():
    """The value of the smallest tolerance costs most, needs buckets of its size, and relaxing it saves what it says."""
    counts = {"rare": 50, "common": 500, "usual": 450}
    limits = {"rare": Fraction(1, 10), "common": Fraction(1), "usual": Fraction(1)}
    plan = plan_buckets(counts, limits, gap=0)
    reason = plan.explain(relax=1)[0]
    assert (reason.value, reason.least_size, reason.records) == ("rare", 10, 50)
    assert sum(reason.sizes.values()) == 50
    relaxed = plan_buckets(counts, {**limits, "rare": reason.relaxed}, gap=0)
    assert reason.relaxed == Fraction(1, 5)
    assert plan.loss - relaxed.loss == pytest.approx(reason.saves, abs=0.02 * plan.loss)
    assert plan.loss - relaxed.loss <= reason.at_most


@given(table=tables(most=30), max_size=st.integers(3, 12))
@settings(max_examples=few(60), deadline=None)
def test_no_plan_saves_more_than_a_reason_says(table, max_size):
    """With the relaxed tolerance, the optimum itself is within the stated limit."""
    counts, limits = table
    plan = planned(counts, limits, "optimal", max_size)
    for reason in plan.explain(relax="0.5")[:2] if plan else ():
        relaxed = {**limits, reason.value: reason.relaxed}
        span = {"min_size": plan.certificate.min_size}
        best = plan_buckets(counts, relaxed, max_size=max_size, gap=0, **span)
        assert plan.loss - best.loss <= reason.at_most


def test_metrics_are_the_papers():
    """MSE is Loss / (n - 1) and IL its root over n - 1; both 0 where every record is its own bucket."""
    plan = plan_buckets(COUNTS, LIMITS, gap=0)
    assert plan.mse == pytest.approx(72 / 35)
    assert plan.information_loss == pytest.approx(72**0.5 / 35)
    alone = plan_buckets({"a": 1}, {"a": 1})
    assert (alone.loss, alone.mse, alone.information_loss, alone.gap, alone.proved_optimal) == (0, 0, 0, 0, True)


@pytest.mark.parametrize(
    ("option", "value"), [("gap", -1), ("gap", 2), ("gap", "x"), ("seconds", 0), ("seconds", True)]
)
def test_a_gap_or_a_time_that_makes_no_sense_is_refused(option, value):
    """One sentence that names it."""
    with pytest.raises(discreet.PolicyError, match=option):
        plan_buckets(COUNTS, LIMITS, **{option: value})
