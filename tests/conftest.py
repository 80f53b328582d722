"""What suites share: every mechanism as a case, its ward, policy and releases; and what was skipped, said at the end.

In CI the generated examples are the same each time: a change fails because of what it changed.
"""

from __future__ import annotations

import importlib
import itertools
import os
import pkgutil
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pandas as pd
import pytest
from cases import ATHERIS, CASES, NOT_SHARED, REQUIRE_TOOLS, TOOLS, Case, House, few, policy_of, publish, ward_frame
from hypothesis import settings
from tampering import Releases

import discreet

for _each in pkgutil.walk_packages(discreet.__path__, "discreet."):
    importlib.import_module(_each.name)  # one loaded while a test has replaced a function would keep the replacement

settings.register_profile("here", max_examples=few(100), deadline=None)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
_HOMES = itertools.count()
NOT_EVERYWHERE = (NOT_SHARED, ATHERIS)  # what nobody can install just like that


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    """Every mechanism in turn: a test that needs a case, or anything made from one, runs for each."""
    return request.param


@pytest.fixture(autouse=True, scope="session")
def somewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is made before a test begins is not in the series of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        _move(patch, tmp_path_factory.getbasetemp() / "home")
        patch.setenv(
            "DISCREET_CACHE", str(tmp_path_factory.getbasetemp() / "cache")
        )  # one for all: it follows the files
        yield


@pytest.fixture(autouse=True)
def at_home(somewhere: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test is somebody who has published nothing yet."""
    _move(monkeypatch, tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}")


def _move(patch: pytest.MonkeyPatch, place: Path) -> None:
    patch.delenv("DISCREET_SERIES", raising=False)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        patch.setenv(name, str(place / name))


@pytest.fixture
def people() -> pd.DataFrame:
    """The ward, to be changed at will."""
    return ward_frame()


@pytest.fixture(scope="module")
def ward(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Table]:
    """The ward, read and checked once for all tests that publish it as it is."""
    table = discreet.read_table(ward_frame(), policy_of(case, tmp_path_factory.mktemp("ward")))
    yield table
    table.close()


@pytest.fixture
def policy(case: Case, tmp_path: Path) -> discreet.Policy:
    """The case's policy, in a folder of its own."""
    return policy_of(case, tmp_path)


@pytest.fixture
def house(case: Case, tmp_path: Path) -> House:
    """A custodian's folder in which nothing was published yet."""
    return House(case, tmp_path)


@pytest.fixture(scope="module")
def published(case: Case, ward: discreet.Table, tmp_path_factory: pytest.TempPathFactory) -> House:
    """A custodian's folder in which the ward was published once, as 'one', with CSV copies; nobody changes it."""
    house = House(case, tmp_path_factory.mktemp("published"))
    house.publish(ward, "one", csv=True)
    return house


@pytest.fixture(scope="module")
def seeded(case: Case, ward: discreet.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ward published with seed 3 and CSV copies; nobody changes it."""
    folder = tmp_path_factory.mktemp("seeded")
    return publish(ward, policy_of(case, folder), folder / "release", seed=3, csv=True)


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    """Releases of every case to tamper with, each made once."""
    return Releases(tmp_path_factory.mktemp("releases"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a case run one after the other within their file, so that what they share is made once; those of a
    variant are slow.
    """
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}

    def place(item: pytest.Item) -> tuple[int, int]:
        found = item.callspec.params.get("case") if hasattr(item, "callspec") else None
        if isinstance(found, Case) and found.variant:
            item.add_marker(pytest.mark.slow)
        return files[item.path], CASES.index(found) if isinstance(found, Case) else -1

    items.sort(key=place)


def _lacking(report: pytest.TestReport | pytest.CollectReport) -> str:
    """For want of what a test was skipped, as it is said at the end; nothing if for another reason."""
    why = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple | list) else ""
    tools = (f"{tool.gone}; to install it: {tool.command}" for tool in TOOLS.values() if tool.gone in why)
    return next((each for each in NOT_EVERYWHERE if each in why), "") or next(tools, "")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where tools are required, a test that lacks one fails."""
    report = yield
    why = _lacking(report) if report.skipped and os.environ.get(REQUIRE_TOOLS) == "1" else ""
    if why and why not in NOT_EVERYWHERE:
        report.outcome, report.longrepr = "failed", f"{why} ({REQUIRE_TOOLS} is set)"
    return report


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests could not run: the public tables are not beside the repository, or a tool is not here."""
    skipped = Counter(map(_lacking, terminalreporter.stats.get("skipped", [])))
    for why in sorted(filter(None, skipped)):
        terminalreporter.write_line(f"{skipped[why]} tests skipped: {why}", yellow=True)
