"""Parquet files of releases of every family, with the manifest mended: no hash stands before what is looked for."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from cases import CASES, policy_of, publish, ward_frame
from hostile.tables import MARK
from tampering import restate

from fuzz import footers
from fuzz.door import choices
from fuzz.looking import looked

_UNMENDED = 16  # of 256 ways leave the hashes as they were


class Parquets:
    """The first byte chooses the release and which of its tables it is, the second the way to look at it."""

    packages: ClassVar = ("discreet",)
    secrets: ClassVar = (MARK, "Traceback")

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> Iterator[bytes]:
        for number, case in enumerate(CASES):
            home = self._folder / f"release {number:02}"
            home.mkdir()
            publish(ward_frame(), policy_of(case, home), home / "release", seed=1)
        for number, file in enumerate(self._files()):
            for way in (32, 98, 131):
                yield bytes((number, way)) + file.read_bytes()

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("release */release/data/*.parquet"))

    def open(self) -> None:
        self._known = self._files()

    def enter(self, data: bytes) -> list[str]:
        which, way, content = choices(data)
        file = self._known[which % len(self._known)]
        place = self._folder / "looked at"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(file.parents[1], place)
        (place / "data" / file.name).write_bytes(content)
        if way >= _UNMENDED:
            restate(place)
        return looked(place, way)

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        return footers.step(content, coins)
