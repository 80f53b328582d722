"""Who has which value in a release: as the coins say it, where the table alone tells, and near it elsewhere."""

from itertools import permutations
from math import comb, factorial, prod

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attack.buckets.people import NOWHERE, people_of
from discreet.attack.buckets.truth import truth_of
from discreet.attack.target import Target
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.release.folder import read_manifest

VALUES = ("a", "b", "c", "d")


def table_of(rows: int, kinds: int, seed: int) -> pa.Table:
    """People of whom many are alike; no value is more frequent than buckets of two allow."""
    coins = np.random.default_rng(seed)
    return pa.table(
        {
            "kind": [f"k{each}" for each in coins.integers(0, kinds, rows)],
            "sort": [f"s{each}" for each in coins.integers(0, 2, rows)],
            "ill": [VALUES[each] for each in coins.permutation(np.arange(rows) % len(VALUES))],
        }
    )


def target_of(release: discreet.Release, table: discreet.Table) -> Target:
    return Target(release=release, manifest=read_manifest(release.path), table=table)


def exact(target: Target) -> np.ndarray:
    """For each row and value how much the assignments of people to rows weigh in which the row has the value: with
    fakes an assignment weighs as many ways as there are to choose which slots are nobody's.
    """
    release, codes = target.release, target.codes
    names, domain = target.schema.quasi_identifiers, list(target.schema.domains[target.schema.sensitive])
    shown = list(zip(*(release.qit.codes(name).tolist() for name in names), strict=True))
    alike = list(zip(*(codes[name].tolist() for name in names), strict=True))
    values = [release.composition.values.index(domain[each]) for each in codes[target.schema.sensitive]]
    counts = {(g, x): c for g, x, c in zip(*entries(release), strict=True)}
    found, worlds = np.zeros((len(shown), len(release.composition.values))), 0.0
    for world in permutations(range(len(shown))):  # who stands in which row
        if any(shown[row] != alike[person] for row, person in enumerate(world)):
            continue
        held: dict[tuple[int, int], int] = {}
        for row, person in enumerate(world):
            key = (int(release.qit.bucket[row]), values[person])
            held[key] = held.get(key, 0) + 1
        if all(number <= counts.get(key, 0) for key, number in held.items()):
            weight = prod(comb(count, held.get(key, 0)) * factorial(held.get(key, 0)) for key, count in counts.items())
            worlds += weight
            for row, person in enumerate(world):
                found[row, values[person]] += weight
    return found / worlds


def entries(release: discreet.Release) -> tuple[list[int], list[int], list[int]]:
    own = release.composition
    return own.bucket.tolist(), own.value.tolist(), own.count.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_every_sum_that_is_known_holds_and_probabilities_are_near_those_over_all_assignments(seed):
    """On tables of eight people: one value a row, the buckets' counts, what those who are alike have; and the law."""
    rows = table_of(8, 2, seed)
    mechanism = discreet.Anatomy(l=2)
    policy = discreet.Policy(schema=schema_of(rows, "ill"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, seed) as release:
        target = target_of(release, table)
        truth, law, composition = truth_of(target), exact(target), release.composition
    found = np.zeros_like(law)
    found[truth.layout.row, truth.layout.value] = truth.weight
    assert np.allclose(found.sum(axis=1), 1, atol=1e-3)
    assert np.allclose(np.bincount(truth.layout.entry, truth.weight), composition.count, atol=2e-3)
    assert np.abs(found - law).max() < 0.12
    assert np.allclose(found[law == 1], 1, atol=0.02)
    assert found[law == 0].max(initial=0) < 0.02


@pytest.mark.parametrize("seed", range(6))
def test_with_fakes_some_slots_are_nobodys_and_rows_still_have_one_value(seed):
    """Two buckets of four people and a fake: nobody has as many as the totals leave, and the law is near."""
    rows = table_of(8, 2, seed).select(["kind", "sort", "ill"])
    two = pa.array(["a" if each in "ab" else "b" for each in rows["ill"].to_pylist()])
    rows = rows.set_column(2, "ill", two)
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(floor="3/4"), min_size=4, max_size=4, slack=0, fakes=1)
    policy = discreet.Policy(schema=schema_of(rows, "ill"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, seed) as release:
        target = target_of(release, table)
        truth, law, composition = truth_of(target), exact(target), release.composition
    found = np.zeros_like(law)
    found[truth.layout.row, truth.layout.value] = truth.weight
    people = np.bincount(truth.layout.entry, truth.weight)
    assert composition.slots.tolist() == [5, 5]
    assert np.allclose(found.sum(axis=1), 1, atol=1e-3)
    assert (people <= composition.count + 2e-3).all()
    assert np.allclose(np.bincount(composition.value, people), composition.totals, atol=5e-3)
    assert np.abs(found - law).max() < 0.12
    assert np.allclose(found[law == 1], 1, atol=0.02)
    assert found[law == 0].max(initial=0) < 0.02


@pytest.mark.parametrize(
    "mechanism", [discreet.Anatomy(l=4), discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2"), fakes=2)]
)
def test_where_everybody_is_alone_the_truth_is_certain(mechanism):
    """People with quasi-identifiers of their own have their own values, and no doubt is left; with fakes neither."""
    rows = table_of(60, 3, 1).append_column("number", pa.array([f"n{each}" for each in range(60)]))
    rows = rows.select(["number", "kind", "ill"])
    policy = discreet.Policy(schema=schema_of(rows, "ill"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 3) as release:
        target = target_of(release, table)
        truth, people = truth_of(target), people_of(target)
        assert truth.certain.all()
        assert (truth.value == people.value[np.argsort(people.group)][np.argsort(people.rows)]).all()
        assert (truth.of(truth.value) > 0.999).all()
        assert truth.of(np.full(60, NOWHERE)).max() == 0


def test_a_rate_by_the_truth_is_the_rate_by_the_coins():
    """Rows that the analyst cannot tell apart, told apart by a column that is left out of the audit's view: over 30
    releases the rate that is found has no bias, and none is off by more than .06.
    """
    rows = table_of(400, 25, 5)
    policy = discreet.Policy(schema=schema_of(rows, "ill"), mechanism=discreet.Anatomy(l=4))
    off = []
    with opened(rows, policy) as table:
        for seed in range(30):
            with released(table, policy.mechanism, seed) as release:
                target = target_of(release, table)
                truth = truth_of(target)
                guess = np.random.default_rng(seed).integers(0, 4, 400)
                real = real_values(release, table, seed)
                off.append(truth.of(guess).mean() - (real == guess).mean())
    assert np.abs(off).max() < 0.06
    assert abs(np.mean(off)) < 6 * np.std(off) / np.sqrt(len(off)) + 1e-3


def real_values(release: discreet.Release, table: discreet.Table, seed: int) -> np.ndarray:
    """What the coins gave: the slots are drawn again, and rows that are alike in all that is published are in order."""
    from discreet.mechanism.buckets.making.slots import draw_slots, hand_out
    from discreet.series.coins import Coins

    mechanism = discreet.Anatomy(l=4)
    codes = [np.concatenate(parts) for parts in zip(*table.codes(), strict=True)]
    plan = mechanism.plan_of(table.histogram)
    slots = draw_slots(plan, tuple(table.histogram), plan.composition, Coins.from_seed(seed))
    ids = next(hand_out(slots.shuffled(), slots.starts, [codes[-1]]))
    order = np.lexsort([*codes[-2::-1], ids])
    return codes[-1][order]
