"""What can be reproduced, by name: each item stands in a file of its own, and is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from discreet.errors import DiscreetError
from discreet.evaluate.reproduce.item import Item
from discreet.schema.nearest import did_you_mean

ITEMS = {  # the file, and what it is called there
    "worked-examples": ("examples", "WORKED_EXAMPLES"),
    "classic-models": ("classic_models", "CLASSIC_MODELS"),
    "differential-inference": ("differential_inference", "DIFFERENTIAL_INFERENCE"),
    "fakes": ("fakes", "FAKES"),
    "frequencies": ("distributions", "FREQUENCIES"),
    "diversity": ("distributions", "DIVERSITY"),
    "mse": ("costs", "MSE"),
    "information-loss": ("costs", "INFORMATION_LOSS"),
    "relative-error": ("queries", "RELATIVE_ERROR"),
    "runtime-rows": ("runtimes", "AGAINST_ROWS"),
    "runtime-values": ("runtimes", "AGAINST_VALUES"),
    "view-example": ("view_example", "VIEW_EXAMPLE"),
    "view-errors": ("view_errors", "VIEW_ERRORS"),
    "several-views": ("several_views", "SEVERAL_VIEWS"),
    "views-privacy": ("views_privacy", "VIEWS_PRIVACY"),
    "low-prior": ("low_prior", "LOW_PRIOR"),
    "diffgen-example": ("diffgen_example", "DIFFGEN_EXAMPLE"),
    "diffgen-accuracy": ("diffgen_accuracy", "DIFFGEN_ACCURACY"),
    "diffgen-ranges": ("diffgen_ranges", "DIFFGEN_RANGES"),
}


def find_items(name: str) -> tuple[Item, ...]:
    """The item of that name, or all of them."""
    if name == "all":
        return tuple(map(_load, ITEMS))
    if name not in ITEMS:
        raise DiscreetError(f"item ({name}) must be one that can be reproduced{did_you_mean(name, [*ITEMS, 'all'])}")
    return (_load(name),)


def _load(name: str) -> Item:
    file, found = ITEMS[name]
    return cast("Item", getattr(import_module(f"discreet.evaluate.reproduce.{file}"), found))
