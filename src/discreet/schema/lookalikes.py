"""What a schema says of values that look alike: a reason to refuse it in the sensitive column, elsewhere to warn.

Two spellings of a sensitive value have a tolerance each, and together pass both; two spellings of a quasi-identifier
split no tolerance. What people often tell apart, such as 0 and O in codes, is only warned of.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.errors import PolicyError
from discreet.schema.domain import Domain, Listed, own_domain
from discreet.schema.schema import Schema
from discreet.schema.twins import Alike, advice, told


def twins_of(domain: Domain) -> tuple[Alike, ...]:
    """Published values that look alike, and cells that do so and are published as different values."""
    if not isinstance(domain, Listed):
        return ()
    own = own_domain(domain)
    if own is domain or not isinstance(own, Listed) or not domain.origin:
        return domain.twins
    label = {path[0]: path[domain.origin.level] for path in own.paths}
    apart = (each for each in own.twins if len({label.get(value, "") for value in each.values}) > 1)
    return (*domain.twins, *apart)


def check_lookalikes(schema: Schema) -> None:
    """Raise PolicyError where values of the sensitive column could be taken for one another."""
    name = schema.sensitive
    if found := [each for each in twins_of(schema.domains[name]) if each.sure]:
        raise PolicyError(
            f"{name}: values must not look alike: {told(found)}; two spellings of one value have a tolerance each, and "
            f"together pass both: {advice(found)}",
            key=("domains", name),
        )


def lookalike_warnings(schema: Schema) -> Iterator[str]:
    """Values that look alike and keep nothing from being published."""
    found = [each for each in twins_of(schema.domains[schema.sensitive]) if not each.sure]
    if found:
        yield f"{schema.sensitive} has values that may be taken for one another: {told(found)}; {advice(found)}"
    for name in schema.quasi_identifiers:
        if sure := [each for each in twins_of(schema.domains[name]) if each.sure]:
            yield (
                f"{name} has values that look alike: {told(sure)}; people who have one value are counted as two "
                f"kinds: {advice(sure)}"
            )
