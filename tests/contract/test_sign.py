"""A release that its custodian signed: whoever has the public key can check it, here and with ssh-keygen."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import pty
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import CASES, Broken, House, break_at, contents, needs_tool, publish, ward_frame
from cases import policy_of as policy_in
from commands import alone, as_json, checked, discreet, mistake, snapshot
from keys import COMMENT, FORMS, PASSPHRASE, ed25519, line_of, other_kind, pieces, write_private, write_public

import discreet as package
from discreet.mechanism import sign

SIGNATURE = "datapackage.json.sig"
KEY = ed25519()
BUCKETS = CASES[0]
DIFFGEN = next(each for each in CASES if each.name == "diffgen")


@pytest.fixture
def office(tmp_path) -> Path:
    """A custodian's folder with a table, a policy and keys in every form."""
    policy_in(BUCKETS, tmp_path)
    ward_frame().to_csv(tmp_path / "rows.csv", index=False)
    for kind in FORMS:
        write_private(tmp_path / f"{kind}.key", KEY, kind)
        write_private(tmp_path / f"{kind}.locked", KEY, kind, PASSPHRASE)
        write_private(tmp_path / f"{kind}.rsa", other_kind(), kind)
    for kind in ("openssh", "allowed", "pem"):
        write_public(tmp_path / f"{kind}.pub", KEY, kind)
    write_public(tmp_path / "rsa.pub", other_kind(), "openssh")
    write_public(tmp_path / "rsa.pem.pub", other_kind(), "pem")
    write_public(tmp_path / "wrong.pub", ed25519("somebody else"), "openssh")
    return tmp_path


WORDS = ("publish", "rows.csv", "--policy", "ward.toml")


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Path:
    """A signed release; nobody changes it."""
    folder = tmp_path_factory.mktemp("signed")
    key = write_private(folder / "key", KEY, "openssh")
    return publish(ward_frame(), policy_in(BUCKETS, folder), folder / "out", seed=1, sign=key)


def verdict_of(release: Path, key: object = None) -> package.Verdict:
    return package.verify(release, key=key, allow_seeded=True)


def detail(verdict: package.Verdict) -> tuple[bool, str]:
    (found,) = (each for each in verdict.checks if each.name == "signature")
    return found.holds, found.detail


# Round trips


@pytest.mark.parametrize("public", ["openssh", "allowed", "pem"])
@pytest.mark.parametrize("private", FORMS)
def test_what_was_signed_is_checked(private, public, office):
    """Every form of a private key with every form of a public one; the verdict names the key as ssh-keygen does."""
    published = as_json(*WORDS, "-o", "out", "--sign", f"{private}.key", cwd=office)
    verdict = as_json("verify", "out", "--key", f"{public}.pub", cwd=office)
    assert verdict["holds"] is True
    assert verdict["checks"][-1]["name"] == "signature"
    assert published["signed"] in verdict["checks"][-1]["detail"]
    assert not any("who published" in each for each in verdict["not_checkable"])


def test_the_line_of_a_key_is_a_key(signed):
    """As a text on the command line too: it is public."""
    assert verdict_of(signed, line_of(KEY)).holds
    assert not verdict_of(signed, line_of(ed25519("somebody else"))).holds
    assert (
        "ok   signature"
        in discreet("verify", signed, "--allow-seeded", "--key", line_of(KEY), cwd=signed.parent).stdout
    )


def test_unsigned_stays_the_default_and_says_so(office):
    """A plain note; no file, no check, and with a key it does not hold."""
    assert "signed" not in as_json(*WORDS, "-o", "out", cwd=office)
    assert not (office / "out" / SIGNATURE).exists()
    verdict = as_json("verify", "out", cwd=office)
    assert verdict["holds"] is True
    assert "who published it: it is not signed" in verdict["not_checkable"]
    assert "signature" not in [check["name"] for check in verdict["checks"]]
    asked = as_json("verify", "out", "--key", "openssh.pub", cwd=office, code=1)
    assert [check for check in asked["checks"] if not check["holds"]] == [
        {"name": "signature", "holds": False, "detail": "not signed"}
    ]
    said = discreet("verify", "out", "--key", "openssh.pub", cwd=office, code=1).stdout
    assert said.startswith("the promise holds, but THE SIGNATURE DOES NOT\n")


def test_a_signature_that_nobody_checks_is_no_more_than_said(signed):
    """Without a key a signed release holds, and who it says is told as that."""
    verdict = verdict_of(signed)
    assert verdict.holds
    assert "it says that SHA256:" in verdict.not_checkable[-1]


@needs_tool("ssh-keygen")
def test_ssh_keygen_checks_it_too(office):
    """With nothing of this package."""
    discreet(*WORDS, "-o", "out", "--sign", "openssh.key", cwd=office)
    words = ["-Y", "verify", "-f", "allowed.pub", "-I", "zoe@house", "-n", "discreet", "-s", f"out/{SIGNATURE}"]
    manifest = office / "out" / "datapackage.json"
    done = _keygen(*words, cwd=office, told=manifest.read_bytes())
    assert b"Good" in done.stdout, done.stderr
    assert _keygen(*words, cwd=office, told=manifest.read_bytes() + b" ").returncode != 0


@needs_tool("ssh-keygen")
@pytest.mark.parametrize("passphrase", ["", "a passphrase"])
def test_what_ssh_keygen_makes_is_taken(passphrase, office):
    """A key that it made, locked or not, and a signature that it made later: the same file, byte for byte."""
    _keygen("-q", "-t", "ed25519", "-N", passphrase, "-C", COMMENT, "-f", "mine", cwd=office)
    (office / "secret").write_text(f"{passphrase}\n")
    discreet(*WORDS, "-o", "out", "--sign", "mine", "--passphrase-file", "secret", cwd=office)
    assert as_json("verify", "out", "--key", "mine.pub", cwd=office)["holds"]
    if passphrase:
        return
    ours = (office / "out" / SIGNATURE).read_bytes()
    (office / "out" / SIGNATURE).unlink()
    _keygen("-q", "-Y", "sign", "-f", "mine", "-n", "discreet", "out/datapackage.json", cwd=office)
    assert (office / "out" / SIGNATURE).read_bytes() == ours


def _keygen(*words: str, cwd: Path, told: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - with keys of our own
        [shutil.which("ssh-keygen"), *words], cwd=cwd, input=told, capture_output=True, check=False
    )


# Locked keys


@pytest.mark.parametrize("kind", FORMS)
def test_a_locked_key_is_unlocked_by_a_file_or_the_environment(kind, office):
    """Never on the command line; both give the same release as the key without a lock."""
    (office / "secret").write_bytes(PASSPHRASE + b"\r\nmore\n")
    discreet(*WORDS, "-o", "one", "--sign", f"{kind}.locked", "--passphrase-file", "secret", cwd=office)
    home = {name: os.environ[name] for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    passphrase = os.fsdecode(PASSPHRASE)
    alone(*WORDS, "-o", "two", "--sign", f"{kind}.locked", cwd=office, DISCREET_PASSPHRASE=passphrase, **home)
    discreet(*WORDS, "-o", "three", "--sign", f"{kind}.key", cwd=office)
    assert contents(office / "one") == contents(office / "two") == contents(office / "three")


def test_a_locked_key_is_unlocked_at_a_terminal(office):
    """The passphrase is asked for there, and not shown."""
    main, end = pty.openpty()
    words = [sys.executable, "-m", "discreet.cli.main", *WORDS, "-o", "out", "--sign", "openssh.locked"]
    child = subprocess.Popen(  # noqa: S603 - our interpreter
        words, cwd=office, stdin=end, stdout=subprocess.PIPE, stderr=end, start_new_session=True, text=True
    )
    os.close(end)
    said = b""
    while b"Passphrase" not in said:
        said += os.read(main, 1000)
    time.sleep(0.2)  # until nothing is shown any more
    os.write(main, PASSPHRASE + b"\n")
    out, _ = child.communicate(timeout=120)
    os.set_blocking(main, False)
    with contextlib.suppress(OSError):  # nothing more was said
        said += os.read(main, 100_000)
    os.close(main)
    checked(subprocess.CompletedProcess(words, child.returncode, out, ""), 0)
    assert PASSPHRASE not in said
    assert PASSPHRASE not in out.encode()
    assert package.verify(office / "out", key=office / "openssh.pub").holds


# Mistakes: one sentence, exit 2, nothing written


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("no such file", "must be a file that can be read"),
        (".", "must be a file that can be read"),
        ("openssh.pub", "must be the private key, and this is a public one"),
        ("pem.pub", "must be the private key, and this is a public one"),
        ("rsa.pub", "must be the private key, and this is a public one"),
        ("openssh.rsa", "must be an Ed25519 key"),
        ("pem.rsa", "must be an Ed25519 key"),
        ("openssh.locked", "must be unlocked with its passphrase"),
        ("pem.locked", "must be unlocked with its passphrase"),
        ("rows.csv", "must be a private key"),
        ("cut", "must be a whole private key"),
    ],
)
def test_a_key_that_cannot_sign(key, says, office):
    """Said before the table is read; no release, no series."""
    whole = (office / "openssh.key").read_bytes()
    (office / "cut").write_bytes(whole[:200] + whole[260:])
    said = mistake(*WORDS, "-o", "out", "--sign", key, cwd=office)
    assert says in said
    assert len(said.splitlines()) == 1
    _nothing_of_the_key(said.encode(), office)
    assert not Path(os.environ["XDG_DATA_HOME"]).exists()


@pytest.mark.parametrize("kind", FORMS)
def test_a_wrong_passphrase(kind, office):
    (office / "secret").write_text("a guess\n")
    said = mistake(*WORDS, "-o", "out", "--sign", f"{kind}.locked", "--passphrase-file", "secret", cwd=office)
    assert "this is not the one" in said
    assert "guess" not in said
    assert not Path(os.environ["XDG_DATA_HOME"]).exists()


def test_a_passphrase_file_that_is_no_use(office):
    said = mistake(*WORDS, "-o", "out", "--sign", "pem.locked", "--passphrase-file", "nowhere", cwd=office)
    assert "passphrase file (nowhere) must be a file" in said
    assert "must come with --sign" in mistake(*WORDS, "-o", "out", "--passphrase-file", "rows.csv", cwd=office)


def test_a_key_that_is_given_itself_is_not_repeated(office):
    """On the command line or to Python: the error does not name what may be the key."""
    text = (office / "openssh.key").read_text()
    for given in (text, text.splitlines()[1]):
        _nothing_of_the_key(mistake(*WORDS, "-o", "out", "--sign", given, cwd=office).encode(), office)
    _nothing_of_the_key(mistake("verify", "nowhere", "--key", text, cwd=office).encode(), office, names=False)


def test_a_key_inside_a_release_is_refused(office):
    """It would leave the house."""
    discreet(*WORDS, "-o", "out", cwd=office)
    shutil.copy(office / "openssh.key", office / "out" / "data" / "id")
    said = mistake(*WORDS, "-o", "out", "--replace", "--sign", "out/data/id", cwd=office)
    assert "must be outside every release" in said


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("nowhere", "must be a file that can be read"),
        ("openssh.key", "must be a public key, and is a private one"),
        ("pem.locked", "must be a public key, and is a private one"),
        ("rsa.pub", "must hold Ed25519 keys"),
        ("rsa.pem.pub", "must be an Ed25519 public key"),
        ("cut.pub", "a line of it was cut or changed"),
        ("options.pub", "without options"),
        ("empty", "must hold a public key"),
        ("rows.csv", "must hold Ed25519 keys"),
    ],
)
def test_a_key_that_cannot_check(key, says, office, signed):
    line = (office / "openssh.pub").read_text()
    (office / "cut.pub").write_text(line[:60] + line[61:])
    (office / "options.pub").write_text(f'zoe namespaces="git" {line}')
    (office / "empty").write_text("# nobody\n")
    said = mistake("verify", signed, "--key", key, cwd=office)
    assert says in said
    _nothing_of_the_key(said.encode(), office, names=False)


def _nothing_of_the_key(said: bytes, office: Path, *, names: bool = True) -> None:
    for kind in FORMS:
        found = pieces(office / f"{kind}.key", KEY)[: -1 if names else -2]
        assert not [piece for piece in found if piece in said and piece != b"PRIVATE KEY"]


# What is published, and what is not


def test_nothing_of_the_key_is_in_the_release_the_series_or_what_is_said(office):
    """Not the secret, not its file's name, not the comment, not the passphrase; in no file but its own."""
    (office / "secret").write_bytes(PASSPHRASE)
    own = {name for name in contents(office) if not name.startswith("out")}
    said = [discreet(*WORDS, "-o", "out", "--sign", f"{kind}.key", "--replace", cwd=office).stdout for kind in FORMS]
    said.append(
        discreet(
            *WORDS, "-o", "out", "--sign", "pem.locked", "--passphrase-file", "secret", "--replace", cwd=office
        ).stdout
    )
    homes = [Path(os.environ[name]) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")]
    new = {name: made for name, made in contents(office).items() if name not in own}
    found = [*new.values(), *"".join(said).encode().splitlines()]
    found += [made for home in homes for made in contents(home).values()]
    assert f"out/{SIGNATURE}" in new
    assert any(b"SQLite" in each for each in found)
    for kind in FORMS:
        for piece in pieces(office / f"{kind}.key", KEY):
            assert not any(piece in each for each in found), piece
            assert not any(piece.decode("latin-1") in name for name in new)


def test_the_signature_is_a_plain_file_of_one_size(signed):
    """302 bytes for any key and release, for all to read; the rest of the release is as without it."""
    other = signed.parent / "other"
    publish(ward_frame(), policy_in(BUCKETS, signed.parent), other, seed=1)
    made = contents(signed)
    assert len(made.pop(SIGNATURE)) == 302
    assert made == contents(other)
    assert stat.S_IMODE((signed / SIGNATURE).stat().st_mode) == 0o644


@pytest.mark.parametrize("case", [BUCKETS, DIFFGEN], ids=str)
def test_the_same_release_again_with_and_without_a_key(case, tmp_path):
    """The series gives the same release, signed or not; a signature goes with the release that it is beside."""
    house = House(case, tmp_path)
    rows, key = ward_frame(), write_private(tmp_path / "key", KEY, "pem")
    plain = contents(house.publish(rows, "out"))
    signed = contents(house.publish(rows, "out", sign=key, replace=True))
    assert signed.pop(SIGNATURE)
    assert signed == plain
    assert contents(house.publish(rows, "two", sign=package.SigningKey.load(key))) == contents(tmp_path / "out")
    assert contents(house.publish(rows, "out", replace=True)) == plain
    assert house.remembered == 1


def test_what_breaks_while_it_is_signed_leaves_nothing(tmp_path, monkeypatch):
    """The release does not appear, the series knows it, and the next try gives it."""
    house = House(BUCKETS, tmp_path)
    key = write_private(tmp_path / "key", KEY, "openssh")
    before = set(snapshot(tmp_path))
    with monkeypatch.context() as patch:
        break_at(patch, sign, "armored", Broken)
        with pytest.raises(Broken):
            house.publish(ward_frame(), "out", sign=key)
    assert set(snapshot(tmp_path)) - before == {house.series.name}
    assert house.remembered == 1
    assert package.verify(house.publish(ward_frame(), "out", sign=key), key=line_of(KEY)).holds


def test_a_key_shows_its_fingerprint_alone_and_cannot_be_stored(tmp_path):
    key = package.SigningKey.load(write_private(tmp_path / "key", KEY, "openssh"))
    assert repr(key) == f"SigningKey({key.fingerprint})"
    assert not hasattr(key, "__dict__")
    for store in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            store(key)


def test_the_bytes_that_were_read_are_overwritten(tmp_path, monkeypatch):
    """Also where the key is refused."""
    seen: list[bytearray] = []
    true = sign._content
    monkeypatch.setattr(sign, "_content", lambda path: seen.append(true(path)) or seen[-1])
    package.SigningKey.load(write_private(tmp_path / "key", KEY, "openssh"))
    with pytest.raises(package.SigningError):
        package.SigningKey.load(write_private(tmp_path / "locked", KEY, "pem", PASSPHRASE), "a guess")
    assert len(seen) == 2
    assert not any(map(any, seen))
    assert all(seen)


def test_python_refuses_a_key_before_anything_is_written(tmp_path):
    """As the command line does: no series and no release."""
    house = House(BUCKETS, tmp_path)
    key = write_private(tmp_path / "locked", KEY, "openssh", PASSPHRASE)
    before = snapshot(tmp_path)
    with pytest.raises(package.SigningError, match="passphrase"):
        house.publish(ward_frame(), "out", sign=key)
    assert snapshot(tmp_path) == before
