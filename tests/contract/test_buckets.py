"""What only a bucket release is: rows in the right buckets, sorted, and counted by an analyst with pandas alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cases import CASES, PUBLISHED, Broken, break_at, contents, policy_of, publish, sources, ward_frame

import discreet
from discreet.engine.duck.engine import DuckEngine
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest
from discreet.schema.domain import Decimals, Integers, Listed

BUCKETS = [case for case in CASES if case.tables == ("qit", "st")]


@pytest.fixture(params=BUCKETS, ids=str)
def policy(request, tmp_path: Path) -> discreet.Policy:
    """Of every mechanism that publishes buckets."""
    return policy_of(request.param, tmp_path)


# The right bucket at the right row


def misplaced(release: Path, ids: np.ndarray, values: np.ndarray) -> int:
    """Buckets whose rows, looked up in the original table by their unique QI, do not have the values that ST states."""
    qit, st = (pq.read_table(release / "data" / f"{name}.parquet") for name in ("qit", "st"))
    value_of = np.empty(ids.max() + 1, dtype=values.dtype)
    value_of[ids] = values
    assert np.array_equal(np.sort(qit["id"].to_numpy()), np.sort(ids))
    held = Counter(zip(qit["BID"].to_pylist(), value_of[qit["id"].to_numpy()].tolist(), strict=True))
    names = {"v0": 0, "v1": 1, "v2": 2, "v3": 3, "v4": 4, "v5": 5}
    stated = {
        (bucket, names[value]): count
        for bucket, value, count in zip(
            st["BID"].to_pylist(), st["d"].to_pylist(), st["COUNT"].to_pylist(), strict=True
        )
    }
    return len({bucket for bucket, _ in {pair for pair in {*held, *stated} if held.get(pair) != stated.get(pair)}})


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """300,000 people with a number of their own as QI, as a frame, CSV with awkward cells, Parquet in 600 groups."""
    rows, coins = 300_000, np.random.default_rng(11)
    ids, values = coins.permutation(rows), coins.choice(6, rows, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03])
    frame = pd.DataFrame(
        {
            "remark": np.where(np.arange(rows) % 5 == 0, 'two\nlines, "quoted"', "plain"),
            "id": ids,
            "d": np.char.add("v", values.astype("U1")),
        }
    )
    found = sources(frame, tmp_path_factory.mktemp("many"), row_group=500)
    assert pq.ParquetFile(found["parquet"]).num_row_groups == 600
    return found, ids, values


def by_id_policy(rows: int) -> discreet.Policy:
    return discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("id",),
            sensitive="d",
            domains={"id": Integers(low=0, high=rows), "d": Listed(values=tuple(f"v{i}" for i in range(6)))},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(theta=2, floor="0.05")),
    )


@pytest.mark.parametrize("source", ["pandas", "csv", "parquet"])
def test_every_row_is_in_a_bucket_that_counts_its_value(source, many, tmp_path):
    """Joined by position over 300,000 rows, ids and rows stay together: ST is what the QIT's people really have."""
    found, ids, values = many
    release = publish(found[source], by_id_policy(len(ids)), tmp_path / "release", series=tmp_path / "s.series")
    assert misplaced(release, ids, values) == 0


@pytest.mark.parametrize("beside", [{"known": 2}, {"fakes": 1}, {"known": 1, "fakes": 3}], ids=str)
def test_with_fakes_every_bucket_holds_its_people_and_so_many_more(beside, tmp_path):
    """What its rows really have and the fakes are the ST, and people by size of bucket are those that are stated."""
    coins = np.random.default_rng(12)
    ids, values = coins.permutation(6_000), coins.choice(6, 6_000, p=[0.2, 0.2, 0.2, 0.2, 0.15, 0.05])
    frame = pd.DataFrame({"id": ids, "d": [f"v{value}" for value in values]})
    policy = replace(
        by_id_policy(6_000), mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor="0.4"), **beside)
    )
    release, value_of = publish(frame, policy, tmp_path / "release", seed=1), dict(zip(ids, frame["d"], strict=True))
    qit, st = (pq.read_table(release / "data" / f"{name}.parquet").to_pylist() for name in ("qit", "st"))
    held = Counter((row["BID"], value_of[row["id"]]) for row in qit)
    made = Counter({(row["BID"], row["d"]): row["COUNT"] for row in st})
    made.subtract(held)
    size, fakes = Counter(row["BID"] for row in qit), beside.get("fakes", 0)
    assert min(made.values()) >= 0
    assert {sum(made[bucket, f"v{value}"] for value in range(6)) for bucket in size} == {fakes}
    if fakes:
        block = json.loads((release / "datapackage.json").read_text(encoding="utf-8"))["discreet"]
        real: Counter[tuple[str, int]] = Counter()
        for (bucket, value), count in held.items():
            real[value, size[bucket]] += count
        sizes = [each["size"] for each in block["classes"]]
        assert {(x, s): n for x, numbers in block["people"] for s, n in zip(sizes, numbers, strict=True) if n} == real


def test_many_rows_give_the_same_bytes_again(many, tmp_path):
    """Threads do not show: 300,000 rows published twice are the same files."""
    found, ids, _ = many
    one, two = (publish(found["parquet"], by_id_policy(len(ids)), tmp_path / f"r{i}", seed=1) for i in range(2))
    assert contents(one) == contents(two)


def test_the_row_check_notices_ids_that_are_off_by_one(tmp_path, monkeypatch):
    """The check above can fail: bucket ids moved by a single row put nearly every row in a wrong bucket."""
    ids, values = np.arange(600), np.arange(600) % 6
    attach = DuckEngine.attach
    monkeypatch.setattr(DuckEngine, "attach", lambda engine, name, values: attach(engine, name, np.roll(values, 1)))
    frame = pd.DataFrame({"id": ids, "d": [f"v{value}" for value in values]})
    assert misplaced(publish(frame, by_id_policy(600), tmp_path / "release", seed=1), ids, values) > 100


# For an analyst without discreet


def test_a_release_is_read_with_pandas_alone(policy, tmp_path):
    """The tables have the documented columns and the rows that went in."""
    frame = ward_frame()
    release = publish(frame, policy, tmp_path / "out", seed=1)
    qit, st = (pd.read_parquet(release / "data" / f"{name}.parquet") for name in ("qit", "st"))
    assert list(qit.columns) == ["age", "gender", "postcode", "BID"]
    assert list(st.columns) == ["BID", "disease", "COUNT"]
    published = ["age", "gender", "postcode"]
    assert Counter(qit[published].itertuples(index=False, name=None)) == Counter(
        frame[published].itertuples(index=False, name=None)
    )
    block = json.loads((release / "datapackage.json").read_text(encoding="utf-8"))["discreet"]
    fakes = block["mechanism"].get("fakes", 0)
    assert (st.groupby("BID")["COUNT"].sum() - qit.groupby("BID").size() == fakes).all()
    counted = {x: sum(n) for x, n in block["people"]} if fakes else st.groupby("disease")["COUNT"].sum().to_dict()
    assert counted == frame["disease"].value_counts().to_dict()


def test_the_readme_recipe_for_pandas_runs_and_counts(policy, tmp_path):
    """The lines of version 1, with a condition put in, print the estimate that treats a bucket's rows alike."""
    release = publish(ward_frame(), policy, tmp_path / "out", seed=1)
    statement, words = read_manifest(release).statement, FAMILIES[policy.mechanism.kind].words[1]
    text = words.readme(statement, words.facts(statement))
    recipe = re.search(r"(    import pandas as pd\n(?:    .*\n)+)", text)[1]
    recipe = "\n".join(line[4:] for line in recipe.splitlines())
    recipe = recipe.replace("qit[...]", 'qit[(qit["age"] < 50) & (qit["gender"] == "F")]').replace("[...]", '["Flu"]')
    done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests, on a README made above
        [sys.executable, "-W", "error", "-c", recipe], cwd=release, capture_output=True, text=True, check=True
    )
    qit, st = (pq.read_table(release / "data" / f"{name}.parquet").to_pylist() for name in ("qit", "st"))
    size = Counter(row["BID"] for row in qit)
    having = {row["BID"]: row["COUNT"] for row in st if row["disease"] == "Flu"}
    expected = sum(
        having.get(row["BID"], 0) / size[row["BID"]] for row in qit if row["age"] < 50 and row["gender"] == "F"
    )
    assert float(done.stdout) == pytest.approx(expected)


def test_rows_are_sorted_by_what_is_published(policy, tmp_path):
    """By bucket, then by every column in the order of its domain: nothing is left to the input's order."""
    release = publish(ward_frame(900), policy, tmp_path / "out", seed=1)
    order = {name: {value: i for i, value in enumerate(policy.schema.domains[name])} for name in PUBLISHED}
    for name in ("qit", "st"):
        table = pq.read_table(release / "data" / f"{name}.parquet")
        columns = ["BID", *(column for column in table.column_names if column not in ("BID", "COUNT"))]
        keys = [
            tuple(row[column] if column == "BID" else order[column][row[column]] for column in columns)
            for row in table.to_pylist()
        ]
        assert keys == sorted(keys)
        assert len(keys) > 300


# Whole, or not at all


@pytest.mark.parametrize("name", ["attach", "write_sorted"])
def test_a_failure_between_the_two_tables_leaves_nothing(name, policy, tmp_path, monkeypatch):
    """No folder and no temporary sibling, and the same table is published when the disk works again."""
    table = discreet.read_table(ward_frame(), policy)
    target = tmp_path / "out" / "release"
    target.parent.mkdir()
    with monkeypatch.context() as patch:
        break_at(patch, DuckEngine, name, Broken, 0)
        with pytest.raises(Broken):
            discreet.publish(table, policy, to=target)
    assert list(target.parent.iterdir()) == []
    discreet.publish(table, policy, to=target).close()
    table.close()
    assert discreet.verify(target).holds


# Values as their domain writes them


@pytest.mark.parametrize("fakes", [0, 2])
def test_decimals_that_end_in_noughts_verify_and_answer(fakes: int, tmp_path: Path):
    """A manifest has 4.1 where the domain and the words have 4.10."""
    values = [f"4.{each:02d}" for each in range(30) for _ in range(10)]
    tolerance = discreet.Tolerance(floor="0.3", values={Decimal("4.10"): 1, Decimal("4.20"): "0.4"})
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("age",),
            sensitive="dose",
            domains={"age": Integers(low=0, high=9), "dose": Decimals(low="4.00", high="4.29", step="0.01")},
        ),
        mechanism=discreet.Buckets(tolerance=tolerance, fakes=fakes),
    )
    frame = pd.DataFrame({"age": np.arange(300) % 10, "dose": values})
    with discreet.read_table(frame, policy) as table:
        discreet.publish(table, policy, to=tmp_path / "release", seed=1).close()
    broken = [check for check in discreet.verify(tmp_path / "release", allow_seeded=True).checks if not check.holds]
    assert not broken
    with discreet.open_release(tmp_path / "release") as release:
        assert release.count("dose = 4.1").value == 10
        assert [release.allows(place) for place in (9, 10, 20)] == [Fraction(3, 10), 1, Fraction(2, 5)]
