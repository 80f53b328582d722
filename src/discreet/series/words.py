"""64-bit words: mixed so that every bit counts, and keyed so that they mean nothing to who has not the key."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def mix(words: Words) -> Words:
    """A bijection of 64-bit words in which every input bit moves every output bit (the finalizer of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def keyed(words: Words, key: bytes, purpose: str) -> Words:
    """The words under a key: a bijection that only the key tells, another for each purpose."""
    parts = np.frombuffer(hashlib.blake2b(purpose.encode(), key=key, digest_size=64).digest(), dtype="<u8")
    for part in parts.astype(np.uint64):
        words = mix(words ^ part)
    return words
