"""Where a page comes from: version, commit, seeds, libraries, Python and CPU time, in words and as JSON."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2]
LIBRARIES = {  # by the module that is loaded where one is used
    "numpy": "numpy",
    "pyarrow": "pyarrow",
    "duckdb": "duckdb",
    "sqlglot": "sqlglot",
    "highspy": "highspy",
    "opendp": "opendp",
    "randomgen": "randomgen",
    "networkx": "networkx",
    "scipy": "scipy",
    "numba": "numba",
    "sklearn": "scikit-learn",
    "matplotlib": "matplotlib",
}
_SECONDS = 20  # after which git is not waited for


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """A commit, and whether the code differed from it."""

    commit: str
    changed: bool


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What made a page. `commit` and `changed` are None outside a checkout of the code; no path is in it."""

    version: str
    commit: str | None
    changed: bool | None
    quick: bool
    seeds: dict[str, list[int] | None]
    python: str
    libraries: dict[str, str]
    cpu_seconds: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def sentence(self, seeds: str) -> str:
        """The same for a page; `seeds` are its seeds in words."""
        return (
            f"discreet {self.version}, commit {self._commit}; Python {self.python}; "
            + ", ".join(f"{name} {each}" for name, each in self.libraries.items())
            + f". Seeds: {seeds}. CPU time of the run: {self.cpu_seconds:.1f} s"
        )

    @property
    def _commit(self) -> str:
        if self.commit is None:
            return "unknown"
        return f"{self.commit[:12]}{', with changes that are not committed' if self.changed else ''}"


def provenance(found: Checkout | None, *, quick: bool, seeds: dict[str, list[int] | None], cpu: float) -> Provenance:
    """Of a run that has just ended: the libraries are those that are loaded by now."""
    return Provenance(
        version=version("discreet"),
        commit=found.commit if found else None,
        changed=found.changed if found else None,
        quick=quick,
        seeds=seeds,
        python=platform.python_version(),
        libraries=_loaded(),
        cpu_seconds=round(cpu, 3),
    )


def checkout(package: Path = PACKAGE) -> Checkout | None:
    """The commit of the code that runs; None where it is not under version control, or git cannot say.

    A package that was installed into a folder below some other repository is not tracked there, and gets None.
    """
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    commit = _git(package, "rev-parse", "HEAD")
    tracked = _git(package, "status", "--porcelain", "--untracked-files=no")
    inside = _git(package, "status", "--porcelain", "--", ".")
    if commit is None or tracked is None or inside is None:
        return None
    return Checkout(commit=commit.strip(), changed=bool(tracked.strip() or inside.strip()))


def _git(folder: Path, *words: str) -> str | None:
    """What git says of a folder; None where it fails or is not there. What git is told elsewhere is not listened to."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]  # looks, and writes nothing
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            command, capture_output=True, text=True, env=environment, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def _loaded() -> dict[str, str]:
    found = {}
    for module, library in LIBRARIES.items():
        if module in sys.modules:
            try:
                found[library] = version(library)
            except PackageNotFoundError:
                found[library] = "unknown"
    return found
