"""The division of epsilon in releases of leaves: the verifier's rule is the publisher's, and knows no other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import ReleaseError
from discreet.mechanism.diffgen.making import exponential
from discreet.mechanism.diffgen.making.exponential import measure_exponential
from discreet.mechanism.diffgen.making.noise import SeededNoise
from discreet.mechanism.diffgen.planning.budget import levels_of
from discreet.mechanism.diffgen.planning.cuts import diffgen_tree, replay
from discreet.mechanism.diffgen.planning.parts import exponential_parts, histogram_parts
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.mechanism.diffgen.planning.settings import Settings
from discreet.schema.domain import Integers, Listed
from discreet.schema.taxonomy import Taxonomy, taxonomy_of
from discreet.verifier.diffgen import steps
from discreet.verifier.diffgen.division import check_parts, split_points, weight
from discreet.verifier.diffgen.found import Cut, Found
from discreet.verifier.diffgen.stated import Parts, Spent, Stated
from discreet.verifier.diffgen.steps import check_steps

EPSILON = Fraction(3, 2)
SCHEMA = discreet.Schema(
    quasi_identifiers=("age", "letter", "colour", "floor"),
    sensitive="disease",
    domains={
        "age": Integers(low=0, high=5),
        "letter": Listed(
            values=("a", "b", "c", "d", "e"),
            paths=tuple((each, up, "*") for each, up in zip("abcde", ("ab", "ab", "cd", "cd", "e"), strict=True)),
        ),
        "colour": Listed(values=("red", "green", "blue")),
        "floor": Integers(low=3, high=3),
        "disease": Listed(values=("flu", "hiv")),
    },
)
TAXONOMIES = tuple(taxonomy_of(SCHEMA, name) for name in SCHEMA.quasi_identifiers)


def stated(parts: Parts, **others: object) -> Stated:
    given = {
        "spent": Spent(epsilon=EPSILON, asked=EPSILON, parts=parts, before=Fraction(0)),
        "asked": None,
        "score": "max",
        "consistency": "exact",
        "guide": "exponential",
        "target": "disease",
        "leaves": 2,
        "specializations": 0,
        "levels": 1,
    }
    return Stated(**{**given, **others})  # type: ignore[arg-type]


def run(asked: int | None, seed: int, taxonomies: tuple[Taxonomy, ...] = TAXONOMIES) -> Found:
    """What a release of the exponential guide would hold, after choices by coins."""
    asking = Settings(
        epsilon=EPSILON,
        specializations=asked,
        score="max",
        consistency="exact",
        guide="exponential",
        target="disease",
        classes=2,
        taxonomies=taxonomies,
    )
    coins, budget = np.random.default_rng(seed), asking.exponential_budget
    rows = Rows(tuple(coins.integers(0, len(each), 20) for each in taxonomies), coins.integers(0, 2, 20), taxonomies, 2)
    measured = measure_exponential(rows, budget, SeededNoise(coins), "max", budget.selections, "exact")
    cuts = replay(taxonomies, measured.steps)
    parts = [(each.name, each.share) for each in exponential_parts(budget, measured.splits, measured.selections)]
    own = stated(
        parts,
        asked=asked,
        leaves=cuts.leaves * 2,
        specializations=len(measured.steps),
        levels=levels_of(diffgen_tree(taxonomies, measured.steps)[0]),
    )
    groups = [Cut(each, cuts.values[place], cuts.groups(place)) for place, each in enumerate(taxonomies)]
    return Found(stated=own, cuts=tuple(groups), leaves=np.zeros((cuts.leaves, 2), dtype=np.int64), tables=())


@settings(max_examples=few(300), deadline=None)
@given(st.none() | st.integers(1, 12), st.integers(0, 2**32))
def test_whatever_was_chosen_is_divided_as_the_verifier_has_it(asked: int | None, seed: int) -> None:
    """And a share, a number of specializations or of levels that is another is found, where it can be."""
    found = run(asked, seed)
    assert check_parts(found) is None
    assert check_steps(found) is None
    own = found.stated
    for number in {own.specializations - 1, own.specializations + 1}:
        assert check_steps(replace(found, stated=replace(own, specializations=number)))
    deepest = 1 + sum(each.above[1] if not each.taxonomy.ordered else len(each.values) - 1 for each in found.cuts)
    assert check_steps(replace(found, stated=replace(own, levels=deepest + 1)))
    for name, share in own.spent.parts:
        for other in (share * Fraction(1001, 1000), share / 2 + 1):
            moved = [(each, other if each == name else own_share) for each, own_share in own.spent.parts]
            assert refused(replace(found, stated=replace(own, spent=replace(own.spent, parts=moved))))


def refused(found: Found) -> bool:
    try:
        return check_parts(found) is not None
    except ReleaseError:
        return True


def test_parts_that_add_up_to_epsilon_by_another_rule_are_found() -> None:
    """One more split point than the values allow, one less, and one that the rest was not reserved for."""
    found = run(3, 1)
    parts = dict(found.stated.spent.parts)
    choice = parts["selections"] / found.stated.specializations
    for name, other in (("split points", "not needed"), ("selections", "split points"), ("leaves", "not needed")):
        for number in (-4, 4) if name == "split points" else (-1, 1):
            moved = {**parts, name: parts[name] + number * choice, other: parts.get(other, 0) - number * choice}
            own = replace(found.stated.spent, parts=list(moved.items()))
            assert sum(moved.values()) == EPSILON
            assert refused(replace(found, stated=replace(found.stated, spent=own))), (name, number)


def test_a_run_that_ends_early_had_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last choice is paid for though it is not taken; without such a reason fewer than were asked for are found."""
    monkeypatch.setattr(exponential, "MOST_LEAVES", 30)
    early = next(found for found in (run(8, seed) for seed in range(99)) if found.stated.specializations < 8)
    assert check_parts(early) is None
    assert check_steps(early)
    monkeypatch.setattr(steps, "MOST_LEAF_COUNTS", 30)
    assert check_steps(early) is None


@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.booleans())
def test_tables_are_paid_by_the_cube_root_of_their_cells(sizes: list[int], again: bool) -> None:
    """In whole numbers, for which the publisher takes roots of floats."""
    taxonomies = tuple(
        replace(TAXONOMIES[2], name=f"c{place}", labels=("x",) * size) for place, size in enumerate(sizes)
    )
    asking = Settings(
        epsilon=EPSILON,
        specializations=None,
        score="max",
        consistency="exact",
        guide="histogram",
        target="disease",
        classes=2,
        taxonomies=taxonomies,
    )
    parts = [(each.name, each.share) for each in histogram_parts(asking.histogram_budget, taxonomies, again=again)]
    cuts = tuple(Cut(each, (each.root,), np.zeros(len(each), dtype=np.int64)) for each in taxonomies)
    own = stated(parts, guide="histogram", specializations=0 if again else 1)
    assert check_parts(Found(stated=own, cuts=cuts, leaves=np.zeros((1, 2), dtype=np.int64), tables=())) is None


def test_the_weight_of_a_table_is_the_nearest_whole_number() -> None:
    """For as many cells as an attribute can have, and more."""
    assert [weight(cells) for cells in range(1, 2_000)] == [
        round(1_000 * cells ** (1 / 3)) for cells in range(1, 2_000)
    ]


def ways(sizes: tuple[int, ...]) -> set[tuple[int, int]]:
    """Of every way to cut an interval into parts of these sizes: how often split points were chosen, and the depth.

    They are chosen for the whole, and after each cut that leaves a part which can be cut again.
    """
    if len(sizes) == 1:
        return {(1, 0)}
    found = set()
    for at in range(1, len(sizes)):
        again = sum(sizes[:at]) > 1 or sum(sizes[at:]) > 1
        for (one, deep), (other, low) in product(ways(sizes[:at]), ways(sizes[at:])):
            found.add((one + other - 1 + again, 1 + max(deep, low)))
    return found


@pytest.mark.parametrize("cells", range(2, 8))
def test_every_order_in_which_an_interval_can_be_cut_is_allowed_and_no_other(cells: int) -> None:
    """By going through all of them: how often split points were chosen, and how deep the tree may be."""
    own = taxonomy_of(
        discreet.Schema(
            quasi_identifiers=("age",),
            sensitive="d",
            domains={"age": Integers(low=1, high=cells), "d": Listed(values=("a",))},
        ),
        "age",
    )
    for cuts in product((False, True), repeat=cells - 1):
        ends = [0, *(place for place, cut in enumerate(cuts, start=1) if cut), cells]
        sizes = tuple(np.diff(ends).tolist())
        parts = tuple(own.interval(range(low, high)) for low, high in pairwise(ends))
        chosen, depths = ({each[place] for each in ways(sizes)} for place in (0, 1))
        least, most = split_points(Cut(own, parts, np.zeros(cells, dtype=np.int64)))
        assert chosen == set(range(least, most + 1)), sizes
        assert depths == set(range((len(sizes) - 1).bit_length(), len(sizes))), sizes
