"""Coins: all randomness of a release, from one secret key through AES in counter mode.

The same key and purpose give the same stream, so a release can be made again but not guessed. numpy's default
generators and DuckDB's random() can be replayed by an outsider: they are never used for a release.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np
from randomgen import AESCounter

KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Coins:
    """A source of independent streams; `seeded` marks one that was made from a seed, for tests only."""

    key: bytes = field(repr=False)
    seeded: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.key, bytes) or len(self.key) != KEY_BYTES:
            raise ValueError(f"its key must have {KEY_BYTES} bytes")

    @classmethod
    def from_seed(cls, seed: int) -> Coins:
        """Coins that anyone can toss again: for tests, and marked as such."""
        return cls(key=hashlib.blake2b(str(seed).encode(), digest_size=KEY_BYTES).digest(), seeded=True)

    def derive(self, *context: bytes) -> Coins:
        """Coins of their own for one context; different contexts give unrelated coins."""
        digest = hashlib.blake2b(key=self.key, digest_size=KEY_BYTES)
        for part in context:
            digest.update(len(part).to_bytes(8, "big") + part)
        return Coins(key=digest.digest(), seeded=self.seeded)

    def stream(self, purpose: str) -> np.random.Generator:
        """The stream for one purpose, from its beginning."""
        key = self.derive(purpose.encode()).key[:16]
        return np.random.Generator(AESCounter(key=int.from_bytes(key, "little")))


def fresh_key() -> bytes:
    """A new secret key from the operating system."""
    return secrets.token_bytes(KEY_BYTES)
