"""A plan for a release of tuples, in words or as JSON."""

from __future__ import annotations

import discreet
from discreet.cli.show import say, show_json
from discreet.guarantee.conversions import delta_of_gamma, epsilon_of_gamma
from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy


def show_view(planned: discreet.ViewPlan, *, as_json: bool) -> None:
    """Probabilities, size, error bound, promise and warnings."""
    promise = planned.guarantee
    several = isinstance(promise, DGammaPrivacy) and promise.later
    if as_json:
        content = {
            "alpha": str(planned.alpha),
            "beta": str(planned.beta),
            "tuples": planned.tuples,
            "domain": planned.domain,
            "expected_tuples": planned.expected_tuples,
            "error_bound": planned.error_bound(),
            "rho": planned.rho(),
            "equivalents": {
                "relative_delta": delta_of_gamma(promise.d, promise.gamma),
                "epsilon_add_remove": epsilon_of_gamma(promise.d, promise.gamma, swap=False),
                "epsilon_swap": epsilon_of_gamma(promise.d, promise.gamma),
            },
            "warnings": list(planned.warnings),
            "facts": promise.facts(),
        }
        return show_json(content)
    keep, insert = float(promise.keep), float(planned.beta)
    if isinstance(promise, FrappPrivacy):
        say(f"{planned.tuples:,} records in a domain of {planned.domain:,} tuples")
        say(f"each keeps its tuple with probability {keep:.6g}, and else becomes a random other one")
    else:
        unit = "distinct tuples" if promise.slots == 1 else "records"
        say(f"{planned.tuples:,} {unit} in a domain of {planned.domain:,}")
        weight = " times its weight" if promise.weights != EVEN else ""
        say(f"each is kept with probability {keep:.6g}, every other inserted with {insert:.4g}{weight}")
    if isinstance(promise, DGammaPrivacy) and several:
        again, last = float(promise.again), float(promise.inserts[-1])
        say(f"in later views, tuples shown before with {again:.4g}, others with {last:.4g} in the last")
    say(f"the {'first view' if several else 'release'} will have about {planned.expected_tuples:,.0f} tuples")
    say(f"a count is off by at most {planned.error_bound():,.0f}, but for 5 % of the coins (rho {planned.rho():.3g})")
    say(promise.facts()["words"])
    for warning in planned.warnings:
        say(f"note: {warning}")
    return None
