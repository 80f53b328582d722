"""When a series allows a release: the rules that keep the same rows from getting fresh coins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import SeriesRefusal
from discreet.series.store import View

# Measured on Adult (30,162 rows), buckets with every share at most 1/4, two releases with fresh coins.
REASON = (
    "two releases of almost the same table expose people: on a census table, two releases that each promised 25 % gave "
    "away more than that for 77.7 % of the people with unique quasi-identifiers"
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a release stands among those that share a promise: its number, and the one before it.

    `again` is the same release, made before. `continued` says that the custodian went on after other releases.
    `spent` is the epsilon of the releases before it, where releases are charged, and `measured` what it is made from.
    """

    number: int = 1
    before: View | None = None
    again: View | None = None
    continued: bool = False
    spent: Fraction = Fraction(0)
    measured: str = ""


def place_of(
    views: Sequence[View],
    *,
    rows: bytes,
    ordered: bytes,
    policy: bytes,
    new_series: bool,
    allowed: int = 1,
    charged: bool = False,
) -> Place:
    """The place of a release of these rows after `views`; raises SeriesRefusal where there is none.

    `allowed` is how many states of the table the promise covers. `new_series` is the custodian's word that rows
    published before are other people's, or that the risk is accepted. Even so, rows and policy that were published
    before get no fresh coins. `charged`: any number of states is covered, for each costs epsilon and the costs add up.
    """
    for position, view in enumerate(views):
        if (view.rows, view.policy) == (rows, policy):
            if view.ordered == ordered:
                chain = _chain(views[: position + 1])
                before = chain[-2] if len(chain) > 1 else None
                return Place(
                    number=len(chain),
                    before=before,
                    again=view,
                    continued=chain[0].continued,
                    spent=_spent(chain[:-1]),
                    measured=view.measured,
                )
            raise SeriesRefusal(
                f"these rows were published under this policy on {view.published} as {view.release}, in another order "
                "of rows; use that release, or give the rows in the order they had then to make it again"
            )
    if new_series or not views:
        return Place(continued=bool(views))
    chain = _chain(views)
    if charged and all(each.epsilon for each in chain):
        return Place(number=len(chain) + 1, before=chain[-1], continued=chain[0].continued, spent=_spent(chain))
    same = next((each for each in reversed(views) if each.rows == rows), None)
    if same is None and allowed > 1 and all(each.policy == policy for each in chain):
        if len(chain) < allowed:
            return Place(number=len(chain) + 1, before=chain[-1], continued=chain[0].continued)
        raise SeriesRefusal(
            f"views ({allowed}) of this table were published, the last on {chain[-1].published} as "
            f"{chain[-1].release}, and the promise was made for no more; use those, or say "
            "--new-series (new_series=True) if these are other people or you accept that they are no longer covered"
        )
    view = same or views[-1]
    what = "the same rows were" if same else "another state of this table was"
    raise SeriesRefusal(
        f"{what} published on {view.published} as {view.release}, and {REASON}; use that release, or say --new-series "
        "(new_series=True) if these are other people or you accept that"
    )


def _chain(views: Sequence[View]) -> Sequence[View]:
    """The last views that share a promise: from the last at which the custodian went on regardless."""
    starts = [position for position, view in enumerate(views) if view.continued]
    return views[starts[-1] if starts else 0 :]


def _spent(views: Sequence[View]) -> Fraction:
    """What views cost together."""
    return sum((Fraction(view.epsilon) for view in views if view.epsilon), Fraction(0))
