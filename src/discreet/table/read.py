"""Reading a table: opened where it is, and checked against the policy before anything else happens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from discreet.engine.duck import Engine
from discreet.engine.encoding import identifier
from discreet.engine.progress import Progress, Steps
from discreet.errors import TableError
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema
from discreet.table.inspect import Misfit, check_cells, check_persons, match_columns
from discreet.table.reading import parsing_share, unreadable
from discreet.table.source import SOURCE, CsvForm, open_source, scanned_files
from discreet.table.table import ROWS, Table, stamp

_READ, _PERSONS, _CELLS = "reading the table", "counting persons", "checking every cell"


def read_table(
    source: Any,
    policy: Policy,
    *,
    csv: CsvForm | None = None,
    memory: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """Open a table for publishing: a path or glob to CSV or Parquet, or a pandas, Polars, Arrow or DuckDB table.

    Raises TableError where columns are missing, cells are empty or outside their domain, or a person has several rows.
    Messages name columns and numbers of rows, never a cell. `memory` limits the engine, as in "2GB". `progress` is
    called with the step that runs and the share of the whole that is done.
    """
    table, misfits = open_table(
        source, policy.schema, policy.identifiers, policy.person, csv=csv, memory=memory, progress=progress
    )
    if table is None:
        raise TableError("the table does not fit the policy:\n  " + "\n  ".join(map(str, misfits)))
    return table


def open_table(
    source: Any,
    schema: Schema,
    identifiers: Sequence[str],
    person: str | None,
    *,
    csv: CsvForm | None = None,
    memory: str | None = None,
    show: bool = False,
    progress: Progress | None = None,
) -> tuple[Table | None, list[Misfit]]:
    """The table, or None and everything that does not fit; `show` puts cells into the messages."""
    engine = Engine(memory=memory)
    name = Path(source).name if isinstance(source, str | Path) else "table"
    table = None
    try:
        files = tuple(stamp(path) for path in scanned_files(source))
        shares = {_READ: parsing_share(source), _PERSONS: 2.0 if person else 0.0, _CELLS: 1.0}
        steps = Steps(progress, shares)
        with steps.step(_READ) as tell, engine.watched(tell):
            open_source(engine, source, [*schema.columns, *([person] if person else [])], csv)
        columns, misfits = match_columns(engine, schema, identifiers, person)
        if person and person in columns:
            with steps.step(_PERSONS) as tell, engine.watched(tell):
                misfits += check_persons(engine, person, columns[person])
        if not set(schema.columns) - set(columns) and not any(each.column in schema.columns for each in misfits):
            encodings = {name: (columns[name], schema.domains[name].encoding) for name in schema.columns}
            engine.encode(ROWS, SOURCE, encodings)
            with steps.step(_CELLS) as tell, engine.watched(tell):
                rows, strange = check_cells(engine, schema, show=show)
            misfits += strange
            if not rows:
                misfits.append(
                    Misfit(column=schema.sensitive, message="the table has no rows; nothing can be published")
                )
            if not misfits:
                histogram = _histogram(engine, schema)
                table = Table(engine=engine, schema=schema, rows=rows, histogram=histogram, files=files)
        return table, misfits
    except duckdb.Error as error:
        raise unreadable(name, error) from None
    finally:
        if table is None:
            engine.close()


def _histogram(engine: Engine, schema: Schema) -> dict[object, int]:
    """How often each value of the sensitive domain occurs, in the domain's order."""
    found = dict(engine.rows(f"SELECT {identifier(schema.sensitive)}, count(*) FROM {ROWS} GROUP BY ALL"))
    return {value: int(found.get(value, 0)) for value in schema.domains[schema.sensitive]}
