"""Prior and posterior: what alpha-beta and FRAPP read of a policy alike, and check alike.

Paper: [RSH] Definition 2.3.
Symbols: d the bound on a prior, gamma that on a posterior, n rows, m tuples of the domain; prior >= 1 is k in
    d = k n / m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from discreet.errors import Infeasible, PolicyError
from discreet.ground.exact import Number, exact
from discreet.ground.shown import shown
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema

_M = TypeVar("_M", bound=Mechanism)


def check_promise(prior: Number, posterior: Number) -> None:
    """Raise PolicyError where the two make no promise, whatever the domain."""
    if exact("prior", prior) <= 0:
        raise PolicyError(f"prior ({shown(prior)}) must be above 0", key=("prior",))
    if not 0 < exact("posterior", posterior) < 1:
        raise PolicyError(
            f"posterior ({shown(posterior)}) must be between 0 and 1; it is a probability", key=("posterior",)
        )
    if exact("prior", prior) < 1 and exact("prior", prior) >= exact("posterior", posterior):
        raise PolicyError(f"posterior ({shown(posterior)}) must be above prior ({shown(prior)})", key=("posterior",))


def bound_of(prior: Number, n: int, m: int) -> Fraction:
    """d: the largest prior of a tuple that the promise covers."""
    stated = exact("prior", prior)
    return stated if stated < 1 else stated * Fraction(n, m)


def check_prior(prior: Number, posterior: Number, schema: Schema, m: int, weight: Fraction = Fraction(1)) -> None:
    """Raise PolicyError where the prior needs rows that are not public, or is not below the posterior here."""
    if exact("prior", prior) >= 1 and schema.public_rows is None:
        raise PolicyError(
            f"prior ({shown(prior)}) of 1 or more is a multiple of rows / domain, and needs public_rows in [table]; "
            "give a public or rounded number, or a prior below 1",
            key=("prior",),
        )
    d = bound_of(prior, schema.public_rows or 0, m) * weight
    if d >= exact("posterior", posterior):
        heavy = " for its most common tuple" if weight > 1 else ""
        raise PolicyError(
            f"prior ({shown(prior)}) must stay below posterior; with this domain it is {float(d):.4g}{heavy}; lower "
            "it, or publish more columns or finer ones",
            key=("prior",),
        )


def read_promise(
    build: type[_M], known: Sequence[str], section: Mapping[str, Any], schema: Schema, complain: Complain
) -> _M | None:
    """Build a mechanism from its section of the policy; complain of every problem instead of raising."""
    for name in section:
        if name not in known:
            complain((name,), f"{name} is not a parameter of {build.kind}{did_you_mean(name, known)}")
    missing = [name for name in known[:2] if name not in section]
    for name in missing:
        complain((), f"{name} is missing; give prior and posterior, such as prior = 10 and posterior = 0.2")
    if missing:
        return None
    try:
        found = build(**{name: value for name, value in section.items() if name in known})
        found.check(schema)
    except (PolicyError, Infeasible) as error:
        complain(error.key, str(error))
        return None
    return found
