"""Order tells nothing in a right release; what a changed publisher leaves in it is found, in full and by a quarter."""

from __future__ import annotations

import importlib
from dataclasses import replace
from itertools import permutations

import numpy as np
import pyarrow.parquet as pq
import pytest
from cases import CASES, few, opened, policy_of, ward_frame, ward_schema

import discreet
from discreet.attack.order import Order
from discreet.attack.positions import contrary, displaced, falls, pairs_apart, ranks
from discreet.release.buckets.manifest import ST
from discreet.schema.domain import Integers

BY_NAME = {case.name: case for case in CASES}
WRITE = importlib.import_module("discreet.mechanism.buckets.making.write")
MAKE = importlib.import_module("discreet.mechanism.alphabeta.making.make")
STRENGTHS = pytest.mark.parametrize("strength", [1.0, 0.25])


def report_of(name, folder, frame, *, seed=1, unverified=False, schema=None):
    """What the attack finds on a release of a case."""
    folder.mkdir(exist_ok=True)
    case = BY_NAME[name]
    policy = policy_of(case, folder, schema=schema)
    options = {"seed": seed} if case.views == 1 else {"series": folder / "s.series"}
    with discreet.read_table(frame, policy) as table, opened(table, policy, folder / "release", **options) as release:
        return discreet.audit(release, table, attacks=[Order()], unverified=unverified)


def wide(most):
    """The ward with so many postcodes that few people are alike."""
    schema = ward_schema()
    return replace(schema, domains={**schema.domains, "postcode": Integers(low=0, high=most)})


def beaten(report):
    return {each.variant for each in report.findings if each.beats}


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "response"], ids=str)
def test_a_right_release_is_at_chance_whatever_the_order_of_its_table(case, tmp_path):
    """No finding beats its bound, for tables in random order, by quasi-identifiers, backwards and by value."""
    frame = ward_frame(case.public_rows or 120)
    orders = (["doctor_remark"], ["age", "gender", "postcode"], ["disease", "age"])
    for number, by in enumerate(orders):
        for ascending in (True, False):
            found = report_of(
                case.name,
                tmp_path / f"{number}{ascending}",
                frame.sort_values(by, ascending=ascending, ignore_index=True),
                seed=10 * number + ascending,
            )
            assert not beaten(found), (by, ascending)


def test_numbers_of_buckets_are_a_fair_coin(tmp_path):
    """Over many releases of one sorted table the share of pairs in order is that of fair coins, beside every table."""
    frame = ward_frame(400).sort_values(["age", "disease"], ignore_index=True)
    hits = pairs = 0
    for seed in range(few(80)):
        found = report_of("buckets", tmp_path / str(seed), frame, seed=seed)
        each = found["order, qit, numbers beside rows of the table"].rate
        assert each.low <= 0.5
        hits, pairs = hits + each.rate * each.attempts, pairs + each.attempts
    folded = np.abs(
        np.random.default_rng(1).binomial(pairs // few(80), 0.5, (20_000, few(80))) / (pairs // few(80)) - 0.5
    )
    means = 0.5 + folded.mean(axis=1)
    assert means.min() - 0.02 < hits / pairs < means.max() + 0.02


@pytest.mark.parametrize("what", ["rows of the table", "true values"])
@STRENGTHS
def test_rows_that_keep_an_order_within_their_bucket_are_found(what, strength, tmp_path, monkeypatch):
    """A writer that leaves the rows of a bucket as the table has them, or by their values; of all or some buckets."""

    def leaky(table, ids, to):
        columns, sensitive = table.schema.quasi_identifiers, table.schema.sensitive
        place = np.arange(table.rows)
        if what == "true values":
            place = np.concatenate([part[0] for part in table.codes(sensitive)])
        table.engine.attach("BID", ids)
        table.engine.attach("PLACE", np.where(ids % round(1 / strength) == 0, place, -1))
        table.engine.write_sorted([*columns, "BID"], ["BID", "PLACE", *columns], to)

    monkeypatch.setattr(WRITE, "_write_qit", leaky)
    found = report_of("buckets", tmp_path / "x", ward_frame(400), unverified=True)
    assert beaten(found) >= {"qit, cells", f"qit, beside {what}"}
    rate = found[f"order, qit, beside {what}"].rate.rate
    assert rate > 0.95 if strength == 1 else 0.05 < rate < 0.6
    assert not found.holds


@STRENGTHS
def test_numbers_given_out_in_the_order_of_the_table_are_found(strength, tmp_path, monkeypatch):
    """A publisher that names buckets as their first people come, wholly or as a quarter of what decides."""
    real = WRITE.write_rows

    def leaky(table, ids, folder, *, csv, steps):
        number, first = np.unique(ids, return_index=True)
        noise = np.random.default_rng(7).permutation(len(number))
        key = strength * np.argsort(np.argsort(first)) + (1 - strength) * noise
        fresh = (np.argsort(np.argsort(key)) + 1).astype(np.int32)
        st = pq.read_table(folder / ST).to_pandas()
        st["BID"] = fresh[np.searchsorted(number, st["BID"])]
        domain = list(table.schema.domains[table.schema.sensitive])
        st = st.sort_values(["BID", "disease"], key=lambda own: own if own.name == "BID" else own.map(domain.index))
        kept = pq.read_schema(folder / ST).remove_metadata()
        pq.write_table(
            pq.read_table(folder / ST).from_pandas(st, schema=kept, preserve_index=False).replace_schema_metadata(None),
            folder / ST,
            compression="zstd",
            store_schema=False,
        )
        real(table, fresh[np.searchsorted(number, ids)], folder, csv=csv, steps=steps)

    monkeypatch.setattr(WRITE, "write_rows", leaky)
    frame = ward_frame(4000)
    frame["postcode"] = np.random.default_rng(3).permutation(4000)
    found = report_of("buckets", tmp_path / "x", frame, schema=wide(9999), unverified=True)
    assert beaten(found) == {"qit, numbers beside rows of the table"}
    assert found["order, qit, numbers beside rows of the table"].rate.rate > (0.99 if strength == 1 else 0.58)


@STRENGTHS
def test_noise_that_stands_after_the_true_tuples_is_found(strength, tmp_path, monkeypatch):
    """A publisher that appends the noise, or a quarter of it, and sorts the rest."""
    real = MAKE.merged
    coins = np.random.default_rng(4)

    def leaky(one, other):
        late = coins.random(other.shape[1]) < strength
        return np.concatenate([real(one, other[:, ~late]), other[:, late]], axis=1)

    monkeypatch.setattr(MAKE, "merged", leaky)
    frame = ward_frame(4000)
    frame["postcode"] = np.random.default_rng(3).integers(0, 100, 4000)
    found = report_of("alphabeta", tmp_path / "x", frame, schema=wide(99), unverified=True)
    assert beaten(found) >= {"view, cells", "view, true or not"}
    assert found["order, view, true or not"].rate.rate > (0.95 if strength == 1 else 0.55)


def test_entries_of_the_sensitive_table_in_another_order_are_found(tmp_path, monkeypatch):
    """A writer that leaves the values of a bucket in the order in which coins dealt them."""
    real = WRITE.write_st

    def leaky(schema, bucket, value, count, to, order):
        mixed = np.lexsort((np.random.default_rng(1).random(len(bucket)), bucket))
        real(schema, bucket, value, count, to, mixed)

    monkeypatch.setattr(WRITE, "write_st", leaky)
    assert "st, cells" in beaten(report_of("buckets", tmp_path / "x", ward_frame(400), unverified=True))


def test_rows_fall_where_a_sort_would_move_them():
    """Against Python's tuples: neighbours that fall, and places in order."""
    coins = np.random.default_rng(2)
    for _ in range(200):
        columns = [coins.integers(0, 3, 7) for _ in range(3)]
        rows = list(zip(*(each.tolist() for each in columns), strict=True))
        assert falls(columns).tolist() == [rows[i + 1] < rows[i] for i in range(6)]
        dense = {row: place for place, row in enumerate(sorted(set(rows)))}
        assert ranks(columns).tolist() == [dense[row] for row in rows]


def test_a_sorted_file_is_never_contrary_and_never_displaced():
    """Whatever else is ordered how: rows in the order of their cells follow nothing else."""
    coins = np.random.default_rng(3)
    for _ in range(200):
        cells, group = np.sort(coins.integers(0, 5, 9)), np.sort(coins.integers(0, 2, 9))
        assert not contrary(group, cells, coins.integers(0, 5, 9)).any()
        assert not displaced(cells).any()


def test_disjoint_pairs_are_exactly_fair_over_all_numberings():
    """Every pattern of orders of the pairs comes equally often over all ways to number the groups, ties or not."""
    for feature in ([3, 1, 2, 5, 4, 0], [1, 1, 0, 0, 2, 2], [0, 0, 0, 1, 1, 1]):
        low, high = pairs_apart(np.array(feature), np.zeros(6, dtype=int), np.random.default_rng(1))
        assert len({*low.tolist(), *high.tolist()}) == 2 * len(low)
        assert all(feature[a] < feature[b] for a, b in zip(low, high, strict=True))
        seen = [tuple((np.array(own)[low] < np.array(own)[high]).tolist()) for own in permutations(range(6))]
        assert {seen.count(each) for each in set(seen)} == {720 // 2 ** len(low)}


def test_pairs_never_leave_their_window():
    """Numbers are exchangeable within a window alone."""
    window = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
    low, high = pairs_apart(np.arange(10)[::-1], window, np.random.default_rng(1))
    assert len(low) == 1 + 1 + 2
    assert (window[low] == window[high]).all()
