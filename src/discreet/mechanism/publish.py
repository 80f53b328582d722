"""Planning and publishing: from a table and a policy to a release, through the series.

The order matters. What was measured with noise is in the series, with its cost, before any file of a release exists;
the series remembers every release before anybody can see it; and the folder appears whole or not at all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace as replace_fields
from pathlib import Path

from discreet.errors import Infeasible, PolicyError, SeriesRefusal
from discreet.estimate.open import open_release
from discreet.estimate.release import Release
from discreet.estimate.remembered import nothing_remembered
from discreet.ground.disk import workplace
from discreet.ground.progress import Progress, Steps
from discreet.mechanism.mechanism import Publishes, publishing
from discreet.mechanism.plan import Plan
from discreet.mechanism.recognize import UNKNOWN, Recognizing
from discreet.mechanism.sign import SigningKey, sign_manifest, signing_key
from discreet.release.statement import MANIFEST
from discreet.release.write import check_target, is_release, new_folder
from discreet.schema.lookalikes import lookalike_warnings
from discreet.schema.mechanisms import Mechanism
from discreet.schema.policy import Policy
from discreet.series.coins import Coins
from discreet.series.place import usual_series, usual_witness
from discreet.series.refusals import Refusal
from discreet.series.rules import Place, place_of
from discreet.series.store import Entry, Series
from discreet.series.witness import forgotten, note
from discreet.table.giveaway import given_away
from discreet.table.marks import means_missing
from discreet.table.table import Table

DIGEST = "comparing with the series"
_SCRATCH = "discreet"  # as the engine's own places are called


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
    sign: SigningKey | str | Path | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> Release:
    """Publish the table under the policy as the folder `to`, and open it.

    All coins come from the series (by default one private file of the user), so the same rows under the same policy
    give the same release again, and people who were published before are noticed. `sign` is a private key, or its file
    where that has no passphrase: it signs the manifest, and is kept nowhere. `seed` is for tests: it leaves the series
    alone, and the release says that its coins can be tossed again by anyone. `progress` is called with the step that
    runs and the share of the whole that is done, and `say` with what the custodian should know besides.
    """
    to = Path(to)
    check_decided(policy)
    key = signing_key(sign)
    check_target(to, replace=replace)
    mechanism = publishing(policy.mechanism)
    if seed is not None:
        mechanism.fits(table)
        steps, coins = Steps(progress, mechanism.steps), Coins.from_seed(seed)
        with new_folder(to, replace=replace) as folder, table.unchanged():
            place = Place(memo=mechanism.memo(table, coins, steps))
            mechanism.make(table, place, coins, folder, csv=csv, steps=steps)
            sign_manifest(folder, key)
        return open_release(to)
    steps = Steps(progress, {DIGEST: 0.2, **mechanism.steps})
    with Series(series_of(series, policy, to)) as memory:
        seen, place = _place(table, policy, mechanism, memory, steps, new_series=new_series)
        mechanism.fits(table)
        coins = memory.coins.derive(seen.rows, policy.digest)
        with _remembering(memory, seen, policy), new_folder(to, replace=replace) as folder:
            if (entry := place.again) is None:
                with table.unchanged():
                    place = replace_fields(place, memo=mechanism.memo(table, coins, steps))
                    entry = _entry(seen, place, policy, mechanism, to)
                if place.memo:  # coins that are not the key's: they were tossed, and that was paid for
                    memory.reserve(entry)
                if say is not None:
                    for warning in _warnings(seen, policy):
                        say(warning)
            with table.unchanged():
                drawn = mechanism.make(table, place, coins, folder, csv=csv, steps=steps)
                steps.finish()
            if entry.drawn not in (b"", drawn):
                raise SeriesRefusal(
                    f"the release of {entry.published} ({entry.release}) cannot be made again with this version of "
                    "discreet and of its libraries, and fresh coins would expose people; use that release"
                )
            number = memory.record(replace_fields(entry, drawn=drawn, release=str(to.resolve())))
            sign_manifest(folder, key)  # nothing is signed that the series does not know
        note(usual_witness(), memory.name, number, to / MANIFEST)
    return open_release(to)


@contextmanager
def published_in_scratch(table: Table, mechanism: Mechanism, *, seed: int) -> Iterator[Release]:
    """A seeded release that is open inside and then gone; nothing that is learned of it is kept either.

    It lies where nobody else looks. Where the process is killed, the next one of this user that needs such a place
    clears it away.
    """
    policy = Policy(schema=table.schema, mechanism=mechanism)
    with nothing_remembered(), workplace(Path(tempfile.gettempdir()), _SCRATCH) as folder:
        release = publish(table, policy, to=folder / "release", seed=seed)
        try:
            yield release
        finally:
            release.close()


@contextmanager
def _remembering(memory: Series, seen: Recognizing, policy: Policy) -> Iterator[None]:
    """Where to hear that these rows were refused tells something of them, the series remembers it first."""
    try:
        yield
    except Infeasible as error:
        if error.refused:
            memory.refuse(Refusal(rows=seen.rows, policy=policy.digest, what=error.refused, people=seen.kept))
        raise


def _warnings(seen: Recognizing, policy: Policy) -> Iterator[str]:
    """What a custodian should know before a release leaves the house, as far as a sample of the rows tells it."""
    if seen.sketch is None:
        yield UNKNOWN
    schema = policy.schema
    yield from lookalike_warnings(schema)
    unknown = [code for code, value in enumerate(schema.domains[schema.sensitive]) if means_missing(value)]
    columns = {name: seen.sampled[name] for name in schema.quasi_identifiers}
    yield from given_away(columns, schema.sensitive, seen.sampled[schema.sensitive], unknown).values()


def check_decided(policy: Policy) -> None:
    """Raise PolicyError where the policy is a draft that nobody has read yet."""
    if policy.draft:
        name = policy.path.name if policy.path else "in memory"
        raise PolicyError(
            f"policy ({name}) must not be a draft to be published; read it, decide what is marked DECIDE, and take out "
            "the line draft = true",
            key=("draft",),
        )


def _place(
    table: Table, policy: Policy, mechanism: Publishes, memory: Series, steps: Steps, *, new_series: bool
) -> tuple[Recognizing, Place]:
    """What is seen of the people, and where the release stands among those of them; raises SeriesRefusal."""
    entries = memory.entries()
    lost = forgotten(usual_witness(), memory.name, len(entries))
    if lost is not None and not new_series:
        raise SeriesRefusal(
            f"series ({memory.path}) made the release in {lost.parent} and does not know it any more: it was put back "
            "from a backup, and might give the people of that release fresh coins; restore the newest one, or say "
            "--new-series (new_series=True) if you accept that"
        )
    with table.unchanged(), steps.step(DIGEST) as tell:
        seen = Recognizing(table, memory.coins.key, tell)
        place = place_of(
            entries,
            rows=seen.rows,
            ordered=_order(seen, mechanism),
            policy=policy.digest,
            new_series=new_series,
            meet=seen.meet,
            allowed=mechanism.views,
            charged=mechanism.cost > 0,
        )
        before = len(entries) if place.again is None else place.again.number - 1
        refused = seen.refused([each for each in memory.refusals() if each.after <= before])
    if place.again is None and lost is not None:
        place = replace_fields(place, continued=True)
    return seen, replace_fields(place, refused=refused)


def _entry(seen: Recognizing, place: Place, policy: Policy, mechanism: Publishes, to: Path) -> Entry:
    """What the series remembers of a release that is about to be made."""
    return Entry(
        rows=seen.rows,
        ordered=_order(seen, mechanism),
        policy=policy.digest,
        drawn=b"",
        memo=place.memo,
        cost=mechanism.cost,
        continued=place.continued and place.number == 1,
        release=str(to.resolve()),
        related=place.related,
        people=seen.kept,
    )


def _order(seen: Recognizing, mechanism: Publishes) -> bytes:
    return seen.rows if mechanism.any_order else seen.ordered


def series_of(series: str | Path | None, policy: Policy, to: Path) -> Path:
    """Where the series is: as named, else the user's own; never inside a release, whose files may leave the house."""
    path = usual_series(policy.path) if series is None else Path(series)
    around = path.resolve().parents
    if to.resolve() in (path.resolve(), *around) or any(map(is_release, around)):
        raise PolicyError(f"series ({path}) must be outside every release; it holds the secret key")
    return path
