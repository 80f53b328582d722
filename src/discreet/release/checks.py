"""The checks that every family shares: each says what is broken, or nothing.

A family's list is `FIRST`, its own, `LAST`; every check may rely on those before it having held.
"""

from __future__ import annotations

import filecmp
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow.parquet as pq

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code, text, type_of
from discreet.engine.encoding import Encoding
from discreet.errors import Cancelled, OutOfMemory, OutOfTime, PolicyError, ReleaseError
from discreet.release.family import FAMILIES, Claim
from discreet.release.fields import Fields
from discreet.release.lookalikes import check_lookalikes, lookalikes_told
from discreet.release.manifest import sha256
from discreet.release.plain import plain_file, strangers
from discreet.release.statement import README, G, M, Manifest, N, Statement
from discreet.schema.domain import Domain

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Files(Generic[M, G, N]):
    """A manifest and an engine that can read nothing but the release's folder; what checks read, they share."""

    manifest: Manifest[M, G, N]
    engine: Database
    allow_seeded: bool
    _known: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def statement(self) -> Statement[M, G, N]:
        return self.manifest.statement

    def path(self, name: str) -> Path:
        return plain_file(self.manifest.folder, name)

    def once(self, reader: Callable[[Files[M, G, N]], R]) -> R:
        """What a reader makes of these files, read by the first check that needs it."""
        if reader not in self._known:
            self._known[reader] = reader(self)
        found: R = self._known[reader]
        return found


AnyFiles = Files[Any, Any, Any]


def check_files(files: AnyFiles) -> str | None:
    """Every file is declared and plain, and every declared file is there."""
    declared = {each.path for each in files.manifest.resources}
    if found := strangers(files.manifest.folder, declared):
        return f"{len(found)} files are not declared in the manifest, the first is {found[0]!r}"
    for name in sorted({*declared, README}):
        files.path(name)
    return None


def check_hashes(files: AnyFiles) -> str | None:
    """Every file has the bytes that the manifest states."""
    for each in files.manifest.resources:
        path = files.path(each.path)
        if path.stat().st_size != each.bytes or each.hash != f"sha256:{sha256(path)}":
            return f"{each.path} is not the file that the manifest describes"
    if files.manifest.readme != f"sha256:{sha256(files.path(README))}":
        return f"{README} is not the file that the manifest describes"
    return None


def check_described(files: AnyFiles) -> str | None:
    """The manifest describes the columns of every file as the schema has them."""
    family = FAMILIES[files.manifest.kind]
    for each in files.manifest.resources:
        if each.fields != family.fields(files.statement, str(Path(each.path).with_suffix(".parquet"))):
            return f"the manifest describes the columns of {each.path} otherwise than its schema"
    return None


def check_tables(files: AnyFiles, added: Mapping[str, Encoding], most: Mapping[str, int]) -> str | None:
    """The tables have exactly the declared columns, every cell lies in its domain, and nothing else is in the files.

    `added` are the columns that are not the table's own, and `most` how many rows each may have as far as the manifest
    states: a small file may hold billions. Each file is a relation named after it from here on.
    """
    family = FAMILIES[files.manifest.kind]
    for name in family.files(files.statement):
        path, relation = files.path(name), Path(name).stem
        footer = pq.read_metadata(path)
        if footer.metadata:
            return f"{name} carries metadata that nobody declared"
        if footer.num_rows > most[name]:
            return f"{name} has {footer.num_rows:,} rows, more than the manifest states"
        files.engine.rows(
            f"CREATE OR REPLACE VIEW {relation} AS SELECT * FROM read_parquet({text(str(path.resolve()))})"
        )
        if broken := _check_table(files, relation, name, family.fields(files.statement, name), added):
            return broken
    return check_described(files)


def _check_table(
    files: AnyFiles, relation: str, name: str, fields: Fields, added: Mapping[str, Encoding]
) -> str | None:
    schema = files.manifest.schema
    domains = {each: schema.domains[each] for each in schema.columns}
    found = files.engine.columns(relation)
    if list(found) != [field["name"] for field in fields]:
        return f"{name} must have exactly the columns {', '.join(field['name'] for field in fields)}"
    for each in fields:
        if found[each["name"]] not in _types(each, domains.get(each["name"])):
            return f"{each['name']} in {name} must be of type {each['type']}"
    own = {column: (column, domains[column].encoding) for column in found if column in domains}
    own.update({column: (column, encoding) for column, encoding in added.items() if column in found})
    files.engine.encode(f"{relation}_in_domain", relation, own)
    for column, (nulls, outside) in files.engine.misfits(f"{relation}_in_domain")[1].items():
        wrong = outside if column in domains and domains[column].missing else nulls + outside
        if wrong:
            return f"{column} in {name} is outside its domain in {wrong:,} rows"
    return None


def _types(field: Mapping[str, Any], domain: Domain | None) -> tuple[str, ...]:
    """The types of DuckDB's that a column may have."""
    if field["type"] == "number" and domain is not None:
        return (type_of(domain.encoding),)
    return ("VARCHAR",) if field["type"] == "string" else ("BIGINT", "INTEGER", "SMALLINT", "TINYINT")


class Order(NamedTuple):
    """Of some rows in a row: how many, whether one is below the row before it, and whether one is the same."""

    rows: int
    falls: bool
    repeats: bool


def orders_of(files: AnyFiles, relation: str, columns: Sequence[tuple[str, Encoding]]) -> Iterator[Order]:
    """The order of a checked table's rows by some columns, batch by batch, each with the last row before it."""
    codes = ", ".join(f"{code(name, encoding)}::BIGINT" for name, encoding in columns)
    last: list[int] | None = None
    for batch in files.engine.batches(f"SELECT {codes} FROM {relation}_in_domain"):
        keys = [numbers(column) for column in batch.columns]
        if last is not None:
            keys = [np.concatenate([[before], key]) for before, key in zip(last, keys, strict=True)]
        tied, falls = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_), False
        for key in keys:
            step = np.diff(key)
            falls = falls or bool((tied & (step < 0)).any())
            tied &= step == 0
        yield Order(batch.num_rows, falls, bool(tied.any()))
        last = [int(key[-1]) for key in keys] if len(keys[0]) else last


def check_words(files: AnyFiles) -> str | None:
    """The facts and the README say what the numbers promise, in the words of their version."""
    family = FAMILIES[files.manifest.kind]
    facts = family.facts(files.statement)
    if files.manifest.facts != facts:
        return "the facts do not say what the guarantee promises"
    words = family.readme(files.statement, facts).encode()
    readme = files.path(README)
    if readme.stat().st_size != len(words) or readme.read_bytes() != words:  # a stranger's may be of any size
        return f"{README} does not say what the manifest promises"
    return None


def check_copies(files: AnyFiles) -> str | None:
    """CSV copies, if any, are the Parquet files' rows in order and nothing else: made again, the same bytes."""
    copies = [each.path for each in files.manifest.resources if each.path.endswith(".csv")]
    if not copies:
        return None
    with Database(paths=[files.manifest.folder], threads=1) as database:
        for copy in copies:
            again = database.scratch / "copy.csv"
            database.write_csv(files.path(str(Path(copy).with_suffix(".parquet"))), again)
            if not filecmp.cmp(files.path(copy), again, shallow=False):
                return f"{copy} is not the copy of the Parquet file"
    return None


def check_randomness(files: AnyFiles) -> str | None:
    """The coins were secret, as far as the release says."""
    if not files.statement.seeded or files.allow_seeded:
        return None
    return "the coins came from a seed, so anyone can toss them again; publish without a seed"


FIRST = (
    Claim("files", check_files, "every file is declared and plain", first=True),
    Claim("hashes", check_hashes, "every file has the stated bytes", share=0.1),
)
LOOKALIKES = Claim(
    "lookalikes",
    lambda files: check_lookalikes(files.manifest),
    "no two sensitive values look alike",
    told=lambda files: lookalikes_told(files.manifest),
)
LAST = (
    LOOKALIKES,
    Claim("words", check_words, "the facts and the README say what the numbers promise"),
    Claim("copies", check_copies, "CSV copies, if any, hold the same rows"),
    Claim("randomness", check_randomness, "the coins are stated to be secret"),
)


def failing(claim: Claim, files: AnyFiles) -> str | None:
    """Run one check; whatever the bytes make the libraries raise is a check that does not hold."""
    try:
        return claim.broken(files)
    except (OutOfMemory, OutOfTime, Cancelled):  # nothing was found out: neither that it holds nor that it does not
        raise
    except (ReleaseError, PolicyError) as error:
        return str(error)
    except (MemoryError, Exception) as error:
        return f"the files cannot be read ({type(error).__name__})"
