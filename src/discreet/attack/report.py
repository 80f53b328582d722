"""What an audit found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from discreet.attack.attack import Finding, Group
from discreet.attack.rate import Rate

IN_HOUSE = (
    "this audit compares the release with the table: it is the custodian's; keep it in the house, and never put it "
    "into a release folder"
)
_BEST = 6  # of what the promise does not cover, in the end
BY_STRANGERS = "without the table: what follows anybody can find from the files"


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """The findings of an audit in the order of the attacks; `left_out` are attacks that had nothing to do, and why."""

    release: str
    kind: str
    with_table: bool
    findings: tuple[Finding, ...]
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    confidence: float

    @property
    def holds(self) -> bool:
        """Whether no attack that the promise covers beats its bound beyond its interval."""
        return not any(each.beats for each in self.findings)

    def __getitem__(self, title: str) -> Finding:
        """A finding by its title: the attack's name, or name and variant with a comma between."""
        for each in self.findings:
            if each.title == title:
                return each
        raise KeyError(title)

    def as_json(self) -> dict[str, Any]:
        return {
            "release": self.release,
            "kind": self.kind,
            "with_table": self.with_table,
            "keep": IN_HOUSE if self.with_table else BY_STRANGERS,
            "confidence": self.confidence,
            "holds": self.holds,
            "attacks": [each.as_json() for each in self.findings],
            "left_out": [{"name": name, "why": why} for name, why in self.left_out],
            "notes": list(self.notes),
        }

    @property
    def lines(self) -> Iterator[str]:
        """The report for people, line by line."""
        yield f"audit of {self.release} ({self.kind}), intervals of {100 * self.confidence:.12g} %"
        yield IN_HOUSE if self.with_table else BY_STRANGERS
        yield from (f"note: {each}" for each in self.notes)
        for group in Group:
            some = [each for each in self.findings if each.group is group]
            if some:
                yield f"\n{group.value}"
                for each in some:
                    yield from _told(each)
        if self.left_out:
            yield "\nnot run"
            yield from (f"  {name}: {why}" for name, why in self.left_out)
        yield ""
        if beyond := self.beyond:
            yield "what the promise does not cover, by how often attackers are right at best:"
            yield from (f"  {each.title}: {_shown(each, each.rate)}{_without(each)}" for each in beyond[:_BEST])
        yield self.verdict

    @property
    def beyond(self) -> list[Finding]:
        """The best of each attack on people's values that the promise does not cover, and that gains by the release."""
        best: dict[str, Finding] = {}
        for each in self.findings:
            gains = each.share and each.baseline is not None and each.rate.rate > each.baseline
            if gains and not each.covered and each.group is Group.INFERENCE:
                best[each.name] = max(best.get(each.name, each), each, key=lambda found: found.rate.rate)
        return sorted(best.values(), key=lambda each: -each.rate.rate)

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        beaten = [each.title for each in self.findings if each.beats]
        if beaten:
            return f"THE PROMISE IS BEATEN by an adversary that it covers: {'; '.join(beaten)}"
        if not self.findings:
            return "no attack was run, so nothing is known"
        covered = sum(each.covered for each in self.findings)
        beyond = sum(not each.covered and each.group is not Group.MEASURED for each in self.findings)
        return (
            f"no attack that the promise covers beats its bound ({covered} findings); {beyond} findings are of "
            "adversaries that it does not cover"
        )

    def __str__(self) -> str:
        return "\n".join(self.lines)


def _told(found: Finding) -> Iterator[str]:
    """One finding in two or three lines."""
    rate = _shown(found, found.rate)
    bound = "" if found.bound is None else f"; {_promised(found)} {shown_number(found, float(found.bound))}"
    yield f"  {found.title}: {rate}{bound} ({_standing(found)})"
    without = _without(found)
    control = "" if found.control is None else f"; of people who were kept out {_shown(found, found.control)}"
    yield f"      {found.measures}{without}{control}"
    if found.note:
        yield f"      {found.note}"


def _without(found: Finding) -> str:
    if found.baseline is None:
        return ""
    return f"; without the release {shown_number(found, found.baseline)} ({found.baseline_is})"


def _promised(found: Finding) -> str:
    return "promised at most" if found.covered else "beside a bound of"


def _standing(found: Finding) -> str:
    if found.group is Group.MEASURED:
        return "measured"
    if not found.covered:
        return "not covered by the promise"
    return "BEATS ITS BOUND" if found.beats else "covered, kept"


def _shown(found: Finding, rate: Rate) -> str:
    if rate.low == rate.high == rate.rate:
        return shown_number(found, rate.rate)
    return f"{shown_number(found, rate.rate)} ({shown_number(found, rate.low)} to {shown_number(found, rate.high)})"


def shown_number(found: Finding, number: float) -> str:
    """A number of a finding as people read it: a share in percent."""
    if not found.share:
        return f"{number:,.4g}"
    percent = 100 * number
    return f"{percent:.1f} %" if percent >= 1 or percent == 0 else f"{percent:.2g} %"
