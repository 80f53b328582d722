"""Levels in questions: level(age, 1) is the label above a value in its column's hierarchy, such as a band of ages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from discreet.engine.duck.sql import identifier, literal
from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.condition import Atom, Column, Condition, Some, never, one_of
from discreet.query.signs import chosen
from discreet.schema.nearest import did_you_mean
from discreet.schema.valued import Value, Valued


@dataclass(frozen=True)
class Key:
    """What a question counts by: a column, or a level of its hierarchy from 1; level 0 are the values themselves."""

    column: str
    level: int = 0

    def __str__(self) -> str:
        if not self.level:
            return self.column
        plain = self.column.isascii() and self.column.isidentifier()
        return f"level({self.column if plain else identifier(self.column)}, {self.level})"


class Level:
    """The labels of one level of a column's domain, and the condition that each of them is."""

    def __init__(self, key: Key, domain: Valued) -> None:
        number = domain.levels
        if not 1 <= key.level <= number:
            values = ", ".join(map(shown, islice(domain.texts if domain.by_place else (), 3)))
            none = f"none above its values{f', such as {values}' if values else ''}"
            known = f"levels from 1 to {number}" if number else none
            raise QueryError(f"{key} must be a level of {key.column}; it has {known}")
        self.key, self._domain, self._codes = key, domain, domain.labels_at(key.level)

    @property
    def labels(self) -> list[str]:
        """The labels, in the order of their values."""
        return list(self._codes)

    def possible(self, values: Iterable[Value]) -> list[str | None]:
        """The labels of some values, in order; a missing cell has none but itself."""
        encoding, known = self._domain.encoding, set(values)
        found = [label for label, codes in self._codes.items() if any(encoding[code] in known for code in codes)]
        return [*found, None] if None in known else [*found]

    def is_label(self, label: object) -> Condition:
        """A value lies below the label; raises QueryError where there is no such label."""
        if label is None:
            return Atom((Column(self.key.column), " IS NULL"))
        if not isinstance(label, str) or label not in self._codes:
            raise QueryError(f"{self.key} is never {label}{did_you_mean(label, self.labels)}")
        codes, encoding = self._codes[label], self._domain.encoding
        column = Column(self.key.column)
        if codes[-1] - codes[0] + 1 == len(codes) > 1 and encoding.kind == "range":
            low, high = literal(encoding[codes[0]]), literal(encoding[codes[-1]])
            return Atom((column, f" BETWEEN {low} AND {high}"))
        return one_of(self.key.column, [encoding[code] for code in codes])

    def compared(self, sign: str, label: object) -> Condition:
        """A value lies below a label before or after this one; raises QueryError where they have no order."""
        self.is_label(label)
        in_a_row = all(codes[-1] - codes[0] + 1 == len(codes) for codes in self._codes.values())
        if not self._domain.in_order or not in_a_row:
            raise QueryError(f"{self.key} is in no order, so {sign} has no meaning; use = or IN")
        found = tuple(map(self.is_label, chosen(self.labels, sign, label)))
        return Some(found) if found else never(self.key.column)


def label_level(domain: Valued, literal: object) -> int:
    """The level on which a text is a label of a domain whose value it is not; 0 where it is neither."""
    if not isinstance(literal, str) or not domain.paths or literal in domain:
        return 0
    found = (level for level in range(1, domain.levels + 1) if literal in domain.labels_at(level))
    return next(found, 0)
