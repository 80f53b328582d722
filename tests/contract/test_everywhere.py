"""Everybody learns the same from the same files, on any processor and with any number of threads; later questions need
no compiler.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.evaluate.papers_form import at_least, random_queries
from discreet.evaluate.scratch import opened, schema_of

BENCH = Path(__file__).parents[2] / "bench"
CLOSE = 1e-3  # of a standard error
RUN = """
import json, sys
import discreet
with discreet.open_release(sys.argv[1]) as release:
    found = release.count_many(json.loads(sys.argv[2]))
print(json.dumps([[each.estimator, each.value, each.standard_error] for each in found]))
print(json.dumps([name for name in sys.modules if name.split(".")[0] in ("numba", "llvmlite")]))
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A release of a made-up hospital, and questions that need learning."""
    sys.path.insert(0, str(BENCH))
    table = importlib.import_module("tables").hospital(6000)
    sys.path.remove(str(BENCH))
    folder = tmp_path_factory.mktemp("everywhere") / "release"
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(theta=8, floor="0.02"))
    policy = discreet.Policy(schema=schema_of(table, "diagnosis"), mechanism=mechanism)
    with opened(table, policy) as people:
        discreet.publish(people, policy, to=folder, seed=1).close()
    return folder, json.dumps(random_queries(table, "diagnosis", 60, seed=2, values_of=at_least)[0])


def asked(release: tuple[Path, str], cache: Path, **env: str) -> tuple[list[tuple[str, float, float]], list[str]]:
    """What another process answers, and what of a compiler it has loaded."""
    command = [sys.executable, "-c", RUN, *map(str, release)]
    own = {**os.environ, "DISCREET_CACHE": str(cache), **env}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=own)  # noqa: S603 - us
    answers, modules = map(json.loads, done.stdout.splitlines())
    return [tuple(each) for each in answers], modules


@pytest.fixture(scope="module")
def usual(release: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, float, float]]:
    return asked(release, tmp_path_factory.mktemp("usual"))[0]


def apart(one: list[tuple[str, float, float]], two: list[tuple[str, float, float]]) -> float:
    """How far two sets of answers are from each other at most, in standard errors."""
    assert [each[0] for each in one] == [each[0] for each in two]
    assert [each[0] for each in one].count("learned") > 50
    open_ = [(a[1], b[1], a[2]) for a, b in zip(one, two, strict=True) if a[2]]
    return float(np.max([abs(a - b) / error for a, b, error in open_]))


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_do_not_change_an_answer(threads, release, usual, tmp_path):
    """Nor does a library's own choice of them: within a thousandth of a standard error."""
    other, _ = asked(release, tmp_path, NUMBA_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    assert apart(other, usual) < CLOSE


@pytest.mark.slow
def test_another_processor_does_not_change_an_answer(release, usual, tmp_path):
    """Compiled for any processor of the kind, without what this one can do beside: within a thousandth."""
    compiled = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}
    other, modules = asked(release, tmp_path / "cache", **compiled)
    assert "numba" in modules
    assert (tmp_path / "compiled").is_dir()
    assert apart(other, usual) < CLOSE


def test_later_questions_load_no_compiler(release, tmp_path):
    """The first process needs one; one that asks later has not loaded it, and hears the same."""
    first, needed = asked(release, tmp_path)
    assert "numba" in needed
    later, loaded = asked(release, tmp_path)
    assert later == first
    assert not loaded
