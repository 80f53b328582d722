"""The list of what can be reproduced, in the papers' order; later work adds to it."""

from __future__ import annotations

from discreet.errors import DiscreetError
from discreet.evaluate.reproduce.costs import INFORMATION_LOSS, MSE
from discreet.evaluate.reproduce.diffgen_accuracy import DIFFGEN_ACCURACY
from discreet.evaluate.reproduce.diffgen_example import DIFFGEN_EXAMPLE
from discreet.evaluate.reproduce.diffgen_ranges import DIFFGEN_RANGES
from discreet.evaluate.reproduce.distributions import DIVERSITY, FREQUENCIES
from discreet.evaluate.reproduce.examples import WORKED_EXAMPLES
from discreet.evaluate.reproduce.item import Item
from discreet.evaluate.reproduce.low_prior import LOW_PRIOR
from discreet.evaluate.reproduce.queries import RELATIVE_ERROR
from discreet.evaluate.reproduce.runtimes import AGAINST_ROWS, AGAINST_VALUES
from discreet.evaluate.reproduce.several_views import SEVERAL_VIEWS
from discreet.evaluate.reproduce.view_errors import VIEW_ERRORS
from discreet.evaluate.reproduce.view_example import VIEW_EXAMPLE
from discreet.evaluate.reproduce.views_privacy import VIEWS_PRIVACY
from discreet.schema.nearest import did_you_mean

ITEMS: tuple[Item, ...] = (
    WORKED_EXAMPLES,
    FREQUENCIES,
    DIVERSITY,
    MSE,
    INFORMATION_LOSS,
    RELATIVE_ERROR,
    AGAINST_ROWS,
    AGAINST_VALUES,
    VIEW_EXAMPLE,
    VIEW_ERRORS,
    SEVERAL_VIEWS,
    VIEWS_PRIVACY,
    LOW_PRIOR,
    DIFFGEN_EXAMPLE,
    DIFFGEN_ACCURACY,
    DIFFGEN_RANGES,
)


def find_items(name: str) -> tuple[Item, ...]:
    """The item of that name, or all of them."""
    if name == "all":
        return ITEMS
    named = {item.name: item for item in ITEMS}
    if name not in named:
        raise DiscreetError(f"item ({name}) must be one that can be reproduced{did_you_mean(name, [*named, 'all'])}")
    return (named[name],)
