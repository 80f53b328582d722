"""What smaller and larger mean for text: nothing, unless it is a date or its domain says that its list is in order."""

from __future__ import annotations

from discreet.errors import QueryError
from discreet.ground.exact import fraction_of
from discreet.ground.shown import shown
from discreet.query.condition import Atom, one_of
from discreet.query.signs import chosen
from discreet.schema.nearest import did_you_mean
from discreet.schema.valued import Valued


def by_place(column: str, domain: Valued, sign: str, literal: object) -> Atom | None:
    """A comparison by the place in a list; None where the texts themselves say what comes first, as those of dates do.

    Raises QueryError where the text has no order, or the literal is none of it.
    """
    if not domain.in_order:
        raise QueryError(_no_order(column, domain, sign))
    if not domain.by_place:
        return None
    if literal not in domain:
        raise QueryError(f"{column} is never {shown(literal)}{did_you_mean(literal, domain)}")
    return one_of(column, chosen(domain.texts, sign, literal))


def check_both(columns: tuple[str, str], domains: tuple[Valued | None, Valued | None]) -> None:
    """Raise QueryError where the texts of two columns cannot be ordered: both must be dates of one kind."""
    one, two = domains
    if one is None or two is None:
        return
    dates = one.in_order and two.in_order and not one.by_place and not two.by_place
    if not dates or len(one.texts[0]) != len(two.texts[0]):
        raise QueryError(f"{' and '.join(columns)} cannot be ordered: text has no order; use = or <>")


def _no_order(column: str, domain: Valued, sign: str) -> str:
    numbers = all(fraction_of(text) is not None for text in domain.texts)
    why = "its values look like numbers, but were declared as text" if numbers else "it holds text in no order"
    better = "of integers or decimals" if numbers else "of dates, or one that says ordered = true"
    return f"{column} cannot be compared with {sign}: {why}; use = or IN, or ask the custodian for a domain {better}"
