"""DuckDB's SQL for names, values and encoded columns; text of a stranger gets into a statement only through here."""

from __future__ import annotations

from decimal import Decimal

from discreet.engine.digest import EMPTY, digest_of
from discreet.engine.encoding import DATES, WIDTH, Cell, Encoding, Grouping

_NEARLY = 12  # digits after the point to which a cell must agree with a decimal


def identifier(name: str) -> str:
    """A name as SQL: quoted, with quotes doubled."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def literal(value: Cell) -> str:
    """A value as an SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, Decimal):
        return f"({value:f}::{_decimal(max(0, -int(value.as_tuple().exponent)))})"
    return text(value) if isinstance(value, str) else f"({value}::BIGINT)"


def code(column: str, encoding: Encoding) -> str:
    """The SQL of an encoded column's code, from 0."""
    found = _code(identifier(column), encoding)
    return f"coalesce({found}, {len(encoding.values)})" if encoding.missing else found


def _code(value: str, encoding: Encoding) -> str:
    """The SQL of the code of a value that is there."""
    if encoding.kind == "text":
        return f"enum_code({value})"
    whole = _whole_of(value, encoding.scale)
    if not isinstance(encoding.values, range):
        return f"(list_position({list(encoding.values)}::BIGINT[], {whole}) - 1)"
    found = f"({whole}::BIGINT - ({encoding.values[0]}))"
    return found if encoding.values.step == 1 else f"({found} // {encoding.values.step})"


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
    kind = type_of(encoding)
    if isinstance(encoding.values, range):
        first, end, step = encoding.values[0], encoding.values[-1] + 1, encoding.values.step
        value = _decimal_of(name, encoding.scale)
        rows = f"SELECT ({name} - ({first})) // {step} AS {place}, {value} AS {name} FROM "
        rows += f"range({first}, {end}, {step}) listed({name})"
    elif not encoding.values:
        return f"(SELECT 0 AS {place}, CAST(NULL AS VARCHAR) AS {name})"
    else:
        values = [encoding[place_of] for place_of in range(len(encoding.values))]
        listed = ", ".join(f"({place_of}, {literal(value)})" for place_of, value in enumerate(values))
        rows = f"SELECT {place}, CAST({name} AS {kind}) AS {name} FROM (VALUES {listed}) listed({place}, {name})"
    if encoding.missing:
        rows += f" UNION ALL SELECT {len(encoding.values)}, CAST(NULL AS {kind})"
    return f"({rows})"


def type_of(encoding: Encoding) -> str:
    """The type of DuckDB's that an encoding's values are written in."""
    return "VARCHAR" if encoding.kind == "text" else _decimal(encoding.scale) if encoding.scale else "BIGINT"


def narrow(encoding: Encoding) -> tuple[str, int]:
    """The smallest type of DuckDB's that holds an encoding's numbers, and its bytes; of text, those of codes."""
    if encoding.scale:
        return _decimal(encoding.scale), 8
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
    """The SQL that turns a source column into a value of the encoding, or NULL; nothing is rounded or trimmed.

    `enumeration` is the type of an encoding's text; that of cells in groups has `given_enumeration` of it.
    """
    if encoding.grouping is not None:
        return _grouped(column, source_type, encoding, encoding.grouping, enumeration)
    name = identifier(column)
    if encoding.kind == "text":
        return f"TRY_CAST({_text_cell(name, source_type, encoding.date)} AS {enumeration})"
    whole = _scaled(name, source_type, encoding.scale) if encoding.scale else _whole(name, source_type)
    if isinstance(encoding.values, range):
        first, last, step = encoding.values[0], encoding.values[-1], encoding.values.step
        fits = f"{whole} BETWEEN {first} AND {last}" + (f" AND ({whole} - ({first})) % {step} = 0" if step > 1 else "")
    else:
        fits = f"{whole} IN ({', '.join(map(str, encoding.values))})"
    return f"CASE WHEN {fits} THEN {_decimal_of(whole, encoding.scale)} END"


def given_enumeration(enumeration: str) -> str:
    """The name of the type of the text that cells hold before they are put into groups."""
    return f"{enumeration}_given"


def _grouped(column: str, source_type: str, encoding: Encoding, grouping: Grouping, enumeration: str) -> str:
    """A source column as the groups of its values."""
    value = encoded(column, source_type, grouping.given, given_enumeration(enumeration))
    groups = ", ".join(literal(encoding[group]) for group in grouping.groups)
    return f"CAST(list_extract([{groups}], {_code(value, grouping.given)} + 1) AS {enumeration})"


def _text_cell(name: str, kind: str, date: str) -> str:
    """A cell as text; a date is cut to what is asked for, and what is none stays as it is."""
    cell = f"CAST({name} AS VARCHAR)"
    if not date:
        return cell
    day = name if kind.partition("(")[0] in ("DATE", "TIMESTAMP") else f"TRY_CAST({cell} AS DATE)"
    return f"coalesce(strftime({day}, {text(DATES[date])}), {cell})"


def _decimal(scale: int) -> str:
    return f"DECIMAL({WIDTH},{scale})"


def _decimal_of(whole: str, scale: int) -> str:
    """A whole number of the smallest steps as the decimal that it stands for."""
    if not scale:
        return whole
    step = f"{Decimal(1).scaleb(-scale):f}::DECIMAL({scale + 1},{scale})"
    return f"CAST(CAST({whole} AS DECIMAL({WIDTH},0)) * {step} AS {_decimal(scale)})"


def _whole_of(decimal: str, scale: int) -> str:
    """The same the other way round."""
    return f"CAST(CAST({decimal} AS DECIMAL(38,{scale})) * {10**scale} AS BIGINT)" if scale else decimal


def _scaled(value: str, kind: str, scale: int) -> str:
    """A column as whole numbers of the smallest steps, NULL where it is no decimal, or a finer one."""
    if kind == _decimal(scale):
        return _whole_of(value, scale)
    cell = f"CAST({value} AS VARCHAR)"
    number, fine = f"TRY_CAST({cell} AS {_decimal(scale)})", f"TRY_CAST({cell} AS DECIMAL(38,{_NEARLY}))"
    plain = f"{number} = {fine}"
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        plain += f" AND regexp_full_match({cell}, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?')"
    return f"CASE WHEN {plain} THEN {_whole_of(number, scale)} END"


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
