"""Verification of buckets: a changed release holds exactly if an independent reading says that it may."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from cases import apart
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from tampering import WORDS, broken, copy_of, manifest_of, table_of, write_manifest, write_table

import discreet
from discreet.schema.domain import Domain, Integers, Listed

QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
Rows = list[dict[str, Any]]


# Releases to look at


def policy_of(domains: dict[str, Domain], sensitive: str, **mechanism: Any) -> discreet.Policy:
    tolerance = discreet.Tolerance(
        **{name: mechanism.pop(name) for name in ("theta", "floor", "values") if name in mechanism}
    )
    names = tuple(name for name in domains if name != sensitive)
    return discreet.Policy(
        schema=discreet.Schema(quasi_identifiers=names, sensitive=sensitive, domains=domains),
        mechanism=discreet.Buckets(tolerance=tolerance, **mechanism),
    )


def publish(frame: pd.DataFrame, policy: discreet.Policy, to: Path, **options: Any) -> Path:
    table = discreet.read_table(frame, policy)
    try:
        discreet.publish(table, policy, to=to, **{"seed": 1, **options}).close()
    finally:
        table.close()
    return to


DOMAINS: dict[str, Domain] = {
    "age": Integers(low=3, high=7),
    "ward": Listed(values=("z", "a", "m"), missing=True),
    "disease": Listed(values=("q", "p", "s", "r")),
}
FRAME = pd.DataFrame(
    {
        "age": [3, 4, 4, 5, 5, 6, 6, 7, 7, 3, 5],
        "ward": ["z", "a", "m", None, "a", "z", "z", "m", "a", "a", "m"],
        "disease": ["q", "p", "r", "p", "q", "p", "q", "r", "p", "q", "p"],
    }
)
PARAMETERS = {"floor": {"floor": "2/3"}, "theta": {"theta": "3/2", "floor": "1/10", "values": {"r": "1/2"}}}


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    """Two small releases: one whose tolerances are constant, one whose tolerances follow the counts."""
    folder = tmp_path_factory.mktemp("releases")
    return {
        name: publish(FRAME, policy_of(DOMAINS, "disease", **parameters), folder / name, csv=False)
        for name, parameters in PARAMETERS.items()
    }


# The oracle: what must be true of a release, read with pyarrow and nothing of discreet


def listed(domain: dict[str, Any]) -> list[Any]:
    """The values of a stated domain in order, a missing cell last."""
    if "integers" in domain:
        values: list[Any] = list(range(domain["integers"][0], domain["integers"][1] + 1))
    else:
        values = [each[0] if isinstance(each, list) else each for each in domain.get("values") or domain["hierarchy"]]
    return values + ([None] if domain.get("missing") else [])


def stated_limit(block: dict[str, Any], value: Any, count: int, rows: int) -> Fraction:
    stated = block["mechanism"]["tolerance"]
    if ("" if value is None else str(value)) in stated["values"]:
        return Fraction(stated["values"]["" if value is None else str(value)])
    return min(Fraction(1), Fraction(stated["theta"]) * Fraction(count, rows) + Fraction(stated["floor"]))


def may_hold(folder: Path) -> bool:
    """Whether the two tables are consistent, sorted, within their domains and within every tolerance."""
    block = manifest_of(folder)["discreet"]
    schema = block["schema"]
    domains = {name: listed(domain) for name, domain in schema["domains"].items()}
    qit, counts = table_of(folder, "qit"), table_of(folder, "st")
    names, sensitive = schema["quasi_identifiers"], schema["sensitive"]
    if qit.column_names != [*names, "BID"] or counts.column_names != ["BID", sensitive, "COUNT"]:
        return False
    people, entries = qit.to_pylist(), counts.to_pylist()
    for row in (*people, *entries):
        for name, cell in row.items():
            if name in ("BID", "COUNT"):
                if not isinstance(cell, int) or not 0 < cell < 2**53:
                    return False
            elif not any(cell is value or (type(cell) is type(value) and cell == value) for value in domains[name]):
                return False
    keys = [[row["BID"], *(domains[name].index(row[name]) for name in names)] for row in people]
    entry_keys = [[row["BID"], domains[sensitive].index(row[sensitive])] for row in entries]
    if keys != sorted(keys) or any(one >= two for one, two in pairwise(entry_keys)):
        return False  # an ST entry that stands twice is caught here too
    sizes = Counter(row["BID"] for row in people)
    held: Counter[int] = Counter()
    total: Counter[Any] = Counter()
    for row in entries:
        held[row["BID"]] += row["COUNT"]
        total[row[sensitive]] += row["COUNT"]
    if sizes != held or len(people) != block["rows"]:
        return False
    classes = Counter(sizes.values())
    if classes != Counter({each["size"]: each["buckets"] for each in block["classes"]}):
        return False
    if block["loss"] != sum((size - 1) ** 2 * buckets for size, buckets in classes.items()):
        return False
    limits = {value: stated_limit(block, value, total[value], len(people)) for value in domains[sensitive]}
    if block["guarantee"]["tolerance"] != [
        [value, f"{limit.numerator}/{limit.denominator}"] for value, limit in limits.items() if limit
    ]:
        return False
    return all(Fraction(row["COUNT"], sizes[row["BID"]]) <= limits[row[sensitive]] for row in entries)


def test_the_oracle_accepts_the_releases_as_they_are(releases):
    """And so does verify."""
    for release in releases.values():
        assert may_hold(release)
        assert broken(release) == []


# Every published table verifies


AWKWARD = st.text(st.sampled_from("aZ09 ,;'\"\\\n\r\t#é\u0301-+%_$|"), min_size=1, max_size=3)
NAMES = ["age", "zip code", "x", "Größe", 'a"b', "select", "n", "value", "BID2", "counts", "'", "a.b"]


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    missing = draw(st.booleans())
    kind = draw(st.sampled_from(["integers", "numbers", "texts"]))
    if kind == "integers":
        low = draw(st.integers(-5, 5))
        return Integers(low=low, high=low + draw(st.integers(0, 6)), missing=missing)
    values = st.integers(-(2**40), 2**40) if kind == "numbers" else AWKWARD
    return apart(Listed(values=tuple(draw(st.lists(values, min_size=1, max_size=5, unique=True))), missing=missing))


def any_cell(cells: list[Any]) -> bool:
    """A column in which some cell is not missing; one in which all are is published in a test of its own."""
    return any(cell is not None for cell in cells)


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, discreet.Policy]:
    """A small table and a policy for it, of any domains, tolerances and parameters."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique_by=str.casefold))
    chosen = {name: draw(domains()) for name in names}
    sensitive = names[-1]
    rows = draw(st.integers(1, 30))
    columns = {
        name: draw(st.lists(st.sampled_from(list(domain)), min_size=rows, max_size=rows).filter(any_cell))
        for name, domain in chosen.items()
    }
    fractions = st.fractions(0, 1, max_denominator=12)
    exceptions = draw(st.dictionaries(st.sampled_from(list(chosen[sensitive])), fractions.filter(bool), max_size=2))
    policy = policy_of(
        chosen,
        sensitive,
        theta=draw(st.fractions(0, 5, max_denominator=7)),
        floor=draw(fractions),
        values=exceptions,
        sizes=draw(st.sampled_from(["one", "two"])),
        max_size=draw(st.integers(1, 40)),
        composition=draw(st.sampled_from(["random", "round-robin"])),
    )
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}), policy


@given(tables(), st.booleans(), st.integers(0, 10))
@settings(QUICK, max_examples=10)
def test_every_published_table_verifies(made, csv, seed):
    """Random tables, domains, tolerances and parameters: verify and the oracle agree that the promise holds."""
    frame, policy = made
    with tempfile.TemporaryDirectory() as folder:
        try:
            release = publish(frame, policy, Path(folder) / "release", seed=seed, csv=csv)
        except (discreet.Infeasible, discreet.PolicyError):
            assume(False)
        verdict = discreet.verify(release, allow_seeded=True)
        assert verdict.holds, str(verdict)
        assert may_hold(release)
        assert broken(release, allow_seeded=False) == ["randomness"]


@pytest.mark.parametrize("domain", [Integers(low=0, high=3, missing=True), Listed(values=("a", "b"), missing=True)])
@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_column_of_missing_cells_alone_verifies(missing, domain, tmp_path):
    """Where a missing cell is a value, it may be the only one that occurs, in whatever way the frame says it."""
    policy = policy_of({"q": domain, "d": Listed(values=("x", "y"))}, "d", floor="1/2")
    frame = pd.DataFrame({"q": pd.Series([missing] * 4, dtype=object), "d": ["x", "y"] * 2})
    assert broken(publish(frame, policy, tmp_path / "out", csv=True)) == []


@pytest.mark.parametrize("whose", [None, ""])
def test_the_empty_text_and_the_missing_cell_have_tolerances_of_their_own(whose, tmp_path):
    """A tolerance for one is not taken for the other's; where they cannot be told apart, the policy is refused."""
    frame = pd.DataFrame({"n": range(40), "d": pd.Series(["", None, "x", "y"] * 10, dtype=object)})
    try:
        texts = Listed(values=("", "x", "y"), missing=True)
        policy = policy_of({"n": Integers(low=0, high=39), "d": texts}, "d", floor="3/5", values={whose: "3/10"})
    except discreet.PolicyError:
        return
    assert broken(publish(frame, policy, tmp_path / "out")) == []


def test_a_share_exactly_at_its_tolerance_is_kept_and_one_record_more_is_not(tmp_path):
    """0.58 of 50 records is 29, although 0.58 * 50 is less than 29 in floating point."""
    limits = {"x": "0.58", "y": "0.42"}
    policy = policy_of({"n": Integers(low=0, high=199), "d": Listed(values=("x", "y"))}, "d", values=limits)
    frame = pd.DataFrame({"n": range(200), "d": ["x"] * 116 + ["y"] * 84})
    release = publish(frame, policy, tmp_path / "out")
    assert broken(release) == []
    counts = table_of(release, "st")
    assert counts["COUNT"].to_pylist() == [29, 21] * 4
    changed = counts.set_column(2, "COUNT", pa.array([30, 20, 28, 22, *[29, 21] * 2], type=counts["COUNT"].type))
    write_table(release, "st", changed)
    assert broken(release) == ["tolerance"]


# Changed cells


def other_cells(column: str, cell: Any, release: Path, name: str) -> list[Any]:
    """What a cell may be changed to: neighbours, strangers, limits and nothing."""
    table = table_of(release, name)
    if column == "BID":
        buckets = sorted(set(table["BID"].to_pylist()))
        nearest = sorted(buckets, key=lambda bucket: (abs(bucket - cell), bucket))[1:3]
        return [*nearest, max(buckets) + 1, 0, -1, 2**53, None]
    if column == "COUNT":
        return [cell + 1, cell - 1, 0, -cell, 2**53, None]
    values: list[Any] = [value for value in DOMAINS[column] if value != cell]
    strangers: list[Any] = [2, 8, -1] if column == "age" else ["Q", "", "q "]
    return [*values, *strangers, *([None] if None not in values and cell is not None else [])]


def every_change(release: Path, name: str) -> Iterator[tuple[str, pa.Table]]:
    table = table_of(release, name)
    for column in table.column_names:
        cells = table[column].to_pylist()
        for row, cell in enumerate(cells):
            for other in other_cells(column, cell, release, name):
                changed = pa.array(
                    [*cells[:row], other, *cells[row + 1 :]],
                    type=pa.int64() if column in ("BID", "COUNT") else table[column].type,
                )
                place = table.column_names.index(column)
                yield f"{name}, row {row}: {column} from {cell} to {other}", table.set_column(place, column, changed)


@pytest.mark.parametrize("thin", [12, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("name", ["qit", "st"])
@pytest.mark.parametrize("kind", PARAMETERS)
def test_every_changed_cell_is_accepted_exactly_if_the_oracle_accepts_it(kind, name, thin, releases):
    """All single-cell changes, written back with right hashes: rejected where the promise or consistency breaks."""
    wrong, accepted, rejected = [], 0, 0
    with copy_of(releases[kind]) as folder:
        for what, changed in islice(every_change(releases[kind], name), 0, None, thin):
            write_table(folder, name, changed)
            expected, found = may_hold(folder), broken(folder)
            accepted, rejected = accepted + (not found), rejected + bool(found)
            if expected != (not found) or "hashes" in found or "manifest" in found:
                wrong.append((what, f"oracle: {expected}", f"verify: {found}"))
    assert not wrong
    assert rejected > 50 / thin
    assert accepted > 5 / thin or (name, kind) != ("qit", "floor")


def resorted(rows: Rows, columns: list[str]) -> Rows:
    order = {name: {value: i for i, value in enumerate(domain)} for name, domain in DOMAINS.items()}
    return sorted(rows, key=lambda row: [order[name][row[name]] if name in order else row[name] for name in columns])


def merged(entries: Rows) -> Rows:
    """Entries of one bucket and value added up, empty ones left out."""
    total: Counter[tuple[int, Any]] = Counter()
    for row in entries:
        total[row["BID"], row["disease"]] += row["COUNT"]
    return [{"BID": bucket, "disease": value, "COUNT": count} for (bucket, value), count in total.items() if count > 0]


def repaired(manifest: dict[str, Any], people: Rows) -> None:
    """Let the manifest state the rows, classes and loss that the tables have: only the tolerance can break then."""
    classes = Counter(Counter(row["BID"] for row in people).values())
    block = manifest["discreet"]
    block["rows"] = len(people)
    block["classes"] = [{"size": size, "buckets": buckets} for size, buckets in sorted(classes.items())]
    block["loss"] = sum((size - 1) ** 2 * buckets for size, buckets in classes.items())


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["swap values", "move record", "swap people", "move person", "value", "cell"]),
        st.integers(0, 50),
        st.integers(0, 50),
    ),
    min_size=1,
    max_size=4,
)


def edit(people: Rows, entries: Rows, how: str, one: int, two: int) -> None:
    """Change the tables as a careful forger would, who knows how they hang together."""
    first, second = entries[one % len(entries)], entries[two % len(entries)]
    person, other = people[one % len(people)], people[two % len(people)]
    if how == "swap values":
        first["disease"], second["disease"] = second["disease"], first["disease"]
    elif how == "move record":
        first["COUNT"], second["COUNT"] = first["COUNT"] - 1, second["COUNT"] + 1
    elif how == "swap people":
        person["BID"], other["BID"] = other["BID"], person["BID"]
    elif how == "move person":
        person["BID"] = other["BID"]
    elif how == "value":
        first["disease"] = ("q", "p", "s", "r")[two % 4]
    else:
        person["ward"] = ("z", "a", "m", None)[two % 4]


@given(EDITS, st.booleans())
@example([("swap values", 0, 3), ("move person", 1, 9)], True)
@settings(QUICK, max_examples=20)
def test_careful_forgeries_are_accepted_exactly_if_the_oracle_accepts_them(releases, edits, repair):
    """Several changes that keep tables sorted, merged and, half of the time, the manifest true to them."""
    with copy_of(releases["floor"]) as folder:
        people, entries = table_of(folder, "qit").to_pylist(), table_of(folder, "st").to_pylist()
        for how, one, two in edits:
            edit(people, entries, how, one, two)
        people, entries = resorted(people, ["BID", "age", "ward"]), resorted(merged(entries), ["BID", "disease"])
        write_table(folder, "qit", pa.Table.from_pylist(people, schema=table_of(folder, "qit").schema))
        write_table(folder, "st", pa.Table.from_pylist(entries, schema=table_of(folder, "st").schema))
        if repair:
            manifest = manifest_of(folder)
            repaired(manifest, people)
            write_manifest(folder, manifest)
        found = broken(folder)
        assert may_hold(folder) == (not found), found


def test_a_bucket_above_its_tolerance_is_found_when_all_else_is_right(releases):
    """Two people trade places in ST: every count, size and total stays, one share is too large."""
    with copy_of(releases["floor"]) as folder:
        entries = table_of(folder, "st").to_pylist()
        by_bucket = Counter(row["BID"] for row in entries)
        bucket = next(row["BID"] for row in entries if by_bucket[row["BID"]] == 2)
        mine = [row for row in entries if row["BID"] == bucket]
        size = sum(row["COUNT"] for row in mine)
        mine[0]["COUNT"], mine[1]["COUNT"] = size, 0
        write_table(
            folder,
            "st",
            pa.Table.from_pylist(resorted(merged(entries), ["BID", "disease"]), schema=table_of(folder, "st").schema),
        )
        assert broken(folder) == ["tolerance"]
        assert not may_hold(folder)


def _without(table: pa.Table, row: int) -> pa.Table:
    return pa.concat_tables([table.slice(0, row), table.slice(row + 1)])


@pytest.mark.parametrize("name", ["qit", "st"])
def test_a_row_that_is_gone_or_stands_twice_is_found_whatever_number_is_stated(name, releases):
    """Every third row, deleted and doubled, also where the manifest states the number of rows that are left."""
    table = table_of(releases["floor"], name)
    with copy_of(releases["floor"]) as folder:
        for row in range(0, table.num_rows, 3):
            for changed in (_without(table, row), pa.concat_tables([table.slice(0, row + 1), table.slice(row)])):
                for rows in (len(FRAME), len(FRAME) - 1, len(FRAME) + 1):
                    manifest = manifest_of(folder)
                    manifest["discreet"]["rows"] = rows
                    write_manifest(folder, manifest)
                    write_table(folder, name, changed)
                    if not broken(folder):
                        pytest.fail(f"{name} with {changed.num_rows} of {table.num_rows} rows holds")
                    if rows == len(FRAME) and row:
                        break  # other numbers of rows are tried on the first row only


# The manifest


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Put the last of `path` at the place that the others name, inside the block."""

    def change(block: dict[str, Any]) -> None:
        node: Any = block
        for key in path[:-2]:
            node = node[key]
        assert node[path[-2]] != path[-1]
        node[path[-2]] = path[-1]

    return change


TAMPERED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "tolerance raised": (_set("guarantee", "tolerance", 0, 1, "1/1"), "promise"),
    "tolerance lowered": (_set("guarantee", "tolerance", 1, 1, "1/9"), "promise"),
    "tolerance of a value left out": (lambda block: block["guarantee"]["tolerance"].pop(), "promise"),
    "tolerances in another order": (lambda block: block["guarantee"]["tolerance"].reverse(), "promise"),
    "tolerance for a stranger": (lambda block: block["guarantee"]["tolerance"].append(["x", "1/2"]), "promise"),
    "theta raised": (_set("mechanism", "tolerance", "theta", "9"), "promise"),
    "floor raised": (_set("mechanism", "tolerance", "floor", "1"), "promise"),
    "an exception more": (_set("mechanism", "tolerance", "values", {"q": "1"}), "promise"),
    "a parameter more": (lambda block: block["mechanism"].update(note="x"), "promise"),
    "a parameter less": (lambda block: block["mechanism"].pop("sizes"), "promise"),
    "a part of the tolerance more": (lambda block: block["mechanism"]["tolerance"].update(note="x"), "promise"),
    "an exception for a stranger": (_set("mechanism", "tolerance", "values", {"r": "1/2", "t": "1"}), "promise"),
    "another mechanism": (_set("mechanism", "kind", "anatomy"), "promise"),
    "a class more": (lambda block: block["classes"].append({"size": 1, "buckets": 1}), "buckets"),
    "a bucket more": (lambda block: block["classes"][0].update(buckets=block["classes"][0]["buckets"] + 1), "buckets"),
    "another size": (lambda block: block["classes"][0].update(size=block["classes"][0]["size"] + 1), "buckets"),
    "no classes": (_set("classes", []), "buckets"),
    "no missing cells": (lambda block: block["schema"]["domains"]["ward"].pop("missing"), "schema"),
}


@pytest.mark.parametrize("change", TAMPERED)
def test_a_tampered_manifest_is_found(change, releases):
    """Every field that promises or describes something is held against the tables or against the others."""
    edit_block, expected = TAMPERED[change]
    with copy_of(releases["theta"]) as folder:
        manifest = manifest_of(folder)
        edit_block(manifest["discreet"])
        write_manifest(folder, manifest)
        assert set(broken(folder)) & {expected, "manifest"}


def test_a_promise_weakened_in_all_places_but_the_words_is_found(releases):
    """Tolerances and floor raised together still contradict the facts, which name the strictest tolerance."""
    with copy_of(releases["floor"]) as folder:
        manifest = manifest_of(folder)
        block = manifest["discreet"]
        block["mechanism"]["tolerance"]["floor"] = "1"
        for pair in block["guarantee"]["tolerance"]:
            pair[1] = "1/1"
        write_manifest(folder, manifest)
        found = set(broken(folder))
        assert found
        assert found <= WORDS
