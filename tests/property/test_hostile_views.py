"""Releases of tuples as bytes from a stranger: whatever their manifest says, no traceback and no false promise."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.schema.domain import Integers, Listed

DISEASES = ("flu", "cold", "HIV")
MECHANISMS = {
    "several": discreet.AlphaBeta(prior=0.02, posterior=0.5, views=2),
    "slots": discreet.AlphaBeta(prior=0.002, posterior=0.5, slots=16),
    "source": discreet.AlphaBeta(
        prior=0.02, posterior=0.5, source={"disease": dict(zip(DISEASES, (0.5, 0.3, 0.2), strict=True))}
    ),
    "frapp": discreet.Frapp(prior=0.02, posterior=0.5),
}
VALUES: tuple[Any, ...] = (
    None, 0, -1, 1, 2, 50, 10**9, 10**30, 1.5, True, "", "x", "1/0", "0/1", "1/2", "3/2", "9" * 500, "1/" + "9" * 390,
    [], [1], ["1/2"] * 60, {}, {"a": 1}, {"disease": {"flu": "1"}}, {"disease": 5}, {"age": {"0-9": "1"}},
)  # fmt: skip
HARMLESS = ("version", "public_rows")  # the first is a word; the second only limits answers where the prior is below 1


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("views")
    coins = np.random.default_rng(0)
    rows = pd.DataFrame({"age": coins.integers(0, 30, 60), "disease": coins.choice(DISEASES, 60)})
    found = {}
    for name, mechanism in MECHANISMS.items():
        schema = discreet.Schema(
            quasi_identifiers=("age",),
            sensitive="disease",
            domains={"age": Integers(low=0, high=29), "disease": Listed(values=DISEASES)},
            public_rows=60,
        )
        policy = discreet.Policy(schema=schema, mechanism=mechanism)
        table = discreet.read_table(rows, policy)
        discreet.publish(table, policy, to=folder / name, series=folder / f"{name}.series").close()
        table.close()
        found[name] = folder / name
    return found


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(content, dict):
        for key, each in content.items():
            yield from places(each, (*path, key))
    elif isinstance(content, list):
        for key, each in enumerate(content[:4]):
            yield from places(each, (*path, key))


def changed(block: Any, path: tuple[Any, ...], value: Any, remove: bool) -> None:
    at = block
    for key in path[:-1]:
        at = at[key]
    if remove:
        del at[path[-1]]
    else:
        at[path[-1]] = copy.deepcopy(value)


def look(folder: Path) -> bool:
    """Verify, open and ask in every way; whether the promise was found to hold."""
    verdict = discreet.verify(folder)
    assert str(verdict)
    try:
        release = discreet.open_release(folder)
    except discreet.DiscreetError:
        return verdict.holds
    try:
        for estimator in ("unbiased", "clipped", "best", "control"):
            try:
                assert isinstance(release.count("age > 10 AND disease = 'flu'", estimator=estimator), discreet.Estimate)
                assert isinstance(release.count_by("disease", where="age > 5", estimator=estimator), discreet.Counts)
            except discreet.DiscreetError:
                pass
    finally:
        release.close()
    return verdict.holds


def hostile(data: st.DataObject, releases: dict[str, Path]) -> None:
    kind = data.draw(st.sampled_from(tuple(MECHANISMS)))
    text = (releases[kind] / "datapackage.json").read_text()
    manifest = json.loads(text)
    block, touched = manifest["discreet"], set()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(block))))
        changed(block, path, data.draw(st.sampled_from(VALUES)), data.draw(st.integers(0, 5)) == 0)
        touched.add(path[-1])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "r"
        shutil.copytree(releases[kind], folder)
        (folder / "datapackage.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
        if look(folder) and not touched <= set(HARMLESS):
            assert json.dumps(manifest) == json.dumps(json.loads(text))


QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)


@given(data=st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=QUIET)
def test_whatever_a_manifest_says_there_is_a_sentence_and_no_false_promise(data, releases):
    """One to three changes anywhere in the block."""
    hostile(data, releases)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=4_000, deadline=None, suppress_health_check=QUIET)
def test_whatever_a_manifest_says_four_thousand_times(data, releases):
    """The same, many times."""
    hostile(data, releases)
