"""Opening a release folder, whatever kind of release it holds."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from discreet.errors import ReleaseError
from discreet.estimate.limits import Limits
from discreet.estimate.release import Release
from discreet.release.bounds import check_schema
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest


def open_release(folder: str | Path, *, seconds: float | None = None, memory: str | None = None) -> Release:
    """Open a release folder for questions; raises ReleaseError where it is not one. `verify` checks its promise.

    `seconds` and `memory` (such as "2GB") are what one question may take at most; beyond, it raises OutOfTime or
    OutOfMemory.
    """
    limits = Limits(seconds=seconds, memory=memory)
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError(f"release ({folder}) must be a folder")
    manifest = read_manifest(path)
    check_schema(manifest.schema, path, memory)
    return cast("Release", FAMILIES[manifest.kind].reader(manifest, limits))
