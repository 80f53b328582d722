"""Whether a release is signed by a key that the reader names: an OpenSSH public key, a list of them, or a PEM file."""

from __future__ import annotations

import binascii
from pathlib import Path

from discreet.errors import SigningError
from discreet.release.signature import (
    ED25519,
    PUBLIC_BYTES,
    Signature,
    fingerprint,
    key_blob,
    signed_bytes,
)

_LARGEST = 1 << 20  # bytes of a file with public keys
_MAKE = "ssh-keygen -t ed25519 makes one"


def read_public(key: str | Path) -> tuple[bytes, ...]:
    """The public keys that somebody names: a file, or the text of one; raises SigningError.

    A file holds one key in PEM, or a key of OpenSSH a line, as in a file .pub or, with names before it and no options,
    in a list of allowed signers.
    """
    given = isinstance(key, str) and (key.startswith(f"{ED25519.decode()} ") or "-----BEGIN" in key)
    text = str(key).encode(errors="replace") if given else _content(Path(key))
    where = "key" if given else f"key ({key})"
    if b"PRIVATE KEY-----" in text:
        raise SigningError(
            f"{where} must be a public key, and is a private one: hand that to nobody; name the file .pub"
        )
    if b"-----BEGIN" in text:
        return (_from_pem(text, where),)
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(b"#")]
    if not lines:
        raise SigningError(f"{where} must hold a public key")
    return tuple(_from_line(words, where) for words in lines)


def mismatch(signature: Signature | None, digest: bytes, keys: tuple[bytes, ...]) -> str | None:
    """Why this is no signature of a manifest with this SHA-512 by one of these keys, or None where it is one."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if signature is None:
        return "not signed"
    if signature.public not in keys:
        return f"it says that {fingerprint(signature.public)} signed it, which is not the key that was named"
    try:
        Ed25519PublicKey.from_public_bytes(signature.public).verify(signature.signature, signed_bytes(digest))
    except (InvalidSignature, ValueError):
        return "the manifest is not the one that was signed, or the signature was changed"
    return None


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file has such a name"
        raise SigningError(
            f"key ({path}) must be a file that can be read ({why}), or the line of a public key"
        ) from None
    if len(text) > _LARGEST:
        raise SigningError(f"key ({path}) must be a file with public keys, of at most 1 MiB")
    return text


def _from_line(words: list[bytes], where: str) -> bytes:
    """The key of a line `ssh-ed25519 AAAA... comment`, which may have the names of its owner before it."""
    at = next((at for at, word in enumerate(words[:2]) if word == ED25519), None)
    if at is None:
        raise SigningError(
            f"{where} must hold Ed25519 keys as OpenSSH writes them, one a line and without options, or one in PEM; "
            f"{_MAKE}"
        )
    try:
        blob = binascii.a2b_base64(words[at + 1], strict_mode=True)
    except (IndexError, ValueError):
        blob = b""
    public = blob[-PUBLIC_BYTES:]
    if blob != key_blob(public):
        raise SigningError(f"{where} must hold whole Ed25519 keys; a line of it was cut or changed")
    return public


def _from_pem(text: bytes, where: str) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found: object = load_pem_public_key(text)
    except Exception:  # whatever its bytes make the library raise
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise SigningError(f"{where} must be an Ed25519 public key in PEM or as OpenSSH writes it; {_MAKE}")
    return found.public_bytes_raw()
