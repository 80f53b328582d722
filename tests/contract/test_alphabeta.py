"""Alpha-beta from a table to an answer: the same policy, series, release, verify and count as buckets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import opened, saved

import discreet
from discreet.release.manifest import dump
from discreet.schema.domain import Integers, Listed

DISEASES = tuple(f"d{i}" for i in range(12))


def policy_of(folder: Path, **options: object) -> discreet.Policy:
    values = {"prior": 0.02, "posterior": 0.2, "adversary": "independent", **options}
    schema = discreet.Schema(
        quasi_identifiers=("age", "gender"),
        sensitive="disease",
        domains={
            "age": Integers(low=0, high=79),
            "gender": Listed(values=("F", "M")),
            "disease": Listed(values=DISEASES),
        },
        public_rows=500,
    )
    return saved(discreet.Policy(schema=schema, mechanism=discreet.AlphaBeta(**values)), folder / "p.toml")


def people(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    coins = np.random.default_rng(seed)
    age = coins.integers(0, 80, rows)
    return pd.DataFrame(
        {
            "age": age,
            "gender": coins.choice(["F", "M"], rows),
            "disease": [DISEASES[a % 5 + int(coins.integers(0, 4))] for a in age],
        }
    )


@pytest.fixture
def release(tmp_path) -> Iterator[discreet.Release]:
    with closing(opened(people(), policy_of(tmp_path), tmp_path / "release", csv=True)) as made:
        yield made


def test_a_release_verifies_and_says_what_it_promises(release):
    """Every check holds; the facts name 1/d, the adversary and what one who knows all quasi-identifiers reaches."""
    verdict = discreet.verify(release.path)
    assert verdict.holds, str(verdict)
    assert [check.name for check in verdict.checks] == [
        "manifest", "files", "hashes", "layout", "form", "schema", "tuples", "promise", "size", "lookalikes", "words",
        "copies", "randomness",
    ]  # fmt: skip
    assert "fewer than 50 equally probable tuples" in release.facts["not_covered"][0]
    assert "20 %" in release.facts["words"]


def test_nothing_tells_noise_from_truth_by_its_place(release):
    """The view is a set in the order of the domains; its Parquet file has no metadata of its own."""
    view = pq.read_table(release.path / "data" / "view.parquet").to_pandas()
    keys = list(zip(view["age"], view["gender"], view["disease"].map(DISEASES.index), strict=True))
    assert keys == sorted(set(keys))
    assert not pq.read_metadata(release.path / "data" / "view.parquet").metadata


def retold(release: discreet.Release, **block: object) -> bool:
    """Whether the release still verifies with another statement in its manifest."""
    path = release.path / "datapackage.json"
    manifest = json.loads(path.read_text())
    manifest["discreet"].update(block)
    path.write_text(dump(manifest), encoding="utf-8")
    return discreet.verify(release.path).holds


def test_a_manifest_that_promises_more_does_not_verify(release):
    """A stronger promise than the probabilities keep, another mechanism, another number of tuples."""
    manifest = json.loads((release.path / "datapackage.json").read_text())["discreet"]
    assert retold(release)
    for change in (
        {"guarantee": {**manifest["guarantee"], "gamma": "1/10"}},
        {"guarantee": {**manifest["guarantee"], "keep": "1/2"}},
        {"guarantee": {**manifest["guarantee"], "adversary": "exclusive"}},
        {"mechanism": {**manifest["mechanism"], "posterior": "1/10"}},
        {"tuples": manifest["tuples"] + 1},
        {"randomness": "seeded"},
    ):
        assert not retold(release, **change)
        assert retold(release, **{key: manifest[key] for key in change})


@pytest.mark.parametrize("how", ["twice", "order", "outside", "fewer"])
def test_a_view_that_was_changed_does_not_verify(release, how):
    """With hashes mended, the deeper checks still notice."""
    path = release.path / "data" / "view.parquet"
    view = pq.read_table(path).to_pandas()
    changed = {
        "twice": pd.concat([view.iloc[:1], view]),
        "order": view.iloc[::-1],
        "outside": view.assign(age=view["age"] + 40),
        "fewer": view.iloc[:5],
    }[how]
    table = pa.Table.from_pandas(changed, preserve_index=False).replace_schema_metadata()
    pq.write_table(table, path, store_schema=False, compression="zstd")
    for csv in release.path.glob("data/*.csv"):
        csv.unlink()
    manifest = json.loads((release.path / "datapackage.json").read_text())
    manifest["resources"] = manifest["resources"][:1]
    manifest["resources"][0] |= {
        "bytes": path.stat().st_size,
        "hash": f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}",
    }
    manifest["discreet"]["tuples"] = len(changed)
    (release.path / "datapackage.json").write_text(dump(manifest), encoding="utf-8")
    broken = {check.name for check in discreet.verify(release.path).checks if not check.holds}
    assert "layout" not in broken
    assert broken & {"twice": {"tuples"}, "order": {"tuples"}, "outside": {"schema"}, "fewer": {"size", "promise"}}[how]


@pytest.mark.slow
def test_estimates_are_unbiased_and_intervals_cover(tmp_path):
    """300 seeds: the mean is within 4 standard errors of the truth, and intervals hold it in 92 to 98.5 % of cases."""
    policy, rows = policy_of(tmp_path), people()
    truth = rows.drop_duplicates()
    asked = {
        "age < 40": int((truth.age < 40).sum()),
        "gender = 'F' AND disease IN ('d1', 'd2')": int(
            ((truth.gender == "F") & truth.disease.isin(["d1", "d2"])).sum()
        ),
        "age % 5 = 0 OR disease = 'd7'": int(((truth.age % 5 == 0) | (truth.disease == "d7")).sum()),
    }
    table = discreet.read_table(rows, policy)
    values, held = [], []
    for seed in range(300):
        release = discreet.publish(table, policy, to=tmp_path / "r", seed=seed, replace=True)
        found = release.count_many(list(asked))
        values.append([each.value for each in found])
        held.append([each.low <= true <= each.high for each, true in zip(found, asked.values(), strict=True)])
        assert all(each.bounds[0] <= true <= each.bounds[1] for each, true in zip(found, asked.values(), strict=True))
        release.close()
    table.close()
    spread = np.std(values, axis=0) / np.sqrt(len(values))
    assert (np.abs(np.mean(values, axis=0) - list(asked.values())) < 4 * spread).all()
    assert ((np.mean(held, axis=0) > 0.92) & (np.mean(held, axis=0) < 0.985)).all(), np.mean(held, axis=0)


def test_groups_and_clipped_estimates(release):
    """GROUP BY lists every value of the domain; a clipped estimate lies within its bounds."""
    counts = release.count_by("disease", where="age < 10")
    assert [group[0] for group, _ in counts] == list(DISEASES)
    clipped = release.count_by("disease", where="age < 10", estimator="clipped")
    assert all(each.bounds[0] <= each.value <= each.bounds[1] for _, each in clipped)
    with pytest.raises(discreet.QueryError, match="estimator"):
        release.count("age < 10", estimator="uniform")


def test_a_prior_in_multiples_needs_a_public_number_of_rows(tmp_path):
    """k times n / m; without public_rows one sentence says what to do."""
    text = policy_of(tmp_path, prior=1, posterior=0.6).path.read_text()
    (tmp_path / "q.toml").write_text(text.replace("public_rows = 500\n", ""))
    with pytest.raises(discreet.PolicyError, match="needs public_rows in"):
        discreet.Policy.load(tmp_path / "q.toml")


def test_a_plan_says_how_far_off_a_count_may_be(tmp_path):
    """The Bernstein bound holds for a query in at least 95 % of the releases."""
    policy, rows = policy_of(tmp_path), people()
    table = discreet.read_table(rows, policy)
    plan = discreet.plan(table, policy)
    assert isinstance(plan, discreet.AlphaBetaPlan)
    assert plan.tuples == len(rows.drop_duplicates())
    truth = len(rows.drop_duplicates())
    off = []
    for seed in range(60):
        release = discreet.publish(table, policy, to=tmp_path / "r", seed=seed, replace=True)
        off.append(abs(release.count().value - truth))
        release.close()
    table.close()
    assert np.mean(np.array(off) <= plan.error_bound()) >= 0.95


ODD = (None, True, -1, 0, 10**30, 1.5, "", "x", "1/0", "9" * 5_000, [], {}, [[]], {"a": 1}, "http://example.org/x")


def places(content: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Every place in a JSON document."""
    if path:
        yield path
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in parts:
        yield from places(value, (*path, key))


@pytest.mark.slow
def test_a_manifest_changed_anywhere_gives_a_verdict_or_one_sentence(release):
    """Every place of the manifest replaced by odd things in turn: no other exception, and no stronger promise holds."""
    path = release.path / "datapackage.json"
    whole = path.read_text()
    coins = np.random.default_rng(0)
    for place in list(places(json.loads(whole))):
        for odd in coins.choice(len(ODD), 3, replace=False):
            manifest = json.loads(whole)
            node = manifest
            for step in place[:-1]:
                node = node[step]
            same = node[place[-1]] == ODD[odd]
            node[place[-1]] = ODD[odd]
            path.write_text(json.dumps(manifest))
            try:
                verdict = discreet.verify(release.path)
                assert (
                    same or not verdict.holds or place[0] in ("name", "$schema", "resources") or place[1] == "version"
                )
                opened = discreet.open_release(release.path)
            except discreet.DiscreetError:
                continue
            try:
                opened.count("age < 5")
            except discreet.DiscreetError:
                continue
            finally:
                opened.close()
