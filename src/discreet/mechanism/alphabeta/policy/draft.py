"""Drafting a policy for alpha-beta: few columns of few values, so that the domain is not much larger than the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, prod, sqrt

from discreet.ground.exact import exact, toml_number
from discreet.mechanism.alphabeta.planning.parameters import keep_and_insert
from discreet.mechanism.draft.domain import width_of
from discreet.mechanism.draft.family import Section
from discreet.mechanism.draft.toml import comment
from discreet.table.column import Column

POSTERIOR = Fraction(1, 5)
TIMES = 10  # a tuple may have seemed so many times as probable as one that is taken at random
_LARGEST = Fraction(1, 20)  # prior: it must stay well below the posterior
_DROWNED = Fraction(1, 20)  # of the rows: where the noise of a count is larger, the truth drowns in it
_MOST_TUPLES = 10**9


class AlphaBetaDrafts:
    """Alpha-beta publishes tuples of all columns, true ones among random ones: every column multiplies the noise."""

    decision = "Prior and posterior. How probable a tuple may have seemed before, and how probable it may become."
    shown = "published in tuples, true ones among random ones"

    def fits(self, chosen: Sequence[Column], column: Column, sensitive: Column) -> str | None:
        domain = _domain(chosen, sensitive) * width_of(column)
        if chosen and (domain > _MOST_TUPLES or _noise(column.rows, domain) > _DROWNED * column.rows):
            return f"with it the domain would have {domain:.3g} tuples, and the truth would drown in random ones"
        return None

    def section(self, published: Sequence[Column], sensitive: Column) -> Section:
        domain = _domain(published, sensitive)
        prior = _prior(sensitive.rows, domain)
        return Section(lines=list(_lines(prior, domain)), parameters={"prior": prior, "posterior": POSTERIOR})


def _domain(published: Sequence[Column], sensitive: Column) -> int:
    return prod(map(width_of, published)) * width_of(sensitive, sensitive=True)


def _noise(rows: int, domain: int) -> float:
    """The standard deviation of the noise in a count of all tuples."""
    keep, insert = keep_and_insert(_prior(rows, domain), POSTERIOR, "exclusive", "optimal")
    return sqrt(domain * float(insert) * (1 - float(insert))) / float(keep - insert)


def _prior(rows: int, domain: int) -> Fraction:
    """TIMES rows / domain, rounded up to one digit: so it tells little of the number of rows."""
    wanted = min(Fraction(TIMES * rows, domain), _LARGEST)
    digit = Fraction(1, 10)
    while digit > wanted:
        digit /= 10
    return min(ceil(wanted / digit) * digit, _LARGEST)


def _lines(prior: Fraction, domain: int) -> Iterator[str]:
    yield "[mechanism]"
    yield 'kind = "alphabeta"'
    yield from comment(
        "DECIDE: a tuple (a row of all published columns) that seemed to be in the table with a probability of prior "
        "at most seems so with a probability of posterior at most, whoever sees the release. A larger prior or a "
        f"smaller posterior protects better and makes more noise. The domains have {domain:,} tuples. A prior of 1 or "
        "more would be a multiple of public_rows / tuples, where the number of rows is public.",
        "Counts are of different tuples, not of people: discreet plan says how far off they may be.",
    )
    yield f"prior = {toml_number(exact('prior', prior))}"
    yield f"posterior = {toml_number(POSTERIOR)}"


DRAFTS = AlphaBetaDrafts()
