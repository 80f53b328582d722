"""What publishes: the protocol that every mechanism keeps, and nothing about any of them.

The order in `discreet.mechanism.publish` is the same for all: does the table fit, what is its place in the series, what
must the series remember, make the release, record it, show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, cast

from discreet.errors import PolicyError, ReleaseError, TableError
from discreet.ground.exact import LONGEST
from discreet.ground.progress import Progress, Steps
from discreet.guarantee.guarantee import Guarantee
from discreet.mechanism.plan import Alternatives, Plan
from discreet.release.family import FAMILIES
from discreet.schema.mechanisms import Mechanism
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table


class Publishes(Mechanism, Protocol):
    """A mechanism that can be planned and published."""

    @property
    def any_order(self) -> bool:
        """Whether the same rows in another order are the same release."""

    @property
    def views(self) -> int:
        """How many states of the table one promise covers."""

    @property
    def cost(self) -> Fraction:
        """The epsilon that a release costs; 0 where nothing is charged. What is charged may be published again."""

    @property
    def shows_rows(self) -> bool:
        """Whether the quasi-identifiers of every row are published as they are."""

    @property
    def steps(self) -> Mapping[str, float]:
        """The steps of `memo` and `make`, and how long each takes, about."""

    @property
    def compared(self) -> tuple[str, ...]:
        """The parameters over which `alternatives` compares plans."""

    @property
    def explains(self) -> bool:
        """Whether a plan can say what makes it cost what it does."""

    @property
    def part_tells(self) -> bool:
        """Whether a random part of the rows, published with the same parameters, tells how far off answers would be:
        then the error of a question grows like the root of the rows.
        """

    @property
    def blamed(self) -> str:
        """The parameter that a plan which cannot be made is blamed on."""

    def fits(self, table: Table) -> None:
        """Raise TableError or PolicyError where the table cannot be published with these parameters."""

    def notes(self, schema: Schema) -> tuple[str, ...]:
        """What the custodian should know of these parameters; nothing of it comes from the rows."""

    def plan(self, table: Table, progress: Progress | None = None) -> Plan:
        """What would be published."""

    def alternatives(self, table: Table, over: str) -> Alternatives:
        """The same table planned with other values of one of the parameters `compared`."""

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        """What the series must remember, beside the coins, to make the same release again; empty if nothing."""

    def make(self, table: Table, place: Place, coins: Coins, folder: Path, *, csv: bool, steps: Steps) -> bytes:
        """Fill the folder with the release at its place in the series; a digest of what the coins gave."""


def publishing(mechanism: Mechanism) -> Publishes:
    """A policy's mechanism, as one that publishes: every registered one does."""
    return cast("Publishes", mechanism)


def varied(mechanism: Publishes, **changes: Any) -> Publishes:
    """The same mechanism with some parameters changed: every one is a frozen value."""
    return cast("Publishes", replace(cast("Any", mechanism), **changes))


def check_public_rows(table: Table, counted: int) -> None:
    """Raise TableError where more is counted than the policy says that everybody may know: answers are cut to it."""
    public = table.schema.public_rows
    if public is not None and counted > public:
        raise TableError(
            f"public_rows ({public:,}) must be at least what the table has; state a number that is rounded up",
            key=("table", "public_rows"),
        )


def check_stated(mechanism: Mapping[str, Any], guarantee: Guarantee, key: tuple[str, ...]) -> None:
    """Raise PolicyError, which blames the key, where the promise has numbers too long for a release to state."""
    family = FAMILIES[mechanism["kind"]]
    try:
        family.guarantee(guarantee.as_json(), family.mechanism(mechanism))
    except (PolicyError, ReleaseError):
        raise PolicyError(
            f"{key[-1]} must be such that every number of the promise, written as a/b, has at most {LONGEST} "
            "characters; give numbers with fewer digits",
            key=key,
        ) from None


def check_explains(mechanism: Publishes, *, alone: bool) -> None:
    """Raise PolicyError where an explanation is asked for and there is none: of such a plan, or of several at once."""
    if not mechanism.explains:
        raise PolicyError(
            f"--explain says what a higher tolerance would save, and {mechanism.kind} has no tolerance for each value; "
            "leave it out"
        )
    if not alone:
        raise PolicyError("--explain is for one plan; leave it out, or leave out --sizes all and --sweep")


def check_compared(mechanism: Publishes, over: str) -> None:
    """Raise PolicyError where plans are not compared over this parameter."""
    if over not in mechanism.compared:
        known = f"choose one of {', '.join(mechanism.compared)}" if mechanism.compared else "it has one plan"
        raise PolicyError(f"plans of {mechanism.kind} are not compared over {over}; {known}")
