"""Planning and publishing: from a table and a policy to a release, through the series.

The order matters: the series remembers the release before anybody can see it, and the folder appears whole or not at
all.
"""

from __future__ import annotations

from dataclasses import replace as replace_fields
from pathlib import Path

from discreet.errors import PolicyError, SeriesRefusal
from discreet.estimate.open import open_release
from discreet.estimate.release import Release
from discreet.ground.progress import Progress, Steps
from discreet.mechanism.mechanism import publishing
from discreet.mechanism.plan import Plan
from discreet.release.write import check_target, is_release, new_folder
from discreet.schema.policy import Policy
from discreet.series.coins import Coins
from discreet.series.digest import RowDigest
from discreet.series.rules import Place, place_of
from discreet.series.store import Entry, Series
from discreet.table.table import Table

DIGEST = "comparing with the series"


def plan(table: Table, policy: Policy, *, progress: Progress | None = None) -> Plan:
    """What would be published; nothing is written and the series is not touched."""
    mechanism = publishing(policy.mechanism)
    mechanism.fits(table)
    return mechanism.plan(table, progress)


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
    mechanism = publishing(policy.mechanism)
    if seed is not None:
        mechanism.fits(table)
        steps, coins = Steps(progress, mechanism.steps), Coins.from_seed(seed)
        with new_folder(to, replace=replace) as folder, table.unchanged():
            place = Place(memo=mechanism.memo(table, coins, steps))
            mechanism.make(table, place, coins, folder, csv=csv, steps=steps)
        return open_release(to)
    steps = Steps(progress, {DIGEST: 0.2, **mechanism.steps})
    with Series(_series_path(series, policy, to)) as memory:
        rows, ordered = _digests(table, memory, steps)
        ordered = rows if mechanism.any_order else ordered
        place = place_of(
            memory.entries(),
            rows=rows,
            ordered=ordered,
            policy=policy.digest,
            new_series=new_series,
            allowed=mechanism.views,
            charged=mechanism.cost > 0,
        )
        mechanism.fits(table)
        coins = memory.coins.derive(rows, policy.digest)
        with new_folder(to, replace=replace) as folder:
            with table.unchanged():
                if place.again is None:
                    place = replace_fields(place, memo=mechanism.memo(table, coins, steps))
                drawn = mechanism.make(table, place, coins, folder, csv=csv, steps=steps)
                steps.finish()
            if place.again and place.again.drawn != drawn:
                raise SeriesRefusal(
                    f"the release of {place.again.published} ({place.again.release}) cannot be made again with this "
                    "version of discreet and of its libraries, and fresh coins would expose people; use that release"
                )
            entry = Entry(
                rows=rows,
                ordered=ordered,
                policy=policy.digest,
                drawn=drawn,
                memo=place.memo,
                cost=mechanism.cost,
                continued=place.continued and place.number == 1,
                release=str(to.resolve()),
            )
            memory.record(entry)  # before anybody can see the folder under its name
    return open_release(to)


def _digests(table: Table, memory: Series, steps: Steps) -> tuple[bytes, bytes]:
    """The rows' digests in any order and in this order, keyed by the series."""
    digest = RowDigest(memory.coins.key, table.encodings)
    with table.unchanged(), steps.step(DIGEST) as tell:
        for codes in table.codes(tell=tell):
            digest.update(codes)
    return digest.rows, digest.ordered


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
