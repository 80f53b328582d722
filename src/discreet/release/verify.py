"""Verification: does a release keep its promise? Answered from its files alone, with code of its own.

Nothing here imports a planner, a mechanism or a table. Shares are compared with tolerances in exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engine.duck import Engine
from discreet.engine.progress import Progress, Steps
from discreet.errors import ReleaseError
from discreet.release.alphabeta.checks import VIEW_CHECKS, VIEW_NOT_CHECKABLE
from discreet.release.checks import CHECKS, NOT_CHECKABLE, Files, failing
from discreet.release.diffgen.checks import LEAF_CHECKS, LEAF_NOT_CHECKABLE
from discreet.release.folder import BUCKETS, DIFFGEN, read_manifest

_SHARES = {
    "hashes": 0.1,
    "schema": 2.0,
    "buckets": 4.0,
    "tolerance": 1.0,
    "order": 1.7,
}  # of the time, where it is long
_SHORT = 0.05


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was checked; `detail` says what holds, or the first thing that does not."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of a verification."""

    checks: tuple[Check, ...]
    not_checkable: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        checks = [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in self.checks]
        return {"holds": self.holds, "checks": checks, "not_checkable": list(self.not_checkable)}

    def __str__(self) -> str:
        lines = ["the promise holds" if self.holds else "THE PROMISE DOES NOT HOLD"]
        lines += [f"  {'ok  ' if check.holds else 'FAIL'} {check.name}: {check.detail}" for check in self.checks]
        lines += ["what files cannot show:", *(f"  - {each}" for each in self.not_checkable)]
        return "\n".join(lines)


def verify(folder: str | Path, *, allow_seeded: bool = False, progress: Progress | None = None) -> Verdict:
    """Check a release folder; every check after the first that cannot be made says so.

    Raises ReleaseError only where there is no folder to check.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError(f"release ({folder}) must be a folder")
    try:
        manifest = read_manifest(path)
    except ReleaseError as error:
        return Verdict(checks=(Check(name="manifest", holds=False, detail=str(error)),), not_checkable=NOT_CHECKABLE)
    found = [Check(name="manifest", holds=True, detail="readable, of a known format")]
    checks, beyond = (CHECKS, NOT_CHECKABLE) if manifest.family is BUCKETS else (VIEW_CHECKS, VIEW_NOT_CHECKABLE)
    if manifest.family is DIFFGEN:
        checks, beyond = LEAF_CHECKS, LEAF_NOT_CHECKABLE
    with Engine(paths=[path]) as engine:
        files = Files(manifest=manifest, engine=engine, allow_seeded=allow_seeded)
        blocked = ""
        steps = Steps(progress, {f"checking {name}": _SHARES.get(name, _SHORT) for name, *_ in checks})
        for name, check, meaning in checks:
            with steps.step(f"checking {name}") as tell, engine.watched(tell):
                broken = f"not checked, because {blocked} does not hold" if blocked else failing(check, files)
            found.append(Check(name=name, holds=broken is None, detail=broken or meaning))
            if broken and name in ("files", "schema"):  # what comes later reads the files through these
                blocked = blocked or name
    return Verdict(checks=tuple(found), not_checkable=beyond)
