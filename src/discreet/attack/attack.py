"""What an attack is: a frozen value that says what its adversary knows, and finds how often he is right.

A finding sets the measured rate beside what was promised, what is known without the release, and how the same attack
does on people who were kept out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

from discreet.attack.rate import Rate
from discreet.attack.target import Target
from discreet.ground.progress import Tell


class Group(Enum):
    """What an attack is after."""

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"
    MEASURED = "measured"  # no attack: what the classic models measure


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one attack found: `rate` of `measures`, beside the promise's `bound` and the `baseline` without the release.

    `covered` says whether the promise speaks of this adversary at all; where it does not, a bound is shown for
    comparison only. `control` is the same attack on people who were kept out. `variant` tells findings of one attack
    apart. `share`: the rate is a share of something, and not another number such as a k or a distance.
    """

    name: str
    group: Group
    measures: str
    rate: Rate
    covered: bool
    variant: str = ""
    bound: Fraction | float | None = None
    baseline: float | None = None
    baseline_is: str = ""
    control: Rate | None = None
    note: str = ""
    share: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.name}, {self.variant}" if self.variant else self.name

    @property
    def beats(self) -> bool:
        """Whether the promise covers this adversary and he does better than it allows, beyond the interval."""
        return self.covered and self.bound is not None and self.rate.low > self.bound

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "variant": self.variant,
            "group": self.group.value,
            "measures": self.measures,
            **self.rate.as_json(),
            "bound": None if self.bound is None else float(self.bound),
            "baseline": self.baseline,
            "baseline_is": self.baseline_is,
            "control": None if self.control is None else self.control.as_json(),
            "covered_by_promise": self.covered,
            "beats_bound": self.beats,
            "note": self.note,
            "details": dict(self.details),
        }


@runtime_checkable
class Attack(Protocol):
    """One way to attack a release. A frozen value: its fields are what the adversary knows or tries."""

    name: ClassVar[str]  # as it is asked for: lower case, words with hyphens
    group: ClassVar[Group]
    line: ClassVar[str]  # what he knows and does, in one line
    needs: ClassVar[str]  # what must be lent to him, in a few words; empty where the release is enough
    cost: ClassVar[float]  # about how many seconds it takes for 100,000 rows

    def unfit(self, target: Target) -> str:
        """Why this attack has nothing to do here, in a few words; empty where it has."""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        """What it finds; `tell` hears how much of it is done."""
