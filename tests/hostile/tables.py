"""A table in every form of CSV, the policy that fits it, and bytes that do not belong into one."""

from __future__ import annotations

from dataclasses import dataclass

import discreet
from discreet.schema.domain import Integers, Listed

MARK = "Xyzzy"  # in cells that nobody may be shown
HEADER = ("name", "age", "ward", "disease", "note")
ROWS = [(f"{MARK} {i}", str(3 + i % 5), "zam"[i % 3], "qpsr"[i % 4], f'{MARK}, it\'s "{i}"') for i in range(12)]
POLICY = discreet.Policy(
    schema=discreet.Schema(
        quasi_identifiers=("age", "ward"),
        sensitive="disease",
        domains={
            "age": Integers(low=3, high=7),
            "ward": Listed(values=("z", "a", "m"), missing=True),
            "disease": Listed(values=("q", "p", "s", "r")),
        },
    ),
    identifiers=("name",),
    mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor="2/3")),
)


@dataclass(frozen=True)
class Form:
    """How a table is written."""

    delimiter: str
    quote: str
    end: str
    encoding: str
    always: bool  # quotes around every cell
    header: tuple[str, ...]
    rows: int
    final: bool  # a line end after the last row


def lines(form: Form) -> tuple[bytes, bytes]:
    """The header line and the rest of the file."""

    def cell(text: str) -> str:
        if form.always or any(sign in text for sign in (form.delimiter, form.quote, "\n", "\r")):
            return form.quote + text.replace(form.quote, form.quote * 2) + form.quote
        return text

    def line(cells: tuple[str, ...]) -> str:
        return form.delimiter.join(map(cell, cells))

    order = [HEADER.index(name) if name in HEADER else at for at, name in enumerate(form.header)]
    rows = [line(tuple(row[at] for at in order)) for row in ROWS[: form.rows]]
    body = form.end.join(rows) + (form.end if form.final else "")
    code = "utf-16-le" if form.encoding == "utf-16" else "utf-8" if form.encoding == "utf-8-sig" else form.encoding
    mark = {"utf-16": b"\xff\xfe", "utf-8-sig": b"\xef\xbb\xbf"}.get(form.encoding, b"")
    return mark + (line(form.header) + form.end).encode(code, "replace"), body.encode(code, "replace")


PIECES = (
    b"\x00",
    b"\xff",
    b"\xc3",
    b'"',
    b"'",
    b'""',
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n\n",
    b",",
    b";",
    b"\t",
    b",,,,,,,,",
    b"\\",
    b"#",
    b" ",
    b"\x1a",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    "\u2028".encode(),
    "\x85".encode(),
    b"\x85",
    b"A" * 3_000,
    b'"' + b"b" * 200_000,
    b"NULL",
    b"1e999",
    b"\xf0\x9f\x98\x80",
    f"{MARK}\n".encode(),
    f"{MARK},{MARK},{MARK},{MARK},{MARK}\n".encode(),
    b"=cmd()",
    b"age",
    b"disease,",
)
