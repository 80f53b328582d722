"""A question about a release's own columns, as the READMEs of version 2 show it. Releases say it, so it stays.

It follows from the public schema alone: for a column of numbers or dates, its upper half; for a list, its first value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod

from discreet.schema.domain import Dates, Decimals, Integers, key_of
from discreet.schema.schema import Schema

_LONGEST = 40  # of a name or a text that is shown
_LOOKED_AT = 100  # values of a list, and columns, among which one is looked for
_DIGITS = 1_000  # bits of a number that is written out
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_WORDS = """all alter analyse analyze and any array as asc asymmetric between both case cast check collate column
    connect_by_root constraint create cross current_catalog current_date current_time current_timestamp current_user
    default deferrable desc describe distinct do drop else end except exists false fetch for force foreign from full
    glob grant group having if ilike in initially inner insert install intersect interval into is isnull join lambda
    lateral leading left like limit localtime localtimestamp map natural not notnull null offset on only or order outer
    partitioned_by pivot placing positional primary qualify references regexp returning revoke right rlike rollback
    select session_user show similar some struct summarize symmetric table tablesample then to trailing true uncache
    union unique unpivot user using values variadic when where window with xor"""
_QUOTED = frozenset(_WORDS.split())  # names that SQL would take for a word of its own


@dataclass(frozen=True, kw_only=True)
class Test:
    """One column held against a value: the sign, the value, and how many values of the domain pass."""

    column: str
    sign: str
    value: int | str | Decimal
    passing: tuple[int, int]  # first and last position in the domain

    @property
    def sql(self) -> str:
        plain = _PLAIN.fullmatch(self.column) and self.column.casefold() not in _QUOTED
        name = self.column if plain else '"' + self.column.replace('"', '""') + '"'
        value = "'" + self.value.replace("'", "''") + "'" if isinstance(self.value, str) else key_of(self.value)
        return f"{name} {self.sign} {value}"

    def pandas(self, table: str) -> str:
        """The same of a data frame."""
        value = repr(self.value) if isinstance(self.value, str) else key_of(self.value)
        return f"{table}[{self.column!r}] {'==' if self.sign == '=' else self.sign} {value}"


@dataclass(frozen=True, kw_only=True)
class Example:
    """Tests that hold together; without any, everybody is asked for."""

    schema: Schema
    tests: tuple[Test, ...]

    @property
    def sql(self) -> str:
        return " AND ".join(test.sql for test in self.tests)

    @property
    def shell(self) -> str:
        """The question as a word of a command line."""
        if set(self.sql) & set("$`\\!"):
            return shlex.quote(self.sql)
        return '"' + self.sql.replace('"', '\\"') + '"'

    def rows(self, table: str) -> str:
        """The rows of a data frame that meet it."""
        if len(self.tests) < 2:
            return "".join(f"{table}[{test.pandas(table)}]" for test in self.tests) or table
        return f"{table}[{' & '.join(f'({test.pandas(table)})' for test in self.tests)}]"

    def tuples(self, weights: dict[str, tuple[int, ...]] | None = None) -> int | None:
        """How many tuples of the domains meet it, or what they weigh; None where that takes too long to write."""
        named = {test.column: test.passing for test in self.tests}
        found = prod(self._passing(name, named.get(name), (weights or {}).get(name)) for name in self.schema.columns)
        return found if found.bit_length() <= _DIGITS else None

    def _passing(self, name: str, places: tuple[int, int] | None, weights: tuple[int, ...] | None) -> int:
        first, last = places or (0, len(self.schema.domains[name]) - 1)
        return last - first + 1 if weights is None else sum(weights[first : last + 1])


def example_of(schema: Schema, *columns: str) -> Example:
    """A question about the first of these columns that can be shown, and the last one, if it can."""
    first = next((found for name in columns[:-1][:_LOOKED_AT] for found in _tests(schema, name)), None)
    tests = (first, *_tests(schema, columns[-1]))
    return Example(schema=schema, tests=tuple(test for test in tests if test is not None))


def _tests(schema: Schema, name: str) -> Iterator[Test]:
    """A test of one column, or none where its name or its values cannot be shown on a line."""
    domain = schema.domains[name]
    if not _short(name):
        return
    if isinstance(domain, Integers):
        middle = (domain.low + domain.high + 1) // 2
        sign = ">=" if domain.low < domain.high else "="
        yield Test(column=name, sign=sign, value=middle, passing=(middle - domain.low, domain.high - domain.low))
        return
    if isinstance(domain, Decimals | Dates) and not domain.missing:
        place = len(domain) // 2
        value = domain.encoding[place]
        if value is not None:
            yield Test(column=name, sign=">=", value=value, passing=(place, len(domain) - 1))
        return
    if isinstance(domain, Decimals):
        return  # pandas cannot compare an empty cell with a number, and no double is equal to a decimal
    values: Sequence[int | str] = domain.values
    for place, value in enumerate(values[:_LOOKED_AT]):
        if isinstance(value, int) or _short(value):
            yield Test(column=name, sign="=", value=value, passing=(place, place))
            return


def _short(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isprintable() and text == text.strip()
