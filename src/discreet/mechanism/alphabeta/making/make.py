"""Making a view: from the rows and the coins to the tuples that are published.

Paper: [RSH] Algorithms 1, 2, 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.engine.memory import free_memory
from discreet.engine.progress import Steps
from discreet.errors import PolicyError, TableError
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.making.codes import Ints, Radix, merged, without
from discreet.mechanism.alphabeta.making.earlier import digest_of, earlier_tuples, no_tuples
from discreet.mechanism.alphabeta.making.noise import Weights, every_tuple_by_weight, every_tuple_with, weights_of
from discreet.mechanism.alphabeta.making.tuples import distinct_tuples, every_row, in_slots, radix_of
from discreet.mechanism.alphabeta.planning.parameters import UNIT
from discreet.mechanism.alphabeta.planning.plan import ViewPlan
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.mechanism.alphabeta.policy.frapp import Frapp, perturbed
from discreet.mechanism.public_rows import check_public_rows
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table

_READ, _NOISE, WRITE = "collecting the tuples", "inserting other tuples", "writing the view"
SHARES = {_READ: 0.3, _NOISE: 0.3, WRITE: 0.4}
_BYTES = 40  # that the noise takes for each word of a tuple, measured; with a source also its draws
_BYTES_OF_DRAWS = 100
_SAFE = 1 + Fraction(1, 2**40)  # more than what floating point can be off by, so that weights never weaken the promise


@dataclass(frozen=True, kw_only=True)
class Made:
    """The tuples of a view, packed and in order, and those that earlier views showed."""

    view: Ints
    earlier: Ints
    number: int
    radix: Radix
    promise: DGammaPrivacy | FrappPrivacy

    @property
    def digest(self) -> bytes:
        """What the series remembers of it."""
        return digest_of(self.view, self.earlier)


def plan_view(table: Table, mechanism: AlphaBeta | Frapp) -> ViewPlan:
    """What would be published of a table."""
    promise = mechanism.guarantee(table.schema)
    if isinstance(promise, FrappPrivacy):
        _check_rows(table)
        return ViewPlan(guarantee=promise, tuples=table.rows, domain=promise.domain)
    radix = radix_of(table.schema)
    slots = promise.slots
    tuples = table.rows if slots > 1 else distinct_tuples(table, radix).shape[1]
    found = ViewPlan(guarantee=promise, tuples=tuples, domain=radix.domain * slots)
    check_public_rows(table, tuples)
    _check_memory(found, radix_of(table.schema, slots), promise)
    return found


def make_view(table: Table, mechanism: AlphaBeta | Frapp, place: Place, coins: Coins, steps: Steps) -> Made:
    """The view of a table at its place among the views of its series."""
    radix = radix_of(table.schema)
    if isinstance(mechanism, Frapp):
        _check_rows(table)
        with steps.step(_READ):
            rows = every_row(table, radix)
        with steps.step(_NOISE):
            promise = mechanism.guarantee(table.schema)
            view = perturbed(rows, promise.keep, radix, coins.stream("keep"), coins.stream("noise"))
        return Made(view=view, earlier=no_tuples(radix), number=1, radix=radix, promise=promise)
    slotted = radix_of(table.schema, mechanism.slots)
    earlier, made_under = earlier_tuples(place, table.schema, radix)
    promised = made_under or mechanism.guarantee(table.schema)
    with steps.step(_READ):
        if mechanism.slots == 1:
            own = distinct_tuples(table, radix)
        else:
            own = in_slots(every_row(table, radix), radix, slotted, coins.stream("slots"))
        planned = ViewPlan(guarantee=promised, tuples=own.shape[1], domain=slotted.domain)
        check_public_rows(table, planned.tuples)
        _check_memory(planned, slotted, promised)
    with steps.step(_NOISE):
        weights = _weights(mechanism, table.schema) if mechanism.source else None
        view = view_of(own, earlier, promised, place.number, slotted, weights, coins)
    return Made(view=view, earlier=earlier, number=place.number, radix=slotted, promise=promised)


def view_of(
    own: Ints, earlier: Ints, promise: DGammaPrivacy, number: int, radix: Radix, weights: Weights | None, coins: Coins
) -> Ints:
    """The tuples of a view: true ones that were kept, some that earlier views showed, and others of the domain.

    `weights` are those of the attributes' values in a public source, if there is one.
    """
    insert = promise.inserts[number - 1]
    units: Ints | int = int(promise.keep * UNIT)
    if weights is None:
        noise = every_tuple_with(insert, radix, coins.stream("noise"))
    else:
        noise = every_tuple_by_weight(insert * _SAFE, weights, radix, coins.stream("noise"))
        more = weights_of(radix.unpack(own), weights, radix) - 1
        units = units + np.floor(float(insert) * more * UNIT).astype(np.int64)
    kept = own[:, coins.stream("keep").integers(0, UNIT, size=own.shape[1]) < units]
    shown = without(earlier, own)
    again = shown[:, coins.stream("again").integers(0, UNIT, size=shown.shape[1]) < int(promise.again * UNIT)]
    return merged(merged(kept, again), without(without(noise, own), earlier))


def _weights(mechanism: AlphaBeta, schema: Schema) -> list[tuple[int, ...] | None]:
    """The weights of each attribute's values, with the slot last where there are several."""
    known = mechanism.public_source(schema).weights
    return [known.get(name) for name in schema.columns] + [None] * (mechanism.slots > 1)


def _check_rows(table: Table) -> None:
    """FRAPP publishes one tuple a record: the public number must be the true one."""
    if table.rows != table.schema.public_rows:
        raise TableError(
            f"public_rows ({table.schema.public_rows:,}) must be the number of rows that the table has; frapp "
            "publishes one tuple a record"
        )


def _check_memory(planned: ViewPlan, radix: Radix, promise: DGammaPrivacy) -> None:
    """Refuse what would not fit into memory, before it is tried."""
    each = _BYTES * len(radix.words) + (_BYTES_OF_DRAWS if promise.weights[1] > 1 else 0)
    needed, free = planned.expected_tuples * each, free_memory()
    if free is not None and needed > free:
        raise PolicyError(
            f"the domain ({float(radix.domain):.3g} tuples) must be smaller: {planned.expected_tuples:.3g} random "
            f"tuples need about {needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free; raise posterior, "
            "lower prior, or publish fewer or coarser columns"
        )
