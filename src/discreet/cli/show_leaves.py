"""Showing what a DiffGen release would cost."""

from __future__ import annotations

import discreet
from discreet.cli.show import say, show_json
from discreet.guarantee.words import fraction_text


def show_leaf_plan(planned: discreet.LeafPlan, *, as_json: bool) -> None:
    """The parts of epsilon and the number of counts; nothing of it depends on the rows."""
    if as_json:
        return show_json(
            {
                "epsilon": fraction_text(planned.epsilon),
                "parts": {name: fraction_text(share) for name, share in planned.parts},
                "attributes": planned.attributes,
                "classes": planned.classes,
                "table_counts": planned.table_counts,
                "specializations": planned.specializations,
                "warnings": list(planned.warnings),
            }
        )
    say(f"epsilon = {float(planned.epsilon):.6g} for adding or removing one record, in parts:")
    for name, share in planned.parts:
        say(f"  {name:<40} {float(share):.6g}")
    say(f"{planned.table_counts:,} noisy counts in tables: {planned.attributes} attributes x {planned.classes} classes")
    steps = planned.specializations
    say("as many specializations as the noisy total is worth" if steps is None else f"{steps} specializations")
    say("the rows were not looked at: a plan that depended on them would have to be paid for")
    for warning in planned.warnings:
        say(f"note: {warning}")
    return None
