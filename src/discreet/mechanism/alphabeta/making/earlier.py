"""The tuples that earlier views showed: read from the release before, and compared with what the series remembers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.engine.faults import Unfit
from discreet.errors import DiscreetError, ReleaseError, SeriesRefusal
from discreet.ground.arrays import Ints
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix, digest_of, merged, no_tuples, without
from discreet.release.alphabeta.manifest import EARLIER, VIEW, AlphaBetaManifest
from discreet.release.coded import coded_tables
from discreet.release.folder import read_manifest
from discreet.schema.schema import Schema
from discreet.series.rules import Place


def earlier_tuples(place: Place, schema: Schema, radix: Radix) -> tuple[Ints, DGammaPrivacy | None]:
    """What the views before this place showed, and the promise that they were made under (None for a first view).

    Raises SeriesRefusal where the release that shows it is gone or is not what was published.
    """
    if place.number == 1 or place.before is None:
        return no_tuples(radix), None
    if place.again and (found := _view_at(place.again.release, place.number, schema)):
        manifest, guarantee = found  # the release itself also holds what came before it
        (earlier,) = _read(manifest, radix, EARLIER)
        return earlier, guarantee
    if found := _view_at(place.before.release, place.number - 1, schema):
        manifest, guarantee = found
        view, earlier = _read(manifest, radix, VIEW, EARLIER)
        if digest_of(view, earlier) == place.before.drawn:
            return merged(view, without(earlier, view)), guarantee
    raise SeriesRefusal(
        f"view {place.number} needs the release of {place.before.published} ({place.before.release}) as it was "
        "published, to show its tuples again; put it back there, or, where an older version made it, publish "
        "the rows of that view once more first"
    )


def _view_at(folder: str, number: int, schema: Schema) -> tuple[AlphaBetaManifest, DGammaPrivacy] | None:
    """The release in a folder, if it is that view under that schema, and what it promises."""
    try:
        manifest: AlphaBetaManifest = read_manifest(Path(folder))
    except (DiscreetError, OSError):
        return None
    guarantee = manifest.statement.guarantee
    if manifest.schema.as_json() != schema.as_json() or not isinstance(guarantee, DGammaPrivacy):
        return None
    return (manifest, guarantee) if manifest.statement.numbers.view == number else None


def _read(manifest: AlphaBetaManifest, radix: Radix, *names: str) -> list[Ints]:
    """Tables of tuples, packed, in the order in which they stand."""
    try:
        tables = coded_tables(manifest, names, radix.pack)
    except (ReleaseError, Unfit, pa.ArrowException, OSError, ValueError, TypeError):
        raise SeriesRefusal(f"release ({manifest.folder}) must be as it was published; put it back there") from None
    return [np.concatenate([no_tuples(radix), *parts], axis=1) for parts in tables]
