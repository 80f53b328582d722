"""What a custodian should think about before a policy is used with a table: columns that give the secret away, people
who are like nobody else, values that nobody protects. In names of columns and numbers; no cell but of what is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.draft.words import numbers_persons
from discreet.mechanism.mechanism import publishing
from discreet.mechanism.plan import Plan
from discreet.schema.lookalikes import lookalike_warnings
from discreet.schema.policy import Policy
from discreet.table.giveaway import given_away, given_together
from discreet.table.marks import means_missing
from discreet.table.table import Table

DRAFT = "this policy is a draft: publish refuses it until a person has decided and taken out the line draft = true"
MOST_ROWS = 1_000_000  # by which columns are compared one by one; of a larger table, a sample


def warnings_of(table: Table, policy: Policy, plan: Plan) -> tuple[str, ...]:
    """All of them; none where there is nothing to think about."""
    return (
        *((DRAFT,) if policy.draft else ()),
        *lookalike_warnings(policy.schema),
        *(_repeated(table, policy) if policy.person is None else ()),
        *_given_away(table),
        *(_unlike(table) if publishing(policy.mechanism).shows_rows else ()),
        *plan.warnings,
    )


def _repeated(table: Table, policy: Policy) -> Iterator[str]:
    """Identifiers that number persons and repeat: then rows are no people."""
    for name in policy.identifiers:
        if numbers_persons(name) and name in table.given:
            rows, people, empty = table.engine.persons(table.given[name])
            if people < rows - empty:
                yield (
                    f"{name} has {people:,} different values in {rows:,} rows: the rows seem to be of fewer people, "
                    f'and every promise is for a row; keep one row of each person, and say person = "{name}"'
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
    named = dict(zip(schema.quasi_identifiers, cells, strict=True))
    alone = given_away(named, schema.sensitive, secret, unknown)
    yield from alone.values()
    innocent = {name: column for name, column in named.items() if name not in alone}
    yield from given_together(innocent, schema.sensitive, secret, unknown)


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
