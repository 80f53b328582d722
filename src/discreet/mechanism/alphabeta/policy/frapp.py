"""FRAPP: every record keeps its tuple with probability g, and else becomes a uniform other tuple of the domain.

Paper: [RSH] section 5, as the method to compare with; its parameter for (d, gamma) follows from what a tuple shown once
    tells, see `discreet.guarantee.frapp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import Infeasible, PolicyError, TableError
from discreet.ground.exact import Number, exact, toml_number
from discreet.ground.progress import Progress, Steps
from discreet.ground.shown import shown
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import no_tuples
from discreet.mechanism.alphabeta.making.exchange import perturbed
from discreet.mechanism.alphabeta.making.make import Made
from discreet.mechanism.alphabeta.making.tuples import every_row, radix_of
from discreet.mechanism.alphabeta.planning.parameters import UNIT
from discreet.mechanism.alphabeta.planning.plan import AlphaBetaPlan
from discreet.mechanism.alphabeta.policy.perturbing import NOISE, PRIOR, READ, Perturbing
from discreet.mechanism.alphabeta.policy.prior import bound_of, check_prior, check_promise, read_promise
from discreet.mechanism.mechanism import check_stated
from discreet.release.alphabeta.manifest import domain_size
from discreet.schema.json_schema import NUMBER
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.once import once
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Frapp(Perturbing):
    """(d, gamma)-privacy of tuples seen once: `posterior` is gamma, `prior` is d, or k in d = k n / m from 1 on."""

    prior: Number
    posterior: Number

    kind: ClassVar[str] = "frapp"
    views = 1  # more than one state of a table is not covered

    def __post_init__(self) -> None:
        check_promise(self.prior, self.posterior)
        object.__setattr__(self, "prior", exact("prior", self.prior))
        object.__setattr__(self, "posterior", exact("posterior", self.posterior))

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        return read_promise(cls, ("prior", "posterior"), section, schema, complain)

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the number of rows is not public, or the prior does not fit the domain."""
        if schema.public_rows is None:
            raise PolicyError(
                "public_rows in [table] is missing; frapp publishes one tuple a record, so it is public",
                key=("table", "public_rows"),
            )
        if domain_size(schema) < 2:
            raise PolicyError(
                "the domain must have at least two tuples; publish more columns or finer ones", key=("domains",)
            )
        check_prior(self.prior, self.posterior, schema, domain_size(schema))
        check_stated(self.as_json(), self.guarantee(schema), ("prior",))

    def parameters(self, *, n: int, m: int) -> Fraction:
        """g: the largest probability to keep a tuple, a multiple of 2^-62, that keeps the promise."""
        return self._guarantee(n, m).keep

    @once
    def guarantee(self, schema: Schema) -> FrappPrivacy:
        """What a release under this schema promises, searched for once."""
        found = self._guarantee(schema.public_rows or 0, domain_size(schema))
        return replace(found, candidates=len(schema.domains[schema.sensitive]))

    def _guarantee(self, n: int, m: int) -> FrappPrivacy:
        d, gamma = bound_of(self.prior, n, m), exact("posterior", self.posterior)
        if not 0 < d < gamma:
            raise PolicyError(
                f"prior ({shown(self.prior)}) must give a bound below posterior; here it is {shown(d)}", key=("prior",)
            )

        def keeping(units: int) -> FrappPrivacy:
            return FrappPrivacy(d=d, gamma=gamma, keep=Fraction(units, UNIT), rows=n, domain=m, candidates=1)

        low, high = int(Fraction(UNIT, m)) + 1, UNIT - 1  # above chance, where a record is as likely any tuple
        if not keeping(low).holds:
            raise Infeasible(
                f"posterior ({float(gamma):.4g}) must be further above prior ({float(d):.4g}); raise posterior or "
                "lower prior",
                key=("posterior",),
            )
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if keeping(middle).holds else (low, middle - 1)
        return keeping(low)

    def fits(self, table: Table) -> None:
        """Raise TableError where the public number is not the true one: FRAPP publishes one tuple a record."""
        if table.rows != table.schema.public_rows:
            raise TableError(
                f"public_rows ({table.schema.public_rows:,}) must be the number of rows that the table has; frapp "
                "publishes one tuple a record",
                key=("table", "public_rows"),
            )

    def plan(self, table: Table, progress: Progress | None = None) -> AlphaBetaPlan:
        """What would be published of a table."""
        guarantee = self.guarantee(table.schema)
        return AlphaBetaPlan(
            guarantee=guarantee,
            tuples=table.rows,
            domain=guarantee.domain,
            rows=table.rows,
            public_rows=table.schema.public_rows,
        )

    def draw(self, table: Table, place: Place, coins: Coins, steps: Steps) -> Made:
        """Every record as it is, or as another tuple."""
        radix, guarantee = radix_of(table.schema), self.guarantee(table.schema)
        with steps.step(READ):
            rows = every_row(table, radix)
        with steps.step(NOISE):
            view = perturbed(rows, guarantee.keep, radix, coins.stream("keep"), coins.stream("noise"))
        return Made(view=view, earlier=no_tuples(radix), number=1, radix=radix, guarantee=guarantee)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return {
            "required": ["prior", "posterior"],
            "properties": {
                "prior": PRIOR,
                "posterior": {"description": "How probable it may become, unless it is seen twice."} | NUMBER,
            },
        }

    def as_toml(self) -> dict[str, Any]:
        return {"prior": toml_number(Fraction(self.prior)), "posterior": toml_number(Fraction(self.posterior))}

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "prior": str(self.prior), "posterior": str(self.posterior)}
