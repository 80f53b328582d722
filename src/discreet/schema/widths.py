"""Hierarchies by width above decimals and dates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from discreet.errors import PolicyError
from discreet.ground.exact import fraction_of, toml_number
from discreet.ground.shown import shown
from discreet.schema.aligned import aligned
from discreet.schema.dates import WIDTHS, within
from discreet.schema.domain import Dates, Decimals
from discreet.schema.paths import ROOT, Paths


def hierarchy_of_decimals(domain: Decimals, widths: Sequence[object]) -> Paths:
    """The paths of a domain of decimals: a level for each width, its ranges ("4.0-4.4") aligned to multiples of it."""
    units = [fraction_of(width) for width in widths]
    steps = domain.steps
    wholes = [int(unit * 10**domain.scale) for unit in units if unit is not None and unit > Fraction(domain.step)]
    known = len(wholes) == len(units) > 0 and all(whole % steps.step == 0 for whole in wholes)
    if not known or any(wide <= narrow or wide % narrow for narrow, wide in pairwise(wholes)):
        raise PolicyError(
            f"widths ({', '.join(shown(_plain(width)) for width in widths)}) must be above step ({domain.step}) and "
            "multiples of it, each a multiple of the one before; write them such as "
            f"[{5 * domain.step}, {10 * domain.step}]"
        )
    return tuple((*path, ROOT) for path in aligned(steps, wholes, domain.text))


def hierarchy_of_dates(domain: Dates, widths: Sequence[object]) -> Paths:
    """The paths of a domain of dates: a level for each of month, quarter, year and decade that is named."""
    wider = WIDTHS if domain.by == "day" else WIDTHS[1:] if domain.by == "month" else WIDTHS[3:]
    if not widths or list(widths) != [width for width in wider if width in widths]:
        raise PolicyError(
            f"widths ({', '.join(map(shown, widths))}) must be some of {', '.join(wider)}, in that order; write them "
            f'such as ["{wider[0]}"]'
        )
    return tuple((date, *(within(date, str(width)) for width in widths), ROOT) for date in domain.values)


def _plain(width: object) -> object:
    return toml_number(width) if isinstance(width, Fraction) else width
