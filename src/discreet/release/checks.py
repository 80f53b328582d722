"""The checks of a bucket release, one function a check: each says what is broken, or nothing.

Every check may rely on those before it in `CHECKS` having held.
"""

from __future__ import annotations

import filecmp
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from discreet.engine.duck import Engine
from discreet.engine.encoding import Encoding, code, identifier, text
from discreet.errors import ReleaseError
from discreet.guarantee.fprime import FPrimePrivacy
from discreet.release.folder import Manifest, plain_file, strangers
from discreet.release.manifest import QIT, README, ST, fields_of, sha256
from discreet.release.readme import readme_of
from discreet.schema.domain import key_of

_ADDED = dict.fromkeys(("BID", "COUNT"), Encoding(range(1, 2**53)))


@dataclass(frozen=True, kw_only=True)
class Files:
    """A manifest and an engine that can read nothing but the release's folder."""

    manifest: Manifest
    engine: Engine
    allow_seeded: bool

    def path(self, name: str) -> Path:
        return plain_file(self.manifest.folder, name)


def check_files(files: Files) -> str | None:
    """Every file is declared and plain, and every declared file is there."""
    declared = {each["path"] for each in files.manifest.resources}
    if found := strangers(files.manifest.folder, declared):
        return f"{len(found)} files are not declared in the manifest, the first is {found[0]!r}"
    for name in sorted({*declared, README}):
        files.path(name)
    return None


def check_hashes(files: Files) -> str | None:
    """Every file has the bytes that the manifest states."""
    for each in files.manifest.resources:
        path = files.path(each["path"])
        if path.stat().st_size != each["bytes"] or each["hash"] != f"sha256:{sha256(path)}":
            return f"{each['path']} is not the file that the manifest describes"
    if files.manifest.block["readme"] != f"sha256:{sha256(files.path(README))}":
        return f"{README} is not the file that the manifest describes"
    return None


def check_schema(files: Files) -> str | None:
    """The tables have exactly the declared columns, every cell lies in its domain, and nothing else is in the files."""
    schema = files.manifest.schema
    for relation, name in (("qit", QIT), ("st", ST)):
        path = files.path(name)
        if pq.read_metadata(path).metadata:
            return f"{name} carries metadata that nobody declared"
        files.engine.rows(
            f"CREATE OR REPLACE VIEW {relation} AS SELECT * FROM read_parquet({text(str(path.resolve()))})"
        )
        if broken := check_table(files, relation, name, fields_of(schema, relation), _ADDED):
            return broken
    for each in files.manifest.resources:
        if each["schema"] != {"fields": fields_of(schema, Path(each["path"]).stem)}:
            return f"the manifest describes the columns of {each['path']} otherwise than its schema"
    return None


def check_table(
    files: Files, relation: str, name: str, fields: Sequence[dict[str, Any]], added: Mapping[str, Encoding]
) -> str | None:
    """One table has exactly its columns, of their types, and every cell lies in its domain.

    `added` are the columns that are not the table's own.
    """
    schema = files.manifest.schema
    domains = {each: schema.domains[each] for each in schema.columns}
    found = files.engine.columns(relation)
    if list(found) != [field["name"] for field in fields]:
        return f"{name} must have exactly the columns {', '.join(field['name'] for field in fields)}"
    for field in fields:
        kinds = ("VARCHAR",) if field["type"] == "string" else ("BIGINT", "INTEGER", "SMALLINT", "TINYINT")
        if found[field["name"]] not in kinds:
            return f"{field['name']} in {name} must be of type {field['type']}"
    own = {column: (column, domains[column].encoding) for column in found if column in domains}
    own.update({column: (column, encoding) for column, encoding in added.items() if column in found})
    files.engine.encode(f"{relation}_in_domain", relation, own)
    for column, (nulls, outside) in files.engine.misfits(f"{relation}_in_domain")[1].items():
        wrong = outside if column in domains and domains[column].missing else nulls + outside
        if wrong:
            return f"{column} in {name} is outside its domain in {wrong:,} rows"
    return None


def check_rows(files: Files) -> str | None:
    """The number of rows is the declared one in both tables."""
    persons = files.engine.rows("SELECT count(*) FROM qit")[0][0]
    values = files.engine.rows("SELECT coalesce(sum(COUNT), 0) FROM st")[0][0]
    if not persons == values == files.manifest.rows:
        return f"{QIT} has {persons:,} rows, {ST} counts {values:,}, the manifest states {files.manifest.rows:,}"
    return None


def check_buckets(files: Files) -> str | None:
    """Both tables have the same buckets with the same sizes, and the sizes are the declared classes."""
    repeated = files.engine.rows(
        f"SELECT BID FROM st GROUP BY BID, {identifier(files.manifest.schema.sensitive)} HAVING count(*) > 1 ORDER BY "
        "1 LIMIT 1"
    )
    if repeated:
        return f"bucket {repeated[0][0]}: a value stands twice in {ST}"
    sizes = """FROM (SELECT BID, count(*) AS n FROM qit GROUP BY BID) q
               FULL JOIN (SELECT BID, sum(COUNT) AS n FROM st GROUP BY BID) s USING (BID)"""
    broken = files.engine.rows(f"SELECT BID, q.n, s.n {sizes} WHERE q.n IS DISTINCT FROM s.n ORDER BY BID LIMIT 1")
    if broken:
        bucket, persons, values = broken[0]
        return f"bucket {bucket}: {persons or 0} rows in {QIT} but {values or 0} values in {ST}"
    found = files.engine.rows(
        "SELECT n, count(*) FROM (SELECT count(*) AS n FROM qit GROUP BY BID) GROUP BY n ORDER BY n"
    )
    if tuple(found) != tuple(sorted(files.manifest.classes)):
        return "the sizes of the buckets are not the declared classes"
    if files.manifest.block["loss"] != sum(buckets * (size - 1) ** 2 for size, buckets in found):
        return "the declared loss is not that of the buckets"
    return None


def check_tolerance(files: Files) -> str | None:
    """In every bucket every value's share is at most its tolerance, in exact integers."""
    limits = dict(_promised(files).tolerance)
    sizes = "(SELECT BID, sum(COUNT)::BIGINT AS records FROM st GROUP BY BID)"
    shares = files.engine.rows(
        f"""SELECT min(s.BID), s.{identifier(files.manifest.schema.sensitive)}, s.COUNT, z.records
            FROM st s JOIN {sizes} z USING (BID) GROUP BY ALL ORDER BY 1"""
    )
    for bucket, value, count, size in shares:
        if value not in limits:
            return f"bucket {bucket}: {value} has no tolerance in the promise"
        limit = limits[value]
        if count * limit.denominator > limit.numerator * size:
            return f"bucket {bucket}: {value} is {count} of {size} records, more than its tolerance {limit} allows"
    return None


def check_promise(files: Files) -> str | None:
    """The tolerances are those that the stated parameters give for the published counts, and the facts say the same."""
    schema, guarantee, block = files.manifest.schema, _promised(files), files.manifest.block
    counts = dict(files.engine.rows(f"SELECT {identifier(schema.sensitive)}, sum(COUNT)::BIGINT FROM st GROUP BY 1"))
    match block["mechanism"]:
        case {
            "kind": "buckets",
            "tolerance": {"theta": str(theta), "floor": str(floor), "values": dict(named), **more},
            **rest,
        } if not more and set(rest) == {"sizes", "max_size", "composition"}:
            slope, base = _fraction(theta), _fraction(floor)
            given = {name: _fraction(number) for name, number in named.items()}
        case {"kind": "anatomy", "l": int(diversity), **more} if not more and diversity > 1:
            slope, base, given = Fraction(0), Fraction(1, diversity), {}
        case _:
            return (
                "the mechanism must state its kind and its parameters and nothing else: sizes, max_size, composition "
                "and tolerance (theta, floor, values) for buckets, l for anatomy"
            )
    if not set(given) <= set(map(key_of, schema.domains[schema.sensitive])):
        return "the mechanism must name values of the sensitive domain only"
    rows = files.manifest.rows
    expected = []
    for value in schema.domains[schema.sensitive]:
        limit = given.get(key_of(value), min(Fraction(1), slope * Fraction(counts.get(value, 0), rows) + base))
        if limit:
            expected.append((value, limit))
    if tuple(expected) != guarantee.tolerance:
        return "the promised tolerances are not those that the stated parameters give"
    if block["facts"] != guarantee.facts(continued=block["continued"]):
        return "the facts do not say what the guarantee promises"
    seeded = block["randomness"] == "seeded"
    words = readme_of(schema, block["facts"], rows=rows, seeded=seeded).encode()
    readme = files.path(README)
    if readme.stat().st_size != len(words) or readme.read_bytes() != words:  # a stranger's may be of any size
        return f"{README} does not say what the manifest promises"
    return None


def _promised(files: Files) -> FPrimePrivacy:
    if not isinstance(files.manifest.guarantee, FPrimePrivacy):
        raise ReleaseError("the guarantee is not F'-privacy")
    return files.manifest.guarantee


def _fraction(number: object) -> Fraction:
    """A fraction as a release writes it; an exponent from a stranger could take forever."""
    if not isinstance(number, str) or len(number) > 80 or not set(number) <= set("0123456789/"):
        raise ReleaseError("theta, floor and tolerances must be fractions in digits")
    return Fraction(number)


def check_order(files: Files) -> str | None:
    """Rows stand in an order that follows from what is published: by bucket, then by every other column."""
    schema = files.manifest.schema
    for relation, columns in (("qit", schema.quasi_identifiers), ("st", (schema.sensitive,))):
        codes = [code(name, schema.domains[name].encoding) for name in columns]
        last: list[int] | None = None
        for batch in files.engine.batches(f"SELECT BID, {', '.join(codes)} FROM {relation}_in_domain"):
            keys = [column.to_numpy(zero_copy_only=False).astype(np.int64) for column in batch.columns]
            if last is not None:
                keys = [np.concatenate([[before], key]) for before, key in zip(last, keys, strict=True)]
            if not _sorted(keys):
                return f"the rows of {relation} are not sorted by BID and then by every column"
            last = [int(key[-1]) for key in keys] if len(keys[0]) else last
    return None


def _sorted(keys: Sequence[np.ndarray[Any, Any]]) -> bool:
    """Whether rows never go down, comparing the first column, then the next where it ties, and so on."""
    tied = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
    for key in keys:
        step = np.diff(key)
        if (tied & (step < 0)).any():
            return False
        tied &= step == 0
    return True


def check_copies(files: Files) -> str | None:
    """CSV copies, if any, are the Parquet files' rows in order and nothing else: made again, the same bytes."""
    for each in files.manifest.resources:
        if not each["path"].endswith(".csv"):
            continue
        again = files.engine.spill / "copy.csv"
        files.engine.write_csv(files.path(str(Path(each["path"]).with_suffix(".parquet"))), again)
        if not filecmp.cmp(files.path(each["path"]), again, shallow=False):
            return f"{each['path']} is not the copy of the Parquet file"
    return None


def check_randomness(files: Files) -> str | None:
    """The coins were secret, as far as the release says."""
    stated = files.manifest.block["randomness"]
    if stated == "secure" or (stated == "seeded" and files.allow_seeded):
        return None
    return "the coins came from a seed, so anyone can toss them again; publish without a seed"


Check = tuple[str, Callable[[Files], str | None], str]  # its name, what it does, what holds where it finds nothing

CHECKS: tuple[Check, ...] = (
    ("files", check_files, "every file is declared and plain"),
    ("hashes", check_hashes, "every file has the stated bytes"),
    ("schema", check_schema, "only declared columns, every cell in its domain"),
    ("rows", check_rows, "the stated number of rows in both tables"),
    ("buckets", check_buckets, "the same buckets in both tables, of the stated sizes"),
    ("tolerance", check_tolerance, "every share in every bucket is at most its tolerance"),
    ("promise", check_promise, "the tolerances follow from the stated parameters"),
    ("order", check_order, "the order of rows says nothing of the input's"),
    ("copies", check_copies, "CSV copies, if any, hold the same rows"),
    ("randomness", check_randomness, "the coins are stated to be secret"),
)

NOT_CHECKABLE = (
    "that the rows are those of the custodian's table, and that its people have one row each",
    "that each row is in the bucket it was given by secret and uniformly random coins",
    "that the domains and parameters were chosen without looking at the data",
    "that no other release about the same people exists",
)


def failing(check: Callable[[Files], str | None], files: Files) -> str | None:
    """Run one check; whatever the bytes make the libraries raise is a check that does not hold."""
    try:
        return check(files)
    except ReleaseError as error:
        return str(error)
    except (MemoryError, Exception) as error:
        return f"the files cannot be read ({type(error).__name__})"
