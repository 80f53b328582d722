"""Conditions as an analyst writes them: values of a column, and ranges of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.schema.domain import Domain, Integers, key_of
from discreet.schema.taxonomy import Taxonomy
from discreet.schema.valued import Value


def among(name: str, values: Iterable[Value]) -> str:
    """The column has one of these values; None is no value."""
    listed = [*values]
    known = [_value(each) for each in listed if each is not None]
    parts = [f"{_column(name)} IN ({', '.join(known)})"] if known else []
    parts += [f"{_column(name)} IS NULL"] if len(known) < len(listed) else []
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def equal(name: str, value: Value) -> str:
    """The column has this value, or none."""
    return f"{_column(name)} IS NULL" if value is None else f"{_column(name)} = {_value(value)}"


def between(name: str, low: Value, high: Value) -> str:
    """The column has a value from `low` to `high`, both included."""
    return f"{_column(name)} BETWEEN {_value(low)} AND {_value(high)}"


def condition_on(taxonomy: Taxonomy, domain: Domain, coins: np.random.Generator) -> str:
    """A random condition: an interval of whole numbers, or a value of any level of another attribute's taxonomy."""
    if isinstance(domain, Integers):
        low, high = np.sort(coins.integers(0, len(domain), 2)).tolist()
        return between(taxonomy.name, domain.low + low, domain.low + high)
    nodes = list(taxonomy.root.walk())[1:]
    wanted = np.isin(taxonomy.cell_of, nodes[coins.integers(len(nodes))].cells)
    return among(taxonomy.name, [value for value, met in zip(domain, wanted, strict=True) if met and value is not None])


def _column(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(value: Value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else key_of(value)
