"""Where an audit or a comparison may be kept: anywhere but in a release, for it tells what the table alone knows."""

from __future__ import annotations

import json
from pathlib import Path

from discreet.attack.figure import drawn
from discreet.attack.report import AuditReport
from discreet.errors import ReleaseError
from discreet.release.write import is_release


def keep(report: AuditReport, to: str | Path) -> Path:
    """Write an audit: as JSON (.json), as a figure (.svg), or as text; raises ReleaseError inside a release folder."""
    path = check_place(to)
    if path.suffix == ".json":
        text = json.dumps(report.as_json(), ensure_ascii=False, indent=1) + "\n"
    elif path.suffix == ".svg":
        text = drawn([(report.kind, report.findings)], f"audit of {Path(report.release).name}")
    else:
        text = f"{report}\n"
    path.write_text(text, encoding="utf-8")
    return path


def check_place(to: str | Path, what: str = "audit") -> Path:
    """Raise ReleaseError where what the table alone tells would come to lie inside a release folder, or has no place
    to lie.
    """
    path = Path(to)
    if inside := next((each for each in path.resolve().parents if is_release(each)), None):
        raise ReleaseError(
            f"{what} ({path}) must be kept outside of every release; {inside} may leave the house, it must not"
        )
    if path.is_dir() or not path.parent.is_dir():
        raise ReleaseError(f"{what} ({path}) must be a file in a folder that there is; name one such as {what}.txt")
    return path
