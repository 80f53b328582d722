"""An audit: every attack that fits a release, beside what was promised. It is the custodian's, and stays there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.attack.attack import Attack, Finding
from discreet.attack.attacks import chosen, unfit
from discreet.attack.match import check_same, opened
from discreet.attack.report import AuditReport
from discreet.attack.target import Target
from discreet.errors import PolicyError, ReleaseError
from discreet.estimate.open import open_release
from discreet.estimate.release import Release
from discreet.ground.confidence import why_not
from discreet.ground.progress import Progress, Steps
from discreet.release.folder import read_manifest
from discreet.table.source import CsvForm
from discreet.verifier.verify import verify

CONFIDENCE = 0.999  # of intervals: an audit has dozens, and exit 1 should mean something
SEEDED = (
    "its coins come from a seed: whoever knows the seed can make it again with any value changed, so nothing is "
    "promised, whatever is found below"
)
_MATCH = "comparing release and table"


def audit(
    release: Release | str | Path,
    against: Any = None,
    *,
    attacks: Iterable[str | Attack] | None = None,
    others: Sequence[Release | str | Path] = (),
    outside: Any = None,
    kept_out: Any = None,
    series: str | Path | None = None,
    csv: CsvForm | None = None,
    confidence: float = CONFIDENCE,
    unverified: bool = False,
    progress: Progress | None = None,
) -> AuditReport:
    """Attack a release, and say how often each attack is right, beside what was promised and what is known without it.

    `against` is the table that the release was made of (a Table, or whatever `read_table` takes, with values as they
    are published); without it, only attacks that a stranger can run are run. `attacks` are names or values, by default
    all that fit. `others` are further releases about some of these people, `outside` is a table that an outsider may
    have, `kept_out` has people like those of the table who are not in the release. `confidence` is that of every
    interval. Raises ReleaseError where the release does not verify, unless `unverified`, and TableError where the table
    is another one. What it returns compares with the table: it must not leave the house.
    """
    if wrong := why_not(confidence):
        raise PolicyError(wrong)
    with ExitStack() as open_files:
        found = release if isinstance(release, Release) else open_files.enter_context(open_release(release))
        target = Target(
            release=found,
            manifest=read_manifest(found.path),
            table=opened(against, found.schema, open_files, csv),
            others=tuple(
                each if isinstance(each, Release) else open_files.enter_context(open_release(each)) for each in others
            ),
            outside=opened(outside, found.schema, open_files, csv, part=True),
            kept_out=opened(kept_out, found.schema, open_files, csv),
            confidence=confidence,
        )
        notes = [*_verified(target, unverified=unverified)]
        run = [_Fitting(attack=each, why=unfit(each, target)) for each in chosen(target.kind, attacks)]
        rows = max(1, found.size) / 100_000
        shares = {_title(each.attack): each.attack.cost * rows + 0.01 for each in run if not each.why}
        steps = Steps(progress, {_MATCH: rows + 0.01, **shares})
        with steps.step(_MATCH):
            if target.table is not None:
                notes.append(check_same(target, series))
        findings: list[Finding] = []
        for each in run:
            if not each.why:
                with steps.step(_title(each.attack)) as tell:
                    findings += each.attack.run(target, tell)
        return AuditReport(
            release=str(found.path),
            kind=target.kind,
            with_table=target.table is not None,
            findings=tuple(findings),
            left_out=tuple((each.attack.name, each.why) for each in run if each.why),
            notes=tuple(notes),
            confidence=confidence,
        )


@dataclass(frozen=True, kw_only=True)
class _Fitting:
    """An attack, and why it does not fit."""

    attack: Attack
    why: str


def _title(attack: Attack) -> str:
    return f"attack: {attack.name}"


def _verified(target: Target, *, unverified: bool) -> Iterator[str]:
    """What must be known of the release before anything that is found; raises ReleaseError where it does not verify."""
    verdict = verify(target.release.path, allow_seeded=True)
    broken = next((check for check in verdict.checks if not check.holds), None)
    if broken is not None and not unverified:
        raise ReleaseError(
            f"release ({target.release.path}) must verify before it is audited; {broken.name}: {broken.detail}; say "
            "--unverified (unverified=True) to attack it as it is"
        )
    if broken is not None:
        yield f"THE RELEASE DOES NOT VERIFY ({broken.name}: {broken.detail}); bounds are those that it states"
    if target.manifest.statement.seeded:
        yield SEEDED
