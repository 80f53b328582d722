"""Tables in CSV: read with a policy, checked, published, and drafted from, in the library and the command line."""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from hostile.tables import HEADER, MARK, PIECES, POLICY, Form, lines

import discreet
from fuzz import texts
from fuzz.door import choices, commanded, said

_NAMES = ("rows.csv", "rows.csv", "rows.csv", "rows.tsv", "rows.txt", "rows.csv.gz")
_SAID = (
    None,
    None,
    None,
    discreet.CsvForm(delimiter=","),
    discreet.CsvForm(delimiter=";", quote="'"),
    discreet.CsvForm(delimiter="\t", header=True),
    discreet.CsvForm(header=False),
    discreet.CsvForm(encoding="latin-1"),
    discreet.CsvForm(encoding="utf-16"),
    discreet.CsvForm(encoding="cp1252", quote='"'),
)
_FIRST = ",".join(HEADER).encode() + b"\n"
_PIECES = tuple(piece.decode("utf-8", "surrogateescape") for piece in PIECES if len(piece) < 1_000)


class Tables:
    """The first byte chooses the file's name and what is said of its form, the second what it is read for."""

    packages: ClassVar = ("discreet",)
    secrets: ClassVar = (MARK, "Traceback")

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> Iterator[bytes]:
        for number, delimiter in enumerate((",", ";", "\t", "|", ",", ",")):
            form = Form(
                delimiter=delimiter,
                quote="'" if number == 1 else '"',
                end="\r\n" if number == 2 else "\n",
                encoding=("utf-8", "utf-8", "latin-1", "utf-8-sig", "utf-16", "utf-8")[number],
                always=number == 3,
                header=HEADER,
                rows=12,
                final=number != 0,
            )
            for way in (0, 8, 16, 40, 200):
                yield bytes((number, way)) + b"".join(lines(form))

    def open(self) -> None:
        POLICY.save(self._folder / "policy.toml")

    def enter(self, data: bytes) -> list[str]:
        first, way, content = choices(data)
        name, form = _NAMES[first % len(_NAMES)], _SAID[first // len(_NAMES) % len(_SAID)]
        place = self._folder / "table"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        path, drafts = place / name, way < 24
        content = _FIRST + content if drafts else content  # what stands in the first line may be a name
        path.write_bytes(gzip.compress(content, 1, mtime=0) if name.endswith(".gz") else content)
        if way < 4:
            return commanded("init", path, "-o", place / "drafted.toml")
        if drafts:
            return said(lambda: _drafted(path))
        if way < 32:
            return commanded("check", path, "--policy", self._folder / "policy.toml")
        if way < 48:
            return said(lambda: _published(path, form, place))
        return said(lambda: _read(path, form))

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        return texts.step(content, _PIECES, coins)


def _read(path: Path, form: discreet.CsvForm | None) -> None:
    with discreet.read_table(path, POLICY, csv=form) as table:
        assert table.rows == sum(table.histogram.values())


def _drafted(path: Path) -> str:
    draft = discreet.draft_policy(path)
    return f"{draft} {dict(draft.identifiers)} {dict(draft.left_out)} {draft.persons} {draft.candidates}"


def _published(path: Path, form: discreet.CsvForm | None, place: Path) -> None:
    with discreet.read_table(path, POLICY, csv=form) as table:
        discreet.publish(table, POLICY, to=place / "release", series=place / "table.series").close()
