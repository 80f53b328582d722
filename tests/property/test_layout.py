"""Every byte of a table is a cell or follows from the cells: honest files pass, and what else is put in is found."""

from __future__ import annotations

import re
import struct
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, Case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parquet_bytes import BINARY, LIST, STRUCT, Chunk, Field, Fields, File, Items, Page, packed
from tampering import Releases, broken, copy_of, file_of, restate, table_of, with_cell, write_table

import discreet
from discreet.engine.columns import decoded
from discreet.engine.duck.database import ROW_GROUP, Database
from discreet.engine.encoding import Encoding
from discreet.engine.parquet import GROUP, write_parquet
from discreet.errors import ReleaseError
from discreet.release.folder import read_manifest
from discreet.verifier.layout.check import walk

WARDS = ("surgery", "maternity", "eye", "none of these")  # the last is in no row
LISTED = {b"ward": tuple(each.encode() for each in WARDS)}
SECRET = b"name;disease\nAda;HIV\nBob;Flu\n"
AGE, WARD, SEX, VISITS, BID = range(5)  # columns of the table below
GOLDEN = Path(__file__).parents[1] / "golden"
I32, I64 = 5, 6


def people(rows: int) -> str:
    """A query of people who do not exist, in types as a release has them."""
    listed = f"{list(WARDS[:3])}"
    return f"""SELECT (i * 7919 % 100003)::BIGINT AS age, ({listed})[1 + i * 7 % 3]::wards AS ward,
        (['F', 'M'])[1 + (i * i // 7) % 2] AS sex,
        (CASE WHEN i % 5 = 0 THEN NULL ELSE i * i % 11 END)::BIGINT AS visits, (i // 6 + 1)::INTEGER AS BID
        FROM range({rows}) rows(i) ORDER BY i"""


def write(query: str, to: Path) -> Path:
    """As the product writes a table."""
    with Database() as database:
        database.enumerate("wards", Encoding(WARDS))
        database.write_parquet(query, to)
    return to


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(people(300), tmp_path_factory.mktemp("layout") / "people.parquet")


@pytest.fixture(scope="module")
def arrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("layout") / "arrow.parquet"
    table = pa.table({"age": [each * 37 % 11 for each in range(300)], "sex": ["F", "M", "M"] * 100})
    write_parquet([table], to)
    return to


def objection(path: Path) -> str | None:
    """What the walk says of a file."""
    try:
        walk(path, LISTED)
    except ReleaseError as error:
        return str(error)
    return None


# --- Honest files ---------------------------------------------------------------------------------------------------


def test_the_forger_writes_what_it_reads(honest: Path, arrow: Path, tmp_path: Path):
    """Taken apart and put together without a change, a file has the same bytes: what differs below was planted."""
    for path in (honest, arrow):
        File.read(path).to(tmp_path / "again.parquet")
        assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()
        assert objection(path) is None


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 255, 256, 257, 2048, ROW_GROUP - 1, ROW_GROUP, 2 * ROW_GROUP + 1])
def test_tables_of_any_size_pass(rows: int, tmp_path: Path):
    """Around the ends of runs and of row groups."""
    assert objection(write(people(rows), tmp_path / "t.parquet")) is None


@pytest.mark.parametrize("rows", [0, 1, 8, 503, 504, 505, 20_001, GROUP + 1])
def test_tables_of_any_size_that_arrow_writes_pass(rows: int, tmp_path: Path):
    """Its dictionaries are left when they are full, and its pages end where it ends them."""
    whole = pa.table(
        {
            "BID": pa.array((each // 6 + 1 for each in range(rows)), pa.int32(), size=rows),
            "age": pa.array((each * 7919 % 200_003 for each in range(rows)), pa.int64(), size=rows),
            "ward": decoded(Encoding(WARDS, missing=True), np.arange(rows) % 3 + 1 + np.arange(rows) % 2),
        }
    )
    write_parquet((whole.slice(at, GROUP) for at in range(0, max(rows, 1), GROUP)), tmp_path / "t.parquet")
    assert objection(tmp_path / "t.parquet") is None


CELLS = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5),
    pa.int32(): st.integers(-(2**31), 2**31 - 1) | st.integers(0, 2),
    pa.float64(): st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.5]),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    | st.sampled_from(["", "é" * 300, "a" * 257]),
    pa.decimal128(18, 2): st.integers(-(10**18) + 1, 10**18 - 1).map(lambda each: Decimal(each).scaleb(-2)),
}


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    """A column of any type: drawn cells, empty ones too, in stretches of the same and in turns."""
    kind = draw(st.sampled_from([*CELLS]))
    own = draw(st.lists(CELLS[kind] | st.none(), min_size=1, max_size=12))
    runs = draw(
        st.lists(st.tuples(st.sampled_from(own), st.sampled_from([1, 1, 2, 3, 4, 7, 8, 9, 40, 257])), max_size=30)
    )
    cells = [cell for cell, times in runs for _ in range(times)]
    return pa.array((cells + own * 120)[:1200], kind)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(columns(), min_size=1, max_size=3), rows=st.integers(0, 1200), by_arrow=st.booleans())
def test_whatever_cells_a_writer_is_given_its_file_passes(drawn, rows, by_arrow, tmp_path: Path):
    """Numbers, decimals and text, missing and not, with dictionaries and without."""
    rows = min([rows, *map(len, drawn)])
    table = pa.table({f"c{place}": each.slice(0, rows) for place, each in enumerate(drawn)})
    to = tmp_path / "t.parquet"
    if by_arrow:
        write_parquet([table], to)
    else:
        with Database() as database:
            database.register("given", table)
            database.write_parquet("SELECT * FROM given", to)
    assert objection(to) is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(codes=st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_a_column_with_its_domain_as_its_dictionary_passes(codes: list[int], tmp_path: Path):
    """Whichever values occur, and whether cells are missing: what Arrow states of them is known."""
    column = decoded(Encoding(WARDS, missing=True), np.array(codes))
    write_parquet([pa.table({"ward": column})], tmp_path / "t.parquet")
    assert objection(tmp_path / "t.parquet") is None


TEXTS = {
    "long below": ("A" * 300, "x"),
    "long above": ("a", "x" * 300),
    "long between": ("a", "k" * 300, "x"),
    "long both": ("A" * 300, "x" * 300),
    "cut within a letter": ("A" * 255 + "é", "A" * 257, "x"),
    "none above": ("a", "ÿ" * 200),
    "empty": ("", "x"),
    "nothing else": ("",),
}


@pytest.mark.parametrize("own", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("rows", [300, ROW_GROUP + 300])
@pytest.mark.parametrize("listed", [False, True], ids=["text", "domain"])
def test_long_text_and_empty_text_pass(own: tuple[str, ...], rows: int, listed: bool, tmp_path: Path):
    """Writers shorten the limits of long text, on one side too; not all row groups have such text."""
    words = (*own, "b", "c")
    with Database() as database:
        database.enumerate("own", Encoding(words))
        place = f"CASE WHEN i < {ROW_GROUP} THEN i % {len(own)} ELSE {len(own)} + i % 2 END"
        query = f"SELECT ({[*words]})[1 + {place}] AS word FROM range({rows}) rows(i) ORDER BY i"
        query = f"SELECT word{'::own' if listed else ''} AS word FROM ({query})"
        database.write_parquet(query, tmp_path / "t.parquet")
    walk(tmp_path / "t.parquet", {b"word": tuple(each.encode() for each in words)} if listed else {})


def test_a_dictionary_that_arrow_takes_whole_passes(tmp_path: Path):
    """It counts a missing cell as an entry, and states the limits of a value that no cell has."""
    places = pa.array([0, None, 0, None, 1, 0], pa.int32())
    wards = pa.DictionaryArray.from_arrays(places, WARDS[:3])
    write_parquet([pa.table({"ward": wards})], tmp_path / "t.parquet")
    walk(tmp_path / "t.parquet", {b"ward": LISTED[b"ward"][:3]})


def test_pages_that_another_zstd_packs_worse_pass(tmp_path: Path):
    """DuckDB brings its own, and needs a quarter more than others for text that counts up."""
    query = f"SELECT CASE WHEN i % 2 = 0 THEN 'b' ELSE 'c' END || i AS name FROM range({ROW_GROUP}) rows(i) ORDER BY i"
    assert objection(write(query, tmp_path / "t.parquet")) is None


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("*/release/data/*.parquet")), ids=lambda path: f"{path.parts[-4]} {path.stem}"
)
def test_every_table_that_was_ever_published_passes(path: Path):
    """Also those with filters, which releases do not have any more."""
    schema = read_manifest(path.parents[1]).schema
    listed = {name: domain.encoding for name, domain in schema.domains.items() if domain.encoding.kind == "text"}
    walk(path, {name.encode(): tuple(str(each).encode() for each in own.values) for name, own in listed.items()})


# --- Hiding places --------------------------------------------------------------------------------------------------

Plant = Callable[[File], Any]


def chunk_of(file: File, column: int) -> Chunk:
    return file.groups[0][column]


def data_of(file: File, column: int) -> Page:
    return chunk_of(file, column).pages[-1]


def changed(page: Page, at: int, by: int) -> None:
    """One byte of what a page unpacks to, changed."""
    data = bytearray(page.data)
    data[at] ^= by
    page.data, page.frame = bytes(data), None


def longer(page: Page, more: bytes) -> None:
    page.data, page.frame = page.data + more, None


def statistics_of(file: File, column: int) -> Fields:
    return chunk_of(file, column).meta[12]


def element_of(file: File, column: int) -> Fields:
    return file.footer[2].items[1 + column]


def more_entries(file: File, column: int, entry: bytes) -> None:
    dictionary = chunk_of(file, column).pages[0]
    longer(dictionary, entry)
    dictionary.header[7][1] += 1
    statistics_of(file, column)[4] += 1


def exchanged(file: File) -> None:
    """The two entries of a dictionary, and every place in it, turned round: the same cells."""
    dictionary, page = chunk_of(file, SEX).pages
    first, second = dictionary.data[:5], dictionary.data[5:]
    dictionary.data, dictionary.frame = second + first, None
    at = 4 + int.from_bytes(page.data[:4], "little") + 1
    data = bytearray(page.data)
    while at < len(data):  # each run is of 256 places, or of one that is repeated
        packed_run, at = data[at] & 1, at + (2 if data[at] > 127 else 1)
        for place in range(at, at + 32 if packed_run else at + 1):
            data[place] ^= 255 if packed_run else 1
        at = at + 32 if packed_run else at + 1
    page.data, page.frame = bytes(data), None


def in_place_of_the_last(file: File, text: bytes) -> None:
    """The last value of the domain, which is in no row, and so is empty in the dictionary."""
    dictionary = chunk_of(file, WARD).pages[0]
    assert dictionary.data.endswith(b"eye\0\0\0\0")
    dictionary.data, dictionary.frame = dictionary.data[:-4] + len(text).to_bytes(4, "little") + text, None


def split_levels(file: File) -> None:
    """One run of 300 levels as two of 150."""
    page = data_of(file, AGE)
    assert page.data[:7] == bytes.fromhex("03000000d80401")
    page.data, page.frame = bytes.fromhex("06000000ac0201ac0201") + page.data[7:], None


def pages_in_two(file: File) -> None:
    """One page of plain cells as two."""
    chunk = chunk_of(file, AGE)
    (page,) = chunk.pages
    cells = page.data[7:]
    pages = []
    for part in (cells[:1200], cells[1200:]):
        header = Fields(Field(each.id, each.type, each.value) for each in page.header)
        header[5] = Fields(Field(each.id, each.type, each.value) for each in page.header[5])
        header[5][1] = 150
        pages.append(Page(header, bytes.fromhex("03000000ac0201") + part))
    chunk.pages = pages
    chunk.meta[13].items[0][3] = 2


def no_rows(file: File) -> None:
    """A page of no rows, with something in it."""
    chunk = chunk_of(file, AGE)
    header = Fields(Field(each.id, each.type, each.value) for each in chunk.pages[0].header)
    header[5] = Fields(Field(each.id, each.type, each.value) for each in header[5])
    header[5][1] = 0
    chunk.pages.append(Page(header, (0).to_bytes(4, "little") + SECRET))


def raw_blocks(data: bytes, size: int) -> bytes:
    """A frame of zstd of unpacked blocks of a size."""
    stated = bytes([len(data)]) if len(data) < 256 else (len(data) - 256).to_bytes(2, "little")
    out = bytes.fromhex("28b52ffd") + bytes([0x20 if len(data) < 256 else 0x60]) + stated
    parts = [data[at : at + size] for at in range(0, len(data), size)] if size else [b"", data]
    for place, part in enumerate(parts):
        out += (len(part) << 3 | (place == len(parts) - 1)).to_bytes(3, "little") + part
    return out


def framed(file: File, change: Callable[[bytes, bytes], bytes], column: int = AGE) -> None:
    page = data_of(file, column)
    page.frame = change(page.frame or b"", page.data)


def in_two_frames(frame: bytes, data: bytes) -> bytes:
    return packed(data[:500]) + packed(data[500:])


def bomb(file: File) -> None:
    """A page that says that it unpacks to 2 GB."""
    file.sizes = False
    data_of(file, AGE).header[2] = 2**31 - 1
    chunk_of(file, AGE).meta[6] = 2**31 + 100


def wide_column(file: File) -> None:
    file.footer.add(5, LIST, Items(STRUCT, [Fields([Field(1, BINARY, b"note"), Field(2, BINARY, SECRET)])]))


def named(name: bytes) -> Plant:
    return lambda file: file.footer.__setitem__(6, name)


def more(fields: Callable[[File], Fields], number: int, kind: int, value: Any) -> Plant:
    return lambda file: fields(file).add(number, kind, value)


def other(fields: Callable[[File], Fields], number: int, value: Any) -> Plant:
    return lambda file: fields(file).__setitem__(number, value)


def long(fields: Callable[[File], Fields], number: int, how: str) -> Plant:
    return lambda file: setattr(fields(file).field(number), "long", how)


def footer(file: File) -> Fields:
    return file.footer


def group(file: File) -> Fields:
    return file.footer[4].items[0]


def meta(file: File) -> Fields:
    return chunk_of(file, AGE).meta


def head(file: File) -> Fields:
    return data_of(file, AGE).header


EIGHT = struct.Struct("<q")
PLANTS: dict[str, Plant] = {
    # between the parts
    "between the last page and the footer": lambda file: setattr(file, "after_pages", SECRET),
    "between two columns": lambda file: setattr(chunk_of(file, SEX), "before", SECRET),
    "before the first page": lambda file: setattr(chunk_of(file, AGE), "before", SECRET),
    "behind the footer": lambda file: setattr(file, "after_footer", SECRET),
    "behind the end": lambda file: setattr(file, "after", SECRET),
    "behind the end, which ends again": lambda file: setattr(file, "after", SECRET + b"PAR1"),
    # the footer
    "metadata": wide_column,
    "metadata of a column": more(meta, 8, LIST, Items(STRUCT, [Fields([Field(1, BINARY, SECRET)])])),
    "a writer that nobody knows": named(b"Ada has HIV"),
    "a build that says something": named(b"DuckDB version v2.0.0 (build HIV)"),
    "a long build": named(b"DuckDB version v2.0.0 (build " + SECRET.hex().encode() + b")"),
    "an unknown field": more(footer, 77, BINARY, SECRET),
    "a field id": more(lambda file: element_of(file, AGE), 9, I32, 4711),
    "a length of a type that has none": more(lambda file: element_of(file, AGE), 2, I32, 4711),
    "another root": other(lambda file: file.footer[2].items[0], 4, SECRET),
    "another type": other(lambda file: element_of(file, AGE), 6, 17),
    "another version": other(footer, 1, 4711),
    "other rows": other(footer, 3, 4711),
    "a number in a longer form": long(footer, 3, "value"),
    "a field in a longer form": long(footer, 3, "head"),
    "fields in another order": lambda file: file.footer.append(file.footer.pop(0)),
    "a field that stands twice": lambda file: file.footer.insert(1, Field(1, I32, 1)),
    "one order more": lambda file: file.footer[7].items.append(file.footer[7].items[0]),
    "an order with a field": lambda file: file.footer[7].items[0][1].add(1, BINARY, SECRET),
    "a path of a file": more(lambda file: chunk_of(file, AGE).stated, 1, BINARY, SECRET),
    "a place of a column": other(lambda file: chunk_of(file, AGE).stated, 2, 4711),
    "a path of a column": other(meta, 3, Items(BINARY, [b"age", SECRET])),
    "values of a column": other(meta, 5, 301),
    "an index": more(meta, 10, I64, 4711),
    "one encoding more": other(meta, 2, Items(I32, [0, 4])),
    "other counts of pages": other(lambda file: meta(file)[13].items[0], 3, 4711),
    "another codec": other(meta, 4, 1),
    "columns that are sorted": more(group, 4, LIST, Items(STRUCT, [])),
    "another number of a row group": more(group, 7, 4, 4711),
    "a filter that is none": lambda file: [meta(file).add(14, I64, 4), meta(file).add(15, I32, 47)],
    # statistics
    "another maximum": other(lambda file: statistics_of(file, AGE), 5, EIGHT.pack(2**40)),
    "another minimum": other(lambda file: statistics_of(file, AGE), 6, EIGHT.pack(-4711)),
    "an old maximum that is text": other(lambda file: statistics_of(file, AGE), 1, SECRET),
    "another maximum of text": other(lambda file: statistics_of(file, SEX), 5, SECRET),
    "other nulls": other(lambda file: statistics_of(file, VISITS), 3, 4711),
    "other distinct values": other(lambda file: statistics_of(file, SEX), 4, 4711),
    "exact on one side": lambda file: setattr(statistics_of(file, AGE).field(7), "value", False),
    "values that are no number": more(lambda file: statistics_of(file, AGE), 9, I64, 4711),
    "an unknown statistic": more(lambda file: statistics_of(file, AGE), 12, BINARY, SECRET),
    # pages
    "a checksum": more(head, 4, I32, 4711),
    "statistics of a page": more(lambda file: head(file)[5], 5, STRUCT, Fields([Field(3, I64, 0)])),
    "an unknown field of a page": more(head, 9, BINARY, SECRET),
    "another encoding of levels": other(lambda file: head(file)[5], 4, 4),
    "another encoding of a page": other(lambda file: head(file)[5], 2, 5),
    "a page of no rows": no_rows,
    "a page cut in two": pages_in_two,
    "a second dictionary": lambda file: chunk_of(file, SEX).pages.insert(1, chunk_of(file, SEX).pages[0]),
    "behind the cells": lambda file: longer(data_of(file, AGE), SECRET),
    "behind the places": lambda file: longer(data_of(file, SEX), b"\x02\x00"),
    "in the bits behind the last place": lambda file: changed(data_of(file, SEX), -1, 0x80),
    "in the bits of a level": lambda file: changed(data_of(file, AGE), 6, 0x42),
    "levels that are split": split_levels,
    "a width that is none": lambda file: changed(data_of(file, SEX), 7, 3),
    # dictionaries
    "an unused entry": lambda file: more_entries(file, SEX, b"\x1e\0\0\0" + SECRET + b"!"),
    "an unused number": lambda file: more_entries(file, VISITS, EIGHT.pack(4711)),
    "an entry twice": lambda file: more_entries(file, VISITS, chunk_of(file, VISITS).pages[0].data[:8]),
    "behind the entries": lambda file: longer(chunk_of(file, SEX).pages[0], SECRET),
    "entries in another order": exchanged,
    "text in place of an unused value": lambda file: in_place_of_the_last(file, SECRET),
    "an unused value of a domain": lambda file: more_entries(file, WARD, b"\x1e\0\0\0" + SECRET + b"!"),
    "a dictionary that is sorted": more(lambda file: chunk_of(file, SEX).pages[0].header[7], 3, 1, True),
    # frames
    "a frame to skip": lambda file: framed(file, lambda frame, _: frame + bytes.fromhex("502a4d181e000000") + SECRET),
    "a frame to skip in front": lambda file: framed(
        file, lambda frame, _: bytes.fromhex("502a4d181e000000") + SECRET + frame
    ),
    "two frames": lambda file: framed(file, in_two_frames),
    "behind the frame": lambda file: framed(file, lambda frame, _: frame + SECRET),
    "unpacked blocks": lambda file: framed(file, lambda _, data: raw_blocks(data, 9)),
    "an empty block": lambda file: framed(file, lambda _, data: raw_blocks(data, 0)),
    "a flag of a frame": lambda file: framed(file, lambda frame, _: frame[:4] + bytes([frame[4] | 4]) + frame[5:]),
    "a frame that is cut": lambda file: framed(file, lambda frame, _: frame[:-1]),
    "a page of 2 GB": bomb,
}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_hiding_place_is_named(plant: Plant, honest: Path, tmp_path: Path):
    """In one sentence that says where it is, and nothing of what stands there."""
    file = File.read(honest)
    plant(file)
    file.to(tmp_path / "t.parquet")
    said = objection(tmp_path / "t.parquet")
    assert said is not None
    assert "\n" not in said
    assert not re.search(r"Ada|HIV|4711", said)


ARROW_PLANTS: dict[str, Plant] = {
    "other sizes": other(lambda file: meta(file)[16], 3, Items(I64, [0, 4711])),
    "bytes of text": other(lambda file: chunk_of(file, 1).meta[16], 1, 4711),
    "bytes of text of numbers": more(lambda file: meta(file)[16], 1, I64, 4711),
    "another maximum of a page": other(lambda file: head(file)[5][5], 5, EIGHT.pack(4711)),
    "other nulls of a page": other(lambda file: head(file)[5][5], 3, 4711),
    "another schema": other(lambda file: file.footer[2].items[0], 4, b"duckdb_schema"),
    "DuckDB's name": named(b"DuckDB version v2.0.0 (build d54cbbe3df)"),
    "an unused entry": lambda file: [
        longer(chunk_of(file, 1).pages[0], b"\x1d\0\0\0" + SECRET),
        other(lambda file: chunk_of(file, 1).pages[0].header[7], 1, 3)(file),
    ],
    "the bits behind the last place": lambda file: changed(data_of(file, 0), -1, 0x80),
}


@pytest.mark.parametrize("plant", ARROW_PLANTS.values(), ids=ARROW_PLANTS)
def test_a_hiding_place_in_a_file_of_arrow_is_named(plant: Plant, arrow: Path, tmp_path: Path):
    """What Arrow states beside: statistics of pages, and sizes."""
    file = File.read(arrow)
    plant(file)
    file.to(tmp_path / "t.parquet")
    assert objection(tmp_path / "t.parquet")


def test_row_groups_of_another_size_are_named(tmp_path: Path):
    """How rows are cut into groups could say something."""
    rows, to = people(5000).replace("::wards", ""), tmp_path / "t.parquet"
    duckdb.sql(f"COPY ({rows}) TO '{to}' (COMPRESSION zstd, ROW_GROUP_SIZE 2048)")
    assert "row groups" in str(objection(tmp_path / "t.parquet"))


def test_a_filter_says_what_its_dictionary_says(tmp_path: Path):
    """No bit more or less, and no other size."""
    path = GOLDEN / "anatomy" / "release" / "data" / "st.parquet"
    file = File.read(path)
    assert file.filters
    for change in (
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data + SECRET,
        lambda data: data[:-32],
    ):
        file = File.read(path)
        file.filters[-1] = (file.filters[-1][0], change(file.filters[-1][1]))
        file.to(tmp_path / "t.parquet")
        assert "filter" in str(objection(tmp_path / "t.parquet"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_byte_changes_without_an_objection_or_another_cell(data: st.DataObject, honest: Path, tmp_path: Path):
    """Changed, left out or put in anywhere, but for what the format leaves to writers; never a traceback."""
    content = bytearray(honest.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    match data.draw(st.sampled_from(["change", "cut", "put"])):
        case "change":
            content[at] ^= data.draw(st.integers(1, 255))
        case "cut":
            del content[at : at + data.draw(st.integers(1, 9))]
        case "put":
            content[at:at] = data.draw(st.binary(min_size=1, max_size=9))
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    if objection(path) is None and pq.read_table(path).to_pylist() == pq.read_table(honest).to_pylist():
        assert plainly(path) == plainly(honest)


def plainly(path: Path) -> bytes:
    """A file without what is left to its writer: how its pages are packed, and the version."""
    file = File.read(path)
    file.footer[6] = b"DuckDB"
    for page in (page for chunks in file.groups for chunk in chunks for page in chunk.pages):
        page.frame = None
    again = path.with_suffix(".plain")
    file.to(again)
    return again.read_bytes()


def test_a_page_of_two_gigabytes_is_refused_before_it_is_unpacked(honest: Path, tmp_path: Path):
    """The size that it states is too large, and nothing of that size is ever asked for."""
    file = File.read(honest)
    bomb(file)
    file.to(tmp_path / "t.parquet")
    tracemalloc.start()
    assert "size" in str(objection(tmp_path / "t.parquet")) or "unpack" in str(objection(tmp_path / "t.parquet"))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


# --- Releases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "name"),
    [pytest.param(case, name, id=f"{case.name} {name}") for case in CASES for name in case.tables],
)
def test_a_table_of_people_behind_the_last_page_is_found(case: Case, name: str, releases: Releases):
    """In every file of every kind of release: the check says in which, and those after it are not made."""
    with copy_of(releases.filled(case)) as folder:
        file = File.read(file_of(folder, name))
        file.after_pages = SECRET
        file.to(file_of(folder, name))
        restate(folder)
        verdict = discreet.verify(folder, allow_seeded=True)
        (found,) = [check for check in verdict.checks if check.name == "layout"]
        assert found.detail == f"data/{name}.parquet: something stands between the last page and the footer"
        assert all("layout" in check.detail for check in verdict.checks if not check.holds and check.name != "layout")


@pytest.mark.parametrize("case", [case for case in CASES if "leaves" in case.tables], ids=str)
def test_the_sign_of_a_nought_is_found(case: Case, releases: Releases):
    """A count of -0.0 is no other count, and so would hold a bit of whatever somebody hides."""
    with copy_of(releases.plain(case)) as folder:
        table = table_of(folder, "leaves")
        noughts = [row for row, count in enumerate(table["COUNT"].to_pylist()) if not count]
        assert noughts
        write_table(folder, "leaves", with_cell(table, noughts[0], "COUNT", -0.0))
        assert "schema" in broken(folder)
