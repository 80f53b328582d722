"""Where a page comes from: the commit of the code that ran, whether it was changed, and nothing where nobody knows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.evaluate.reproduce.provenance import Checkout, checkout, provenance
from discreet.evaluate.reproduce.seeds import Seeds

WHO = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *WHO, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=outside).stdout  # noqa: S603 - ours


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository with one commit."""
    found = tmp_path / "repository" / "src" / "thing"
    found.mkdir(parents=True)
    (found / "__init__.py").write_text("")
    (tmp_path / "repository" / "notes.txt").write_text("one\n")
    git(tmp_path / "repository", "init", "-q")
    git(tmp_path / "repository", "add", "-A")
    git(tmp_path / "repository", "commit", "-qm", "first")
    return found


def test_a_clean_checkout_is_its_commit(package: Path) -> None:
    """All 40 digits, and no change; a page that is written into the checkout is no change of the code."""
    commit = git(package, "rev-parse", "HEAD").strip()
    assert checkout(package) == Checkout(commit=commit, changed=False)
    (package.parents[1] / "page.md").write_text("a page")
    assert checkout(package) == Checkout(commit=commit, changed=False)


def test_what_is_not_committed_is_a_change(package: Path) -> None:
    """A file of the repository that differs, or a new one among the code."""
    (package.parents[1] / "notes.txt").write_text("two\n")
    assert checkout(package).changed
    git(package, "checkout", "-q", "--", ":/notes.txt")
    assert not checkout(package).changed
    (package / "more.py").write_text("")
    assert checkout(package).changed


def test_code_below_another_repository_has_no_commit(package: Path) -> None:
    """As where it was installed into an environment inside somebody's checkout: that commit is not ours."""
    installed = package.parents[1] / "site-packages" / "thing"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert checkout(installed) is None


def test_outside_a_checkout_and_without_git_the_commit_is_unknown(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is an error, and the page says unknown."""
    outside = tmp_path / "plain"
    outside.mkdir()
    (outside / "__init__.py").write_text("")
    assert checkout(outside) is None
    monkeypatch.setenv("PATH", str(outside))
    assert checkout(package) is None
    made = provenance(None, quick=False, seeds={}, cpu=1.0)
    assert (made.as_json()["commit"], made.as_json()["changed"]) == (None, None)
    assert "commit unknown;" in made.sentence("none")


def test_where_git_looks_elsewhere_is_not_listened_to(package: Path, tmp_path: Path, monkeypatch) -> None:
    """GIT_DIR of a hook or a shell names another repository than that of the code."""
    before = checkout(package)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert checkout(package) == before


def test_libraries_are_those_that_are_loaded() -> None:
    """With their versions; what the run did not load is not named."""
    code = (
        "import numpy; from discreet.evaluate.reproduce.provenance import provenance; "
        "print(provenance(None, quick=True, seeds={}, cpu=0.0).libraries)"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout  # noqa: S603
    import numpy

    assert shown.strip() == str({"numpy": numpy.__version__})


def test_a_changed_checkout_is_called_so() -> None:
    """On the page, beside twelve digits of the commit."""
    made = provenance(Checkout(commit="a" * 40, changed=True), quick=True, seeds={"coins": [1]}, cpu=2.04)
    assert "commit aaaaaaaaaaaa, with changes that are not committed;" in made.sentence("coins: 1")
    assert made.sentence("coins: 1").endswith("Seeds: coins: 1. CPU time of the run: 2.0 s")


def test_seeds_in_words() -> None:
    """Neighbours as a range, fresh coins as such, and nothing where nothing is drawn."""
    seeds = Seeds()
    assert seeds.words == "none, as nothing is drawn"
    for seed in (3, 0, 1, 2, 7, 7):
        assert seeds.take("releases", seed) == seed
    seeds.take("queries", 1)
    seeds.draw_fresh("keys")
    assert seeds.as_json() == {"releases": [0, 1, 2, 3, 7], "queries": [1], "keys": None}
    assert seeds.words == "releases: 0 to 3, 7; queries: 1; keys: fresh coins, which nobody can draw again"
