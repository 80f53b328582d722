"""Files carry their cells and nothing else; whatever a changed publisher puts beside them is found."""

from __future__ import annotations

import importlib
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, opened, policy_of, ward_frame

import discreet
from discreet.attack.carried import carried, uneven
from discreet.attack.files import FileLeaks
from discreet.evaluate.scratch import released
from discreet.schema.domain import Dates, Decimals

BY_NAME = {case.name: case for case in CASES}
WRITE = importlib.import_module("discreet.mechanism.buckets.making.write")
NEAR_ALL = pytest.mark.parametrize("strength", [1.0, 0.25])


def report_of(name, folder, frame, *, seed=1, unverified=False):
    """What the attack finds on a release of a case."""
    folder.mkdir(exist_ok=True)
    case = BY_NAME[name]
    policy = policy_of(case, folder)
    options = {"seed": seed} if case.views == 1 else {"series": folder / "s.series"}
    with discreet.read_table(frame, policy) as table, opened(table, policy, folder / "release", **options) as release:
        return discreet.audit(release, table, attacks=[FileLeaks()], unverified=unverified)


def found(report):
    """Everything that was found, by kind."""
    every = {}
    for each in report.findings:
        every |= {kind: number for kind, number in each.details.items() if number and kind != "looked_for"}
    return every


def leaky(monkeypatch, change):
    """Let the writer of the sensitive table change it first, and say with which metadata."""

    def write(groups, to):
        table, metadata = change(pa.concat_tables(groups))
        with pq.ParquetWriter(to, table.schema, compression="zstd", store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata(metadata or {})

    monkeypatch.setattr(WRITE, "write_parquet", write)


def hidden(table, column, strength, rows):
    """Identifiers of some people in a further column of the sensitive table."""
    coins = np.random.default_rng(1)
    names = [name if coins.random() < strength else "" for name in ward_frame(rows)[column]]
    return table.append_column("note", pa.array(names[: len(table)] + [""] * (len(table) - rows), pa.string()))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_right_release_carries_nothing_else(case, seed, tmp_path):
    """Not a key, entry, statistic, byte, path, time or name of anybody, in any kind of release."""
    report = report_of(case.name, tmp_path / "x", ward_frame(case.public_rows or 120, seed), seed=seed)
    assert found(report) == {}
    assert all(each.rate.rate == 0 for each in report.findings)
    assert report["files, unpublished cells"].details["looked_for"] > 4 * 120
    assert report.holds


def test_a_right_release_read_from_text_carries_nothing_else(tmp_path):
    """The same where the table was a CSV file: neither its name nor a cell of it is left."""
    folder = tmp_path / "a_secret_place"
    folder.mkdir()
    ward_frame().to_csv(folder / "patients_of_2024.csv", index=False)
    assert found(report_of("buckets", tmp_path / "x", folder / "patients_of_2024.csv")) == {}


def test_columns_of_few_numbers_and_dates_carry_nothing_else(tmp_path):
    """No filter of their cells stands beside them, however often a cell comes again."""
    schema = discreet.Schema(
        quasi_identifiers=("floor", "admitted", "share"),
        sensitive="disease",
        domains={
            "floor": discreet.Integers(low=0, high=9, missing=True),
            "admitted": Dates(low=date(2020, 1, 1), high=date(2020, 1, 12)),
            "share": Decimals(low=Decimal(0), high=Decimal(1), step=Decimal("0.25")),
            "disease": discreet.Listed(values=("Flu", "long name " * 20, "ü" * 90)),
        },
    )
    coins, rows = np.random.default_rng(2), 900
    table = pa.table(
        {
            "floor": pa.array(coins.integers(0, 10, rows), mask=coins.random(rows) < 0.1),
            "admitted": [date(2020, 1, 1 + day) for day in coins.integers(0, 12, rows).tolist()],
            "share": [Decimal(each) / 4 for each in coins.integers(0, 5, rows).tolist()],
            "disease": [list(schema.domains["disease"])[each] for each in coins.integers(0, 3, rows)],
        }
    )
    for mechanism in (
        discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2")),
        discreet.AlphaBeta(prior="0.1", posterior="0.5"),
        discreet.DiffGen(epsilon=1),
        discreet.Pairs(epsilon=1),
    ):
        policy = discreet.Policy(schema=schema, mechanism=mechanism)
        with discreet.read_table(table, policy) as own, released(own, mechanism, 1) as release:
            assert found(discreet.audit(release, own, attacks=[FileLeaks()])) == {}, mechanism.kind


def test_values_of_the_domain_that_nobody_has_are_not_taken_for_a_leak(tmp_path):
    """A writer lists public values that no row has; an empty entry in their place says nothing either."""
    frame = ward_frame(400)
    frame = frame[(frame["gender"] == "F") & (frame["postcode"] == "0214")].reset_index(drop=True)
    assert found(report_of("buckets", tmp_path / "x", frame)) == {}


def test_metadata_with_the_path_of_the_table_is_found(tmp_path, monkeypatch):
    """One key is enough, whatever it says."""
    leaky(monkeypatch, lambda table: (table, {"source": "/home/somebody/patients.csv"}))
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert found(report)["metadata keys"] == 1
    assert not report.holds


@NEAR_ALL
def test_identifiers_in_a_hidden_column_are_found(strength, tmp_path, monkeypatch):
    """An undeclared column, and how many of the unpublished cells that are looked for stand in it."""
    leaky(monkeypatch, lambda table: (hidden(table, "insurance_no", strength, 100), None))
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert found(report)["undeclared columns"] == 1
    assert not report.holds
    number = len([each for each in np.random.default_rng(1).random(100) if each < strength])
    assert report["files, unpublished cells"].rate.rate == number


@NEAR_ALL
def test_a_dictionary_with_raw_values_is_found(strength, tmp_path, monkeypatch):
    """No row uses the entries, but they stand in the file."""
    names = ward_frame()["fullname"].tolist()
    names = names[: int(strength * len(names))]

    def change(table):
        column = table["disease"].combine_chunks().cast(pa.string()).dictionary_encode()
        entries = pa.array([*column.dictionary.to_pylist(), *names])
        own = pa.DictionaryArray.from_arrays(column.indices, entries)
        return table.set_column(1, "disease", own), None

    leaky(monkeypatch, change)
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert found(report)["dictionary entries that no cell has"] == len(names)
    assert report["files, unpublished cells"].rate.rate == len(names)
    assert not report.holds


@NEAR_ALL
def test_a_dictionary_in_the_order_of_the_table_is_found(strength, tmp_path, monkeypatch):
    """Entries, or a quarter of them, neither in the order of the domain nor as rows have them first."""

    def change(table):
        column = table["disease"].combine_chunks().cast(pa.string())
        entries = column.unique().to_pylist()
        some = max(2, int(strength * len(entries)))
        entries[:some] = entries[:some][::-1]
        codes = pa.array([entries.index(each) for each in column.to_pylist()], pa.int32())
        return table.set_column(1, "disease", pa.DictionaryArray.from_arrays(codes, pa.array(entries))), None

    leaky(monkeypatch, change)
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert found(report) == {"dictionaries in an order of their own": 1}


@NEAR_ALL
def test_row_groups_that_end_with_some_people_are_found(strength, tmp_path, monkeypatch):
    """A writer that begins a group after every seven buckets, or does so once and leaves the rest together."""

    def write(groups, to):
        table = pa.concat_tables(groups)
        buckets = table["BID"].to_numpy()
        ends = [int((buckets <= last).sum()) for last in range(7, int(buckets.max()), 7)]
        ends = ends if strength == 1 else ends[:1]
        with pq.ParquetWriter(to, table.schema, compression="zstd", store_schema=False) as writer:
            for start, end in zip([0, *ends], [*ends, len(table)], strict=True):
                writer.write_table(table.slice(start, end - start))

    monkeypatch.setattr(WRITE, "write_parquet", write)
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert set(found(report)) == {"uneven row groups"}
    assert not report["files, layout"].covered


def test_a_file_that_nobody_declared_is_found(tmp_path, monkeypatch):
    """Left in the folder by whoever writes: a note with people's names, and the name of a person in it."""
    real = WRITE.write_st

    def write(schema, bucket, value, count, to, order):
        real(schema, bucket, value, count, to, order)
        (to.parent / "log.txt").write_text("done for Zyxwvut Qqqson0007; bedtag_00003", encoding="utf-8")

    monkeypatch.setattr(WRITE, "write_st", write)
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert found(report)["undeclared files"] == 1
    assert report["files, unpublished cells"].rate.rate >= 1


def test_times_and_paths_in_the_readme_are_found(tmp_path, monkeypatch):
    """Words that say when and where: not promised away, and shown."""
    manifest = importlib.import_module("discreet.release.manifest")
    real = manifest.FAMILIES["buckets"].readme
    monkeypatch.setattr(
        type(manifest.FAMILIES["buckets"]),
        "readme",
        lambda self, *said: real(*said) + "\nmade 2026-01-02T03:04 from /home/somebody/ward.csv\n",
    )
    report = report_of("buckets", tmp_path / "x", ward_frame(), unverified=True)
    assert {"times": 1, "paths": 1}.items() <= found(report).items()
    assert not report["files, names and times"].covered


def test_bytes_between_columns_and_foreign_writers_are_counted(tmp_path):
    """A file with bytes put before its footer, and one of another writer."""
    table = pa.table({"x": ["a", "b"]})
    pq.write_table(table, tmp_path / "plain.parquet", store_schema=False)
    assert carried(tmp_path / "plain.parquet", ["x"], {}) == {}
    content = (tmp_path / "plain.parquet").read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    (tmp_path / "more.parquet").write_bytes(content[:-footer] + b"secret" + content[-footer:])
    assert carried(tmp_path / "more.parquet", ["x"], {}) == {"bytes that no column has": 6}
    wrong = content.replace(b"parquet-cpp-arrow", b"parquet-of-nobody")
    (tmp_path / "wrong.parquet").write_bytes(wrong)
    assert carried(tmp_path / "wrong.parquet", ["x"], {}) == {"unknown writers": 1}


def test_a_statistic_that_is_no_cell_is_counted(tmp_path):
    """The ends that a footer states must be cells; here the footer of one file tells of another."""
    for name, cells in (("a", ["aa", "bb", "bb"]), ("b", ["cc", "bb", "bb"])):
        pq.write_table(pa.table({"x": cells}), tmp_path / f"{name}.parquet", use_dictionary=False, compression="none")
    one, two = ((tmp_path / f"{name}.parquet").read_bytes() for name in "ab")
    length = int.from_bytes(one[-8:-4], "little") + 8
    assert len(one) == len(two)
    (tmp_path / "c.parquet").write_bytes(two[:-length] + one[-length:])
    assert carried(tmp_path / "c.parquet", ["x"], {})["statistics that no cell has"] == 1


def test_uneven_row_groups_are_counted(tmp_path):
    """Only the last group may be other than the writers cut them: a size must not be that of some people."""
    with pq.ParquetWriter(tmp_path / "x.parquet", pa.schema([("x", pa.int64())]), store_schema=False) as writer:
        for rows in (5, 3, 5):
            writer.write_table(pa.table({"x": list(range(rows))}))
    assert carried(tmp_path / "x.parquet", ["x"], {}) == {"uneven row groups": 2}
    whole = 122_880
    assert [uneven(each) for each in ([], [5], [whole, 5], [whole, whole, whole])] == [0, 0, 0, 0]
    assert [uneven(each) for each in ([70, 50], [5, 7], [whole, whole + 1], [whole, 1 << 20, 3])] == [1, 2, 1, 1]
