"""Opening a table where it is: CSV, Parquet and globs of either, pandas, Polars, Arrow and DuckDB; the input never
changes.

CSV cells stay text until a domain says otherwise, so zip codes keep their zeros. The separator, the quotes and the
header are told by the column names that are expected, where some are.
"""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyarrow import parquet

from discreet.engine.source import CsvFiles, InMemory, ParquetFiles, Source
from discreet.errors import TableError

CSV_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
DELIMITERS = (",", ";", "\t", "|", ":")
QUOTES = ('"', "'")
_FIRST_LINE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class CsvForm:
    """How to read a CSV file; None means: find out."""

    delimiter: str | None = None
    quote: str | None = None
    header: bool | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        for name, sign in (("delimiter", self.delimiter), ("quote", self.quote)):
            if sign is not None and len(sign.encode()) != 1:
                raise TableError(f"{name} ({sign}) must be one plain character, such as ';'")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise TableError(f"encoding ({self.encoding}) must be one that Python knows, such as latin-1") from None


def find_source(source: Any, expected: Sequence[str], form: CsvForm | None) -> Source:
    """Where the rows are and how they are written."""
    if isinstance(source, str | Path):
        return _find_files(str(source), expected, form or CsvForm())
    columns = _columns_in_memory(source)
    _no_twins(columns.columns if hasattr(columns, "dtypes") else columns.schema.names, expected)
    return InMemory(columns=columns)


def name_of_source(source: Any) -> str:
    """A short name for messages, without a path."""
    return Path(source).name if isinstance(source, str | Path) else type(source).__name__


def _columns_in_memory(source: Any) -> Any:
    """What an engine can scan again and again: Arrow, or a pandas frame."""
    kind = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
    if kind in ("polars.DataFrame", "polars.LazyFrame"):
        return (source.collect() if kind == "polars.LazyFrame" else source).to_arrow()
    if hasattr(source, "to_arrow_table"):  # a DuckDB relation lives in another connection
        return source.to_arrow_table()
    if kind == "pyarrow.RecordBatchReader":
        return source.read_all()
    if kind.split(".")[0] not in ("pandas", "pyarrow") or not (hasattr(source, "columns") or hasattr(source, "schema")):
        raise TableError(
            f"source ({kind}) must be a path to CSV or Parquet, or a pandas, Polars, Arrow or DuckDB table"
        )
    if kind.startswith("pandas") and any(not isinstance(name, str) for name in source.columns):
        raise TableError("every column of the frame must have a text for its name; rename the others")
    return source


def _find_files(pattern: str, expected: Sequence[str], form: CsvForm) -> Source:
    paths = tuple(_found(pattern))
    endings = {_ending(path) for path in paths}
    if len(endings) > 1:
        raise TableError(f"table ({pattern}) must be files of one kind; CSV and Parquet cannot be mixed")
    if endings == {"parquet"}:
        _no_twins(parquet_names(paths[0]), expected)
        return ParquetFiles(paths=paths)
    encoding = form.encoding or _encoding_of(paths[0])
    starts = [_start_of_text(path, encoding) for path in paths]
    if not any(start.strip("\r\n") for start in starts):
        raise TableError(f"table ({Path(pattern).name}) must have a header and rows; it is empty")
    delimiter, quote, header = _sniff(starts[0], expected, form)
    plain = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")
    return CsvFiles(
        paths=paths,
        delimiter=delimiter,
        quote=quote,
        header=header,
        skip=_blank_lines(starts),
        encoding=None if plain else encoding,
    )


def _no_twins(names: Iterable[str], expected: Sequence[str]) -> None:
    """Refuse a table in which an expected name stands twice, letter case aside: nobody can know which was meant."""
    found = Counter(name.casefold() for name in names)
    for name in expected:
        if found[name.casefold()] > 1:
            raise TableError(f"the table must have one column called {name}; rename the others (case does not count)")


def parquet_names(path: Path) -> list[str]:
    """The columns of a Parquet file as it spells them; none where it cannot be read, which its reader will say."""
    try:
        return list(parquet.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return []


def source_files(source: Any) -> list[Path]:
    """The files that a source names; none where it is in memory."""
    return _found(str(source)) if isinstance(source, str | Path) else []


def scanned_files(source: Any) -> list[Path]:
    """The files that publishing reads again: Parquet is scanned in place, everything else is kept or in memory."""
    return [path for path in source_files(source) if _ending(path) == "parquet"]


def _found(pattern: str) -> list[Path]:
    """The file, or the files of a glob in the order of their names."""
    if Path(pattern).is_file():
        return [Path(pattern).resolve()]
    paths = [Path(each).resolve() for each in sorted(glob.glob(pattern)) if Path(each).is_file()]
    if not paths:
        raise TableError(f"table ({pattern}) must be a file that exists, or a pattern that some file matches")
    return paths


def _ending(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(PARQUET_ENDINGS):
        return "parquet"
    if name.endswith(CSV_ENDINGS):
        return "csv"
    raise TableError(f"table ({path.name}) must end in .csv, .tsv, .txt (or these with .gz) or .parquet")


def _sniff(start: str, expected: Sequence[str], form: CsvForm) -> tuple[str | None, str | None, bool | None]:
    """Separator, quotes and header: as given, else those under which the first line has most of the expected names."""
    start = start.lstrip("\r\n")
    wanted = {name.casefold() for name in expected}
    best: tuple[int, str | None, str | None] = (0, None, None)
    header_names: list[str] = []
    for delimiter in (form.delimiter,) if form.delimiter else DELIMITERS:
        for quote in (form.quote,) if form.quote else QUOTES:
            names = _first_record(start, delimiter, quote)
            hits = len(wanted & {name.casefold() for name in names})
            if hits > best[0]:
                best, header_names = (hits, delimiter, quote), names
    _no_twins(header_names, expected)
    hits, found, quotes = best
    header = form.header if form.header is not None else (hits > 0 if wanted else None)
    return form.delimiter or found, form.quote or quotes, header


def _blank_lines(starts: Sequence[str]) -> int:
    """How many empty lines come before the first record; the same in every file, or a row would be lost."""
    found = set()
    for start in starts:
        blank = start[: len(start) - len(start.lstrip("\r\n"))]
        found.add(len(blank.replace("\r\n", "\n")))
    if len(found) > 1:
        raise TableError("files of one table must begin alike; remove the empty lines before their first records")
    return found.pop()


def _first_record(start: str, delimiter: str, quote: str) -> list[str]:
    """The cells of the first record, which goes on after a line break inside quotes; none where there is no record."""
    try:
        return next(csv.reader(StringIO(start, newline=""), delimiter=delimiter, quotechar=quote), [])
    except csv.Error:
        return []


def _encoding_of(path: Path) -> str:
    """The encoding that a byte-order mark names; UTF-8 otherwise."""
    start = start_of(path)
    marks = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    return next((name for mark, name in marks.items() if start.startswith(mark)), "utf-8")


def _start_of_text(path: Path, encoding: str) -> str:
    """How a file begins, without the mark of its encoding; signs that are in no such encoding are not judged here."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    try:
        return decoder.decode(start_of(path)).removeprefix("\ufeff")
    except UnicodeError:  # a few cannot replace
        raise TableError(
            f"table ({path.name}) must be in {encoding}; it is not, so name its real encoding with --encoding"
        ) from None


def start_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked."""
    try:
        with _opened(path) as file:
            return file.read(_FIRST_LINE)
    except (OSError, EOFError, zlib.error):
        raise TableError(f"table ({path.name}) must be readable; it is damaged or not what its name says") from None


def _opened(path: Path) -> IO[bytes]:
    try:
        return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]
    except OSError as error:
        raise TableError(f"table ({path.name}) must be readable: {error.strerror}") from None
