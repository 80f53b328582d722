"""The signature beside the manifest: one of OpenSSH's, by an Ed25519 key, of the manifest's exact bytes.

`ssh-keygen -Y verify` checks it and `ssh-keygen -Y sign` writes the same file, so nobody needs this package for either.
It holds a public key and a signature and nothing else: no comment of a key, no name, no time, and not a byte that could
be another one. Here is its form alone; nothing of it is believed yet.

Paper: OpenSSH, PROTOCOL.sshsig.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import ReleaseError
from discreet.release.plain import plain_file
from discreet.release.statement import SIGNATURE

NAMESPACE = b"discreet"  # what is signed for another purpose is no signature of a release
ED25519 = b"ssh-ed25519"
PUBLIC_BYTES, SIGNATURE_BYTES = 32, 64
_MAGIC, _VERSION, _HASH = b"SSHSIG", b"\0\0\0\1", b"sha512"
_LARGEST = 4096  # bytes of a file that is looked at; ours has 302
_WIDTH = 70  # signs of a line, as ssh-keygen writes them
_ARMOR = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n")


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Who says that he signed, by his public key, and the signature."""

    public: bytes
    signature: bytes


def key_blob(public: bytes) -> bytes:
    """A public key as OpenSSH writes it, before base64."""
    return _texts(ED25519, public)


def fingerprint(public: bytes) -> str:
    """What people compare, the same as `ssh-keygen -l` says."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(key_blob(public)).digest()).decode().rstrip('=')}"


def signed_bytes(digest: bytes) -> bytes:
    """What the key signs of a manifest with this SHA-512."""
    return _MAGIC + _texts(NAMESPACE, b"", _HASH, digest)


def armored(signature: Signature) -> bytes:
    """The whole file, the same for the same key and manifest."""
    inner = _texts(key_blob(signature.public), NAMESPACE, b"", _HASH, _texts(ED25519, signature.signature))
    text = base64.b64encode(_MAGIC + _VERSION + inner)
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return b"\n".join([b"-----BEGIN SSH SIGNATURE-----", *lines, b"-----END SSH SIGNATURE-----", b""])


def read_signature(folder: Path) -> Signature | None:
    """The signature of a release, or None where there is none; raises ReleaseError where the file is something else."""
    if not os.path.lexists(folder / SIGNATURE):
        return None
    try:
        with plain_file(folder, SIGNATURE).open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError:
        raise ReleaseError(f"{SIGNATURE} must be a file that can be read") from None
    return _parsed(content)


def _parsed(content: bytes) -> Signature:
    """Every byte is accounted for: what was read, written again, is the same file."""
    try:
        key, namespace, _, _, signature = _fields(content)
        (kind, public, *_), (made_by, made, *_) = _split(key), _split(signature)  # an RSA key has more parts
    except ValueError:
        raise ReleaseError(f"{SIGNATURE} must be a signature of OpenSSH's, whole and of at most 4 KiB") from None
    if kind != ED25519 or made_by != ED25519:
        raise ReleaseError(f"{SIGNATURE} must be made with an Ed25519 key")
    if namespace != NAMESPACE:
        raise ReleaseError(
            f"{SIGNATURE} must be made for the namespace {NAMESPACE.decode()}; it is for another purpose"
        )
    found = Signature(public=public, signature=made)
    if (len(public), len(made)) != (PUBLIC_BYTES, SIGNATURE_BYTES) or armored(found) != content:
        raise ReleaseError(f"{SIGNATURE} must be what ssh-keygen writes, with sha512, and hold nothing else")
    return found


def _fields(content: bytes) -> tuple[bytes, ...]:
    """What stands between the lines of dashes: key, namespace, what is reserved, hash and signature."""
    form = _ARMOR.fullmatch(content)
    if form is None or len(content) > _LARGEST:
        raise ValueError
    inner = binascii.a2b_base64(form[1].replace(b"\n", b""), strict_mode=True)
    if not inner.startswith(_MAGIC + _VERSION):
        raise ValueError
    found = _split(inner[len(_MAGIC + _VERSION) :])
    if len(found) != 5:
        raise ValueError
    return found


def _texts(*parts: bytes) -> bytes:
    """Texts one after the other, each with its length before it."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _split(content: bytes) -> tuple[bytes, ...]:
    """The texts that stand one after the other; raises ValueError where they do not end where the content does."""

    def parts() -> Iterator[bytes]:
        at = 0
        while at < len(content):
            end = at + 4 + int.from_bytes(content[at : at + 4], "big")
            if at + 4 > len(content) or end > len(content):
                raise ValueError
            yield content[at + 4 : end]
            at = end

    return tuple(parts())
