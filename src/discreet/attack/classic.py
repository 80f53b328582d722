"""The classic models as an audit shows them: no attack, but the numbers that people ask for, of release and raw table.

Paper: [W14] chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from discreet.attack.attack import Finding, Group
from discreet.attack.counted import classes_by, coded_of, presence_by
from discreet.attack.own_classes import classes_of_release, known_of_release
from discreet.attack.rate import computed
from discreet.attack.target import Target, codes_of
from discreet.ground.progress import Tell
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.measured import Measured
from discreet.guarantee.classic.notions import every_notion
from discreet.guarantee.classic.presence import Presence

RAW = "of the raw table"
_SHARES = ("alpha", "delta_max")


@dataclass(frozen=True, kw_only=True)
class ClassicModels:
    """Nobody attacks: k, l, t, beta, alpha and delta are counted, in the release's classes and in the raw table's."""

    name: ClassVar[str] = "classic-models"
    group: ClassVar[Group] = Group.MEASURED
    line: ClassVar[str] = "measures k-anonymity, l-diversity, t-closeness, beta-likeness and others, exactly"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 1.0

    def unfit(self, target: Target) -> str:
        if target.table is None and getattr(target.release, "classes", None) is None:
            return "it shows no classes of people, and no table is there to be measured"
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        release, schema = target.release, target.schema
        if getattr(release, "classes", None) is not None:
            classes = classes_of_release(release)
            yield from self._findings(classes, "")
            known = None if target.outside is None else known_of_release(release)
            if known is not None and target.outside is not None:
                found = presence_by(known, codes_of(target.outside), schema.quasi_identifiers)
                yield self._presence(found, "")
        tell(0.3)
        if target.table is not None:
            raw = classes_by(coded_of(target.codes, schema), schema.quasi_identifiers, schema.sensitive)
            yield from self._findings(raw, RAW)
            if target.outside is not None:
                found = presence_by(target.codes, codes_of(target.outside), schema.quasi_identifiers)
                yield self._presence(found, RAW)
        tell(1.0)

    def _findings(self, classes: Classes, of: str) -> Iterator[Finding]:
        """One for each notion, but enhanced beta-likeness where no beta keeps it."""
        for each in every_notion(classes):
            if each.keeps == "above" or each.value is not None:
                yield self._finding(each, classes, of)

    def _finding(self, found: Measured, classes: Classes, of: str) -> Finding:
        number, what = _number(found)
        return Finding(
            name=self.name,
            variant=f"{found.notion} {of}".strip(),
            group=self.group,
            measures=f"{what}, in {len(classes):,} classes ({classes.kind})",
            rate=computed(number, len(classes)),
            covered=False,
            share=found.symbol in _SHARES,
            note=". ".join(filter(None, (f"class {found.group:,} is worst: {found.why}", classes.note))),
            details=found.as_json(),
        )

    def _presence(self, found: Presence, of: str) -> Finding:
        return Finding(
            name=self.name,
            variant=f"{found.notion} {of}".strip(),
            group=self.group,
            measures="the largest share of people outside with the same quasi-identifiers who are in the table",
            rate=computed(float(found.number or 0), found.size),
            covered=False,
            share=True,
            note=f"class {found.group:,} is worst: {found.why}; {found.certain:,} people outside are known to be in "
            f"the table, {found.alone:,} of them identified; the least share is {float(found.least):.4g}",
            details=found.as_json(),
        )


def _number(found: Measured) -> tuple[float, str]:
    """A number that is finite, and what it is: the c of (c, l)-diversity has no end, so it is turned round."""
    if found.keeps == "above":
        return float(0 if found.number is None else 1 / found.number), f"1/{found.symbol} (0: no {found.symbol} does)"
    return float(found.value or 0), found.symbol
