"""Planning and publishing: from a table and a policy to a release, through the series.

The order matters: the series remembers the release before anybody can see it, and the folder appears whole or not at
all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Protocol

from discreet.engine.progress import Progress, Steps
from discreet.errors import PolicyError, SeriesRefusal
from discreet.estimate.open import open_release
from discreet.estimate.release import Release
from discreet.mechanism.alphabeta.making.make import SHARES as VIEW_SHARES
from discreet.mechanism.alphabeta.making.make import WRITE, make_view, plan_view
from discreet.mechanism.alphabeta.making.write import write_view
from discreet.mechanism.alphabeta.planning.plan import ViewPlan
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.mechanism.alphabeta.policy.frapp import Frapp
from discreet.mechanism.buckets.making.write import SHARES, write_buckets
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.policy.anatomy import Anatomy
from discreet.mechanism.buckets.policy.buckets import Buckets
from discreet.mechanism.diffgen.making.make import LeafPlan, make_leaves, measure, plan_leaves
from discreet.mechanism.diffgen.making.measure import measurements_from_json
from discreet.mechanism.diffgen.making.noise import OpenDpNoise, SeededNoise
from discreet.mechanism.diffgen.making.write import write_leaves
from discreet.mechanism.diffgen.policy.diffgen import DiffGen
from discreet.release.write import check_target, is_release, new_folder
from discreet.schema.policy import Policy
from discreet.series.coins import Coins
from discreet.series.digest import RowDigest
from discreet.series.rules import Place, place_of
from discreet.series.store import Series, View
from discreet.table.table import Table

DIGEST = "comparing with the series"
LEAVES_STEP = "writing leaves and tables"


def plan(table: Table, policy: Policy, *, progress: Progress | None = None) -> BucketPlan | ViewPlan | LeafPlan:
    """What would be published; nothing is written and the series is not touched."""
    mechanism = _mechanism(policy)
    if isinstance(mechanism, DiffGen):
        return plan_leaves(mechanism, policy.schema)
    if isinstance(mechanism, AlphaBeta | Frapp):
        return plan_view(table, mechanism)
    return mechanism.plan(table.histogram, progress)


def publish(
    table: Table,
    policy: Policy,
    *,
    to: str | Path,
    series: str | Path | None = None,
    new_series: bool = False,
    replace: bool = False,
    csv: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Publish the table under the policy as the folder `to`, and open it.

    All coins come from the series (by default the policy's path with the suffix `.series`), so the same rows under the
    same policy give the same release again. `seed` is for tests: it leaves the series alone, and the release says that
    its coins can be tossed again by anyone. `progress` is called with the step that runs and the share of the whole
    that is done.
    """
    to = Path(to)
    check_target(to, replace=replace)
    mechanism = _mechanism(policy)
    make = _maker(table, mechanism, csv=csv, progress=progress)
    if seed is not None:
        with new_folder(to, replace=replace) as folder, table.unchanged():
            coins = Coins.from_seed(seed)
            make.write(coins, folder, make.measured(Place(), coins), steps=Steps(progress, make.shares))
        return open_release(to)
    steps = Steps(progress, {DIGEST: 0.2, **make.shares})
    with Series(_series_path(series, policy, to)) as memory:
        rows, ordered = _digests(table, memory, steps)
        ordered = rows if make.any_order else ordered
        place = place_of(
            memory.views(),
            rows=rows,
            ordered=ordered,
            policy=policy.digest,
            new_series=new_series,
            allowed=make.views,
            charged=bool(make.epsilon),
        )
        coins = memory.coins.derive(rows, policy.digest)
        with new_folder(to, replace=replace) as folder:
            with table.unchanged():
                place = make.measured(place, coins)
                drawn = make.write(coins, folder, place, steps=steps)
            if place.again and place.again.drawn != drawn:
                raise SeriesRefusal(
                    f"the release of {place.again.published} ({place.again.release}) cannot be made again with these "
                    "versions of the libraries, and fresh coins would expose people; use that release"
                )
            view = View(
                rows=rows,
                ordered=ordered,
                policy=policy.digest,
                drawn=drawn,
                classes=make.classes,
                continued=place.continued and place.number == 1,
                release=str(to.resolve()),
                measured=place.measured,
                epsilon=make.epsilon,
            )
            memory.record(view)  # before anybody can see the folder under its name
    return open_release(to)


class _Write(Protocol):
    def __call__(self, coins: Coins, folder: Path, place: Place, *, steps: Steps) -> bytes:
        """Fill the folder; returns a digest of what the coins gave."""


@dataclass(frozen=True, kw_only=True)
class _Maker:
    """How a mechanism makes its release: the classes it plans, the shares of its steps, whether order matters, and how
    many states of the table it covers. Where a release costs epsilon, `measure` gives what the series keeps of it.
    """

    write: _Write
    shares: Mapping[str, float]
    classes: Classes = ()
    any_order: bool = False
    views: int = 1
    epsilon: str = ""
    measure: Callable[[Coins], str] | None = None

    def measured(self, place: Place, coins: Coins) -> Place:
        """The place with its measurements: those of the same release made before, or new ones."""
        if self.measure is None or place.again:
            return place
        return replace_fields(place, measured=self.measure(coins))


def _maker(
    table: Table, mechanism: Buckets | Anatomy | AlphaBeta | Frapp | DiffGen, *, csv: bool, progress: Progress | None
) -> _Maker:
    if isinstance(mechanism, DiffGen):
        return _leaf_maker(table, mechanism, csv=csv)
    if isinstance(mechanism, AlphaBeta | Frapp):
        return _view_maker(table, mechanism, csv=csv)
    return _bucket_maker(table, mechanism, csv=csv, progress=progress)


def _leaf_maker(table: Table, mechanism: DiffGen, *, csv: bool) -> _Maker:
    def measured(coins: Coins) -> str:
        noise = SeededNoise(coins.stream("noise")) if coins.seeded else OpenDpNoise()
        return measure(table, mechanism, noise).as_json()

    def write(coins: Coins, folder: Path, place: Place, *, steps: Steps) -> bytes:
        with steps.step(LEAVES_STEP):
            made = make_leaves(measurements_from_json(place.measured), mechanism, table.schema, place.spent)
            write_leaves(table, mechanism, made, folder, csv=csv, continued=place.continued, seeded=coins.seeded)
        return hashlib.blake2b(place.measured.encode(), digest_size=16).digest()

    epsilon = str(mechanism.exact_epsilon)
    return _Maker(write=write, shares={LEAVES_STEP: 1.0}, any_order=True, epsilon=epsilon, measure=measured)


def _bucket_maker(table: Table, mechanism: Buckets | Anatomy, *, csv: bool, progress: Progress | None) -> _Maker:
    planned = mechanism.plan(table.histogram, progress)

    def write(coins: Coins, folder: Path, place: Place, *, steps: Steps) -> bytes:
        # a search that ran longer today may have found a better plan; an earlier release stays what it was
        classes = place.again.classes if place.again else planned.classes
        plan = planned if classes == planned.classes else mechanism.replan(table.histogram, classes)
        return write_buckets(table, mechanism, plan, coins, folder, csv=csv, continued=place.continued, steps=steps)

    return _Maker(write=write, shares=SHARES, classes=planned.classes)


def _view_maker(table: Table, mechanism: AlphaBeta | Frapp, *, csv: bool) -> _Maker:
    def write(coins: Coins, folder: Path, place: Place, *, steps: Steps) -> bytes:
        made = make_view(table, mechanism, place, coins, steps)
        with steps.step(WRITE):
            write_view(table, mechanism, made, folder, csv=csv, continued=place.continued, seeded=coins.seeded)
        return made.digest

    views = mechanism.views if isinstance(mechanism, AlphaBeta) else 1
    return _Maker(write=write, shares=VIEW_SHARES, any_order=True, views=views)


def _digests(table: Table, memory: Series, steps: Steps) -> tuple[bytes, bytes]:
    """The rows' digests in any order and in this order, keyed by the series."""
    digest = RowDigest(memory.coins.key, table.encodings)
    with table.unchanged(), steps.step(DIGEST) as tell:
        for codes in table.codes(tell=tell):
            digest.update(codes)
    return digest.rows, digest.ordered


def _mechanism(policy: Policy) -> Buckets | Anatomy | AlphaBeta | Frapp | DiffGen:
    if not isinstance(policy.mechanism, Buckets | Anatomy | AlphaBeta | Frapp | DiffGen):
        raise PolicyError(f"mechanism ({policy.mechanism.kind}) must be one that publishes; see kind in the policy")
    return policy.mechanism


def _series_path(series: str | Path | None, policy: Policy, to: Path) -> Path:
    """Where the series is: never inside the release, whose files may leave the house."""
    if series is not None:
        path = Path(series)
    elif policy.path is not None:
        path = policy.path.with_suffix(".series")
    else:
        raise PolicyError("series must be named for a policy that is not in a file; say series='hospital.series'")
    around = path.resolve().parents
    if to.resolve() in (path.resolve(), *around) or any(map(is_release, around)):
        raise PolicyError(f"series ({path}) must be outside every release; it holds the secret key")
    return path
