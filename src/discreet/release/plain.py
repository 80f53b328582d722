"""Only plain files with names of the format are ever opened: no link, nothing that the manifest does not declare."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import ReleaseError
from discreet.ground.holes import has_holes
from discreet.release.statement import MANIFEST, README, SIGNATURE


def plain_file(folder: Path, name: str) -> Path:
    """A file of the release by its fixed name; raises ReleaseError where it, or a folder on the way, is a link."""
    path = folder / name
    steps = [folder, *(folder / part for part in list(Path(name).parents)[:-1]), path]
    if any(step.is_symlink() for step in steps[1:]) or not path.is_file():
        raise ReleaseError(f"release ({folder}) must have a plain file {name}")
    if has_holes(path):
        raise ReleaseError(f"release ({folder}) must have a file {name} without holes; copy it anew")
    return path


def strangers(folder: Path, declared: set[str]) -> list[str]:
    """Files in the folder that the manifest does not declare, and links; it may be signed."""
    expected = declared | {MANIFEST, README, SIGNATURE, "data"}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or path.relative_to(folder).as_posix() not in expected
    )
