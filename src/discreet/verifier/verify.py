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
from discreet.release.bounds import check_schema, engine_memory
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest
from discreet.release.signature import fingerprint, read_signature
from discreet.release.signed import mismatch, read_public
from discreet.release.statement import Manifest
from discreet.verifier.files import Files, failing

SIGNED = "signature"  # the check that is there where a key is named


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
        broken = {check.name for check in self.checks if not check.holds}
        lines = ["THE PROMISE DOES NOT HOLD" if broken - {SIGNED} else "the promise holds"]
        if broken == {SIGNED}:
            lines = ["the promise holds, but THE SIGNATURE DOES NOT"]
        lines += [f"  {'ok  ' if check.holds else 'FAIL'} {check.name}: {check.detail}" for check in self.checks]
        if self.not_checkable:
            lines += ["what files cannot show:", *(f"  - {each}" for each in self.not_checkable)]
        return "\n".join(lines)


def verify(
    folder: str | Path,
    *,
    key: str | Path | None = None,
    allow_seeded: bool = False,
    memory: str | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Check a release folder; every check after the first that cannot be made says so.

    `key` is the public key that must have signed it: a file (OpenSSH's, a list of allowed signers, or PEM), or the line
    `ssh-ed25519 AAAA...` itself. Without it a release may be signed or not. `memory` (such as "2GB") is what it may
    take, by default what releases of its size need. Raises ReleaseError only where there is no folder to check,
    SigningError where `key` is no such key, and OutOfMemory where more is needed than is allowed.
    """
    path, keys = Path(folder), None if key is None else read_public(key)
    if not path.is_dir():
        raise ReleaseError(f"release ({folder}) must be a folder")
    try:
        manifest = read_manifest(path)
    except ReleaseError as error:
        unread = [Check(name="manifest", holds=False, detail=str(error))]
        if keys is not None:
            unread.append(Check(name=SIGNED, holds=False, detail="not checked, because manifest does not hold"))
        return Verdict(checks=tuple(unread), not_checkable=())
    check_schema(manifest.schema, path, memory)
    found = [Check(name="manifest", holds=True, detail="readable, of a known format")]
    signed, unsigned = _signed(manifest, keys)
    family = FAMILIES[manifest.kind]
    with Database(paths=[path], memory=engine_memory(path, memory)) as engine:
        files = Files(manifest=manifest, engine=engine, allow_seeded=allow_seeded, memory=memory)
        blocked = ""
        steps = Steps(progress, {f"checking {claim.name}": claim.share for claim in family.checks})
        for claim in family.checks:
            with steps.step(f"checking {claim.name}") as tell, engine.watched(tell):
                broken = f"not checked, because {blocked} does not hold" if blocked else failing(claim, files)
            meaning = claim.meaning if broken else claim.told(files) or claim.meaning
            found.append(Check(name=claim.name, holds=broken is None, detail=broken or meaning))
            if broken and claim.first:
                blocked = blocked or claim.name
    return Verdict(checks=(*found, *signed), not_checkable=(*family.not_checkable, *unsigned))


def _signed(manifest: Manifest[Any, Any, Any], keys: tuple[bytes, ...] | None) -> tuple[list[Check], list[str]]:
    """The check of the signature, where a key is named or what stands there is none; and what it cannot show."""
    try:
        signature = read_signature(manifest.folder)
    except ReleaseError as error:
        return [Check(name=SIGNED, holds=False, detail=str(error))], []
    if keys is not None:
        broken = mismatch(signature, manifest.sha512, keys)
        who = fingerprint(signature.public) if signature else ""
        return [Check(name=SIGNED, holds=broken is None, detail=broken or f"signed by {who}")], []
    if signature is None:
        return [], ["who published it: it is not signed"]
    return [], [f"who published it: it says that {fingerprint(signature.public)} signed it; name a public key to check"]
