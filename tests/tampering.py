"""Releases to tamper with, and the ways to do it: what the suites on verification and on strangers' bytes share."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, Case, policy_of, publish, ward_frame

import discreet
from discreet.release.manifest import dump

Item = TypeVar("Item")

MANIFEST, README = "datapackage.json", "README.md"
# A sample in the ordinary run, all of it in the slow one; each release starts its sample elsewhere.
SAMPLED = pytest.mark.parametrize(
    "thin", [pytest.param(12, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
WORDS = {"promise", "words"}  # the checks that hold the facts and the README against the promise


class Releases:
    """Releases of a case, each made when it is first asked for; they are shared, so change a copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, str], Path] = {}

    def copies(self, case: Case) -> Path:
        """From a seed, with CSV copies."""
        return self._once(
            case, "copies", lambda to: publish(ward_frame(), policy_of(case, to), to / "r", seed=1, csv=True)
        )

    def plain(self, case: Case) -> Path:
        """From a seed, without copies: whatever is found in a table was not found by comparing it with its copy."""
        return self._once(case, "plain", lambda to: self._seeded(case, to, csv=False))

    def later(self, case: Case) -> Path:
        """The second state of a table in its series, where the promise covers one, without copies."""
        return self._once(case, "later", lambda to: self._second(case, to))

    def filled(self, case: Case) -> Path:
        """One in which every table has rows: a first view has nothing earlier."""
        return self.later(case) if case.views > 1 else self.plain(case)

    def _seeded(self, case: Case, to: Path, *, csv: bool) -> Path:
        return publish(ward_frame(), policy_of(case, to), to / "r", seed=1, csv=csv)

    def _second(self, case: Case, to: Path) -> Path:
        policy = policy_of(case, to)
        publish(ward_frame(), policy, to / "first")
        return publish(ward_frame(seed=6), policy, to / "r")

    def _once(self, case: Case, kind: str, make: Callable[[Path], Path]) -> Path:
        if (case.name, kind) not in self._made:
            to = self._folder / f"{kind} {case.name}"
            to.mkdir()
            self._made[case.name, kind] = make(to)
        return self._made[case.name, kind]


def sample(each: Iterable[Item], thin: int, case: Case, name: str = "") -> list[Item]:
    """Every one in `thin`, starting at a place that is the case's and the table's own."""
    return list(each)[(CASES.index(case) + sum(map(ord, name))) % thin :: thin]


@contextmanager
def copy_of(release: Path) -> Iterator[Path]:
    """A copy that may be changed, and is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(release, Path(folder) / "release"))


def broken(folder: Path, **options: Any) -> list[str]:
    """The names of the checks that do not hold."""
    verdict = discreet.verify(folder, **{"allow_seeded": True, **options})
    return [check.name for check in verdict.checks if not check.holds]


# --- The manifest ---------------------------------------------------------------------------------------------------


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    (folder / MANIFEST).write_text(dump(manifest), encoding="utf-8")


def restate(folder: Path) -> None:
    """Put the true sizes and hashes of all files into the manifest, as a forger would."""
    manifest = manifest_of(folder)
    for each in manifest["resources"]:
        data = (folder / each["path"]).read_bytes()
        each.update(bytes=len(data), hash=f"sha256:{sha256(data).hexdigest()}")
    manifest["discreet"]["readme"] = f"sha256:{sha256((folder / README).read_bytes()).hexdigest()}"
    write_manifest(folder, manifest)


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a JSON document."""
    if path:
        yield path
    if isinstance(content, dict | list):
        for key, each in content.items() if isinstance(content, dict) else enumerate(content):
            yield from places(each, (*path, key))


def look(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


def put(content: Any, path: tuple[Any, ...], value: Any) -> None:
    look(content, path[:-1])[path[-1]] = value


def number_in(text: Any) -> Fraction | None:
    """The number that a short text says, as releases write fractions."""
    if not isinstance(text, str) or not text or len(text) > 80 or not set(text) <= set("0123456789/"):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def other_numbers(stated: Any) -> list[Any]:
    """What a stated number may be changed to: more and less, by much; nothing where no number is stated."""
    if isinstance(stated, int) and not isinstance(stated, bool):
        return [stated + 1, max(stated - 1, 0)] if stated else [1]
    number = number_in(stated)
    if number is None:
        return []
    if number.denominator == 1 and "/" not in stated:
        return [str(number + 1), str(abs(number - 1))]
    others = [number * 9 / 8, number * 7 / 8] if number else [Fraction(1, 8)]
    return [f"{each.numerator}/{each.denominator}" for each in others]


# --- Tables ---------------------------------------------------------------------------------------------------------


def file_of(folder: Path, name: str) -> Path:
    return folder / "data" / f"{name}.parquet"


def table_of(folder: Path, name: str) -> pa.Table:
    return pq.read_table(file_of(folder, name))


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write a table back as Arrow writes one for a release, so that its layout is in order whatever its rows are, and
    restate the hashes.
    """
    pq.write_table(table, file_of(folder, name), store_schema=False, compression="zstd")
    restate(folder)


def with_cell(table: pa.Table, row: int, column: str, value: Any) -> pa.Table:
    cells, place = table[column].to_pylist(), table.column_names.index(column)
    kind = pa.int64() if pa.types.is_integer(table[column].type) else table[column].type
    return table.set_column(place, column, pa.array([*cells[:row], value, *cells[row + 1 :]], type=kind))


def strangers(cell: Any) -> list[Any]:
    """Cells that are in no domain of a ward: beyond every limit, odd, or missing."""
    if isinstance(cell, str):
        return ["", "zz", f"{cell} ", None]
    if isinstance(cell, float):
        return [-1.0, -0.0, float("nan"), float("inf"), cell + 1 / 3, None]
    return [-1, 2**53, None]


COLUMN_CHANGES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "one more": lambda table: table.append_column("name", pa.array(["Ada"] * table.num_rows)),
    "one more, like another": lambda table: table.append_column(
        table.column_names[-1].swapcase(), table[table.column_names[-1]]
    ),
    "last one gone": lambda table: table.drop_columns([table.column_names[-1]]),
    "first one gone": lambda table: table.drop_columns([table.column_names[0]]),
    "other order": lambda table: table.select(table.column_names[::-1]),
    "other name": lambda table: table.rename_columns([*table.column_names[:-1], "other"]),
    "other case": lambda table: table.rename_columns([name.swapcase() for name in table.column_names]),
    "first one of another type": lambda table: _retyped(table, 0),
    "last one of another type": lambda table: _retyped(table, len(table.column_names) - 1),
    "no rows": lambda table: table.slice(0, 0),
}


def _retyped(table: pa.Table, place: int) -> pa.Table:
    """Numbers as text, text as bytes."""
    name = table.column_names[place]
    kind = pa.binary() if pa.types.is_string(table[name].type) else pa.string()
    return table.set_column(place, name, table[name].cast(kind))
