"""Alpha-beta: keep each tuple with probability alpha + beta, insert any other one of the domain with probability beta.

Paper: [RSH] section 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.guarantee.dgamma import ADVERSARIES, DGammaPrivacy
from discreet.guarantee.tolerance import Number, exact
from discreet.mechanism.alphabeta.parameters import TUNINGS, keep_and_insert
from discreet.schema.mechanisms import Complain, Mechanism, register
from discreet.schema.nearest import did_you_mean, shown
from discreet.schema.schema import Schema
from discreet.schema.write import toml_number


@register
@dataclass(frozen=True, kw_only=True)
class AlphaBeta:
    """(d, gamma)-privacy: `posterior` is gamma; a `prior` below 1 is d, and one of 1 or more is k in d = k n / m."""

    prior: Number
    posterior: Number
    adversary: str = "exclusive"
    tuning: str = "optimal"

    kind: ClassVar[str] = "alphabeta"

    def __post_init__(self) -> None:
        prior, posterior = exact("prior", self.prior), exact("posterior", self.posterior)
        if prior <= 0:
            raise PolicyError(f"prior ({shown(self.prior)}) must be above 0")
        if not 0 < posterior < 1:
            raise PolicyError(f"posterior ({shown(self.posterior)}) must be between 0 and 1; it is a probability")
        if prior < 1 and prior >= posterior:
            raise PolicyError(f"posterior ({shown(self.posterior)}) must be above prior ({shown(self.prior)})")
        if self.adversary not in ADVERSARIES:
            raise PolicyError(f"adversary ({shown(self.adversary)}) must be one of {', '.join(ADVERSARIES)}")
        if self.tuning not in TUNINGS:
            raise PolicyError(f"tuning ({shown(self.tuning)}) must be one of {', '.join(TUNINGS)}")
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "posterior", posterior)

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        known = ("prior", "posterior", "adversary", "tuning")
        for name in section:
            if name not in known:
                complain((name,), f"{name} is not a parameter of alphabeta{did_you_mean(name, known)}")
        missing = [name for name in known[:2] if name not in section]
        for name in missing:
            complain((), f"{name} is missing; give prior and posterior, such as prior = 10 and posterior = 0.2")
        if missing:
            return None
        try:
            found = cls(**{name: value for name, value in section.items() if name in known})
            found.check(schema)
        except PolicyError as error:
            complain((str(error).split(" ", 1)[0],), str(error))
            return None
        return found

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the prior needs a number of rows that is not public, or the domain is too small."""
        if exact("prior", self.prior) >= 1 and schema.public_rows is None:
            raise PolicyError(
                f"prior ({shown(self.prior)}) of 1 or more is a multiple of rows / domain, and needs public_rows in "
                f"[table]; "
                "give a public or rounded number, or a prior below 1"
            )
        d = self.bound(schema.public_rows or 0, domain_size(schema))
        if d >= exact("posterior", self.posterior):
            raise PolicyError(
                f"prior ({shown(self.prior)}) must stay below posterior; with this domain it is {float(d):.4g}; "
                f"lower it, or "
                "publish more columns or finer ones"
            )

    def bound(self, n: int, m: int) -> Fraction:
        """d: the largest prior of a tuple that the promise covers."""
        prior = exact("prior", self.prior)
        return prior if prior < 1 else prior * Fraction(n, m)

    def parameters(self, *, n: int, m: int) -> tuple[Fraction, Fraction]:
        """(alpha, beta): tuples of the table are kept with alpha + beta, others inserted with beta."""
        d, gamma = self.bound(n, m), exact("posterior", self.posterior)
        if not 0 < d < gamma:
            raise PolicyError(
                f"prior ({shown(self.prior)}) must give a bound below posterior; with n = {n}, m = {m} it is {d}"
            )
        keep, insert = keep_and_insert(d, gamma, self.adversary, self.tuning)
        return keep - insert, insert

    def guarantee(self, schema: Schema) -> DGammaPrivacy:
        """What a release under this schema promises."""
        m = domain_size(schema)
        alpha, beta = self.parameters(n=schema.public_rows or 0, m=m)
        return DGammaPrivacy(
            d=self.bound(schema.public_rows or 0, m),
            gamma=exact("posterior", self.posterior),
            adversary=self.adversary,
            keep=alpha + beta,
            insert=beta,
            candidates=len(schema.domains[schema.sensitive]),
        )

    def as_toml(self) -> dict[str, Any]:
        return self._written(toml_number)

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._written(str)}

    def _written(self, write: Any) -> dict[str, Any]:
        return {
            "prior": write(exact("prior", self.prior)),
            "posterior": write(exact("posterior", self.posterior)),
            "adversary": self.adversary,
            "tuning": self.tuning,
        }


def domain_size(schema: Schema) -> int:
    """m: how many tuples the public domains allow."""
    return math.prod(len(schema.domains[name]) for name in schema.columns)
