"""Linkage: an outsider's records meet the release by quasi-identifiers. Which row is whose, and what does it say?

Paper: [W14] chapter 2 (linking attacks); [RSH] section 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.linking import (
    NO_ROWS,
    NOTHING,
    NOTHING_SAID,
    Guess,
    Known,
    candidates,
    guesses,
    known_of,
    matched,
    packed,
    right_links,
    rows_of,
    there,
)
from discreet.attack.rate import Rate, clustered, rate_of
from discreet.attack.target import NO_TABLE, Target, codes_of
from discreet.estimate.shown_rows import Believes, ShowsRows
from discreet.ground.arrays import Floats, Ints
from discreet.ground.progress import Tell

_NOBODY = "the outside table has no published quasi-identifier"
_WORST = "he is taken to know every published quasi-identifier of everybody, exactly: real outside tables know less"
_LENT = "he knows the columns of the outside table that was handed in"
_GROUPS = "people with equal quasi-identifiers are told of together: what holds for many of them may be learned"


@dataclass(frozen=True, kw_only=True)
class RecordLinkage:
    """He has a record with quasi-identifiers, and takes a row that has the same ones for that person's."""

    name: ClassVar[str] = "record-linkage"
    group: ClassVar[Group] = Group.LINKABILITY
    line: ClassVar[str] = "looks for the row that has the quasi-identifiers of an outside record"
    needs: ClassVar[str] = "the table"
    cost: ClassVar[float] = 0.5

    def unfit(self, target: Target) -> str:
        if not isinstance(target.release, ShowsRows):
            return NO_ROWS if isinstance(target.release, Believes) else NOTHING_SAID
        return NO_TABLE if target.table is None else "" if known_of(target).names else _NOBODY

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        rows, known = rows_of(target), known_of(target)
        if rows is None:
            return
        found, own = candidates(known, rows), there(target.codes, rows)
        right = right_links(known, target.codes, found, own)
        tell(0.7)
        others = _kept_out(target)
        absent = None if others is None else candidates(others, rows)
        details = {
            "columns": len(known.names),
            "share_with_a_candidate": float((found > 0).mean()),
            "candidates_mean": float(found.mean()),
            "own_row_there": float(own.mean()),
        }
        note = f"{_WORST if target.outside is None else _LENT}; quasi-identifiers are published on purpose"
        for variant, measures, rate, control, base in (
            ("", "outside records that were linked to the person's own row", right, _sure(absent), True),
            ("one candidate", "outside records of which one row alone is like them", found == 1, _one(absent), False),
        ):
            yield Finding(
                name=self.name,
                variant=variant,
                group=self.group,
                measures=measures,
                rate=rate_of(float(rate.sum()), len(known), target.confidence),
                baseline=1 / len(next(iter(rows.codes.values()))) if base else None,
                baseline_is="any row, at random" if base else "",
                control=None if control is None else rate_of(float(control.sum()), len(control), target.confidence),
                covered=False,
                note=f"{note}; who was kept out is always linked wrongly" if control is not None else note,
                details=details,
            )


@dataclass(frozen=True, kw_only=True)
class AttributeLinkage:
    """He has a record with quasi-identifiers, and takes the value for which the release's candidates speak most."""

    name: ClassVar[str] = "attribute-linkage"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "guesses the value that most candidates have who share a person's quasi-identifiers"
    needs: ClassVar[str] = "the table"
    cost: ClassVar[float] = 2.0

    def unfit(self, target: Target) -> str:
        if not isinstance(target.release, ShowsRows | Believes):
            return NOTHING_SAID
        if target.table is None:
            return NO_TABLE
        known = known_of(target)
        if not known.names:
            return _NOBODY
        if isinstance(target.release, ShowsRows):
            return ""
        probe = Known(names=known.names, codes={name: codes[:1] for name, codes in known.codes.items()})
        return (
            "" if guesses(target, probe) else "the outside table lacks columns without which this release tells nothing"
        )

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        known, sensitive = known_of(target), target.schema.sensitive
        true = target.codes[sensitive]
        usual = int(np.bincount(true).argmax())
        made = guesses(target, known)
        if made is None:
            return
        guessed = np.where(made.value == NOTHING, usual, made.value)
        tell(0.7)
        right, fits = _right(known, guessed, target)
        if not len(fits):
            return
        (record,) = packed(known.codes, names=known.names)
        yield Finding(
            name=self.name,
            group=self.group,
            measures="people whose value was guessed right by their quasi-identifiers",
            rate=clustered(right[fits], record[fits], target.confidence),
            bound=_allowed(target, guessed[fits]),
            baseline=float((true == usual).mean()),
            baseline_is="always the most frequent value",
            control=_control(target, usual),
            covered=False,
            note=f"{_WORST if target.outside is None else _LENT}; {_GROUPS}",
            details=_details(made, right, fits),
        )


def _right(known: Known, guessed: Ints, target: Target) -> tuple[Floats, Ints]:
    """How probable it is that a guess is right, and the records of which there is somebody in the table.

    The people of the table who are like a record are equally likely to be meant.
    """
    true = target.codes[target.schema.sensitive]
    if target.outside is None:
        return (guessed == true).astype(np.float64), np.arange(len(true))
    record, person = matched(known.codes, target.codes, known.names)
    values, inside = len(target.schema.domains[target.schema.sensitive]), person != NOTHING
    cells, often = np.unique(person[inside] * values + true[inside], return_counts=True)
    if not len(cells):
        return np.zeros(len(record)), np.zeros(0, dtype=np.int64)
    people = np.bincount(person[inside], minlength=len(record))
    wanted = record * values + guessed
    place = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    right = np.where(cells[place] == wanted, often[place], 0) / np.maximum(people[record], 1)
    return right, np.flatnonzero(people[record])


def _allowed(target: Target, guessed: Ints) -> Fraction | None:
    """The mean of what the promise allows to be believed of the values that were guessed."""
    if not isinstance(target.release, ShowsRows) or not len(guessed):
        return None
    whole = Fraction(0)
    for value, often in zip(*np.unique(guessed, return_counts=True), strict=True):
        allowed = target.release.allows(int(value))
        if allowed is None:
            return None
        whole += allowed * int(often)
    return whole / len(guessed)


def _details(made: Guess, right: Floats, fits: Ints) -> dict[str, float]:
    """How sure he was, and how right where the candidates left him no doubt."""
    certain = fits[made.belief[fits] > 1 - 1e-9]
    return {
        "share_of_whom_something_is_told": float((made.value[fits] != NOTHING).mean()),
        "believed": float(made.belief[fits].mean()),
        "share_without_doubt": len(certain) / max(1, len(fits)),
        "right_without_doubt": float(right[certain].mean()) if len(certain) else 0.0,
    }


def _kept_out(target: Target) -> Known | None:
    return None if target.kept_out is None else known_of(target, target.kept_out)


def _control(target: Target, usual: int) -> Rate | None:
    """How often the same guesses are right of people who were kept out."""
    known = _kept_out(target)
    if known is None or target.kept_out is None:
        return None
    made = guesses(target, known)
    if made is None:
        return None
    true = codes_of(target.kept_out)[target.schema.sensitive]
    hit = np.where(made.value == NOTHING, usual, made.value) == true
    (key,) = packed(known.codes, names=known.names)
    return clustered(hit, key, target.confidence)


def _sure(found: Ints | None) -> Floats | None:
    """How much he trusts one row of those that are like somebody who has none."""
    return None if found is None else np.where(found > 0, 1 / np.maximum(found, 1), 0.0)


def _one(found: Ints | None) -> Floats | None:
    return None if found is None else (found == 1).astype(np.float64)
