"""The signature's file: every byte of it and of the manifest counts, and nothing else may stand there."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cases import CASES, needs_tool, policy_of, publish, ward_frame
from hypothesis import given
from hypothesis import strategies as st
from keys import ed25519, line_of, other_kind, write_private

import discreet
from discreet.errors import ReleaseError
from discreet.release import signature as form
from discreet.release.signed import mismatch, read_public

KEY = ed25519()
SIGNATURE, MANIFEST = "datapackage.json.sig", "datapackage.json"


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    """A signed release; whoever changes it puts it back."""
    folder = tmp_path_factory.mktemp("signed")
    key = write_private(folder / "key", KEY, "openssh")
    return publish(ward_frame(), policy_of(CASES[0], folder), folder / "out", seed=1, sign=key)


def broken(release: Path, key: str | None = None) -> dict[str, str]:
    verdict = discreet.verify(release, key=key, allow_seeded=True)
    return {check.name: check.detail for check in verdict.checks if not check.holds}


def changed(release: Path, name: str, content: bytes, key: str | None) -> dict[str, str]:
    """What does not hold with other bytes in a file, which is then put back."""
    kept = (release / name).read_bytes()
    (release / name).write_bytes(content)
    try:
        return broken(release, key)
    finally:
        (release / name).write_bytes(kept)


def _holds(folder: Path, digest: bytes) -> bool:
    try:
        return mismatch(form.read_signature(folder), digest, read_public(line_of(KEY))) is None
    except ReleaseError:
        return False


def test_every_byte_of_the_signature_counts(release, tmp_path):
    """Each, changed in one bit or in all: never a good one. Many are refused before any key is asked."""
    digest = hashlib.sha512((release / MANIFEST).read_bytes()).digest()
    content = (release / SIGNATURE).read_bytes()
    (tmp_path / SIGNATURE).write_bytes(content)
    assert _holds(tmp_path, digest)
    for at in range(len(content)):
        for flip in (1, 2, 32, 128, 255):
            (tmp_path / SIGNATURE).write_bytes(content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :])
            assert not _holds(tmp_path, digest), (at, flip)


def test_every_bit_of_what_is_signed_counts(release):
    """The digest of the manifest's bytes, and nothing weaker, is under the signature."""
    signature, keys = form.read_signature(release), read_public(line_of(KEY))
    digest = hashlib.sha512((release / MANIFEST).read_bytes()).digest()
    assert mismatch(signature, digest, keys) is None
    for bit in range(512):
        other = (int.from_bytes(digest, "big") ^ (1 << bit)).to_bytes(64, "big")
        assert mismatch(signature, other, keys) is not None


def test_the_manifests_own_bytes_are_what_is_signed(release):
    """Whatever is changed in it, blank space too, the signature does not hold, even where all the rest does."""
    content = (release / MANIFEST).read_bytes()
    for other in (content + b"\n", content.replace(b"\n", b"\r\n"), content.replace(b": ", b":", 1)):
        found = changed(release, MANIFEST, other, line_of(KEY))
        assert set(found) <= {"signature", "words", "manifest", "form"}
        assert "not the one that was signed" in found["signature"]
    for at in range(0, len(content), len(content) // 25):
        flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        assert "signature" in changed(release, MANIFEST, flipped, line_of(KEY)), at
    assert not broken(release, line_of(KEY))


def test_a_signature_of_another_release_is_none_of_this_one(release, tmp_path):
    """By the right key, and whole."""
    policy = policy_of(CASES[0], tmp_path)
    key = write_private(tmp_path / "key", KEY, "pem")
    other = publish(ward_frame(), policy, tmp_path / "other", seed=2, sign=key)
    found = changed(release, SIGNATURE, (other / SIGNATURE).read_bytes(), line_of(KEY))
    assert set(found) == {"signature"}


def test_the_wrong_key(release):
    """Named, and with who it says that signed it."""
    found = broken(release, line_of(ed25519("somebody else")))
    assert set(found) == {"signature"}
    assert "which is not the key that was named" in found["signature"]


def _file(release: Path, **fields: bytes) -> bytes:
    """A signature by the right key of this manifest, for other fields; else as it should be."""
    named = {"namespace": b"discreet", "reserved": b"", "hash": b"sha512", "kind": b"ssh-ed25519", "end": b"", **fields}
    digest = hashlib.new(named["hash"].decode(), (release / MANIFEST).read_bytes()).digest()
    texts = form._texts
    told = b"SSHSIG" + texts(named["namespace"], named["reserved"], named["hash"], digest)
    made = texts(named["kind"], KEY.sign(told))
    public = texts(named["kind"], KEY.public_key().public_bytes_raw())
    inner = texts(public, named["namespace"], named["reserved"], named["hash"], made) + named["end"]
    lines = base64.b64encode(b"SSHSIG\0\0\0\1" + inner).decode()
    body = "\n".join(lines[at : at + 70] for at in range(0, len(lines), 70))
    return f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n".encode()


def test_a_signature_for_another_purpose_is_refused(release):
    """Though the right key made it of these bytes: another namespace, hash, kind, or with something more in it."""
    assert _file(release) == (release / SIGNATURE).read_bytes()
    for says, fields in (
        ("must be made for the namespace discreet", {"namespace": b"git"}),
        ("must be made for the namespace discreet", {"namespace": b"discreet\0"}),
        ("with sha512", {"hash": b"sha256"}),
        ("must be what ssh-keygen writes", {"reserved": b"Zoe was here"}),
        ("must be made with an Ed25519 key", {"kind": b"sk-ssh-ed25519@openssh.com"}),
        ("must be a signature of OpenSSH's", {"end": form._texts(b"Zoe was here")}),
        ("must be a signature of OpenSSH's", {"end": b"Z"}),
    ):
        for key in (line_of(KEY), None):
            found = changed(release, SIGNATURE, _file(release, **fields), key)
            assert set(found) == {"signature"}
            assert says in found["signature"]


@pytest.mark.parametrize("key", [None, line_of(KEY)], ids=["no key", "key"])
def test_what_is_no_whole_signature_is_refused(key, release):
    """Cut anywhere, longer, with other lines or signs, or endless: one sentence, with or without a key."""
    content = (release / SIGNATURE).read_bytes()
    lines = content.splitlines(keepends=True)
    others = [content[:at] for at in range(0, len(content), 23)]
    others += [content + b"\n", b" " + content, content.replace(b"\n", b"\r\n"), content * 2, content.rstrip(b"\n")]
    others += [b"".join([lines[0], *(each[:-1] for each in lines[1:-1]), b"\n", lines[-1]]), b"\0" * (1 << 22)]
    others += [lines[0] + b"A" * (1 << 22) + b"\n" + lines[-1], lines[0] + b"VQ==\n" + lines[-1]]
    for other in others:
        assert set(changed(release, SIGNATURE, other, key)) == {"signature"}, other[:400]


def test_no_more_than_a_few_kilobytes_are_read(release, monkeypatch, tmp_path):
    """A file of any size costs nothing, whether it takes space on disk or not."""
    with (tmp_path / SIGNATURE).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ReleaseError, match="without holes"):
        form.read_signature(tmp_path)
    (tmp_path / SIGNATURE).write_bytes(b"x" * (1 << 20))
    with pytest.raises(ReleaseError, match="at most 4 KiB"):
        form.read_signature(tmp_path)


@pytest.mark.parametrize("key", [None, line_of(KEY)], ids=["no key", "key"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_only_a_plain_file_is_a_signature(kind, key, release, tmp_path):
    """A link is refused though it leads to a good one."""
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    shutil.move(copy / SIGNATURE, tmp_path / "good")
    {
        "link": lambda path: path.symlink_to(tmp_path / "good"),
        "dangling link": lambda path: path.symlink_to(tmp_path / "nowhere"),
        "folder": lambda path: path.mkdir(),
        "pipe": os.mkfifo,
    }[kind](copy / SIGNATURE)
    found = broken(copy, key)
    assert "must have a plain file" in found["signature"]
    assert ("files" in found) == ("link" in kind)


@needs_tool("ssh-keygen")
def test_a_signature_by_an_rsa_key_is_refused(release, tmp_path):
    """Of the right bytes and for the right purpose."""
    key = write_private(tmp_path / "key", other_kind(), "openssh")
    shutil.copy(release / MANIFEST, tmp_path / MANIFEST)
    words = [shutil.which("ssh-keygen"), "-q", "-Y", "sign", "-f", str(key), "-n", "discreet", str(tmp_path / MANIFEST)]
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - with a key of our own
    found = changed(release, SIGNATURE, (tmp_path / SIGNATURE).read_bytes(), line_of(KEY))
    assert "must be made with an Ed25519 key" in found["signature"]


def test_a_release_that_cannot_be_read_is_not_said_to_be_signed(release):
    """Where the manifest is none, the signature is not checked, and that is no success."""
    found = changed(release, MANIFEST, b"{}", line_of(KEY))
    assert found["signature"] == "not checked, because manifest does not hold"


def test_a_signature_does_not_stand_for_the_files(release):
    """It is of the manifest: a file that is another one fails by its hash, signed or not."""
    content = (release / "README.md").read_bytes()
    assert set(changed(release, "README.md", content + b"x", line_of(KEY))) == {"hashes", "words"}


def test_another_file_beside_it_is_a_stranger_still(release, tmp_path):
    """One name is known, and no more."""
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    for name in (f"{SIGNATURE}.bak", "README.md.sig", f"data/{SIGNATURE}"):
        (copy / name).write_bytes(b"")
        assert "files" in broken(copy)
        (copy / name).unlink()
    assert not broken(copy)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_sentence_or_a_signature(content):
    """Nothing else comes out of the reader, whatever stands between the lines of dashes."""
    body = base64.b64encode(b"SSHSIG\0\0\0\1" + content)
    for each in (content, b"-----BEGIN SSH SIGNATURE-----\n" + body + b"\n-----END SSH SIGNATURE-----\n"):
        with pytest.raises(ReleaseError):
            form._parsed(each)
