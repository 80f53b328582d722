"""Alpha-beta: keep each tuple with probability alpha + beta, insert any other one of the domain with probability beta.

Paper: [RSH] section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import Infeasible, PolicyError
from discreet.ground.exact import Number, exact, toml_number
from discreet.ground.progress import Progress, Steps
from discreet.ground.shown import shown
from discreet.guarantee.dgamma import ADVERSARIES, EVEN, MOST_SLOTS, MOST_VIEWS, DGammaPrivacy
from discreet.guarantee.source import Shares, Source, source_of
from discreet.mechanism.alphabeta.making.codes import Radix
from discreet.mechanism.alphabeta.making.earlier import earlier_tuples
from discreet.mechanism.alphabeta.making.make import Made, view_of
from discreet.mechanism.alphabeta.making.memory import check_memory
from discreet.mechanism.alphabeta.making.tuples import check_copies, distinct_tuples, every_row, in_slots, radix_of
from discreet.mechanism.alphabeta.planning.parameters import TUNINGS, keep_and_insert
from discreet.mechanism.alphabeta.planning.plan import AlphaBetaPlan
from discreet.mechanism.alphabeta.planning.several import several_views
from discreet.mechanism.alphabeta.policy.perturbing import NOISE, PRIOR, READ, Perturbing
from discreet.mechanism.alphabeta.policy.prior import bound_of, check_prior, check_promise, read_promise
from discreet.mechanism.mechanism import check_public_rows, check_stated
from discreet.release.alphabeta.manifest import SLOT, domain_size
from discreet.schema.json_schema import NUMBER
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.once import once
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class AlphaBeta(Perturbing):
    """(d, gamma)-privacy: `posterior` is gamma; a `prior` below 1 is d, and one of 1 or more is k in d = k n / m.

    `views` is how many states of the table may be published in all. With `slots`, the copies of a tuple stand in that
    many random places and records are counted, not distinct tuples. `source` gives public shares of the values of some
    attributes: tuples that are common there may have a higher prior, and are inserted more often.
    """

    prior: Number
    posterior: Number
    adversary: str = "exclusive"
    tuning: str = "optimal"
    views: int = 1
    slots: int = 1
    source: Shares = field(default_factory=dict, hash=False)

    kind: ClassVar[str] = "alphabeta"

    def __post_init__(self) -> None:
        check_promise(self.prior, self.posterior)
        for name, given, known in (("adversary", self.adversary, ADVERSARIES), ("tuning", self.tuning, TUNINGS)):
            if given not in known:
                raise PolicyError(f"{name} ({shown(given)}) must be one of {', '.join(known)}", key=(name,))
        for name, number, most in (("views", self.views, MOST_VIEWS), ("slots", self.slots, MOST_SLOTS)):
            if type(number) is not int or not 1 <= number <= most:
                raise PolicyError(
                    f"{name} ({shown(number)}) must be a whole number between 1 and {most:,}", key=(name,)
                )
        if self.views > 1 and (self.slots > 1 or self.source or self.tuning == "paper"):
            raise PolicyError(
                f"views ({self.views}) above 1 must go without slots and source and with tuning = 'optimal'; other "
                "choices are not known to keep the promise over several views",
                key=("views",),
            )
        if not isinstance(self.source, Mapping) or not all(isinstance(each, Mapping) for each in self.source.values()):
            raise PolicyError(
                "source must have a table of values and their shares for each column that it names", key=("source",)
            )
        object.__setattr__(self, "prior", exact("prior", self.prior))
        object.__setattr__(self, "posterior", exact("posterior", self.posterior))
        shares = {
            name: {
                str(value): exact(f"source of {shown(name)}", share, key=("source", name, str(value)))
                for value, share in each.items()
            }
            for name, each in self.source.items()
        }
        object.__setattr__(self, "source", shares)

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        known = ("prior", "posterior", "adversary", "tuning", "views", "slots", "source")
        return read_promise(cls, known, section, schema, complain)

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the prior needs a number of rows that is not public, or does not fit the domain."""
        if self.slots > 1 and SLOT in (name.upper() for name in schema.columns):
            raise PolicyError(
                f"slots ({self.slots}) add a column {SLOT}; a published column must not be called that", key=("slots",)
            )
        source = self.public_source(schema)
        try:
            check_prior(self.prior, self.posterior, schema, domain_size(schema, self.slots), source.range[1])
            check_stated(self.as_json(), self.guarantee(schema), ("prior",))
        except (PolicyError, Infeasible) as error:
            if not self.source:
                raise
            heaviest = source.heaviest(schema)
            words = f"{error}; the most common tuples need most noise: {heaviest}"
            raise type(error)(words, key=error.key) from None

    def parameters(self, *, n: int, m: int) -> tuple[Fraction, Fraction]:
        """(alpha, beta): tuples of the table are kept with alpha + beta, others inserted with beta.

        Of several views, beta is that of the first. A source or slots change what they are: see `guarantee`.
        """
        found = self.choose(bound_of(self.prior, n, m), EVEN)
        return found.keep - found.insert, found.insert

    @once
    def guarantee(self, schema: Schema) -> DGammaPrivacy:
        """What a release under this schema promises, searched for once."""
        domain = domain_size(schema, self.slots)
        found = self.choose(bound_of(self.prior, schema.public_rows or 0, domain), self.public_source(schema).range)
        return replace(found, candidates=len(schema.domains[schema.sensitive]) * self.slots, slots=self.slots)

    def choose(self, d: Fraction, weights: tuple[Fraction, Fraction]) -> DGammaPrivacy:
        """The probabilities for a bound on priors, and the least and largest weight of a tuple; one candidate each."""
        gamma = exact("posterior", self.posterior)
        if not 0 < d < gamma:
            raise PolicyError(
                f"prior ({shown(self.prior)}) must give a bound below posterior; here it is {shown(d)}", key=("prior",)
            )
        if self.views > 1:
            return several_views(d, gamma, self.adversary, self.views)
        keep, insert = keep_and_insert(d, gamma, self.adversary, self.tuning, weights)
        return DGammaPrivacy(
            d=d, gamma=gamma, adversary=self.adversary, keep=keep, insert=insert, candidates=1, weights=weights
        )

    @once
    def public_source(self, schema: Schema) -> Source:
        """The public source, in whole numbers; one without weights where none is declared."""
        return source_of(self.source, schema)

    def fits(self, table: Table) -> None:
        """Raise TableError where there are more records than the public number; distinct tuples are counted later."""
        if self.slots > 1:
            check_public_rows(table, table.rows)

    def plan(self, table: Table, progress: Progress | None = None) -> AlphaBetaPlan:
        """What would be published of a table."""
        radix = radix_of(table.schema, self.slots)
        if self.slots > 1:
            check_copies(every_row(table, radix_of(table.schema)), self.slots)
        tuples = table.rows if self.slots > 1 else distinct_tuples(table, radix).shape[1]
        return self._planned(table, tuples, self.guarantee(table.schema), radix)

    def _planned(self, table: Table, tuples: int, guarantee: DGammaPrivacy, radix: Radix) -> AlphaBetaPlan:
        """The plan for so many tuples; raises TableError or PolicyError where they cannot be published."""
        check_public_rows(table, tuples)
        public = table.schema.public_rows
        found = AlphaBetaPlan(
            guarantee=guarantee, tuples=tuples, domain=radix.domain, rows=table.rows, public_rows=public
        )
        check_memory(found.expected_tuples, radix, guarantee)
        return found

    def draw(self, table: Table, place: Place, coins: Coins, steps: Steps) -> Made:
        """The view of a table at its place among the views of its series."""
        radix, slotted = radix_of(table.schema), radix_of(table.schema, self.slots)
        earlier, made_under = earlier_tuples(place, table.schema, radix)
        guarantee = made_under or self.guarantee(table.schema)
        with steps.step(READ):
            if self.slots == 1:
                own = distinct_tuples(table, radix)
            else:
                own = in_slots(every_row(table, radix), radix, slotted, coins.stream("slots"))
            self._planned(table, own.shape[1], guarantee, slotted)
        with steps.step(NOISE):
            weights = self._weights(table.schema) if self.source else None
            view = view_of(own, earlier, guarantee, place.number, slotted, weights, coins)
        return Made(view=view, earlier=earlier, number=place.number, radix=slotted, guarantee=guarantee)

    def _weights(self, schema: Schema) -> list[tuple[int, ...] | None]:
        """The weights of each attribute's values, with the slot last where there are several."""
        known = self.public_source(schema).weights
        return [known.get(name) for name in schema.columns] + [None] * (self.slots > 1)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        shares = {"type": "object", "additionalProperties": NUMBER}
        return {
            "required": ["prior", "posterior"],
            "properties": {
                "prior": PRIOR,
                "posterior": {"description": "How probable it may become."} | NUMBER,
                "adversary": {"description": "Who is kept from learning more.", "enum": list(ADVERSARIES)},
                "tuning": {
                    "description": "The best probabilities for that adversary, or the paper's.",
                    "enum": list(TUNINGS),
                },
                "views": {
                    "description": "How many states of the table may be published in all.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_VIEWS,
                },
                "slots": {
                    "description": "Random places for the copies of a tuple, so that records are counted.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_SLOTS,
                },
                "source": {
                    "description": "For some columns, the public share of each value; the noise follows it.",
                    "type": "object",
                    "additionalProperties": shares,
                },
            },
        }

    def as_toml(self) -> dict[str, Any]:
        written = self._written(toml_number)
        return written if self.source else {name: value for name, value in written.items() if name != "source"}

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._written(str)}

    def _written(self, write: Any) -> dict[str, Any]:
        shares = {name: {key: write(share) for key, share in each.items()} for name, each in self.source.items()}
        return {
            "prior": write(exact("prior", self.prior)),
            "posterior": write(exact("posterior", self.posterior)),
            "adversary": self.adversary,
            "tuning": self.tuning,
            "views": self.views,
            "slots": self.slots,
            "source": shares,
        }
