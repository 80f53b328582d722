"""Whether a view has as many tuples as its stated probabilities give, but for chance.

Paper: [RSH] Algorithms 1 and 7; Bernstein's inequality for what is counted, a sum of independent coins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from discreet.verifier.alphabeta.stated import Stated, Tuples

FALSE_ALARM = 1e-9  # of one release, whatever the table was


class Count(NamedTuple):
    """Some tuples that are there, and between which numbers their expectation lies, whatever the table was."""

    of: str
    seen: int
    least: Fraction
    most: Fraction


def misfit(counts: list[Count]) -> str | None:
    """The first number that chance does not explain, in a sentence."""
    length = math.log(2 * len(counts) / FALSE_ALARM)
    for each in counts:
        least, most = float(each.least), float(each.most)
        if each.seen < least - math.sqrt(2 * least * length):
            return f"{each.seen:,} {each.of} are too few for the stated probabilities and domains"
        if each.seen > most + length / 3 + math.sqrt(length**2 / 9 + 2 * most * length):
            return f"{each.seen:,} {each.of} are too many for the stated probabilities, domains and number of rows"
    return None


def counts_of(stated: Stated, promised: Tuples, domain: int, rows: int | None, both: int) -> Iterator[Count]:
    """What is counted of a view over so many tuples of the domain, of a table of at most so many rows.

    Where there were views before, what it shows again of theirs (`both`) is counted apart, and so are they.
    """
    earlier, most = stated.earlier, domain if rows is None else min(rows, domain)  # true tuples of one table
    insert = promised.inserts[stated.view - 1]
    noise = insert * (domain - earlier)
    fresh = (noise, noise + (promised.keep - insert) * min(most, domain - earlier))
    if promised.again is None or stated.view == 1:
        yield Count("tuples", stated.tuples, *fresh)
        return
    yield Count("tuples that no earlier view showed", stated.tuples - both, *fresh)
    yield Count("tuples of earlier views", both, promised.again * earlier, promised.keep * earlier)
    shown = 1 - math.prod((1 - each for each in promised.inserts[: stated.view - 1]), start=Fraction(1))
    true = min(most * (stated.view - 1), domain)  # of all tables before
    yield Count("earlier tuples", earlier, shown * domain, shown * domain + (1 - shown) * true)
