"""A table of a release as codes: the positions of its cells in their public domains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code, text
from discreet.ground.arrays import Ints
from discreet.release.bounds import check_cells, engine_memory
from discreet.release.plain import plain_file
from discreet.release.statement import Manifest

T = TypeVar("T")


def coded_tables(
    manifest: Manifest[Any, Any, Any], names: Sequence[str], packed: Callable[[list[Ints]], T]
) -> list[list[T]]:
    """The schema's columns of some tables, each in the order in which it stands: what `packed` makes of its batches.

    Raises ReleaseError, Unfit or what Arrow raises where a file is not what it should be.
    """
    columns = {each: (each, manifest.schema.domains[each].encoding) for each in manifest.schema.columns}
    wanted = ", ".join(f"{code(each, encoding)}::BIGINT" for each, encoding in columns.values())
    found = []
    with Database(paths=[manifest.folder], memory=engine_memory(manifest.folder)) as database:
        for relation, name in ((Path(name).stem, name) for name in names):
            path = plain_file(manifest.folder, name).resolve()
            check_cells(path, manifest.folder)
            database.rows(f"CREATE VIEW {relation} AS SELECT * FROM read_parquet({text(str(path))})")
            database.encode(f"{relation}_coded", relation, columns)
            batches = database.batches(f"SELECT {wanted} FROM {relation}_coded")
            found.append([packed([numbers(column) for column in each.columns]) for each in batches])
    return found
