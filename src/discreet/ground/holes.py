"""Files with holes: parts that read as zeros and take no space on disk."""

from __future__ import annotations

import os
from pathlib import Path


def has_holes(path: Path) -> bool:
    """Whether a plain file has parts that take no space on disk, so that few bytes may stand for any number of them.

    No file of a release has that many zeros in a row. Systems that do not tell, such as Windows, are believed.
    """
    hole = getattr(os, "SEEK_HOLE", None)
    if hole is None:
        return False
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return size > 0 and os.lseek(file.fileno(), 0, hole) < size
    except OSError:
        return False  # whoever reads it says why it cannot be read
