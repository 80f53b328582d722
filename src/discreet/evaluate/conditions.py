"""Conditions as an analyst writes them: values of a column, and ranges of them."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.schema.domain import key_of
from discreet.schema.valued import Value


def among(name: str, values: Iterable[Value]) -> str:
    """The column has one of these values."""
    return f"{_column(name)} IN ({', '.join(map(_value, values))})"


def equal(name: str, value: Value) -> str:
    """The column has this value, or none."""
    return f"{_column(name)} IS NULL" if value is None else f"{_column(name)} = {_value(value)}"


def between(name: str, low: Value, high: Value) -> str:
    """The column has a value from `low` to `high`, both included."""
    return f"{_column(name)} BETWEEN {_value(low)} AND {_value(high)}"


def _column(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(value: Value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else key_of(value)
