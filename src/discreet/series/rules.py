"""When a series allows a release: the rules that keep the same rows from getting fresh coins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import SeriesRefusal
from discreet.series.store import Entry

# Measured on Adult (30,162 rows), buckets with every share at most 1/4, two releases with fresh coins.
REASON = (
    "two releases of almost the same table expose people: on a census table, two releases that each promised 25 % gave "
    "away more than that for 77.7 % of the people with unique quasi-identifiers"
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a release stands among those that share a promise: its number, and the one before it.

    `again` is the same release, made before. `continued` says that the custodian went on after other releases.
    `spent` is the epsilon of the releases before it, where releases are charged, and `memo` what the series remembers
    of this one.
    """

    number: int = 1
    before: Entry | None = None
    again: Entry | None = None
    continued: bool = False
    spent: Fraction = Fraction(0)
    memo: str = ""


def place_of(
    entries: Sequence[Entry],
    *,
    rows: bytes,
    ordered: bytes,
    policy: bytes,
    new_series: bool,
    allowed: int = 1,
    charged: bool = False,
) -> Place:
    """The place of a release of these rows after `entries`; raises SeriesRefusal where there is none.

    `allowed` is how many states of the table the promise covers. `new_series` is the custodian's word that rows
    published before are other people's, or that the risk is accepted. Even so, rows and policy that were published
    before get no fresh coins. `charged`: any number of states is covered, for each costs epsilon and the costs add up.
    """
    for position, entry in enumerate(entries):
        if (entry.rows, entry.policy) == (rows, policy):
            if entry.ordered == ordered:
                chain = _chain(entries[: position + 1])
                before = chain[-2] if len(chain) > 1 else None
                return Place(
                    number=len(chain),
                    before=before,
                    again=entry,
                    continued=chain[0].continued,
                    spent=_spent(chain[:-1]),
                    memo=entry.memo,
                )
            raise SeriesRefusal(
                f"these rows were published under this policy on {entry.published} as {entry.release}, in another "
                "order of rows; use that release, or give the rows in the order they had then to make it again"
            )
    if new_series or not entries:
        return Place(continued=bool(entries))
    chain = _chain(entries)
    if charged and all(each.cost for each in chain):
        return Place(number=len(chain) + 1, before=chain[-1], continued=chain[0].continued, spent=_spent(chain))
    same = next((each for each in reversed(entries) if each.rows == rows), None)
    if same is None and allowed > 1 and all(each.policy == policy for each in chain):
        if len(chain) < allowed:
            return Place(number=len(chain) + 1, before=chain[-1], continued=chain[0].continued)
        raise SeriesRefusal(
            f"views ({allowed}) of this table were published, the last on {chain[-1].published} as "
            f"{chain[-1].release}, and the promise was made for no more; use those, or say "
            "--new-series (new_series=True) if these are other people or you accept that they are no longer covered"
        )
    found = same or entries[-1]
    what = "the same rows were" if same else "another state of this table was"
    raise SeriesRefusal(
        f"{what} published on {found.published} as {found.release}, and {REASON}; use that release, or say "
        "--new-series (new_series=True) if these are other people or you accept that"
    )


def _chain(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The last entries that share a promise: from the last at which the custodian went on regardless."""
    starts = [position for position, entry in enumerate(entries) if entry.continued]
    return entries[starts[-1] if starts else 0 :]


def _spent(entries: Sequence[Entry]) -> Fraction:
    """What releases cost together."""
    return sum((entry.cost for entry in entries), Fraction(0))
