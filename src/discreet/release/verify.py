"""Verification: does a release keep its promise? Answered from its files alone, with code of its own.

Nothing here imports a planner, a mechanism or a table. Shares are compared with tolerances in exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engine.duck.database import Database
from discreet.errors import ReleaseError
from discreet.ground.progress import Progress, Steps
from discreet.release.checks import AnyFiles, Files, failing
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest


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
        if self.not_checkable:
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
        return Verdict(checks=(Check(name="manifest", holds=False, detail=str(error)),), not_checkable=())
    found = [Check(name="manifest", holds=True, detail="readable, of a known format")]
    family = FAMILIES[manifest.kind]
    with Database(paths=[path]) as engine:
        files: AnyFiles = Files(manifest=manifest, engine=engine, allow_seeded=allow_seeded)
        blocked = ""
        steps = Steps(progress, {f"checking {claim.name}": claim.share for claim in family.checks})
        for claim in family.checks:
            with steps.step(f"checking {claim.name}") as tell, engine.watched(tell):
                broken = f"not checked, because {blocked} does not hold" if blocked else failing(claim, files)
            meaning = claim.meaning if broken else claim.told(files) or claim.meaning
            found.append(Check(name=claim.name, holds=broken is None, detail=broken or meaning))
            if broken and claim.first:
                blocked = blocked or claim.name
    return Verdict(checks=tuple(found), not_checkable=family.not_checkable)
