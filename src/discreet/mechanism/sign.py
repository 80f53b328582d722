"""The custodian's signature: a private key that is read once, signs a manifest, and is written nowhere.

The key stands in no series, release, log or error, and no message quotes what a library says of it. What was read is
overwritten in memory as soon as the library has it, which is as far as Python goes: the library keeps its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.errors import SigningError
from discreet.release.signature import Signature, armored, fingerprint, signed_bytes
from discreet.release.statement import PENDING, SIGNATURE
from discreet.release.write import is_release

if TYPE_CHECKING:  # loaded by those who sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Passphrase = str | bytes | Callable[[], str | bytes] | None
_LARGEST = 1 << 16  # bytes of a key's file
_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PRIVATE = re.compile(rb"-----BEGIN ([A-Z]+ )?PRIVATE KEY-----")
_PUBLIC = re.compile(rb"-----BEGIN ([A-Z0-9]+ )*PUBLIC KEY-----|\s*(ssh|sk|ecdsa)-\S+ ")


class SigningKey:
    """An Ed25519 key to sign releases with. It shows its fingerprint alone, and can be neither copied nor stored."""

    __slots__ = ("_private", "_public")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self._public = private.public_key().public_bytes_raw()

    @classmethod
    def load(cls, path: str | Path, passphrase: Passphrase = None) -> SigningKey:
        """The key of a file, OpenSSH's or PEM (PKCS#8); raises SigningError.

        `passphrase` is asked for only where the key is locked: a text, or what is called to get one.
        """
        return cls(_load(path, passphrase))

    @property
    def fingerprint(self) -> str:
        """What people compare, the same as `ssh-keygen -l` says."""
        return fingerprint(self._public)

    def sign(self, digest: bytes) -> Signature:
        """The signature of a manifest with this SHA-512; the same key and manifest give the same one."""
        return Signature(public=self._public, signature=self._private.sign(signed_bytes(digest)))

    def __repr__(self) -> str:
        return f"SigningKey({self.fingerprint})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a key to sign with cannot be copied or stored")


def signing_key(given: SigningKey | str | Path | None) -> SigningKey | None:
    """The key that was handed over, or that of a file without a passphrase."""
    return given if given is None or isinstance(given, SigningKey) else SigningKey.load(given)


def sign_manifest(folder: Path, key: SigningKey | None) -> None:
    """Write the signature, if there is a key, of a release whose manifest still has its pending name."""
    if key is None:
        return
    with (folder / PENDING).open("rb") as manifest:
        digest = hashlib.file_digest(manifest, "sha512").digest()
    (folder / SIGNATURE).write_bytes(armored(key.sign(digest)))


def _load(path: str | Path, passphrase: Passphrase) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    content = _content(path)
    try:
        _check_private(content, path)
        load = load_ssh_private_key if _OPENSSH in content else load_pem_private_key
        locked, found = _tried(load, content, None)
        if locked:
            found = _tried(load, content, _secret(passphrase, path))[1]
            if found is None:
                raise SigningError(f"key ({path}) must be unlocked with its passphrase; this is not the one")
    finally:
        content[:] = bytes(len(content))
    if found is None:
        raise SigningError(f"key ({path}) must be a whole private key, OpenSSH's or PEM; this cannot be read")
    if not isinstance(found, Ed25519PrivateKey):
        raise SigningError(
            f"key ({path}) must be an Ed25519 key, and is of another kind; ssh-keygen -t ed25519 makes one"
        )
    return found


def _content(path: str | Path) -> bytearray:
    """The bytes of a key's file, to be overwritten; a file that is not there is not named, for it may be the key."""
    content, size = bytearray(_LARGEST), 0
    try:
        inside = any(map(is_release, Path(path).resolve().parents))
        with open(path, "rb", buffering=0) as file:
            while not inside and (read := file.readinto(memoryview(content)[size:])):  # a pipe gives it in pieces
                size += read
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file has such a name"
        raise SigningError(f"the key to sign with must be a file that can be read ({why}); name it") from None
    if inside:
        raise SigningError(f"key ({path}) must be outside every release, whose files may leave the house")
    del content[size:]
    return content


def _check_private(content: bytearray, path: str | Path) -> None:
    if _PRIVATE.search(content):
        return
    if _PUBLIC.match(content):
        raise SigningError(f"key ({path}) must be the private key, and this is a public one; readers check with it")
    raise SigningError(f"key ({path}) must be a private key, OpenSSH's or PEM (PKCS#8); this is something else")


def _tried(load: Callable[..., Any], content: bytearray, secret: bytes | None) -> tuple[bool, Any]:
    """Whether the key is locked, and the key where it could be read. What the library says may quote the key."""
    try:
        return False, load(content, secret)
    except TypeError:
        return secret is None, None
    except Exception:
        return False, None


def _secret(passphrase: Passphrase, path: str | Path) -> bytes:
    given = passphrase() if callable(passphrase) else passphrase
    if not given:
        raise SigningError(
            f"key ({path}) must be unlocked with its passphrase: type it where you are asked, or say --passphrase-file "
            "FILE, or put it into DISCREET_PASSPHRASE (in Python: SigningKey.load(file, passphrase=...))"
        )
    return given.encode() if isinstance(given, str) else given
