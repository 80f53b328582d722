"""The lock file pins what pyproject.toml asks for, with hashes, and names no place to load it from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HERE = Path(__file__).parents[2]
LOCK = (HERE / "requirements-dev.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}


class Pin(NamedTuple):
    """One pinned version, and the files that may be installed for it."""

    requirement: Requirement
    hashes: list[str]


def _pins(lock: str) -> list[Pin]:
    entries = re.sub(r" *#.*", "", lock).replace("\\\n", " ").splitlines()
    found = []
    for entry in filter(str.strip, entries):
        requirement, *hashes = re.split(r"\s+--hash=", entry.strip())
        found.append(Pin(Requirement(requirement), hashes))
    return found


def _asked() -> list[str]:
    """What the project asks for itself, for `dev`, and to be built."""
    extras = PROJECT["project"]["optional-dependencies"]
    build = [*PROJECT["build-system"]["requires"], *PROJECT["dependency-groups"]["build"]]
    return [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["figures"], *build]


def _wanted(requirement: Requirement, python: str, system: str) -> bool:
    """Whether it is asked for there, on an x86-64 processor."""
    return requirement.marker is None or requirement.marker.evaluate(
        {
            "python_version": python,
            "python_full_version": f"{python}.0",
            "sys_platform": system,
            "platform_system": SYSTEMS[system],
            "platform_machine": "x86_64",
            "platform_python_implementation": "CPython",
        }
    )


def _chosen(lock: str, python: str, system: str) -> dict[str, Version]:
    """Which version of each is installed there; raises where two of one would be."""
    found: dict[str, Version] = {}
    for pin in _pins(lock):
        if _wanted(pin.requirement, python, system):
            name = canonicalize_name(pin.requirement.name)
            assert name not in found, f"{name} is pinned twice for Python {python} on {system}"
            (only,) = pin.requirement.specifier
            assert only.operator == "=="
            found[name] = Version(only.version)
    return found


def _missing(lock: str, python: str, system: str) -> list[str]:
    """What is asked for and not pinned within its range."""
    chosen, asked = _chosen(lock, python, system), [Requirement(each) for each in _asked()]
    return [
        str(each)
        for each in asked
        if _wanted(each, python, system)
        and ((version := chosen.get(canonicalize_name(each.name))) is None or version not in each.specifier)
    ]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_everything_that_is_asked_for_is_pinned_within_its_range(python, system):
    """Run `make lock` after a change of dependencies."""
    assert not _missing(LOCK, python, system)


def test_a_pin_that_is_gone_or_out_of_range_is_noticed():
    """Without this, the test above might not be able to fail."""
    numpy = Requirement(next(each for each in _asked() if each.startswith("numpy")))
    assert _missing(re.sub(r"(?m)^numpy==\S+", "numpy==1.26.4", LOCK), "3.12", "linux") == [str(numpy)]
    assert "ruff" in " ".join(_missing(re.sub(r"(?m)^ruff==", "rough==", LOCK), "3.11", "darwin"))


def test_every_pin_has_hashes():
    for pin in _pins(LOCK):
        assert pin.hashes, pin.requirement.name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in pin.hashes), pin.requirement.name


def test_the_lock_names_no_place_to_load_from():
    """No address, no folder and no option: whoever installs says from where."""
    assert not re.search(r"://|@|^\s*-(?!-hash=)", LOCK, re.MULTILINE)
    assert not any(pin.requirement.url for pin in _pins(LOCK))


def test_the_build_group_has_what_the_build_asks_for():
    """`make` builds the project without isolation, so its tools come from the lock."""
    assert set(PROJECT["build-system"]["requires"]) <= set(PROJECT["dependency-groups"]["build"])


def test_make_installs_from_the_lock_with_hashes_and_again_when_it_changes():
    """And the project itself without looking for anything else."""
    recipe = (HERE / "Makefile").read_text(encoding="utf-8")
    assert "$(STAMP): pyproject.toml $(LOCK)\n" in recipe
    installs = [line for line in recipe.splitlines() if "pip install" in line]
    assert len(installs) == 2
    assert {"--require-hashes", "--only-binary", "$(LOCK)"} <= set(installs[0].split())
    assert {"--no-deps", "--no-build-isolation", "."} <= set(installs[1].split())
