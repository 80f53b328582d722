"""Opening a release folder, whatever kind of release it holds."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import ReleaseError
from discreet.estimate.alphabeta.frapp import FrappRelease
from discreet.estimate.alphabeta.release import ViewRelease
from discreet.estimate.alphabeta.several import SeveralViewsRelease
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.diffgen.release import DiffGenRelease
from discreet.estimate.release import Release
from discreet.release.folder import BUCKETS, DIFFGEN, FRAPP, SEVERAL, VIEWS, read_manifest

_KINDS: tuple[tuple[object, type[Release]], ...] = (
    (BUCKETS, BucketRelease),
    (VIEWS, ViewRelease),
    (SEVERAL, SeveralViewsRelease),
    (FRAPP, FrappRelease),
    (DIFFGEN, DiffGenRelease),
)


def open_release(folder: str | Path) -> Release:
    """Open a release folder for questions; raises ReleaseError where it is not one. `verify` checks its promise."""
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError(f"release ({folder}) must be a folder")
    manifest = read_manifest(path)
    return next(kind for family, kind in _KINDS if family is manifest.family)(manifest)
