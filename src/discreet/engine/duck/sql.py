"""DuckDB's SQL for names, values and encoded columns; text of a stranger gets into a statement only through here."""

from __future__ import annotations

from discreet.engine.digest import EMPTY, digest_of
from discreet.engine.encoding import Encoding


def identifier(name: str) -> str:
    """A name as SQL: quoted, with quotes doubled."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def literal(value: int | str | None) -> str:
    """A value as an SQL literal."""
    if value is None:
        return "NULL"
    return text(value) if isinstance(value, str) else f"({value}::BIGINT)"


def code(column: str, encoding: Encoding) -> str:
    """The SQL of an encoded column's code, from 0."""
    name = identifier(column)
    if isinstance(encoding.values, range):
        found = f"({name}::BIGINT - ({encoding.values[0]}))"
    elif encoding.kind == "integers":
        found = f"(list_position({list(encoding.values)}::BIGINT[], {name}) - 1)"
    else:
        found = f"enum_code({name})"
    return f"coalesce({found}, {len(encoding.values)})" if encoding.missing else found


def rank(column: str, encoding: Encoding) -> str:
    """The SQL to sort an encoded column by, in the order of its codes; a missing cell sorts last by itself."""
    in_order = encoding.kind != "integers" or list(encoding.values) == sorted(encoding.values)
    return identifier(column) if in_order else code(column, encoding)


def position(column: str) -> str:
    """The name of a value's position in a listing: never that of the column."""
    return identifier(f"{column} position")


def listing(column: str, encoding: Encoding) -> str:
    """A relation of the values with their positions: the value under the column's name, `position(column)` from 0."""
    name, place = identifier(column), position(column)
    kind = "VARCHAR" if encoding.kind == "text" else "BIGINT"
    if isinstance(encoding.values, range):
        first, end = encoding.values[0], encoding.values[-1] + 1
        rows = f"SELECT {name} - ({first}) AS {place}, {name} FROM range({first}, {end}) listed({name})"
    elif not encoding.values:
        return f"(SELECT 0 AS {place}, CAST(NULL AS VARCHAR) AS {name})"
    else:
        values: tuple[int | str, ...] = encoding.values
        listed = ", ".join(f"({place_of}, {literal(value)})" for place_of, value in enumerate(values))
        rows = f"SELECT {place}, CAST({name} AS {kind}) AS {name} FROM (VALUES {listed}) listed({place}, {name})"
    if encoding.missing:
        rows += f" UNION ALL SELECT {len(encoding.values)}, CAST(NULL AS {kind})"
    return f"({rows})"


def narrow(encoding: Encoding) -> tuple[str, int]:
    """The smallest type of DuckDB's that holds an encoding's whole numbers, and its bytes; of text, those of codes."""
    if encoding.kind == "text":
        low, high = 0, len(encoding.values)  # the engine reserves one code
    elif isinstance(encoding.values, range):
        low, high = encoding.values[0], encoding.values[-1]  # min and max would go through all of them
    else:
        low, high = min(encoding.values), max(encoding.values)  # type: ignore[assignment]
    for size, name in ((1, "TINYINT"), (2, "SMALLINT"), (4, "INTEGER")):
        if low >= 0 and high < 256**size:
            return f"U{name}", size
        if -(256**size) // 2 <= low and high < 256**size // 2:
            return name, size
    return "BIGINT", 8


def encoded(column: str, source_type: str, encoding: Encoding, enumeration: str) -> str:
    """The SQL that turns a source column into a value of the encoding, or NULL; nothing is rounded or trimmed."""
    name = identifier(column)
    if encoding.kind == "text":
        return f"TRY_CAST(CAST({name} AS VARCHAR) AS {enumeration})"
    whole = _whole(name, source_type)
    if isinstance(encoding.values, range):
        return f"CASE WHEN {whole} BETWEEN {encoding.values[0]} AND {encoding.values[-1]} THEN {whole} END"
    return f"CASE WHEN {whole} IN ({', '.join(map(str, encoding.values))}) THEN {whole} END"


def _whole(value: str, kind: str) -> str:
    """A column as whole numbers, NULL where it is not one."""
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        cell = f"CAST({value} AS VARCHAR)"
        number = f"TRY_CAST({cell} AS BIGINT)"  # it also takes spaces, fractions and exponents, which are no digits
        plain = f"WHEN CAST({number} AS VARCHAR) = {cell} THEN {number}"  # most are, and this is the fastest to see
        return f"CASE {plain} WHEN regexp_full_match({cell}, '[+-]?[0-9]+') THEN {number} END"
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return f"CASE WHEN {value} = floor({value}) THEN TRY_CAST({value} AS BIGINT) END"
    return f"TRY_CAST({value} AS BIGINT)"


def written(column: str, kind: str) -> str:
    """The one way to write a cell, as `engine.digest.written` does; NULL where it is empty."""
    name, base = identifier(column), kind if kind.endswith("]") else kind.partition("(")[0]
    if base in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"):
        return f"CAST({name} AS VARCHAR)"
    if base in ("FLOAT", "DOUBLE", "DECIMAL"):
        return f"coalesce(CAST({_whole(name, kind)} AS VARCHAR), CAST({name} AS VARCHAR))"
    cell = f"trim(CAST({name} AS VARCHAR), ' ')"  # by itself it cuts the spaces of every script
    number = f"coalesce(CAST(TRY_CAST({cell} AS BIGINT) AS VARCHAR), {cell})"
    doubtful = f"{cell} < '1' AND regexp_full_match({cell}, '[+-]?[0-9]+')"  # a sign or a zero is in front
    return f"CASE WHEN {doubtful} THEN {number} ELSE {cell} END"


def long_digest(column: str, kind: str) -> str:
    """The 128 bits of a cell's MD5, NULL where it is empty."""
    return f"md5_number({written(column, kind)})"


def digest(column: str, kind: str) -> str:
    """A cell's digest as `engine.digest.digest_of` gives it."""
    return f"md5_number_upper(coalesce({written(column, kind)}, {text(EMPTY)}))"


def digest_within(long: str) -> str:
    """The digest of a cell of which the long one was kept."""
    return f"coalesce(CAST({long} & {2**64 - 1}::UHUGEINT AS UBIGINT), {digest_of(None)}::UBIGINT)"
