"""Q(D): how many tuples of the cross product of public domains meet a condition.

Paper: [RSH] section 4.1, "Computing Q(D)".
Symbols: D the cross product of the domains, Q the condition; m = |D|.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from discreet.engine.duck.database import Database
from discreet.engine.encoding import Encoding
from discreet.engine.faults import Unfit
from discreet.errors import QueryError
from discreet.ground.arrays import Ints
from discreet.ground.shown import shown
from discreet.query.auxiliary import register_auxiliary
from discreet.query.condition import Atom, Condition, Every, Not, Some, atoms, bind, columns_of
from discreet.query.decompose import count_formula
from discreet.query.lookup import lookup
from discreet.query.parse import parse_in
from discreet.query.scope import Scope
from discreet.query.tables import Leaf, merge_values, truth_tables
from discreet.schema.domain import Domain
from discreet.schema.valued import Valued

LARGEST = 2**53  # whole numbers are smaller, as in a schema
Weights = Mapping[str, Sequence[int] | Ints]


def count_domain(
    where: str, domains: Mapping[str, Domain | Iterable[int | str | None]], aux: Mapping[str, Any] | None = None
) -> int:
    """How many tuples of the cross product of the domains meet the condition: exact at any size, and not enumerated.

    A domain is a sequence of texts or of whole numbers (None is the missing value), a range, or a domain of a schema. A
    value outside its domain matches nothing; an empty condition counts every tuple. `aux` hands in public tables
    (Arrow, pandas, or a dict of lists) for IN (SELECT ... FROM name).
    """
    encodings = {name: _encoding(name, domain) for name, domain in _named(domains).items()}
    types = {name: _type(encoding) for name, encoding in encodings.items()}
    with ExitStack() as stack:
        engine = stack.enter_context(Database()) if aux else None
        known = register_auxiliary(aux, engine) if engine else {}
        query = parse_in(where, Scope(types=types, domains={}, auxiliary=known))
        if query.group_by:
            raise QueryError("a question with GROUP BY gives several counts; ask for each group")
        if query.figure is not None:
            raise QueryError("only tuples are counted: give a condition or SELECT COUNT(*)")
        return count_matching(query.where, encodings, engine)


def count_matching(
    condition: Condition,
    encodings: Mapping[str, Encoding],
    engine: Database | None = None,
    weights: Weights | None = None,
) -> int:
    """The same for a condition that is parsed; without an engine, one is opened where it takes one.

    With `weights`, whole numbers from 0 for the values of each attribute (below 2^62 together), a tuple counts as often
    as the product of its values' weights says.
    """
    return weigh_matching(condition, encodings, engine, [weights])[0]


def weigh_matching(
    condition: Condition, encodings: Mapping[str, Encoding], engine: Database | None, weights: Sequence[Weights | None]
) -> list[int]:
    """The same for several weights at once, which share what it takes to decide the condition."""
    if not all(map(len, encodings.values())):
        return [0] * len(weights)
    empty = {name: "NULL" for name, encoding in encodings.items() if not encoding.values}
    try:
        formula = _formula(bind(condition, empty) if empty else condition, True)
        used = columns_of(formula)
        with ExitStack() as stack:
            if engine is None and any(lookup(atom, encodings) is None for atom in atoms(formula)):
                engine = stack.enter_context(Database())
            tables = truth_tables(dict.fromkeys(_leaves(formula)), encodings, engine)
        found = []
        for each in weights:
            held = {name: _held(name, encodings, each) for name in used}
            others = math.prod(_whole(name, encodings, each) for name in encodings if name not in used)
            found.append(others * count_formula(formula, *merge_values(tables, held)))
        return found
    except Unfit:
        raise QueryError("the condition cannot be evaluated: its arithmetic overflows; use smaller numbers") from None
    except RecursionError:
        raise QueryError("the condition must be less deeply nested; split it into several questions") from None


def _held(name: str, encodings: Mapping[str, Encoding], weights: Weights | None) -> Ints:
    """What each value of an attribute counts for."""
    if weights is None:
        return np.ones(len(encodings[name]), dtype=np.int64)
    return np.asarray(weights[name], dtype=np.int64)


def _whole(name: str, encodings: Mapping[str, Encoding], weights: Weights | None) -> int:
    """What all values of an attribute count for together."""
    return len(encodings[name]) if weights is None else int(np.sum(weights[name]))


def _formula(condition: Condition, wanted: bool) -> Condition:
    """What must hold for the condition to be true (or false, where that is wanted): NOT stands before atoms only.

    With unknown as a third truth, `NOT atom` here says that the atom is false, so the rest is two-valued.
    """
    if isinstance(condition, Atom):
        return condition if wanted else Not(condition)
    if isinstance(condition, Not):
        return _formula(condition.part, not wanted)
    kind = Every if isinstance(condition, Every) is wanted else Some
    parts: list[Condition] = []
    for part in condition.parts:
        found = _formula(part, wanted)
        parts += found.parts if isinstance(found, kind) else (found,)
    return parts[0] if len(parts) == 1 else kind(tuple(dict.fromkeys(parts)))


def _leaves(formula: Condition) -> list[Leaf]:
    if isinstance(formula, Atom | Not):
        return [formula]
    return [leaf for part in formula.parts for leaf in _leaves(part)]


def _named(domains: Mapping[str, Domain | Iterable[int | str | None]]) -> Mapping[str, Any]:
    """Names that differ in more than their case, as SQL takes them for the same."""
    if not isinstance(domains, Mapping) or not all(isinstance(name, str) and name for name in domains):
        raise QueryError("domains must map the name of each attribute to its values")
    name, times = Counter(name.casefold() for name in domains).most_common(1)[0] if domains else ("", 0)
    if times > 1:
        raise QueryError(f"domains must have distinct names, whatever their case; {shown(name)} is there twice")
    return domains


def _encoding(name: str, domain: Any) -> Encoding:
    """The values of a domain as an engine takes them."""
    if isinstance(domain, Valued):
        return domain.encoding
    if isinstance(domain, range):
        if domain and max(abs(domain[0]), abs(domain[-1])) >= LARGEST:
            raise QueryError(f"the domain of {shown(name)} must lie within 2^53 of zero; write larger numbers as text")
        if domain.step == 1:
            return Encoding(domain) if domain else Encoding(())
    if isinstance(domain, str | bytes | Mapping) or not isinstance(domain, Iterable):
        raise QueryError(f"the domain of {shown(name)} must be a sequence of values, a range, or a domain of a schema")
    values = tuple(domain)
    present = tuple(value for value in values if value is not None)
    kinds = set(map(type, present))
    if kinds - {int} and kinds - {str}:
        raise QueryError(f"the domain of {shown(name)} must be all text or all whole numbers, and None for missing")
    if len(set(values)) < len(values):
        twice, _ = Counter(values).most_common(1)[0]
        raise QueryError(f"the domain of {shown(name)} must have distinct values; {shown(twice)} is there twice")
    if kinds == {int} and max(map(abs, present)) >= LARGEST:
        raise QueryError(f"the domain of {shown(name)} must lie within 2^53 of zero; write larger numbers as text")
    if kinds == {str} and any("\ud800" <= sign <= "\udfff" for value in present for sign in value):
        raise QueryError(f"the domain of {shown(name)} must be text that can be written as UTF-8")
    return Encoding(present, missing=len(present) < len(values))


def _type(encoding: Encoding) -> str:
    if not encoding.values:
        return "null"
    return "text" if encoding.kind == "text" else "integer"
