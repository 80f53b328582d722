"""How far off a count of about 500 people would be: a rehearsal that is small enough to stand at the end of every plan.

One release in scratch answers counts of the papers' form whose true counts are within a fifth of 500, or of the largest
smaller number of which there are enough. Told is the median of their absolute errors. Where a part of the rows tells
it (`part_tells`), a part is rehearsed: errors then grow like the root of the rows, and a little faster, for a model's
own error grows with them. Where a release is so large that only a few questions are affordable, and answers hold over
the publisher's coins, what is told follows from their standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from discreet.errors import Infeasible
from discreet.estimate.estimate import COINS, Estimate
from discreet.evaluate.compare.people import People
from discreet.evaluate.compare.workload import columns_for
from discreet.evaluate.papers_form import QUERY_SEED, Drawn, drawn_queries
from discreet.ground.arrays import Ints
from discreet.mechanism.mechanism import Publishes
from discreet.mechanism.publish import published_in_scratch
from discreet.query.parse import LONGEST
from discreet.schema.domain import Listed
from discreet.schema.policy import Policy
from discreet.table.read import read_table
from discreet.table.table import Table

COUNTS = (500, 200, 100, 50, 20, 10)
WITHIN = 0.2  # of the count, that a true count may be away from it
_PART = 10_000  # rows that are rehearsed where a part tells
_GROWS = 0.55  # errors grow like the rows to the power of this; 0.5 without a model, measured 0.5 to 0.6 with one
_MOST = 1_000_000  # rows, beyond which nothing is rehearsed
_MOST_PUBLISHED = 10 * _MOST  # rows, tuples or noisy counts, the same
_QUESTIONS, _ENOUGH, _FEWEST = 100, 30, 8
_WORK = 40_000_000  # questions times what the release holds
_TRIES, _LOOKED_AT = 6_000, 4_000  # draws; rows on which a draw is first counted
_NEAR = 2.5  # times the count, that may be found there
_ROOM = 5  # times the count, that there must be at least
_MEDIAN = 0.6745  # standard errors within which half of all normal errors are
OUTSIDE = "the last line looked at the rows: keep it in the house, and what is chosen by it is outside every epsilon"
NOT_WORKED_OUT = "how far off a count would be is not worked out for so few people or so much to publish: see compare"


@dataclass(frozen=True, kw_only=True)
class Glance:
    """Half of the answers about `count` people would be off by `off` or less; None where they stay unknown."""

    count: int
    off: float | None
    unit: str
    questions: int

    def as_json(self) -> dict[str, Any]:
        off = None if self.off is None else float(f"{self.off:.2g}")
        return {"count": self.count, "off_by_about": off, "unit": self.unit, "questions": self.questions}

    def __str__(self) -> str:
        about = f"a count of about {self.count:,} {self.unit} would"
        if self.off is None:
            return f"{about} stay unknown, more often than not"
        off = f"{self.off:.1f}" if self.off < 10 else f"{float(f'{self.off:.2g}'):,.0f}"
        return f"{about} be off by about {off}"


def told(found: Glance | None) -> Iterator[str]:
    """The lines at the end of a plan."""
    if found is None:
        yield NOT_WORKED_OUT
        return
    yield f"note: {OUTSIDE}"
    yield str(found)


def glance(table: Table, mechanism: Publishes) -> Glance | None:
    """How far off, about; None where too much would be published for a glance, or hardly any question has an answer
    of such a size.
    """
    if table.rows > _MOST or mechanism.plan(table).stakes.size > _MOST_PUBLISHED:
        return None
    people = People.of(table)
    if mechanism.part_tells and len(people) > _PART:
        rows = part_of(people)
        try:
            with _reread(people.taken(rows), mechanism) as part:
                return _rehearsed(part, mechanism, people, rows)
        except Infeasible:  # rounded, the shares of a part are others
            pass
    try:
        return _rehearsed(table, mechanism, people, None)
    except Infeasible:  # a plan may hold where these coins find no release
        return None


def part_of(people: People) -> Ints:
    """Random rows, of each sensitive value in proportion."""
    coins = np.random.default_rng(QUERY_SEED)
    order = coins.permutation(len(people))
    order = order[np.argsort(people.codes[people.schema.sensitive][order], kind="stable")]
    places = (np.arange(_PART) + 0.5) * len(people) / _PART
    return np.sort(order[places.astype(np.int64)])


def _reread(people: People, mechanism: Publishes) -> Table:
    """Some rows as a table: their cells are those that would be published."""
    domains = {
        name: replace(domain, origin=None) if isinstance(domain, Listed) else domain
        for name, domain in people.schema.domains.items()
    }
    schema = replace(people.schema, domains=domains)
    own = People(schema=schema, codes=people.codes)
    return read_table(own.rows, Policy(schema=schema, mechanism=mechanism))


def _rehearsed(table: Table, mechanism: Publishes, people: People, rows: Ints | None) -> Glance | None:
    """Publish a table that holds these rows of all people, and ask it."""
    with published_in_scratch(table, mechanism, seed=0) as release:
        asked = people.counted_in(release.unit)
        number = max(_FEWEST, min(_QUESTIONS, _WORK // max(1, release.size)))
        for count in (each for each in COUNTS if each * _ROOM <= len(asked)):
            drawn = drawn_about(asked, count, number)
            if len(drawn) >= _FEWEST:
                break
        else:
            return None
        part = slice(None) if rows is None else rows
        truths = np.array([int(each.matching(part).sum()) for each in drawn])
        answers = release.count_many([each.text for each in drawn])
        off = _off(answers, truths) * (1 if rows is None else (len(people) / len(rows)) ** _GROWS)
        return Glance(count=count, off=off if math.isfinite(off) else None, unit=release.unit, questions=len(drawn))


def drawn_about(people: People, count: int, number: int) -> list[Drawn]:
    """Questions that about so many people meet."""
    coins = np.random.default_rng(QUERY_SEED)
    some = np.sort(coins.choice(len(people), min(_LOOKED_AT, len(people)), replace=False))
    expected = count * len(some) / len(people)
    found: list[Drawn] = []
    for query in islice(drawn_queries(columns_for(people), people.schema.sensitive, coins), _TRIES):
        if not expected / _NEAR <= query.matching(some).sum() <= expected * _NEAR:
            continue
        if abs(int(query.matching().sum()) - count) <= WITHIN * count and len(query.text) <= LONGEST:
            found.append(query)
            if len(found) == number:
                break
    return found


def _off(answers: Sequence[Estimate], truths: Ints) -> float:
    """The median absolute error; what is unknown is off without end."""
    few = len(answers) < _ENOUGH
    if few and all(each.conditional_on == COINS and each.standard_error is not None for each in answers):
        spread = np.array([each.standard_error for each in answers], dtype=np.float64) * _MEDIAN
        return float(np.median(np.minimum(spread, truths)))  # an answer is cut at nobody
    values = np.array([math.inf if each.value is None else each.value for each in answers])
    return float(np.median(np.abs(values - truths)))
