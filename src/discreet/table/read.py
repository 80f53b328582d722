"""Reading a table: opened where it is, and checked against the policy before anything else happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.engine.duck.engine import DuckEngine
from discreet.engine.engine import Engine
from discreet.engine.faults import Unfit
from discreet.errors import TableError
from discreet.ground.progress import Progress, Steps
from discreet.schema.missing import Marks
from discreet.schema.read import DATA
from discreet.schema.same import Same
from discreet.schema.schema import Schema
from discreet.table.inspect import Misfit, check_cells, check_persons, match_columns
from discreet.table.reading import unreadable
from discreet.table.source import CsvForm, find_source, name_of_source, scanned_files, source_files
from discreet.table.table import Table, check_stamps, stamp

if TYPE_CHECKING:
    from discreet.schema.policy import Policy

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
        source,
        policy.schema,
        policy.identifiers,
        policy.person,
        marks=policy.marks,
        same=policy.same,
        csv=csv,
        memory=memory,
        progress=progress,
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
    marks: Marks | None = None,
    same: Same | None = None,
    csv: CsvForm | None = None,
    memory: str | None = None,
    show: bool = False,
    progress: Progress | None = None,
) -> tuple[Table | None, list[Misfit]]:
    """The table, or None and everything that does not fit; `show` puts cells into the messages.

    `marks` are the texts that mean a missing cell, for some columns, and `same` other spellings of values.
    """
    engine: Engine = DuckEngine(memory=memory)
    wanted = [*schema.columns, *([person] if person else [])]
    table = None
    try:
        files = tuple(stamp(path) for path in source_files(source))  # read more than once, also where they are text
        text = source_files(source) and not scanned_files(source)  # it is parsed and encoded in the first step
        shares = dict(zip((_READ, _PERSONS, _CELLS), (5.0, 1.0, 0.2) if text else (0.1, 2.0, 1.0), strict=True))
        shares[_PERSONS] *= person is not None
        steps = Steps(progress, shares)
        with steps.step(_READ) as tell, engine.watched(tell):
            present = engine.open(find_source(source, wanted, csv), wanted)
            columns, misfits = match_columns(present, schema, identifiers, person)
            digested = tuple(columns[name] for name in ([person] if person else identifiers) if name in columns)
            whole = set(schema.columns) <= set(columns) and not any(each.column in schema.columns for each in misfits)
            engine.blank({columns[name]: texts for name, texts in (marks or {}).items() if name in columns})
            engine.join({columns[name]: texts for name, texts in (same or {}).items() if name in columns})
            if whole:
                encodings = {name: (columns[name], schema.domains[name].given) for name in schema.columns}
                engine.encode(encodings, digested)
        if person and person in columns:
            with steps.step(_PERSONS) as tell, engine.watched(tell):
                misfits += check_persons(engine, person, columns[person])
        if whole:
            with steps.step(_CELLS) as tell, engine.watched(tell):
                rows, strange = check_cells(engine, schema, show=show)
            misfits += strange
            if not rows:
                nobody = "the table has no rows; nothing can be published"
                misfits.append(Misfit(column=schema.sensitive, message=nobody, key=DATA))
            if not misfits:
                check_stamps(files)
                table = Table(
                    name=name_of_source(source),
                    engine=engine,
                    schema=schema,
                    rows=rows,
                    histogram=_histogram(engine, schema),
                    files=() if text else files,
                    parsed=files if text else (),
                    columns=tuple(present),
                    given=columns,
                    digested=digested,
                    person=person,
                    identifiers=tuple(identifiers),
                )
        return table, misfits
    except Unfit as fault:
        raise unreadable(source, csv, fault) from None
    finally:
        if table is None:
            engine.close()


def _histogram(engine: Engine, schema: Schema) -> dict[object, int]:
    """How often each value of the sensitive domain occurs, in the domain's order."""
    found = engine.histogram(schema.sensitive)
    return {value: int(found.get(value, 0)) for value in schema.domains[schema.sensitive]}
