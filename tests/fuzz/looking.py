"""The ways to look at a release that somebody else made."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import discreet
from fuzz.door import commanded, said

_WHERE = "age > 3 AND disease = 'Flu'"


def looked(folder: Path, way: int) -> list[str]:
    """Verify it, open and ask it, or do so through the command line."""
    if way < 4:
        return commanded("verify", "--allow-seeded", folder)
    if way < 8:
        return commanded("query", folder, _WHERE)
    if way < 12:
        return commanded("diff", folder, folder)
    match way % 4:
        case 0 | 1:
            return said(lambda: str(discreet.verify(folder, allow_seeded=True)))
        case 2:
            return said(lambda: _asked(folder, way // 4))
        case _:
            return said(lambda: _grouped(folder))


def _asked(folder: Path, way: int) -> None:
    with closing(discreet.open_release(folder)) as release:
        release.count(_WHERE, estimator=release.estimators[way % len(release.estimators)])


def _grouped(folder: Path) -> None:
    with closing(discreet.open_release(folder)) as release:
        release.count_by("gender", where="age > 5", estimator=release.estimators[-1])
