"""What a search of a door starts from, made before it: `python -m fuzz.prepare DOOR FOLDER CORPUS`."""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz.door import loaded

if __name__ == "__main__":
    place, folder, corpus = sys.argv[1:]
    for number, data in enumerate(loaded(place)(Path(folder)).prepare()):
        (Path(corpus) / f"{number:04}").write_bytes(data)
