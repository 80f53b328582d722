"""Keys that tests make for themselves, in every form that a custodian may have, and what must be found nowhere."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PASSPHRASE = b"correct horse \xc3\xa4"
COMMENT = "zoe@custodian-host"
FORMS = {"openssh": form.PrivateFormat.OpenSSH, "pem": form.PrivateFormat.PKCS8}


def ed25519(seed: str = "custodian") -> Ed25519PrivateKey:
    """The same key for the same seed."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed.encode()).digest())


def other_kind() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def write_private(path: Path, key: Any, kind: str, passphrase: bytes | None = None) -> Path:
    """A private key's file, locked where a passphrase is given."""
    lock: Any = form.BestAvailableEncryption(passphrase) if passphrase else form.NoEncryption()
    path.write_bytes(key.private_bytes(form.Encoding.PEM, FORMS[kind], lock))
    path.chmod(0o600)
    return path


def line_of(key: Any) -> str:
    """The line of a public key as OpenSSH writes it, with a comment."""
    text = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH).decode()
    return f"{text} {COMMENT}"


def write_public(path: Path, key: Any, kind: str) -> Path:
    """A public key's file: OpenSSH's, a list of allowed signers, or PEM."""
    if kind == "pem":
        path.write_bytes(key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo))
    elif kind == "allowed":
        path.write_text(f"# who may sign\n\nothers {line_of(ed25519('others'))}\nzoe@house {line_of(key)}\n")
    else:
        path.write_text(f"{line_of(key)}\n")
    return path


def pieces(path: Path, key: Ed25519PrivateKey) -> list[bytes]:
    """What no file and no output may carry: the secret itself, its usual spellings, every line of its file, names."""
    raw = key.private_bytes_raw()
    lines = [line for line in path.read_bytes().splitlines() if b"-----" not in line]
    spelt = [raw, raw.hex().encode(), base64.b64encode(raw).rstrip(b"=")]
    return [*spelt, *lines, PASSPHRASE, COMMENT.encode(), b"PRIVATE KEY", path.name.encode()]
