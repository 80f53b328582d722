"""What a custodian should think about before a policy is used with a table: columns that give the secret away, people
who are like nobody else, values that nobody protects. In names of columns and numbers; no cell but of what is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.mechanism import publishing
from discreet.mechanism.plan import Plan
from discreet.schema.policy import Policy
from discreet.table.giveaway import giveaway, numbered, together
from discreet.table.marks import means_missing
from discreet.table.table import Table

DRAFT = "this policy is a draft: publish refuses it until a person has decided and taken out the line draft = true"
_ADVICE = "take it out, unless everyone may know that of these people"
MOST_ROWS = 1_000_000  # by which columns are compared one by one; of a larger table, a sample
PAIR_ROWS = 100_000  # and two by two
MOST_PAIRS = 300  # that are compared: all of 25 columns


def warnings_of(table: Table, policy: Policy, plan: Plan) -> tuple[str, ...]:
    """All of them; none where there is nothing to think about."""
    return (
        *((DRAFT,) if policy.draft else ()),
        *_given_away(table),
        *(_unlike(table) if publishing(policy.mechanism).shows_rows else ()),
        *plan.warnings,
    )


def _unlike(table: Table) -> Iterator[str]:
    alone = table.alone()
    if alone:
        yield (
            f"{alone:,} of {table.rows:,} people ({100 * alone / table.rows:.3g} %) are like no other in the "
            "quasi-identifiers: who knows these of a person knows which row is theirs; publish fewer or coarser columns"
        )


def _given_away(table: Table) -> Iterator[str]:
    """Columns, and pairs of columns neither of which does so alone, that give the sensitive one away."""
    schema = table.schema
    *cells, secret = _sampled(table)
    unknown = [code for code, value in enumerate(schema.domains[schema.sensitive]) if means_missing(value)]
    innocent = []
    for name, column in zip(schema.quasi_identifiers, cells, strict=True):
        found = giveaway(column, secret, unknown)
        if found is not None and found.too_much:
            yield f"column {name}: {found.words(schema.sensitive)}; {_ADVICE}"
        else:
            innocent.append((name, column))
    some = _rows_for_pairs(len(secret))
    few = [(name, numbered(column[some])) for name, column in innocent]
    for number, ((one, first), (two, second)) in enumerate(combinations(few, 2)):
        if number == MOST_PAIRS:
            yield f"only {MOST_PAIRS} pairs of columns were compared; publish fewer columns"
            return
        found = giveaway(together(first, second), secret[some], unknown)
        if found is not None and found.too_much:
            told = found.words(schema.sensitive, several=True)
            yield f"columns {one} and {two}: together {told}; {_ADVICE.replace('it', 'one of them', 1)}"


def _sampled(table: Table) -> Sequence[Ints]:
    """The published columns as positions in their domains, of at most MOST_ROWS rows or so."""
    share = min(1.0, MOST_ROWS / table.rows)
    coins = np.random.default_rng(0)  # which rows are looked at is no secret: nothing of it is published
    sizes = [len(table.schema.domains[name]) for name in table.schema.columns]
    kinds = [np.int32 if size < 2**31 else np.int64 for size in sizes]  # half the memory, where that is enough
    batches = []
    for codes in table.codes():
        if share < 1:
            taken = coins.random(len(codes[0])) < share
            codes = [column[taken] for column in codes]
        batches.append([column.astype(kind) for column, kind in zip(codes, kinds, strict=True)])
    return [np.concatenate(columns).astype(np.int64) for columns in zip(*batches, strict=True)]


def _rows_for_pairs(rows: int) -> Ints:
    if rows <= PAIR_ROWS:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, PAIR_ROWS, replace=False))
