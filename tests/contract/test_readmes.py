"""The README of a release runs: its command, its Python and its pandas, on the release's own columns and files."""

from __future__ import annotations

import contextlib
import io
import shlex
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import CASES, Case, policy_of, publish, ward_frame
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.release.statement import README
from discreet.schema.domain import Dates, Decimals, Integers, Listed

OURS = [case for case in CASES if case.mechanism().__module__.startswith("discreet.")]


@pytest.fixture(params=OURS, ids=str)
def case(request) -> Case:
    return request.param


@pytest.fixture
def text(case, tmp_path, monkeypatch) -> str:
    """The README of a release of the ward, read in its folder."""
    publish(ward_frame(), policy_of(case, tmp_path), tmp_path / "one")
    monkeypatch.chdir(tmp_path / "one")
    return Path(README).read_text(encoding="utf-8")


def _blocks(text: str) -> list[str]:
    """Indented blocks, as they would be pasted."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1].append(line[4:])
        elif line.strip() and found[-1]:
            found.append([])
    return ["\n".join(block) for block in found if block]


def _printed(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, README, "exec"), names)  # noqa: S102 - the README's own words
    return out.getvalue()


def test_the_command_and_the_python_of_a_readme_run(text):
    """The question is one about its own columns, and both ways give the same answer, which holds its unit."""
    (shown,) = [line for line in text.splitlines() if line.startswith("    discreet query . ")]
    words = shlex.split(shown)
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(app, ["verify", "."]).exit_code == 0
    names: dict[str, Any] = {}
    (block,) = [each for each in _blocks(text) if each.startswith("import discreet")]
    printed = _printed(block, names)
    assert repr(words[3]) in block
    with names["release"] as release:
        assert str(release.count(words[3])) in printed
        assert "the promise holds" in printed
        assert done.output.startswith(printed.split()[0])
        assert f"An answer counts {release.unit}:" in text
        assert f" {release.unit}" in done.output


def test_the_pandas_of_a_readme_gives_the_estimate(text, case):
    """Not the interval, but the value that the release gives: unbiased, or uniform for buckets."""
    (block,) = [each for each in _blocks(text) if each.startswith("import pandas")]
    found = float(_printed(block, {}))
    (question,) = [shlex.split(line)[3] for line in text.splitlines() if line.startswith("    discreet query . ")]
    with discreet.open_release(".") as release:
        if "uniform" in release.estimators:
            assert found == pytest.approx(release.count(question, estimator="uniform").value)
        elif "clipped" in release.estimators:
            assert found == pytest.approx(release.count(question).design.value, abs=1e-6)
        else:
            of_gender = getattr(release, "target", "disease") == "gender"  # diffgen's class
            asked = "gender = 'M'" if of_gender else f"disease = {_first(release)!r}"
            near = 1 / 1024 if case.name == "pairs" else 1e-6  # its counts are the model's, cut to a grid
            assert found == pytest.approx(release.count(asked, estimator="unbiased").value, abs=near)


SENSITIVE = {
    "texts": (Listed(values=("it's", "b", 'c "d"', "e")), ["it's", "b", 'c "d"', "e"]),
    "texts, some missing": (Listed(values=("a", "b", "None"), missing=True), ["a", "b", "None", None]),
    "whole numbers": (Integers(low=3, high=6), [3, 4, 5, 6]),
    "whole numbers, some missing": (Integers(low=3, high=5, missing=True), [3, 4, 5, None]),
    "decimals": (Decimals(low="4.1", high="4.4", step="0.1"), [Decimal(f"4.{each}") for each in range(1, 5)]),
    "decimals, some missing": (
        Decimals(low="4.1", high="4.3", step="0.1", missing=True),
        [*(Decimal(f"4.{each}") for each in range(1, 4)), None],
    ),
    "dates": (Dates(low="2020-01", high="2020-04", by="month"), [f"2020-0{each}" for each in range(1, 5)]),
}


@pytest.mark.parametrize("column", ["d", "it's a column", 'a "size"'])
@pytest.mark.parametrize("what", SENSITIVE)
def test_the_pandas_of_a_readme_takes_fakes_out_of_any_column(what, column, tmp_path, monkeypatch):
    """Whatever the sensitive column is called and holds: every bucket's parts of people add up to its rows, and the
    estimate is that of the release.
    """
    domain, values = SENSITIVE[what]
    schema = discreet.Schema(
        quasi_identifiers=("n",), sensitive=column, domains={"n": Integers(low=0, high=9), column: domain}
    )
    policy = discreet.Policy(
        schema=schema, mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2"), fakes=2)
    )
    coins = np.random.default_rng(3)
    cells = pa.array([values[each] for each in coins.choice(4, 160, p=[0.3, 0.3, 0.25, 0.15])])
    publish(pa.table({"n": coins.integers(0, 10, 160), column: cells}), policy, tmp_path / "one")
    monkeypatch.chdir(tmp_path / "one")
    text = Path(README).read_text(encoding="utf-8")
    (block,) = [each for each in _blocks(text) if each.startswith("import pandas")]
    names: dict[str, Any] = {}
    found = float(_printed(block, names))
    assert names["st"].groupby("BID")["COUNT"].sum().to_numpy() == pytest.approx(names["size"].to_numpy())
    (question,) = [shlex.split(line)[3] for line in text.splitlines() if line.startswith("    discreet query . ")]
    with discreet.open_release(".") as release:
        assert found == pytest.approx(release.count(question, estimator="uniform").value)


def _first(release: discreet.Release) -> str:
    return str(next(iter(release.schema.domains["disease"])))


def test_a_readme_leaves_nothing_to_fill_in_and_names_no_index(text):
    """No dots in the place of a condition; the tool comes from the custodian, and no host is named."""
    assert "..." not in text
    assert "pip install discreet" not in text
    assert "pip install ./discreet-*.whl" in text
    assert "http" not in text
