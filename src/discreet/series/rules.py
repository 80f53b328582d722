"""When a series allows a release: the rules that keep the same people from getting fresh coins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import SeriesRefusal
from discreet.series.store import Entry

# Measured on Adult (30,162 rows), buckets with every share at most 1/4, two releases with fresh coins.
REASON = (
    "two releases of almost the same table expose people: on a census table, two releases that each promised 25 % gave "
    "away more than that for 77.7 % of the people with unique quasi-identifiers"
)
_GO_ON = "use that release, or say --new-series (new_series=True) if these are other people or you accept that"


@dataclass(frozen=True, kw_only=True)
class Met:
    """How an entry's people were met in another table: about how many of them, and how that is said."""

    common: int
    how: str


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a release stands among those of the same people that share a promise: its number, and the one before it.

    `again` is the same release, made before. `continued` says that the custodian went on after other releases.
    `spent` is the epsilon of the releases before it, where releases are charged, and `memo` what the series remembers
    of this one. `related` are the numbers of the entries that have people of it, and `refused` what was refused to be
    published of them before.
    """

    number: int = 1
    before: Entry | None = None
    again: Entry | None = None
    continued: bool = False
    spent: Fraction = Fraction(0)
    memo: str = ""
    related: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()


def place_of(
    entries: Sequence[Entry],
    *,
    rows: bytes,
    ordered: bytes,
    policy: bytes,
    new_series: bool,
    meet: Callable[[Sequence[Entry]], Mapping[int, Met]],
    allowed: int = 1,
    charged: bool = False,
) -> Place:
    """The place of a release of these rows after `entries`; raises SeriesRefusal where there is none.

    `meet` finds the entries with people of this table, by their numbers; it is asked only where the rows are not
    published under this policy yet. `allowed` is how many states of the table the promise covers. `new_series` is the
    custodian's word that people published before are others, or that the risk is accepted. Even so, rows and policy
    that were published before get no fresh coins. `charged`: any number of states is covered, for each costs epsilon
    and the costs add up.
    """
    for entry in entries:
        if (entry.rows, entry.policy) == (rows, policy):
            return _made_again(entry, entries, ordered)
    met = meet(entries)
    same = {entry.number for entry in entries if entry.rows == rows}
    known = [entry for entry in entries if entry.number in _closed({*met, *same}, entries)]
    related = tuple(entry.number for entry in known)
    if new_series or not known:
        return Place(continued=bool(known), related=related)
    chain = _chain(known)
    further = Place(
        number=len(chain) + 1, before=chain[-1], continued=chain[0].continued, spent=_spent(chain), related=related
    )
    if charged and all(each.cost for each in chain):
        return further
    if not same and allowed > 1 and all(each.policy == policy for each in chain):
        if len(chain) < allowed:
            return further
        raise SeriesRefusal(
            f"views ({allowed}) of this table were published, the last on {chain[-1].published} as "
            f"{chain[-1].release}, and the promise was made for no more; use those, or say "
            "--new-series (new_series=True) if these are other people or you accept that they are no longer covered"
        )
    raise SeriesRefusal(f"{_published_before(same, known, met)}, and {REASON}; {_GO_ON}")


def _made_again(entry: Entry, entries: Sequence[Entry], ordered: bytes) -> Place:
    """The place that a release has had; raises SeriesRefusal where its rows come in another order."""
    if entry.ordered != ordered:
        raise SeriesRefusal(
            f"these rows were published under this policy on {entry.published} as {entry.release}, in another "
            "order of rows; use that release, or give the rows in the order they had then to make it again"
        )
    chain = _chain([each for each in entries if each.number in (*_closed(entry.related, entries), entry.number)])
    return Place(
        number=len(chain),
        before=chain[-2] if len(chain) > 1 else None,
        again=entry,
        continued=chain[0].continued,
        spent=_spent(chain[:-1]),
        memo=entry.memo,
        related=entry.related,
    )


def _published_before(same: Collection[int], known: Sequence[Entry], met: Mapping[int, Met]) -> str:
    """Which release has the most of these people, and how many that are."""
    likely = [each for each in known if each.number in (same or met)]
    found = max(likely, key=lambda each: (met[each.number].common if each.number in met else 0, each.number))
    what = "the same rows were" if same else "another state of this table was"
    how = f" ({met[found.number].how})" if found.number in met else ""
    return f"{what} published on {found.published} as {found.release}{how}"


def _closed(numbers: Iterable[int], entries: Sequence[Entry]) -> frozenset[int]:
    """Entries, those that they are related to, and so on."""
    found = set(numbers)
    for entry in reversed(entries):
        if entry.number in found:
            found.update(entry.related)
    return frozenset(found)


def _chain(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The last entries that share a promise: from the last at which the custodian went on regardless."""
    starts = [position for position, entry in enumerate(entries) if entry.continued]
    return entries[starts[-1] if starts else 0 :]


def _spent(entries: Sequence[Entry]) -> Fraction:
    """What releases cost together."""
    return sum((entry.cost for entry in entries), Fraction(0))
