"""What a release is, whatever the table came from: the right rows, only what may be known, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engine.duck import Engine
from discreet.release import write as release_write
from discreet.schema.domain import Integers, Listed
from discreet.series.store import Series

POLICY = """\
version = 1
[table]
identifiers = ["fullname", "insurance_no"]
quasi_identifiers = ["age", "gender", "postcode"]
sensitive = "disease"
person = "bed_tag"
[domains.age]
integers = [0, 110]
[domains.gender]
values = ["M", "F"]
[domains.postcode]
values = ["9001", "0213", "0214"]
[domains.disease]
values = ["Measles", "Asthma", "HIV", "Flu"]
[mechanism]
kind = "buckets"
[mechanism.tolerance]
theta = 2
floor = "1/10"
values = { HIV = 0.25 }
"""
PUBLISHED = ("age", "gender", "postcode", "disease")
ROWS = 120


def ward_frame(rows: int = ROWS, seed: int = 5) -> pd.DataFrame:
    """A ward of people who do not exist; everything that must stay private is easy to find again."""
    coins = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "fullname": [f"Zyxwvut Qqqson{i:04d}" for i in range(rows)],
            "insurance_no": [f"9-77-{i:06d}-K" for i in range(rows)],
            "bed_tag": [f"bedtag_{i:05d}" for i in range(rows)],
            "age": coins.integers(0, 105, rows),
            "gender": coins.choice(["M", "F"], rows),
            "postcode": coins.choice(["9001", "0213", "0214"], rows),
            "disease": coins.choice(["Measles", "Asthma", "HIV", "Flu"], rows, p=[0.3, 0.3, 0.1, 0.3]),
            "doctor_remark": [f"remark <<{i:05d}>> on the patient" for i in range(rows)],
            "bill_in_cents": coins.permutation(rows) + 81_726_354,
        }
    )


@pytest.fixture
def policy(tmp_path: Path) -> discreet.Policy:
    path = tmp_path / "ward.toml"
    path.write_text(POLICY, encoding="utf-8")
    return discreet.Policy.load(path)


def publish(source: object, policy: discreet.Policy, to: Path, **options: object) -> Path:
    """Read, publish and let go of everything."""
    table = discreet.read_table(source, policy)
    try:
        discreet.publish(table, policy, to=to, **options).close()
    finally:
        table.close()
    return to


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def sources(frame: pd.DataFrame, folder: Path, row_group: int = 7) -> dict[str, object]:
    """The same rows as a frame, as CSV, as Parquet and as an Arrow table."""
    folder.mkdir(exist_ok=True)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", index=False, row_group_size=row_group)
    return {
        "pandas": frame,
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
        "arrow": pa.Table.from_pandas(frame),
    }


# The same release, whatever the rows come from


def test_pandas_csv_parquet_and_arrow_give_the_same_release(policy, tmp_path):
    """The same rows and seed give the same bytes in every file, from any source."""
    made = {
        name: contents(publish(source, policy, tmp_path / name, seed=3, csv=True))
        for name, source in sources(ward_frame(), tmp_path / "in").items()
    }
    assert set(made["pandas"]) == {
        "README.md",
        "datapackage.json",
        "data/qit.parquet",
        "data/st.parquet",
        "data/qit.csv",
        "data/st.csv",
    }
    assert made["pandas"] == made["csv"] == made["parquet"] == made["arrow"]


def test_another_seed_gives_another_assignment(policy, tmp_path):
    """The comparison above can fail: other coins give other bytes."""
    one, two = (contents(publish(ward_frame(), policy, tmp_path / f"r{seed}", seed=seed)) for seed in (3, 4))
    assert one["data/qit.parquet"] != two["data/qit.parquet"]


@pytest.mark.parametrize("kind", ["int32", "Int64", "float64", "text", "category"])
def test_the_type_of_a_column_of_whole_numbers_does_not_matter(kind, policy, tmp_path):
    """Ages as integers, whole floats, digits or categories are the same ages."""
    frame = ward_frame()
    other = frame.assign(age=frame["age"].astype(str) if kind == "text" else frame["age"].astype(kind))
    one, two = (publish(each, policy, tmp_path / f"r{i}", seed=3) for i, each in enumerate((frame, other)))
    assert contents(one) == contents(two)


def test_the_order_of_columns_and_a_frame_index_do_not_matter(policy, tmp_path):
    """Columns are found by name and rows by position."""
    frame = ward_frame()
    other = frame[sorted(frame.columns)].set_axis(np.arange(ROWS)[::-1] % 11, axis=0)
    one, two = (publish(each, policy, tmp_path / f"r{i}", seed=3) for i, each in enumerate((frame, other)))
    assert contents(one) == contents(two)


def test_csv_rows_that_look_like_comments_are_people_too(policy, tmp_path):
    """A first cell that starts with '#' (a case number) must not drop its row."""
    frame = ward_frame()
    frame.insert(0, "case", [f"#{i}" if i < 3 else str(i) for i in range(ROWS)])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = discreet.read_table(tmp_path / "rows.csv", policy)
    rows = table.rows
    table.close()
    assert rows == ROWS


# The right bucket at the right row


def misplaced(release: Path, ids: np.ndarray, values: np.ndarray) -> int:
    """Buckets whose rows, looked up in the original table by their unique QI, do not have the values that ST states."""
    qit, st = (pq.read_table(release / "data" / f"{name}.parquet") for name in ("qit", "st"))
    value_of = np.empty(ids.max() + 1, dtype=values.dtype)
    value_of[ids] = values
    assert np.array_equal(np.sort(qit["id"].to_numpy()), np.sort(ids))
    held = Counter(zip(qit["BID"].to_pylist(), value_of[qit["id"].to_numpy()].tolist(), strict=True))
    names = {"v0": 0, "v1": 1, "v2": 2, "v3": 3, "v4": 4, "v5": 5}
    stated = {
        (bucket, names[value]): count
        for bucket, value, count in zip(
            st["BID"].to_pylist(), st["d"].to_pylist(), st["COUNT"].to_pylist(), strict=True
        )
    }
    return len({bucket for bucket, _ in {pair for pair in {*held, *stated} if held.get(pair) != stated.get(pair)}})


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """300,000 people with a number of their own as QI, as a frame, CSV with awkward cells, Parquet in 600 groups."""
    rows, coins = 300_000, np.random.default_rng(11)
    ids, values = coins.permutation(rows), coins.choice(6, rows, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03])
    frame = pd.DataFrame(
        {
            "remark": np.where(np.arange(rows) % 5 == 0, 'two\nlines, "quoted"', "plain"),
            "id": ids,
            "d": np.char.add("v", values.astype("U1")),
        }
    )
    found = sources(frame, tmp_path_factory.mktemp("many"), row_group=500)
    assert pq.ParquetFile(found["parquet"]).num_row_groups == 600
    return found, ids, values


def by_id_policy(rows: int) -> discreet.Policy:
    return discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("id",),
            sensitive="d",
            domains={"id": Integers(low=0, high=rows), "d": Listed(values=tuple(f"v{i}" for i in range(6)))},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(theta=2, floor="0.05")),
    )


@pytest.mark.parametrize("source", ["pandas", "csv", "parquet"])
def test_every_row_is_in_a_bucket_that_counts_its_value(source, many, tmp_path):
    """Joined by position over 300,000 rows, ids and rows stay together: ST is what the QIT's people really have."""
    found, ids, values = many
    release = publish(found[source], by_id_policy(len(ids)), tmp_path / "release", series=tmp_path / "s.series")
    assert misplaced(release, ids, values) == 0


def test_many_rows_give_the_same_bytes_again(many, tmp_path):
    """Threads do not show: 300,000 rows published twice are the same files."""
    found, ids, _ = many
    one, two = (publish(found["parquet"], by_id_policy(len(ids)), tmp_path / f"r{i}", seed=1) for i in range(2))
    assert contents(one) == contents(two)


def test_the_row_check_notices_ids_that_are_off_by_one(tmp_path, monkeypatch):
    """The check above can fail: bucket ids moved by a single row put nearly every row in a wrong bucket."""
    ids, values = np.arange(600), np.arange(600) % 6
    register = Engine.register

    def off_by_one(engine, relation, columns):
        if relation == "drawn_ids":
            columns = pa.table({"BID": np.roll(columns["BID"].to_numpy(), 1)})
        register(engine, relation, columns)

    monkeypatch.setattr(Engine, "register", off_by_one)
    frame = pd.DataFrame({"id": ids, "d": [f"v{value}" for value in values]})
    assert misplaced(publish(frame, by_id_policy(600), tmp_path / "release", seed=1), ids, values) > 100


# Nothing but what may be known


def everything_in(folder: Path) -> str:
    """All that a release says, as text: every byte of every file, every cell and all metadata of its Parquet files."""
    said = [str(path.relative_to(folder)) for path in folder.rglob("*")]
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        said.append(path.read_bytes().decode("latin-1"))
        if path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            said += [str(file.schema), str(file.schema_arrow), str(file.metadata.metadata), file.metadata.created_by]
            said += [str(cell) for column in file.read().columns for cell in column.to_pylist()]
    return "\n".join(said)


@pytest.mark.parametrize("source", ["pandas", "csv", "parquet"])
def test_identifiers_and_undeclared_columns_are_nowhere_in_the_release(source, policy, tmp_path):
    """Not a name and not a cell of identifiers, of the person column or of columns the policy does not name."""
    frame = ward_frame()
    release = publish(
        sources(frame, tmp_path / "in")[source], policy, tmp_path / "out", series=tmp_path / "s.series", csv=True
    )
    said = everything_in(release)
    assert "0213" in said
    assert "Measles" in said
    for column in frame.columns.difference(PUBLISHED):
        assert column not in said
        leaked = [cell for cell in frame[column].astype(str) if cell in said]
        assert not leaked, f"{column} is in the release"
    for piece in ("Zyxwvut", "9-77-", "bedtag_", "remark", "rows.csv", "rows.parquet", "ward.toml", str(tmp_path)):
        assert piece not in said


def test_the_secret_key_is_nowhere_in_the_release(policy, tmp_path):
    """Neither its bytes nor its digits, nor the digest of the rows."""
    release = publish(ward_frame(), policy, tmp_path / "out", csv=True)
    with Series(tmp_path / "ward.series") as memory:
        (view,) = memory.views()
        secrets = (memory.coins.key, view.rows, view.ordered, view.drawn)
    said = everything_in(release)
    for secret in secrets:
        assert secret.decode("latin-1") not in said
        assert secret.hex() not in said


def test_an_age_that_nobody_has_is_still_in_the_stated_domain(policy, tmp_path):
    """Domains are the policy's: what occurs does not narrow them."""
    release = publish(ward_frame().assign(age=40, gender="F"), policy, tmp_path / "out", seed=1)
    domains = json.loads((release / "datapackage.json").read_text())["discreet"]["schema"]["domains"]
    assert domains["age"] == {"integers": [0, 110]}
    assert domains["gender"] == {"values": ["M", "F"]}


@pytest.mark.parametrize(
    "name", ["code", "size", "value", "count_", "n", "rowid", "position_", "with space", 'a"b', "é"]
)
def test_the_sensitive_column_may_have_any_name_that_is_not_reserved(name, tmp_path):
    """A column that happens to be called like something inside is published, verified and asked like any other."""
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("age",),
            sensitive=name,
            domains={"age": Integers(low=0, high=99), name: Listed(values=("x", "y", "z"))},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2")),
    )
    frame = pd.DataFrame({"age": np.arange(60), name: list("xyz") * 20})
    release = publish(frame, policy, tmp_path / "out", seed=1, csv=True)
    assert discreet.verify(release, allow_seeded=True).holds
    opened = discreet.open_release(release)
    answer = opened.count(f'''"{name.replace('"', '""')}" = 'x' ''')
    opened.close()
    assert answer.bounds == (20, 20)


@pytest.mark.parametrize("name", ["code", "size", "value", "BID_1", "n", "q", "m0", "with space", 'a"b', "é", "rowid"])
def test_a_quasi_identifier_may_have_any_name_that_is_not_reserved(name, tmp_path):
    """The same for a quasi-identifier."""
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=(name,),
            sensitive="d",
            domains={name: Integers(low=0, high=99), "d": Listed(values=("x", "y", "z"))},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2")),
    )
    frame = pd.DataFrame({name: np.arange(60), "d": list("xyz") * 20})
    release = publish(frame, policy, tmp_path / "out", seed=1, csv=True)
    assert discreet.verify(release, allow_seeded=True).holds


@pytest.mark.parametrize(
    "values",
    [
        ("", "x"),
        ("#1", "#2"),
        ("a,b", 'say "a"'),
        ("one\ntwo", "one\r\ntwo"),
        (" lead", "trail "),
        ("NULL", "nan"),
        ("'", "\\"),
        ("é", "e\u0301"),
        ("1", "01"),
    ],
)
def test_values_of_any_text_come_out_as_they_went_in(values, tmp_path):
    """Quotes, separators, spaces and the empty text survive in both formats, and the copies verify."""
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("q",),
            sensitive="d",
            domains={"q": Listed(values=values), "d": Listed(values=("x", "y", "z"))},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2")),
    )
    frame = pd.DataFrame({"q": list(values) * 30, "d": list("xyz") * 20})
    release = publish(frame, policy, tmp_path / "out", seed=1, csv=True)
    assert Counter(pq.read_table(release / "data" / "qit.parquet")["q"].to_pylist()) == Counter(frame["q"])
    verdict = discreet.verify(release, allow_seeded=True)
    assert verdict.holds, str(verdict)


# For an analyst without discreet


def test_a_release_is_read_with_pandas_alone(policy, tmp_path):
    """The tables have the documented columns and the rows that went in."""
    frame = ward_frame()
    release = publish(frame, policy, tmp_path / "out", seed=1)
    qit, st = (pd.read_parquet(release / "data" / f"{name}.parquet") for name in ("qit", "st"))
    assert list(qit.columns) == ["age", "gender", "postcode", "BID"]
    assert list(st.columns) == ["BID", "disease", "COUNT"]
    published = ["age", "gender", "postcode"]
    assert Counter(qit[published].itertuples(index=False, name=None)) == Counter(
        frame[published].itertuples(index=False, name=None)
    )
    assert st.groupby("disease")["COUNT"].sum().to_dict() == frame["disease"].value_counts().to_dict()


def test_the_readme_recipe_for_pandas_runs_and_counts(policy, tmp_path):
    """The README's own lines, with a condition put in, print the estimate that treats a bucket's rows alike."""
    release = publish(ward_frame(), policy, tmp_path / "out", seed=1)
    recipe = re.search(r"(    import pandas as pd\n(?:    .*\n)+)", (release / "README.md").read_text())[1]
    recipe = "\n".join(line[4:] for line in recipe.splitlines())
    recipe = recipe.replace("qit[...]", 'qit[(qit["age"] < 50) & (qit["gender"] == "F")]').replace("[...]", '["Flu"]')
    done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests, on a README made above
        [sys.executable, "-W", "error", "-c", recipe], cwd=release, capture_output=True, text=True, check=True
    )
    qit, st = (pq.read_table(release / "data" / f"{name}.parquet").to_pylist() for name in ("qit", "st"))
    size = Counter(row["BID"] for row in qit)
    having = {row["BID"]: row["COUNT"] for row in st if row["disease"] == "Flu"}
    expected = sum(
        having.get(row["BID"], 0) / size[row["BID"]] for row in qit if row["age"] < 50 and row["gender"] == "F"
    )
    assert float(done.stdout) == pytest.approx(expected)


def test_rows_are_sorted_by_what_is_published(policy, tmp_path):
    """By bucket, then by every column in the order of its domain: nothing is left to the input's order."""
    release = publish(ward_frame(900), policy, tmp_path / "out", seed=1)
    order = {name: {value: i for i, value in enumerate(policy.schema.domains[name])} for name in PUBLISHED}
    for name in ("qit", "st"):
        table = pq.read_table(release / "data" / f"{name}.parquet")
        columns = ["BID", *(column for column in table.column_names if column not in ("BID", "COUNT"))]
        keys = [
            tuple(row[column] if column == "BID" else order[column][row[column]] for column in columns)
            for row in table.to_pylist()
        ]
        assert keys == sorted(keys)
        assert len(keys) > 300


def test_csv_copies_verify_and_hold_the_same_cells(policy, tmp_path):
    """`csv=True` adds copies that verify; a copy with one other cell does not."""
    release = publish(ward_frame(), policy, tmp_path / "out", series=tmp_path / "s.series", csv=True)
    assert discreet.verify(release).holds
    for name in ("qit", "st"):
        copy = pd.read_csv(release / "data" / f"{name}.csv", dtype={"postcode": str})
        parquet = pd.read_parquet(release / "data" / f"{name}.parquet")
        assert copy.astype(object).equals(parquet.astype(object))
    path = release / "data" / "qit.csv"
    copy = pd.read_csv(path, dtype={"postcode": str})
    copy.loc[5, "age"] = (copy.loc[5, "age"] + 1) % 100
    copy.to_csv(path, index=False)
    manifest = json.loads((release / "datapackage.json").read_text())
    entry = next(each for each in manifest["resources"] if each["path"] == "data/qit.csv")
    entry.update(bytes=path.stat().st_size, hash=f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}")
    (release / "datapackage.json").write_text(json.dumps(manifest))
    assert [check.name for check in discreet.verify(release).checks if not check.holds] == ["copies"]


# The series stays in the house


def test_the_series_file_is_private_and_beside_the_policy(policy, tmp_path):
    """Mode 0600 whatever the umask, with the policy's name, and nothing like it in the release."""
    before = os.umask(0)
    try:
        release = publish(ward_frame(), policy, tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "ward.series").stat().st_mode) == 0o600
    assert not [path for path in release.rglob("*") if "series" in path.name]


def test_an_empty_series_file_that_others_may_read_becomes_private(policy, tmp_path):
    """A key is never put into a file that others can read, even if the file was there before."""
    path = tmp_path / "ward.series"
    path.touch()
    path.chmod(0o644)
    try:
        publish(ward_frame(), policy, tmp_path / "out")
    except discreet.SeriesRefusal:
        assert path.stat().st_size == 0
    else:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("where", ["out/a.series", "out/data/a.series", "x/../out/a.series", "link/a.series"])
def test_a_series_inside_the_release_is_refused(where, policy, tmp_path):
    """Also by a detour; nothing is written."""
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(discreet.PolicyError, match="outside every release"):
        publish(ward_frame(), policy, tmp_path / "out", series=tmp_path / where)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("*.series"))


def test_a_series_inside_an_older_release_is_refused(policy, tmp_path):
    """That folder may have left the house already."""
    publish(ward_frame(), policy, tmp_path / "old", seed=1)
    with pytest.raises(discreet.PolicyError, match="outside every release"):
        publish(ward_frame(), policy, tmp_path / "out", series=tmp_path / "old" / "data" / "a.series")
    assert not list(tmp_path.rglob("*.series"))


def test_a_target_that_cannot_be_written_leaves_no_series(policy, tmp_path):
    """The folder comes first, and with it the error."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(discreet.ReleaseError, match="can be written"):
        publish(ward_frame(), policy, tmp_path / "file" / "out", series=tmp_path / "a.series")
    assert not (tmp_path / "a.series").exists()


def test_a_policy_without_a_file_needs_a_named_series(tmp_path):
    """Nobody guesses where the key is."""
    frame = pd.DataFrame({"id": np.arange(60), "d": [f"v{i % 6}" for i in range(60)]})
    with pytest.raises(discreet.PolicyError, match="series must be named"):
        publish(frame, by_id_policy(60), tmp_path / "out")
    assert not list(tmp_path.iterdir())


# Whole, or not at all


class Broken(Exception):
    """What the tests inject."""


def break_at(monkeypatch, owner: object, name: str, error: type[BaseException], calls: int = 0) -> None:
    """Let a function work `calls` times, then run it once more and raise."""
    real, seen = getattr(owner, name), []

    def breaking(*args, **options):
        result = real(*args, **options)
        seen.append(name)
        if len(seen) > calls:
            raise error("injected")
        return result

    monkeypatch.setattr(owner, name, breaking)


FAILURES = [(Engine, "write_sorted", 0), (Engine, "write_sorted", 1), (Engine, "write_csv", 1), (Engine, "register", 2)]


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("owner", "name", "calls"), [*FAILURES, (release_write, "_flush", 0)])
def test_a_failure_while_writing_leaves_nothing(owner, name, calls, error, policy, tmp_path, monkeypatch):
    """No folder, no temporary sibling; what the series remembers, nobody has seen."""
    table = discreet.read_table(ward_frame(), policy)
    target = tmp_path / "out" / "release"
    target.parent.mkdir()
    with monkeypatch.context() as patch:
        break_at(patch, owner, name, error, calls)
        with pytest.raises(error):
            discreet.publish(table, policy, to=target, csv=True)
    assert list(target.parent.iterdir()) == []
    discreet.publish(table, policy, to=target, csv=True).close()
    table.close()
    assert discreet.verify(target).holds


@pytest.mark.parametrize(("owner", "name", "calls"), [*FAILURES, (release_write, "_flush", 0)])
def test_a_failure_while_replacing_keeps_the_old_release(owner, name, calls, policy, tmp_path, monkeypatch):
    """The old release stays as it was, and nothing stays beside it."""
    target = publish(ward_frame(), policy, tmp_path / "out" / "release")
    before = contents(target)
    with monkeypatch.context() as patch:
        break_at(patch, owner, name, Broken, calls)
        with pytest.raises(Broken):
            publish(ward_frame(), policy, target, csv=True, replace=True)
    assert list(target.parent.iterdir()) == [target]
    assert contents(target) == before


def test_a_failure_in_the_last_step_of_replacing_keeps_a_release(policy, tmp_path, monkeypatch):
    """Where the new folder cannot take the name, the old one gets it back."""
    target = publish(ward_frame(), policy, tmp_path / "out" / "release")
    before = contents(target)
    rename, seen = os.rename, []

    def second_fails(source, to):
        seen.append(source)
        if len(seen) == 2:
            raise OSError(5, "Input/output error")
        rename(source, to)

    with monkeypatch.context() as patch:
        patch.setattr(release_write.os, "rename", second_fails)
        with pytest.raises((OSError, discreet.ReleaseError)):
            publish(ward_frame(), policy, target, csv=True, replace=True)
    assert list(target.parent.iterdir()) == [target]
    assert contents(target) == before


def test_an_existing_target_is_not_overwritten(policy, tmp_path):
    """A release, a folder and a file of that name stay as they are."""
    target = publish(ward_frame(), policy, tmp_path / "out")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    before = contents(tmp_path)
    for name in ("out", "folder", "file"):
        with pytest.raises(discreet.ReleaseError, match="must not exist yet"):
            publish(ward_frame(), policy, tmp_path / name)
    assert contents(tmp_path) == before
    assert target.is_dir()


def test_replace_replaces_a_release(policy, tmp_path):
    """With `replace` the new release takes the place of the old one, which is gone."""
    target = publish(ward_frame(), policy, tmp_path / "out" / "release", seed=1, csv=True)
    publish(ward_frame(), policy, target, seed=2, replace=True)
    assert contents(target) == contents(publish(ward_frame(), policy, tmp_path / "fresh", seed=2))
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("inside", [{}, {"mine.txt": "x"}, {"datapackage.json": "{}"}, {"datapackage.json": "[["}])
def test_replace_leaves_what_is_no_release(inside, policy, tmp_path):
    """An ordinary folder, an empty one or another data package stays untouched."""
    target = tmp_path / "out"
    target.mkdir()
    for name, text in inside.items():
        (target / name).write_text(text)
    with pytest.raises(discreet.ReleaseError, match="must be a release to be replaced"):
        publish(ward_frame(), policy, target, replace=True)
    assert {name: path.read_text() for name in inside for path in [target / name]} == inside
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "ward.toml"]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("points_to", ["a release", "a folder", "nothing"])
def test_a_target_that_is_a_link_is_refused(points_to, replace, policy, tmp_path):
    """Whatever it points to, with and without `replace`; link and target stay."""
    behind = tmp_path / "behind"
    if points_to == "a release":
        publish(ward_frame(), policy, behind, seed=1)
    elif points_to == "a folder":
        behind.mkdir()
    before = contents(behind) if behind.exists() else None
    link = tmp_path / "link"
    link.symlink_to(behind)
    with pytest.raises(discreet.ReleaseError):
        publish(ward_frame(), policy, link, replace=replace, seed=2)
    assert link.is_symlink()
    assert (contents(behind) if behind.exists() else None) == before


# A table that changes under our hands


def write_rows(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path, index=False)


def after_a_change(
    changed: pd.DataFrame | None, name: str, policy: discreet.Policy, folder: Path, seed: int | None
) -> str:
    """Publish a file that changes (or goes) after it was read and checked: the refusal, or '' for a release.

    A release must be that of the rows that were checked; a refusal leaves no folder.
    """
    path = folder / name
    write_rows(ward_frame().astype(str), path)
    expected = contents(publish(path, policy, folder / "expected", seed=seed))
    table = discreet.read_table(path, policy)
    path.unlink() if changed is None else write_rows(changed, path)
    try:
        discreet.publish(table, policy, to=folder / "out", seed=seed).close()
    except discreet.DiscreetError as error:
        assert not (folder / "out").exists()
        return str(error)
    finally:
        table.close()
    assert contents(folder / "out") == expected
    return ""


@pytest.mark.parametrize(
    ("column", "cell"), [("disease", "Qzx-Ebola"), ("age", "9988776"), ("gender", "Qzx-other"), ("postcode", None)]
)
@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_cell_that_leaves_its_domain_after_the_check_is_not_published(name, seed, column, cell, policy, tmp_path):
    """What was not checked is not published; the refusal has no cell in it."""
    changed = ward_frame().astype(str)
    changed.loc[7, column] = cell
    message = after_a_change(changed, name, policy, tmp_path, seed)
    assert not cell or cell not in message


@pytest.mark.parametrize("change", ["a row more", "a row less", "gone", "another disease"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_other_rows_after_the_check_are_not_published(name, change, policy, tmp_path):
    """The plan was made for the rows that were counted."""
    changed = {
        "a row more": ward_frame(ROWS + 1),
        "a row less": ward_frame(ROWS - 1),
        "gone": None,
        "another disease": ward_frame().assign(disease=lambda frame: frame["disease"].replace("HIV", "Flu")),
    }[change]
    after_a_change(changed if changed is None else changed.astype(str), name, policy, tmp_path, 1)
