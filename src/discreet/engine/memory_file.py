"""Text in any encoding as a file of UTF-8 that is nowhere on disk."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from pathlib import Path

from discreet.engine.faults import Unfit
from discreet.errors import OutOfMemory, TableError

_PIECE = 1 << 20


class MemoryFile:
    """A file's text in UTF-8, in memory until it is closed; `path` opens it in this process.

    Raises Unfit where the text is not in the encoding, and OutOfMemory where it has more than `most` bytes.
    """

    def __init__(self, source: Path, encoding: str, most: int) -> None:
        if not hasattr(os, "memfd_create"):
            raise TableError(f"table ({source.name}) must be in UTF-8 on this system; convert it first")
        self._handle = os.memfd_create("text")  # closed when another program is started
        self.path = Path(f"/proc/self/fd/{self._handle}")
        try:
            self._fill(source, encoding, most)
        except BaseException:
            self.close()
            raise

    def _fill(self, source: Path, encoding: str, most: int) -> None:
        packed = source.name.lower().endswith(".gz")
        try:
            with gzip.open(source, "rb") if packed else source.open("rb") as raw:
                text = codecs.getreader(encoding)(raw)
                with open(self._handle, "wb", closefd=False) as file:
                    while piece := text.read(_PIECE):
                        file.write(piece.encode())
                        if file.tell() > most:
                            raise OutOfMemory(
                                f"table ({source.name}) is too large to be decoded in memory; convert it to UTF-8 first"
                            )
        except UnicodeError:
            raise Unfit("UnicodeError", why="decoding") from None
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise Unfit("damaged", why="file") from None
        except OSError as error:
            raise Unfit("OSError", why="file", number=error.errno) from None

    def close(self) -> None:
        """Let go of the text."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
