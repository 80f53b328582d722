"""Downloads: a server of our own sends good and hostile archives; a failure is a sentence and leaves nothing behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from cases import SHARED, needs_shared
from pyarrow import parquet

from discreet.datasets import download, uci
from discreet.datasets.download import download_adult, download_census_income
from discreet.errors import TableError

ADULT_TRAIN = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    b"United-States, <=50K\n"
    b"54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, 0, 0, 6, South, >50K\n"
    b"\n"
)
ADULT_TEST = (
    b"|1x3 Cross validator\n"
    b"25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, "
    b"United-States, <=50K.\n"
    b"\n"
)


def census_line(age: int, occupation: int, country: str) -> bytes:
    """A line of the raw Census-Income file; what is not kept is filled with its own position."""
    cells = [f"x{position}" for position in range(uci.CENSUS_FIELDS)]
    kept = {
        "Age": age,
        "Gender": "Female",
        "Education": "High school graduate",
        "Marital": "Widowed",
        "Race": "White",
        "WorkClass": "Private",
        "Country": country,
        "Occupation": occupation,
        "OccupationMajor": "Sales",
        "IndustryCode": 4,
        "Household": "Householder",
        "Income": "- 50000.",
        "Year": 95,
    }
    for name, (position, _) in uci.CENSUS_COLUMNS.items():
        cells[position] = str(kept[name])
    return ", ".join(cells).encode() + b"\n"


CENSUS_TRAIN = census_line(73, 0, "United-States") + census_line(58, 34, "?")
CENSUS_TEST = census_line(38, 36, "Mexico")


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


ADULT_MEMBERS = {"Index": b"x", "adult.data": ADULT_TRAIN, "adult.names": b"y", "adult.test": ADULT_TEST}
CENSUS_MEMBERS = {"census-income.data": CENSUS_TRAIN, "census-income.test": CENSUS_TEST, "census-income.names": b"z"}


@dataclass
class Server:
    """What the loopback server sends: a body and a status, a promised length, and how long it waits before the body."""

    url: str
    body: bytes = b""
    status: int = 200
    promised: int | None = None
    wait: float = 0
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server on loopback; both archives are looked for there, with the sizes and checksums of the small files."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(state.body) if state.promised is None else state.promised))
            self.end_headers()
            time.sleep(state.wait)
            self.wfile.write(state.body)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Server(f"http://127.0.0.1:{listening.server_port}")
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(uci, "ADULT", small(uci.ADULT, f"{state.url}/adult.zip", ADULT_TRAIN, ADULT_TEST))
    monkeypatch.setattr(
        uci, "CENSUS_INCOME", small(uci.CENSUS_INCOME, f"{state.url}/census.zip", CENSUS_TRAIN, CENSUS_TEST)
    )
    yield state
    listening.shutdown()
    thread.join()
    listening.server_close()


def small(archive: uci.Archive, url: str, train: bytes, test: bytes) -> uci.Archive:
    """An archive with the same names and other contents."""
    raws = [
        replace(raw, size=len(content), sha256=hashlib.sha256(content).hexdigest())
        for raw, content in ((archive.train, train), (archive.test, test))
    ]
    return replace(archive, url=url, limit=200_000, train=raws[0], test=raws[1], tar_limit=100_000)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that does not exist yet; whatever happens, temporary files are gone at the end."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield tmp_path / "new" / "folder"
    assert not list(temporary.iterdir())


def refused(call: Callable[[Path], object], place: Path, words: str) -> None:
    """One sentence with these words, and no file or folder made."""
    before = sorted(place.parents[1].rglob("*"))
    with pytest.raises(TableError, match=words) as caught:
        call(place)
    assert "\n" not in str(caught.value)
    assert sorted(place.parents[1].rglob("*")) == before


def test_adult_becomes_a_table(server, place):
    """Both splits in order, blanks and final dots gone, '?' kept, numbers as numbers, and nothing beside the file."""
    server.body = zipped(ADULT_MEMBERS)
    path = download_adult(place)
    assert path == place / "adult_full.parquet"
    assert [each.name for each in place.iterdir()] == ["adult_full.parquet"]
    table = parquet.read_table(path)
    assert table.column_names == [*uci.ADULT_COLUMNS, "split"]
    assert table["age"].to_pylist() == [39, 54, 25]
    assert table["occupation"].to_pylist() == ["Adm-clerical", "?", "Machine-op-inspct"]
    assert table["income"].to_pylist() == ["<=50K", ">50K", "<=50K"]
    assert table["split"].to_pylist() == ["train", "train", "test"]
    assert table.schema.field("fnlwgt").type == pa.int64()
    assert server.asked == ["/adult.zip"]


@pytest.mark.parametrize(
    "members",
    [
        {"census.tar.gz": tarred(CENSUS_MEMBERS)},
        {"census.tar.gz": tarred({f"./{name}": content for name, content in CENSUS_MEMBERS.items()})},
        {f"{name}.gz": gzip.compress(content) for name, content in CENSUS_MEMBERS.items()},
        CENSUS_MEMBERS,
    ],
    ids=["tar", "tar with dots", "gz", "plain"],
)
def test_census_income_becomes_two_tables(server, place, members):
    """However the raw files are packed; one table has those with an occupation, the other everyone."""
    server.body = zipped(members)
    some, everyone = download_census_income(str(place))
    assert sorted(each.name for each in place.iterdir()) == ["census_occ.parquet", "census_occ_all.parquet"]
    table = parquet.read_table(everyone)
    assert table.column_names == [*uci.CENSUS_COLUMNS, "Split"]
    assert table["Age"].to_pylist() == [73, 58, 38]
    assert table["Country"].to_pylist() == ["United-States", "?", "Mexico"]
    assert table["Split"].to_pylist() == ["train", "train", "test"]
    assert table.schema.field("Occupation").type == pa.int16()
    assert parquet.read_table(some).equals(table.slice(1))


def test_a_second_download_replaces_the_first(server, place):
    """An older file of the same name gives way, and stays as it is if the new download fails."""
    server.body = zipped(ADULT_MEMBERS)
    place.mkdir(parents=True)
    path = place / "adult_full.parquet"
    path.write_bytes(b"old")
    server.status = 500
    refused(download_adult, place, "HTTP status 500")
    assert path.read_bytes() == b"old"
    server.status = 200
    assert parquet.read_table(download_adult(place)).num_rows == 3
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("name", ["adult.data", "adult.test"])
def test_a_wrong_checksum_is_refused(server, place, name):
    """One letter of one cell is enough."""
    server.body = zipped(
        {**ADULT_MEMBERS, name: ADULT_MEMBERS[name].replace(b"White", b"Black").replace(b"11th", b"12th")}
    )
    refused(download_adult, place, f"{name} from .* has not the expected SHA-256")


def test_a_shorter_file_is_refused(server, place):
    """The last row is missing."""
    server.body = zipped({"census.tar.gz": tarred({**CENSUS_MEMBERS, "census-income.data": census_line(1, 1, "?")})})
    refused(download_census_income, place, "has not the expected SHA-256")


@pytest.mark.parametrize("name", ["adult.data", "adult.test"])
def test_a_missing_member_is_named(server, place, name):
    """Even where another one has nearly its name."""
    members = {("old." + each if each == name else each): content for each, content in ADULT_MEMBERS.items()}
    server.body = zipped(members)
    refused(download_adult, place, f"{name} is missing in what")


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_truncated_archive_is_refused(server, place, kept):
    """Whether the server is honest about the length or not."""
    whole = zipped(ADULT_MEMBERS)
    server.body = whole[: int(kept * len(whole))]
    refused(download_adult, place, "not a whole archive")
    server.promised = len(whole)
    refused(download_adult, place, "stopped before the end|cannot be fetched")


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_truncated_archive_inside_is_refused(server, place, kept):
    """A whole zip file with half a tar file or half a gzip file in it."""
    inner = tarred({**CENSUS_MEMBERS, "more": os.urandom(5_000)})
    server.body = zipped({"census.tar.gz": inner[: int(kept * len(inner))]})
    refused(download_census_income, place, "not a whole archive")
    packed = gzip.compress(CENSUS_TRAIN)
    server.body = zipped({"census-income.data.gz": packed[: int(kept * len(packed))]})
    refused(download_census_income, place, "not a whole archive")


def test_damaged_bytes_are_refused(server, place):
    """Wherever one byte of the archive is changed, it is one sentence or the right table."""
    whole = zipped(ADULT_MEMBERS)
    for position in range(0, len(whole), 7):
        server.body = whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :]
        try:
            path = download_adult(place)
        except TableError:
            assert not place.exists()
        else:
            assert parquet.read_table(path)["age"].to_pylist() == [39, 54, 25]
            path.unlink()
            place.rmdir()


@pytest.mark.parametrize("prefix", ["../", "/", "../../", "..\\", "folder/"])
def test_names_that_lead_elsewhere_are_not_followed(server, place, prefix):
    """A member of such a name is none of the expected; beside the right ones it is passed over."""
    hostile = {prefix + name: content for name, content in ADULT_MEMBERS.items()}
    server.body = zipped(hostile)
    refused(download_adult, place, "is missing in what")
    server.body = zipped({**hostile, **ADULT_MEMBERS})
    download_adult(place)
    assert [each.name for each in place.parents[1].rglob("*") if each.is_file()] == ["adult_full.parquet"]


@pytest.mark.parametrize("prefix", ["../", "/", "../../"])
def test_names_in_a_tar_file_are_not_followed(server, place, prefix):
    """The same for the archive inside."""
    hostile = {prefix + name: content for name, content in CENSUS_MEMBERS.items()}
    server.body = zipped({"census.tar.gz": tarred(hostile)})
    refused(download_census_income, place, "is missing in what")
    server.body = zipped({"census.tar.gz": tarred({**hostile, **CENSUS_MEMBERS})})
    download_census_income(place)
    assert len([each for each in place.parents[1].rglob("*") if each.is_file()]) == 2


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_no_members(server, place, kind):
    """A link named as a raw file is not followed."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo("census-income.data")
        info.type, info.linkname = kind, "/etc/hostname"
        archive.addfile(info)
    server.body = zipped({"census.tar.gz": target.getvalue()})
    refused(download_census_income, place, "census-income.data is missing")


def test_a_bomb_is_refused(server, place):
    """A member that unpacks to more than its file has is given up at that size, in a zip, gzip or tar file."""
    bomb = bytes(50_000_000)
    server.body = zipped({**ADULT_MEMBERS, "adult.data": bomb})
    assert len(server.body) < 200_000
    refused(download_adult, place, "adult.data is larger than the")
    server.body = zipped({"census-income.data.gz": gzip.compress(bomb)})
    refused(download_census_income, place, "census-income.data is larger than the")
    server.body = zipped({"census.tar.gz": tarred({"census-income.data": bomb})})
    refused(download_census_income, place, "census-income.data is larger than the")
    server.body = zipped({"census.tar.gz": tarred({"other": bomb, **CENSUS_MEMBERS})})
    refused(download_census_income, place, "census.tar.gz from .* holds more than 100,000 bytes")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_without_bounds_is_not_read(server, place, method):
    """bzip2 and LZMA members would be unpacked whole, so they do not count."""
    server.body = zipped(ADULT_MEMBERS, method)
    refused(download_adult, place, "adult.data is missing")


def test_a_long_answer_is_given_up(server, place):
    """More bytes than an archive may have."""
    server.body = os.urandom(300_000)
    refused(download_adult, place, "sends more than 200,000 bytes")


@pytest.mark.parametrize(
    "body", [b"", b"<html>moved</html>", gzip.compress(b"x"), zipped({})], ids=["nothing", "page", "gzip", "empty zip"]
)
def test_what_is_no_archive_is_refused(server, place, body):
    """A page, an empty answer, a file of another kind, an empty archive."""
    server.body = body
    refused(download_adult, place, "not a whole archive|is missing")


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_server_errors_are_a_sentence(server, place, status):
    """With the status."""
    server.status = status
    refused(download_adult, place, f"answers with the HTTP status {status}")


def test_a_refused_connection_is_a_sentence(server, place, monkeypatch):
    """Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr(uci, "ADULT", replace(uci.ADULT, url=f"http://127.0.0.1:{port}/adult.zip"))
    refused(download_adult, place, "cannot be fetched: .*; is there a network")


def test_an_unknown_host_is_a_sentence(server, place, monkeypatch):
    """As without a network."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    refused(download_adult, place, "cannot be fetched: .*name resolution; is there a network")


def test_a_silent_server_is_given_up(server, place, monkeypatch):
    """After a time without a byte, and after a time altogether."""
    server.body, server.wait = zipped(ADULT_MEMBERS), 0.6
    monkeypatch.setattr(download, "SILENCE", 0.1)
    refused(download_adult, place, "it takes too long")
    server.wait = 0
    monkeypatch.setattr(download, "SILENCE", 10)
    monkeypatch.setattr(download, "PATIENCE", -1)
    refused(download_adult, place, "it takes too long")


def test_a_place_that_cannot_be_written_is_refused_before_the_download(server, place):
    """A file where the folder should be, or a folder where the file should be."""
    place.mkdir(parents=True)
    (place / "file").touch()
    (place / "adult_full.parquet").mkdir()
    refused(download_adult, place, "is a folder")
    refused(lambda _: download_adult(place / "file"), place, "cannot be written")
    refused(lambda _: download_adult(place / "file" / "below"), place, "cannot be written")
    assert server.asked == []


def test_a_full_disk_leaves_nothing_behind(server, place, monkeypatch):
    """The second of two files cannot be written: then the first is not there either."""
    server.body = zipped({"census.tar.gz": tarred(CENSUS_MEMBERS)})
    write = parquet.write_table

    def full(table: pa.Table, path: Path, **options: object) -> None:
        if path.name == "census_occ_all.parquet":
            raise OSError(28, "No space left on device")
        write(table, path, **options)

    monkeypatch.setattr(parquet, "write_table", full)
    refused(download_census_income, place, "No space left on device")


def test_the_command_prints_paths_or_a_sentence(server, place, capsys):
    """Exit 0 with a path a line, or 1 with the sentence alone."""
    server.body = zipped(ADULT_MEMBERS)
    assert download.main(["adult", str(place)]) == 0
    assert capsys.readouterr().out == f"{place / 'adult_full.parquet'}\n"
    assert download.main(["census-income", str(place)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("census-income.data is missing")
    assert shown.err.count("\n") == 1
    server.body = zipped(CENSUS_MEMBERS)
    assert download.main(["census-income", str(place)]) == 0
    assert capsys.readouterr().out.split() == [str(place / f"census_occ{end}.parquet") for end in ("", "_all")]


def test_the_module_is_a_command():
    """It runs by its name and warns of nothing; without arguments it says what it needs."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "discreet.datasets.download", "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    assert not done.stderr
    assert "{adult,census-income}" in done.stdout


@needs_shared("adult_full.parquet")
def test_the_real_adult_has_the_checksums_and_becomes_the_same_table():
    """Its raw files, written again from the shared table, are UCI's byte for byte."""
    shared = parquet.read_table(SHARED / "adult_full.parquet").replace_schema_metadata()
    raws = []
    for split, start, dot in (("train", "", ""), ("test", "|1x3 Cross validator\n", ".")):
        rows = shared.filter(pc.equal(shared["split"], split)).drop_columns(["split"]).to_pydict().values()
        lines = (", ".join(map(str, row)) + dot for row in zip(*rows, strict=True))
        raws.append((start + "\n".join(lines) + "\n\n").encode())
    for raw, content in zip((uci.ADULT.train, uci.ADULT.test), raws, strict=True):
        assert len(content) == raw.size
        assert hashlib.sha256(content).hexdigest() == raw.sha256
    assert uci.adult_table(*raws).equals(shared)


@needs_shared("census_occ_all.parquet", "census_occ.parquet")
def test_the_real_census_income_becomes_the_same_tables():
    """The kept columns of the raw files, written again from the shared table, give both shared tables."""
    shared = parquet.read_table(SHARED / "census_occ_all.parquet").replace_schema_metadata()
    raws = []
    for split in ("train", "test"):
        rows = shared.filter(pc.equal(shared["Split"], split))
        filler = pa.repeat("x", rows.num_rows)
        columns = [filler] * uci.CENSUS_FIELDS
        for name, (position, _) in uci.CENSUS_COLUMNS.items():
            columns[position] = rows[name].cast(pa.string())
        raws.append(("\n".join(pc.binary_join_element_wise(*columns, ", ").to_pylist()) + "\n").encode())
    table = uci.census_income_table(*raws)
    assert table.equals(shared)
    some = parquet.read_table(SHARED / "census_occ.parquet").replace_schema_metadata()
    assert table.filter(pc.not_equal(table["Occupation"], 0)).equals(some)
