"""Whether a view has as many tuples as its stated probabilities give, but for chance.

Paper: [RSH] Algorithms 1 and 7; Bernstein's inequality for what is counted, a sum of independent coins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from discreet.verifier.alphabeta.stated import Records, Stated, Tuples
from discreet.verifier.alphabeta.walk import Column, Walk

FALSE_ALARM = 1e-9  # of one release, whatever the table was


class Count(NamedTuple):
    """Some tuples that are there, and between which numbers their expectation lies, whatever the table was."""

    of: str
    seen: int
    least: Fraction | float
    most: Fraction | float


def misfit(counts: list[Count]) -> str | None:
    """The first number that chance does not explain, in a sentence."""
    length = math.log(2 * len(counts) / FALSE_ALARM)
    for each in counts:
        least, most = (max(float(limit), 0.0) for limit in (each.least, each.most))  # below 0 where promise fails
        if each.seen < least - math.sqrt(2 * least * length):
            return f"{each.seen:,} {each.of} are too few for the stated probabilities and domains"
        if each.seen > most + length / 3 + math.sqrt(length**2 / 9 + 2 * most * length):
            return f"{each.seen:,} {each.of} are too many for the stated probabilities, domains and number of rows"
    return None


def counts_of(stated: Stated, promised: Tuples, domain: int, rows: int | None, walk: Walk) -> Iterator[Count]:
    """What is counted of a view over so many tuples of the domain, of a table of at most so many rows."""
    most = domain if rows is None else min(rows, domain)  # true tuples
    insert, again, earlier = promised.inserts[stated.view - 1], promised.again or 0, stated.earlier
    noise = again * earlier + insert * (domain - earlier)
    yield Count("tuples", stated.tuples, noise, noise + (promised.keep - insert) * most)
    if stated.view > 1:
        shown = 1 - math.prod((1 - each for each in promised.inserts[: stated.view - 1]), start=Fraction(1))
        true = min(most * (stated.view - 1), domain)  # of all tables before
        yield Count("earlier tuples", earlier, shown * domain, shown * domain + (1 - shown) * true)
    raised = float(promised.keep - insert)  # of a tuple that is there, or of one that was shown, which is less
    for column, counts in zip(walk.columns, walk.counts, strict=True):
        if column.blocks == 1:  # all tuples are in it
            continue
        of = f"tuples with some values of {column.name}"
        for seen, part, share in zip(counts.tolist(), *_shares(stated, column), strict=True):
            least = float(insert) * domain * share
            yield Count(of, seen, least, least + raised * min(most + earlier, domain * part))


def counts_of_records(stated: Stated, promised: Records, walk: Walk) -> Iterator[Count]:
    """What is counted of records, each of which may have become any other tuple: noise is in all of the domain.

    Of tuples that differ there are at least as many as noise alone makes: whether each is there hangs together
    negatively, so the same bound holds.
    """
    noise = noise_of(promised)
    each = float(noise / promised.domain)  # records that noise brings to a tuple
    least = float(noise) * (-math.expm1(-each) / each if each else 1.0)
    yield Count("different tuples", walk.rows - walk.repeats, least, promised.rows)
    kept = float(promised.rows - noise)
    for column, counts in zip(walk.columns, walk.counts, strict=True):
        if column.blocks == 1:
            continue
        of = f"tuples with some values of {column.name}"
        for seen, part in zip(counts.tolist(), _shares(stated, column)[0], strict=True):
            least = float(noise) * part
            yield Count(of, seen, least, least + kept)


def noise_of(promised: Records) -> Fraction:
    """How many records come to tuples, over all of the domain, by the probability that every tuple has at least."""
    return promised.rows * (1 - promised.keep) * promised.domain / (promised.domain - 1)


def _shares(stated: Stated, column: Column) -> tuple[list[float], list[float]]:
    """Of each block of a column: its part of the domain, and its part of all weights."""
    size, width = len(column.encoding), column.width
    starts = range(0, size, width)
    parts = [(min(start + width, size) - start) / size for start in starts]
    if column.name not in stated.source:
        return parts, parts
    shares = [0.0] * column.blocks
    for places, weight in stated.source[column.name]:
        for block in range(places.start // width, (places.stop - 1) // width + 1):
            inside = min(places.stop, (block + 1) * width) - max(places.start, block * width)
            shares[block] += inside * float(weight) / size
    return parts, shares
