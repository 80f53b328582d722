"""The tuples that earlier views showed: read from the release before, and compared with what the series remembers."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from discreet.engine.duck import Engine
from discreet.engine.encoding import code, text
from discreet.errors import DiscreetError, SeriesRefusal
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Ints, Radix, digest_of, merged, no_tuples, without
from discreet.release.alphabeta.manifest import EARLIER, VIEW, AlphaBetaManifest
from discreet.release.folder import read_manifest
from discreet.release.plain import plain_file
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
        return _read(manifest, EARLIER, radix), guarantee
    if found := _view_at(place.before.release, place.number - 1, schema):
        manifest, guarantee = found
        view, earlier = _read(manifest, VIEW, radix), _read(manifest, EARLIER, radix)
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


def _read(manifest: AlphaBetaManifest, name: str, radix: Radix) -> Ints:
    """A table of tuples, packed, in the order in which it stands."""
    columns = {each: (each, manifest.schema.domains[each].encoding) for each in manifest.schema.columns}
    wanted = ", ".join(f"{code(each, encoding)}::BIGINT" for each, encoding in columns.values())
    parts = [no_tuples(radix)]
    try:
        with Engine(paths=[manifest.folder]) as engine:
            path = plain_file(manifest.folder, name).resolve()
            engine.rows(f"CREATE VIEW tuples AS SELECT * FROM read_parquet({text(str(path))})")
            engine.encode("tuples_coded", "tuples", columns)
            for batch in engine.batches(f"SELECT {wanted} FROM tuples_coded"):
                parts.append(radix.pack([column.to_numpy(zero_copy_only=False) for column in batch.columns]))
    except (DiscreetError, duckdb.Error, pa.ArrowException, ValueError, TypeError):
        raise SeriesRefusal(f"release ({manifest.folder}) must be as it was published; put it back there") from None
    return np.concatenate(parts, axis=1)
