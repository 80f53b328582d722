"""Opening a release folder, whatever kind of release it holds."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import ReleaseError
from discreet.estimate.buckets import BucketRelease
from discreet.estimate.release import Release
from discreet.estimate.view import ViewRelease
from discreet.release.folder import VIEWS, read_manifest


def open_release(folder: str | Path) -> Release:
    """Open a release folder for questions; raises ReleaseError where it is not one. `verify` checks its promise."""
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError(f"release ({folder}) must be a folder")
    manifest = read_manifest(path)
    return ViewRelease(manifest) if manifest.family is VIEWS else BucketRelease(manifest)
