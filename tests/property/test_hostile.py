"""A release from a stranger gives a verdict and estimates or one sentence, whatever its bytes and its family.

Every case starts from a valid small release and changes bytes, the manifest, the tables or the kinds of its files, half
of the time with hashes mended so that the deeper checks run. Each must end soon and in little memory: a few dozen of
every family in the ordinary run, 12,000 in the slow one.
"""

from __future__ import annotations

import copy
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, Case, contents
from hostile.documents import ODD
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tampering import MANIFEST, README, Releases, number_in, other_numbers, places, put
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app

SECONDS = 20  # that the slowest case may take, on a busy machine
MEGABYTES = 500  # by which all cases of a test may raise the peak of memory
QUESTIONS = (
    "age = 3 AND disease = 'Flu'",
    "",
    "disease <> 'HIV' OR postcode IS NULL",
    "age * 2 > 7 AND disease IN ('Flu', 'HIV')",
)
LASTING = tuple(case for case in CASES if case.views > 1 or case.charged)


class Files(dict[str, bytes]):
    """The files of a release by their names; a failing case need not print them."""

    def __repr__(self) -> str:
        return "Files(...)"


def fuzz(examples: int) -> settings:
    return settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True, max_examples=examples)


def every(some: int, many: int, cases: tuple[Case, ...] = CASES) -> pytest.MarkDecorator:
    """So many examples of each family in the ordinary run, and so many in the slow one."""
    rounds = [pytest.param(case, some, id=f"{case}-some") for case in cases]
    rounds += [pytest.param(case, many, id=f"{case}-many", marks=pytest.mark.slow) for case in cases]
    return pytest.mark.parametrize(("case", "examples"), rounds)


def whole(case: Case, releases: Releases, *, later: bool = False) -> Files:
    """The files of a valid release."""
    return Files(contents(releases.later(case) if later else releases.copies(case)))


@pytest.fixture(autouse=True)
def _little_memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024


def mended(files: Files) -> Files:
    """The same files with their true sizes and hashes in the manifest, where it still has places for them."""
    try:
        manifest = json.loads(files[MANIFEST])
        for each in manifest["resources"]:
            data = files[each["path"]]
            each.update(bytes=len(data), hash=f"sha256:{sha256(data).hexdigest()}")
        manifest["discreet"]["readme"] = f"sha256:{sha256(files[README]).hexdigest()}"
        return Files({**files, MANIFEST: json.dumps(manifest).encode()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return files


def judged(
    case: Case, files: Files, way: str, question: str, edit: Callable[[Path], None] = lambda folder: None
) -> bool:
    """Put the files into a folder and look at it in one way; whether the promise was found to hold."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "release"
        (folder / "data").mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        edit(folder)
        started = time.monotonic()
        try:
            return _judged(case, folder, way, question)
        finally:
            assert time.monotonic() - started < SECONDS


def _judged(case: Case, folder: Path, way: str, question: str) -> bool:
    if way == "commands":
        verb = ["verify", "--allow-seeded", str(folder)] if question else ["query", str(folder), "age = 3"]
        said = CliRunner().invoke(app, verb)
        assert said.exception is None or isinstance(said.exception, SystemExit), repr(said.exception)
        assert said.exit_code in (0, 1, 2)
        return bool(question) and said.exit_code == 0
    try:
        if way == "verify":
            verdict = discreet.verify(folder, allow_seeded=True)
            assert isinstance(verdict, discreet.Verdict)
            assert str(verdict)
            return verdict.holds
        release = discreet.open_release(folder)
        try:
            estimator = release.estimators[len(question) % len(release.estimators)]
            assert isinstance(release.count(question, estimator=estimator), discreet.Estimate)
            assert isinstance(release.count_by("gender", where="age > 5", estimator=estimator), discreet.Counts)
        finally:
            release.close()
    except discreet.DiscreetError:
        pass
    return False


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_release_that_is_changed_holds_and_answers(case: Case, releases: Releases) -> None:
    """So whatever is refused below is refused for what was changed in it."""
    assert judged(case, whole(case, releases), "verify", "")
    release = discreet.open_release(releases.copies(case))
    try:
        assert isinstance(release.count(QUESTIONS[0]), discreet.Estimate)
        assert isinstance(release.count_by("gender", where="age > 5"), discreet.Counts)
    finally:
        release.close()


WAYS = st.sampled_from(("verify",) * 5 + ("ask",) * 4 + ("commands",))
ASKED = st.sampled_from(QUESTIONS)


# --- Bytes ---------------------------------------------------------------------------------------------------------

PLACES = st.floats(0, 1, exclude_max=True)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), PLACES, st.integers(1, 255)),
        st.tuples(st.just("footer"), PLACES, st.integers(1, 255)),
        st.tuples(st.just("cut"), PLACES, st.none()),
        st.tuples(st.just("insert"), PLACES, st.binary(min_size=1, max_size=20)),
        st.tuples(st.just("remove"), PLACES, st.integers(1, 40)),
        st.tuples(st.just("repeat"), PLACES, st.integers(2, 50)),
    ),
    min_size=1,
    max_size=3,
)


def edited(data: bytes, edits: list[tuple[str, float, Any]]) -> bytes:
    for kind, place, what in edits:
        at = int(place * len(data))
        if kind == "footer":  # the end of a Parquet file says how the rest is read
            at = len(data) - 1 - int(place * min(len(data), 400))
        if kind in ("flip", "footer"):
            data = data[:at] + bytes(each ^ what for each in data[at : at + 1]) + data[at + 1 :] if data else data
        elif kind == "cut":
            data = data[:at]
        elif kind == "insert":
            data = data[:at] + what + data[at:]
        elif kind == "remove":
            data = data[:at] + data[at + what :]
        else:
            data = data[:at] + data[at : at + 30] * what + data[at + 30 :]
    return data


@every(some=8, many=350)
def test_bytes_changed_anywhere(case: Case, examples: int, releases: Releases) -> None:
    """Flipped, cut, inserted, removed and repeated bytes; what is not as stated never holds."""
    before = whole(case, releases)
    tables = [name for name in before if name.endswith(".parquet")]

    @fuzz(examples)
    @given(st.sampled_from((*before, *tables, MANIFEST, MANIFEST)), EDITS, st.booleans(), WAYS, ASKED)
    def look_at(name: str, edits: list[Any], mend: bool, way: str, question: str) -> None:
        files = Files({**before, name: edited(before[name], edits)})
        holds = judged(case, mended(files) if mend else files, way, question)
        if not mend and name != MANIFEST and files != before:
            assert not holds

    look_at()


# --- The manifest --------------------------------------------------------------------------------------------------

VALUES = st.sampled_from(ODD) | st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    (
        "format",
        "missing",
        "hierarchy",
        "values",
        "integers",
        "path",
        "discreet",
        "x",
        "",
        "warning",
        "profile",
        "dialect",
    )
)


def changed(manifest: Any, path: tuple[Any, ...], how: str, key: str, value: Any) -> None:
    """One change at a place that may be gone since an earlier one; then there is none."""
    *way, last = path
    node = manifest
    try:
        for step in way:
            node = node[step]
        if how == "replace":
            node[last] = value
        elif how == "nudge":
            node[last] = next(iter(other_numbers(node[last])), node[last])
        elif how == "remove":
            del node[last]
        elif how == "rename":
            node[key] = node.pop(last)
        elif how == "add":
            node[key] = value
        elif how == "append":
            node[last].append(value)
        elif how == "repeat":
            node[last] = node[last] * 2
        elif how == "huge" and len(str(node[last])) < 2_000:
            node[last] = (node[last] if isinstance(node[last], int | list) else str(node[last])) * 10_000
        elif how == "text":
            node[last] = str(node[last])
    except (LookupError, TypeError, AttributeError):
        return


HOWS = ("replace",) * 5 + ("nudge",) * 2 + ("remove", "rename", "add", "append", "repeat", "huge", "text")
TWICE = ('{"', '{"format": 1, "'), ('"rows"', '"rows": 1, "rows"'), ('"resources"', '"resources": [], "resources"')


def promised(case: Case, manifest: dict[str, Any]) -> Any:
    """What a block says to its readers, but for what no file can show; a fraction may be written in any way."""
    block = copy.deepcopy(manifest["discreet"])
    for each in case.unproven:
        put(block, each.place, None)
    schema = block["schema"]
    rest = {name: part for name, part in block.items() if name not in ("version", "mechanism", "readme", "schema")}
    labels = [domain.pop("hierarchy", ()) for domain in schema["domains"].values()]
    bare = {name: part for name, part in schema.items() if name != "public_rows"}
    return plain([rest, bare, [[path[0] for path in paths] for paths in labels]])


def plain(content: Any) -> Any:
    """JSON in which fractions are numbers, and whole numbers are not taken for truth."""
    if isinstance(content, dict):
        return {key: plain(each) for key, each in content.items()}
    if isinstance(content, list):
        return [plain(each) for each in content]
    return (type(content).__name__, content) if number_in(content) is None else number_in(content)


@every(some=12, many=1_000)
def test_a_manifest_changed_anywhere(case: Case, examples: int, releases: Releases) -> None:
    """Other values, types, keys, paths and sizes; one that holds promises what was promised."""
    look_at_manifests(case, whole(case, releases), examples)


@every(some=6, many=300, cases=LASTING)
def test_the_manifest_of_a_second_state_changed_anywhere(case: Case, examples: int, releases: Releases) -> None:
    """The same where earlier releases were charged, or showed tuples."""
    look_at_manifests(case, whole(case, releases, later=True), examples)


def look_at_manifests(case: Case, before: Files, examples: int) -> None:
    @fuzz(examples)
    @given(st.data(), st.booleans(), WAYS, ASKED)
    def look_at(data: st.DataObject, mend: bool, way: str, question: str) -> None:
        manifest = json.loads(before[MANIFEST])
        inside = [("discreet", *each) for each in places(manifest["discreet"])]
        known = st.sampled_from([*places(manifest), *inside])
        for _ in range(data.draw(st.integers(1, 3))):
            change = (known, st.sampled_from(HOWS), KEYS, VALUES)
            changed(manifest, *(copy.deepcopy(data.draw(each)) for each in change))
        text = json.dumps(manifest)
        if data.draw(st.integers(0, 9)) == 0:
            text = text.replace(*data.draw(st.sampled_from(TWICE)))
        files = Files({**before, MANIFEST: text.encode("utf-8", "surrogatepass")})
        if judged(case, mended(files) if mend else files, way, question):
            assert promised(case, manifest) == promised(case, json.loads(before[MANIFEST]))

    look_at()


# --- Other tables --------------------------------------------------------------------------------------------------

NUMBERS = (0, -1, 1, 2, 7, 8, 2**31, 2**53 - 1, 2**53, 2**62, 2**63 - 1, None)
TYPES = (
    pa.int8(),
    pa.uint64(),
    pa.float64(),
    pa.string(),
    pa.binary(),
    pa.bool_(),
    pa.decimal128(38, 3),
    pa.date32(),
    pa.null(),
    pa.timestamp("ns"),
    pa.time64("us"),
    pa.list_(pa.int64()),
    pa.struct([("x", pa.int64())]),
    pa.map_(pa.string(), pa.int64()),
    pa.dictionary(pa.int32(), pa.string()),
    pa.large_string(),
    pa.duration("s"),
)


def _other_type(table: pa.Table, at: int, kind: pa.DataType) -> pa.Table:
    name = table.column_names[at]
    try:
        column = table.column(at).cast(kind)
    except pa.ArrowException:
        column = pa.nulls(len(table), pa.string() if pa.types.is_dictionary(kind) else kind)
    return table.set_column(at, name, column)


def _other_cell(table: pa.Table, at: int, row: int, value: Any) -> pa.Table:
    if not len(table):
        return table
    cells = table.column(at).to_pylist()
    text = any(isinstance(cell, str) for cell in cells)
    cells[row % len(cells)] = value if value is None or not text else str(value)
    try:
        return table.set_column(at, table.column_names[at], pa.array(cells))
    except pa.ArrowException:
        return table


@st.composite
def tables(draw: st.DrawFn, table: pa.Table) -> pa.Table:
    """The table after a few changes that Parquet can hold."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(table.num_columns - 1, 0)))
        how = draw(
            st.sampled_from(
                ("type", "cell", "cell", "name", "drop", "add", "rows", "order", "empty", "metadata", "columns")
            )
        )
        if not table.num_columns:
            return table
        if how == "type":
            table = _other_type(table, at, draw(st.sampled_from(TYPES)))
        elif how == "cell":
            value = draw(st.sampled_from(NUMBERS) | st.sampled_from(("Flu", "", "x" * 10_000, "\x00", "*")))
            table = _other_cell(table, at, draw(st.integers(0, 20)), value)
        elif how == "name":
            name = draw(
                st.sampled_from(("BID", "COUNT", "SLOT", "age", "bid", "Age", "", 'a"b', "x\x00", "disease", "CELL"))
            )
            table = table.rename_columns([*table.column_names[:at], name, *table.column_names[at + 1 :]])
        elif how == "drop":
            table = table.remove_column(at)
        elif how == "add":
            table = table.append_column(draw(st.sampled_from(("x", "BID", "age"))), pa.nulls(len(table), pa.int64()))
        elif how == "rows":
            table = pa.concat_tables([table] * draw(st.sampled_from((2, 50))))
        elif how == "order":
            table = (
                table.take(pa.array(draw(st.permutations(range(len(table)))), pa.int64())) if len(table) < 30 else table
            )
        elif how == "empty":
            table = table.slice(0, draw(st.sampled_from((0, 0, 1, 5))))
        elif how == "metadata":
            table = table.replace_schema_metadata({"note": "x"})
        else:
            table = (
                table.select(list(reversed(table.column_names)))
                if len(set(table.column_names)) == table.num_columns
                else table
            )
    return table


@every(some=6, many=150)
def test_other_tables(case: Case, examples: int, releases: Releases) -> None:
    """Parquet of other columns, types, nested types, cells and rows; unmended, none holds."""
    before = whole(case, releases)
    names = [name for name in before if name.endswith(".parquet")]

    @fuzz(examples)
    @given(st.data(), st.sampled_from((*([each] for each in names), names)), st.booleans(), WAYS, ASKED)
    def look_at(data: st.DataObject, changed: list[str], mend: bool, way: str, question: str) -> None:
        files = Files(before)
        for name in changed:
            to = BytesIO()
            table = data.draw(tables(pq.read_table(BytesIO(before[name]))))
            forms = ({}, {"store_schema": False}, {"version": "1.0"}, {"row_group_size": max(1, len(table) // 99)})
            try:
                pq.write_table(table, to, **data.draw(st.sampled_from(forms)))
            except (pa.ArrowException, OSError):
                continue
            files[name] = to.getvalue()
        holds = judged(case, mended(files) if mend else files, way, question)
        assert mend or files == before or not holds

    look_at()


# --- Files of other kinds ------------------------------------------------------------------------------------------


def _replaced(make: Callable[[Path, Path], object]) -> Callable[[Path, Path], None]:
    def edit(path: Path, kept: Path) -> None:
        shutil.move(path, kept)
        make(path, kept)

    return edit


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "missing": _replaced(lambda path, kept: None),
    "folder": _replaced(lambda path, kept: path.mkdir()),
    "fifo": _replaced(lambda path, kept: os.mkfifo(path)),
    "link to itself": _replaced(lambda path, kept: path.symlink_to(path)),
    "link to the file": _replaced(lambda path, kept: path.symlink_to(kept)),
    "link to /dev/zero": _replaced(lambda path, kept: path.symlink_to("/dev/zero")),
    "link out": _replaced(lambda path, kept: path.symlink_to("/etc/passwd")),
    "large": lambda path, kept: os.truncate(path, 1 << 30) if path.is_file() else None,
    "a file more": lambda path, kept: path.with_name("more.csv").write_text("x"),
    "a hidden file": lambda path, kept: path.with_name(".x").write_text("x"),
    "a name that is no text": lambda path, kept: Path(os.fsdecode(os.fsencode(path) + b"\xff")).write_text("x"),
    "a link more": lambda path, kept: path.with_name("more").symlink_to(path.parent),
    "a fifo more": lambda path, kept: os.mkfifo(path.with_name("more")),
    "folders in folders": lambda path, kept: path.parent.joinpath(*"d" * 200).mkdir(parents=True),
}


@every(some=4, many=60)
def test_files_of_other_kinds(case: Case, examples: int, releases: Releases) -> None:
    """Folders, pipes, links, gaps and strangers among the files; none holds."""
    before = whole(case, releases)

    @fuzz(examples)
    @given(st.sampled_from((*before, "data")), st.sampled_from(tuple(KINDS)), st.floats(0, 1), WAYS, ASKED)
    def look_at(name: str, kind: str, cut: float, way: str, question: str) -> None:
        def edit(folder: Path) -> None:
            if cut < 0.3 and (folder / README).is_file():
                (folder / README).write_bytes(before[README][: int(cut * 1_000)])
            KINDS[kind](folder / name, folder.parent / "kept")

        assert not judged(case, before, way, question, edit) or (name, kind) == ("data", "large")

    look_at()
