"""What a page is packed in: one frame of zstd and nothing beside it, about as small as zstd makes it.

How zstd packs the same bytes differs between its versions, so a frame cannot be made again byte by byte. What is fixed
is fixed here, and what is left may cost hardly any bytes.
"""

from __future__ import annotations

import pyarrow as pa

from discreet.errors import ReleaseError

MOST = 1 << 26  # bytes of a page before it is packed, as a manifest has of a domain; nothing that states more is read
_MAGIC = bytes.fromhex("28b52ffd")
_BLOCK = 1 << 17
_SINGLE, _SIZE_SHIFT, _UNKNOWN = 0x20, 6, 0x1F  # bits of the frame's first byte
_RAW, _REPEATED, _PACKED = 0, 1, 2


def unpacked(data: bytes, size: int, level: int) -> bytes:
    """The `size` bytes that a frame holds, which was packed at a level of zstd's."""
    if not 0 <= size <= MOST:
        raise ReleaseError(f"it states a size beyond {MOST:,} bytes")
    _check_blocks(data, _content_at(data, size), size)
    try:
        found: bytes = pa.Codec("zstd").decompress(data, size, asbytes=True)
    except (OSError, ValueError):
        raise ReleaseError("it cannot be unpacked") from None
    if len(found) != size:
        raise ReleaseError("it does not have the size that it states")
    own = len(pa.Codec("zstd", compression_level=level).compress(found, asbytes=True))
    if len(data) > min(own + own // 4 + size // 64, size + size // 256) + 64:
        raise ReleaseError("it is packed into more bytes than it takes")
    return found


def _content_at(data: bytes, size: int) -> int:
    """Where the first block begins, after a header that says the size in its shortest form and nothing else."""
    form = data[4] if len(data) > 4 else 0
    if data[:4] != _MAGIC or form & _UNKNOWN:
        raise ReleaseError("it is not one plain frame of zstd")
    at = 5
    if not form & _SINGLE:
        if len(data) < 6 or data[5] & 7 or (1 << 10 + (data[5] >> 3)) >= size:
            raise ReleaseError("its frame has an odd window")
        at = 6
    flag = form >> _SIZE_SHIFT
    needed = 0 if size < 256 else 1 if size < 256 + 65536 else 2
    stated = int.from_bytes(data[at : at + (1 << flag)], "little") + (256 if flag == 1 else 0)
    if flag != needed or stated != size:
        raise ReleaseError("its frame does not state its size as it should")
    return at + (1 << flag)


def _check_blocks(data: bytes, at: int, size: int) -> None:
    """Blocks follow each other up to the end, and only the last says that it is."""
    last = False
    while not last:
        head = int.from_bytes(data[at : at + 3], "little")
        last, kind, length = bool(head & 1), head >> 1 & 3, head >> 3
        if at + 3 > len(data) or kind > _PACKED or length > _BLOCK or (not length and size):
            raise ReleaseError("its frame has a block that none should have")
        at += 3 + (1 if kind == _REPEATED else length)
    if at != len(data):
        raise ReleaseError("something stands beside its frame")
