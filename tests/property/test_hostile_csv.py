"""Any bytes that are called a CSV file give a table or one sentence, and no sentence holds a cell.

Opening a file costs an engine each time (some 40 ms, and a draft three of them), so a run of 5 minutes has 5,400 cases
and not 10,000: 4,600 files that are read with a policy, 400 that one is drafted from, 400 through the command line.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from cases import few
from hostile.tables import HEADER, MARK, PIECES, POLICY, Form, lines
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app

pytestmark = pytest.mark.slow

FUZZ = settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
SECONDS = 20  # that the slowest file may take, on a busy machine

FORMS = st.builds(
    Form,
    delimiter=st.sampled_from((",", ",", ";", "\t", "|", ":")),
    quote=st.sampled_from(('"', '"', "'")),
    end=st.sampled_from(("\n", "\n", "\r\n", "\r")),
    encoding=st.sampled_from(("utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")),
    always=st.booleans(),
    header=st.sampled_from(
        (
            HEADER,
            HEADER,
            HEADER,
            HEADER[::-1],
            ("name", "age", "ward", "disease", "age"),
            ("NAME", "AGE", "WARD", "DISEASE", "Note"),
            ("name", "age", "ward", "disease", "line\nbreak"),
            ("name", "age", "ward", "disease", "a\u2028b"),
            ("", "age", "ward", "disease", ""),
        )
    ),
    rows=st.sampled_from((12, 12, 12, 1, 0)),
    final=st.booleans(),
)


PLACES = st.floats(0, 1, exclude_max=True)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), PLACES, st.integers(1, 255)),
        st.tuples(st.just("insert"), PLACES, st.sampled_from(PIECES)),
        st.tuples(st.just("insert"), PLACES, st.binary(min_size=1, max_size=8)),
        st.tuples(st.just("remove"), PLACES, st.integers(1, 30)),
        st.tuples(st.just("cut"), PLACES, st.none()),
        st.tuples(st.just("repeat"), PLACES, st.sampled_from((2, 3, 1_000))),
    ),
    max_size=4,
)


def edited(data: bytes, edits: list[tuple[str, float, Any]]) -> bytes:
    for kind, place, what in edits:
        at = int(place * len(data))
        if kind == "flip":
            data = data[:at] + bytes(each ^ what for each in data[at : at + 1]) + data[at + 1 :]
        elif kind == "insert":
            data = data[:at] + what + data[at:]
        elif kind == "remove":
            data = data[:at] + data[at + what :]
        elif kind == "cut":
            data = data[:at]
        else:
            data = data[:at] + data[at : at + 12] * what + data[at + 12 :]
    return data


NAMES = st.sampled_from(("rows.csv", "rows.csv", "rows.csv", "rows.tsv", "rows.txt", "rows.csv.gz"))
SAID = st.none() | st.builds(
    discreet.CsvForm,
    delimiter=st.sampled_from((None, ",", ";", "\t", "x", " ")),
    quote=st.sampled_from((None, '"', "'", "a")),
    header=st.sampled_from((None, True, False)),
    encoding=st.sampled_from(
        (None, "latin-1", "utf-8", "utf-16", "utf-16-le", "cp1252", "ascii", "utf-7", "idna", "shift_jis")
    ),
)


def written(data: bytes, name: str, folder: str, *, cut: int | None = None) -> Path:
    path = Path(folder) / name
    path.write_bytes(gzip.compress(data, mtime=0)[:cut] if name.endswith(".gz") else data)
    return path


@given(form=FORMS, edits=EDITS, name=NAMES, said=SAID, cut=st.sampled_from((None, None, -4, 40)))
@settings(FUZZ, max_examples=few(4_600))
def test_any_bytes_are_a_table_or_refused_without_a_cell(
    form: Form, edits: list[Any], name: str, said: discreet.CsvForm | None, cut: int | None
) -> None:
    """4,600 files of many forms, changed anywhere, their header too."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(edited(b"".join(lines(form)), edits), name, folder, cut=cut)
        started = time.monotonic()
        try:
            table = discreet.read_table(path, POLICY, csv=said)
        except discreet.DiscreetError as error:
            assert MARK not in str(error)  # noqa: PT017 # it may also be a table
        else:
            assert isinstance(table, discreet.Table)
            assert table.rows == sum(table.histogram.values())
            table.close()
        assert time.monotonic() - started < SECONDS


@given(form=FORMS, edits=EDITS, name=NAMES, sensitive=st.sampled_from((None, None, "disease", "nobody")))
@settings(FUZZ, max_examples=few(400))
def test_any_bytes_give_a_draft_or_are_refused_without_a_cell(
    form: Form, edits: list[Any], name: str, sensitive: str | None
) -> None:
    """400 files whose rows were changed; what stands in the first line may be a name, so that is left as it is."""
    header, body = lines(form)
    with tempfile.TemporaryDirectory() as folder:
        path = written(header + edited(body, edits), name, folder)
        started = time.monotonic()
        try:
            draft = discreet.draft_policy(path, sensitive)
        except discreet.DiscreetError as error:
            assert MARK not in str(error)  # noqa: PT017 # it may also be a table
        else:
            assert draft.text
        assert time.monotonic() - started < SECONDS


@given(form=FORMS, edits=EDITS, name=NAMES)
@settings(FUZZ, max_examples=few(400))
def test_the_command_drafts_or_refuses_any_bytes(form: Form, edits: list[Any], name: str) -> None:
    """400 files through `discreet init`: exit 0 or 2, and no traceback."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(edited(b"".join(lines(form)), edits), name, folder)
        said = CliRunner().invoke(app, ["init", str(path), "-o", str(path.with_name("drafted.toml"))])
        assert said.exception is None or isinstance(said.exception, SystemExit), repr(said.exception)
        assert said.exit_code in (0, 2)
