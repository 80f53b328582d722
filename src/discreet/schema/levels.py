"""Publishing a column at a level of its hierarchy instead of as it is."""

from __future__ import annotations

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.domain import Domain, Listed, Origin
from discreet.schema.twins import Lists

MOST = 100_000  # values of a domain that is published at a level of its hierarchy


def published_at(domain: Domain, level: object, distinct: Lists = ()) -> Domain:
    """The domain of a column that is published at a level of its hierarchy; level 0 are the values themselves.

    Labels in one list of `distinct` look alike, and are kept apart on purpose.
    """
    if type(level) is not int or not 0 <= level <= domain.levels:
        least = "give the domain a hierarchy, widths or bands first"
        known = f"a whole number from 0 to {domain.levels}" if domain.levels else f"0 or not there; {least}"
        raise PolicyError(f"publish_level ({shown(level)}) must be {known}")
    if not level:
        return domain
    if len(domain) > MOST:
        raise PolicyError(f"publish_level must be for a domain of at most {MOST:,} values; use a larger step")
    groups = domain.labels_at(level)
    below = list(groups.values())
    in_a_row = all(codes[-1] - codes[0] + 1 == len(codes) for codes in below)
    above = {path[level]: path[level:] for path in domain.paths}
    return Listed(
        values=tuple(groups),
        paths=tuple(above.values()) if level < domain.levels else (),
        missing=domain.missing,
        ordered=domain.in_order and in_a_row,
        distinct=distinct,
        origin=Origin(domain=domain, level=level),
    )
