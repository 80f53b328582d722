"""What a rehearsal asks: the papers' random counts, selections, ranges over hierarchies, tables, or the user's own.

Questions are over columns that every policy publishes with the same domain. Values are drawn from the public domains;
only the papers' form draws among the values that occur, and asks for what somebody meets, as the papers did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import PolicyError, QueryError
from discreet.estimate.estimate import Group
from discreet.evaluate.compare.people import Codes, People, groups_of
from discreet.evaluate.compare.rehearsal import name_of_policy
from discreet.evaluate.conditions import condition_on, equal
from discreet.evaluate.papers_form import QUERY_SEED, Column, drawn_queries
from discreet.query.bands import columns_named
from discreet.query.condition import columns_of
from discreet.query.parse import LONGEST, Query, parse_query
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import taxonomy_of

if TYPE_CHECKING:
    from discreet.schema.policy import Policy

COUNTS = 300
PAPERS = "papers"
OWN = "questions"
MOST_CONDITIONS = 3  # of a selection, of a range and of a table
_COUNTED = 1 << 22  # values of a domain, of which those that occur are found by counting
_TRIES = 1_000  # draws for one question that somebody meets
_TOGETHER = 10_000  # groups of one table at most


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question as an analyst writes it; `conditions` are the quasi-identifiers that it names."""

    text: str
    query: Query
    groups: tuple[Group, ...]
    conditions: int

    @classmethod
    def of(cls, text: str, schema: Schema) -> Question:
        """Raises QueryError where nobody would answer it."""
        query = parse_query(text, schema)
        if query.figure is not None:
            raise QueryError("only counts are rehearsed; ask for COUNT(*)")
        named = columns_of(query.where).union(*map(columns_named, query.group_by))
        conditions = len(named - {schema.sensitive})
        return cls(text=text, query=query, groups=groups_of(query, schema), conditions=conditions)


def question_for(text: str, policy: Policy) -> Question:
    """A question as the releases of a policy would be asked; raises QueryError where they would not answer it."""
    try:
        return Question.of(text, policy.schema)
    except QueryError as error:
        raise QueryError(f"{name_of_policy(policy)} would not answer it: {error}") from None


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Questions, and in words where they come from."""

    name: str
    words: str
    questions: tuple[Question, ...]

    @property
    def conditions(self) -> list[int]:
        """Of each number that is asked for, group by group, how many quasi-identifiers it takes."""
        return [each.conditions for each in self.questions for _ in each.groups]


def papers_counts(people: People, number: int) -> Iterator[str]:
    """Counts of the papers' form that somebody meets."""
    coins = np.random.default_rng(QUERY_SEED)
    for tried, query in enumerate(drawn_queries(columns_for(people), people.schema.sensitive, coins)):
        if query.matching().any() and len(text := query.text) <= LONGEST:
            yield text
        elif tried > _TRIES * number:
            raise QueryError("counts of the papers' form hardly match anybody in this table; choose another workload")


def selections(people: People, number: int) -> Iterator[str]:
    """Every `a = x [AND b = y [AND c = z]]`, or that many: as many of one, two and three columns, each alike."""
    schema, coins = people.schema, np.random.default_rng(QUERY_SEED)
    sizes = {name: len(schema.domains[name]) for name in schema.columns}
    sets = [list(combinations(schema.columns, k)) for k in range(1, min(MOST_CONDITIONS, len(sizes)) + 1)]
    weights = [np.array([prod(sizes[name] for name in each) for each in some], dtype=np.float64) for some in sets]
    if sum(each.sum() for each in weights) <= number:
        for names in (each for some in sets for each in some):
            for values in product(*(schema.domains[name] for name in names)):
                yield " AND ".join(map(equal, names, values))
        return
    for place in range(number):
        k = place % len(sets)
        names = sets[k][int(coins.choice(len(sets[k]), p=weights[k] / weights[k].sum()))]
        places = [int(coins.integers(sizes[name])) for name in names]
        values_of = (schema.domains[name].encoding[code] for name, code in zip(names, places, strict=True))
        yield " AND ".join(map(equal, names, values_of))


def ranges(people: People, number: int) -> Iterator[str]:
    """Over 1 to 3 columns, an interval of a column in order or a node of another one's hierarchy."""
    coins = np.random.default_rng(QUERY_SEED)
    yield from islice(_ranges(people.schema, people.schema.columns, coins), number)


def tables(people: People, number: int) -> Iterator[str]:
    """The sensitive column by nothing, by a range of one column, of two ..., until there are so many groups."""
    schema, coins, asked = people.schema, np.random.default_rng(QUERY_SEED), 0
    wide = len(schema.domains[schema.sensitive])
    if wide > _TOGETHER:
        raise QueryError(f"{schema.sensitive} has too many values to be counted by; choose another workload")
    wheres = _ranges(schema, schema.quasi_identifiers, coins)
    by = f'GROUP BY "{schema.sensitive.replace(chr(34), chr(34) * 2)}"'
    while asked < number:
        yield f"SELECT COUNT(*) FROM release {f'WHERE {next(wheres)} ' if asked else ''}{by}"
        asked += wide


def _ranges(schema: Schema, columns: Sequence[str], coins: np.random.Generator) -> Iterator[str]:
    taxonomies = [taxonomy_of(schema, name) for name in columns]
    most = min(MOST_CONDITIONS, len(taxonomies))
    while True:
        picked = coins.choice(len(taxonomies), coins.integers(1, most + 1), replace=False)
        parts = [condition_on(taxonomies[i], schema.domains[taxonomies[i].name], coins) for i in picked.tolist()]
        if len(text := " AND ".join(parts)) <= LONGEST:
            yield text


def columns_for(people: People) -> dict[str, Column]:
    """The values that occur of each column, and where rows have them."""
    found = {}
    places: Codes
    for name in people.schema.columns:
        domain = people.schema.domains[name]
        codes, encoding = people.codes[name], domain.encoding
        if len(domain) <= _COUNTED:
            seen = np.flatnonzero(np.bincount(codes, minlength=len(domain)))
            place = np.zeros(len(domain), dtype=np.int32)
            place[seen] = np.arange(len(seen))
            places = place[codes]
        else:
            seen, places = np.unique(codes, return_inverse=True)
        here = domain.in_order and not (domain.missing and seen[-1] == len(domain) - 1)
        found[name] = Column([encoding[code] for code in seen.tolist()], places, in_order=here)
    return found


_KINDS: Mapping[str, tuple[str, Callable[[People, int], Iterator[str]]]] = {
    PAPERS: (
        "counts of the papers' form: 1 % of the combinations of 1 to 7 quasi-identifiers and the sensitive column",
        papers_counts,
    ),
    "selections": ("selections of one to three columns, each = one value of its domain", selections),
    "ranges": ("intervals, and nodes of hierarchies, over one to three columns", ranges),
    "tables": ("tables: the sensitive column by ranges of one to three quasi-identifiers", tables),
}
WORKLOADS = tuple(_KINDS)


def workload_of(name: str, people: People, number: int) -> Workload:
    """A workload by its name; the same for the same rows. Raises PolicyError where there is none of that name."""
    if name not in _KINDS:
        known = ", ".join(WORKLOADS)
        raise PolicyError(f"workload ({name}) must be one of {known}{did_you_mean(name, WORKLOADS)}")
    words, drawn = _KINDS[name]
    asked = tuple(Question.of(text, people.schema) for text in islice(drawn(people, number), number))
    return Workload(name=name, words=words, questions=asked)


def own_workload(texts: Sequence[str], schema: Schema) -> Workload:
    """The user's own questions."""
    return Workload(
        name=OWN, words="questions of your own", questions=tuple(Question.of(each, schema) for each in texts)
    )
