"""Writing the two tables of a release of pairs: what was measured, and what the model that fits it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.engine.columns import column_of
from discreet.engine.parquet import write_parquet
from discreet.ground.arrays import Floats, Ints
from discreet.release.copies import write_copies
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.pairs.course import Course
from discreet.release.diffgen.pairs.fit import fit_of
from discreet.release.diffgen.pairs.layout import labelled_columns, labelled_pairs
from discreet.release.diffgen.pairs.manifest import COLUMNS, PAIRS, Chosen, PairNumbers
from discreet.release.diffgen.pairs.measured import Measured, Round
from discreet.release.diffgen.pairs.tables import pair_tables
from discreet.schema.taxonomy import Taxonomy


def write_pairs(
    taxonomies: Sequence[Taxonomy], course: Course, measured: Measured, folder: Path, *, csv: bool
) -> PairNumbers:
    """Fill `folder` with both tables; the numbers that the manifest states of them."""
    (folder / "data").mkdir()
    model = fit_of(measured, course).model
    columns = labelled_columns(taxonomies, course.begin.groups)
    columns = columns.append_column("MEASURED", _joined(measured.ones))
    again = pa.nulls(len(columns), pa.int64()) if measured.again is None else _joined(measured.again)
    columns = columns.append_column("AGAIN", again)
    pairs = labelled_pairs(taxonomies, [each.chosen for each in measured.rounds])
    tables = [each.counts for each in measured.rounds if each.counts is not None]
    pairs = pairs.append_column("MEASURED", _joined(tables))
    write_parquet([columns.append_column("COUNT", _counts(model.margins))], folder / COLUMNS)
    write_parquet([pairs.append_column("COUNT", _counts(pair_tables(model)))], folder / PAIRS)
    if csv:
        write_copies(folder, (COLUMNS, PAIRS))
    return PairNumbers(total=measured.total, rounds=tuple(_chosen(taxonomies, each) for each in measured.rounds))


def _joined(tables: Sequence[Ints]) -> pa.Array:
    return column_of(np.concatenate([np.zeros(0, dtype=np.int64), *(each.ravel() for each in tables)]))


def _counts(tables: Sequence[Floats]) -> pa.Array:
    """Counts as whole multiples of 1 / UNIT."""
    whole = np.concatenate([np.zeros(0), *(each.ravel() for each in tables)])
    return column_of(np.rint(whole * UNIT) / UNIT)


def _chosen(taxonomies: Sequence[Taxonomy], one: Round) -> Chosen | None:
    if one.chosen is None:
        return None
    first, second = (taxonomies[place].name for place in one.chosen.columns)
    own, other = (level.value for level in one.chosen.levels)
    return Chosen(columns=(first, second), levels=(own, other))
