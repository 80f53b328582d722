"""Manifests of releases of every family: as a stranger writes them, or stated anew as a careful forger does."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from cases import CASES, policy_of, publish, ward_frame
from hostile.tables import MARK
from mutations import Step, restated
from tampering import MANIFEST

from fuzz import texts, trees
from fuzz.door import choices
from fuzz.looking import looked

_PIECES = (
    *('"', "{", "}", "[", "]", ",", ":", "\\u0000", "\\ud800", "null", "true", "NaN", "-Infinity", "1e999", "\n", "\0"),
    *('"format": 2', '"values": []', '"integers": [0, 9007199254740991]', '"1/3"', '"size": 1', '"buckets": 1', "[[]]"),
    *('"path": "../CANARY.csv"', '"path": "/etc/passwd"', '"missing": true', '"hierarchy": [["a", "*"]]', "-1", "0.5"),
)
_AS_IT_IS = 0.2  # the share of documents that are written in another form than releases have


class Manifests:
    """The first byte chooses the release whose tables and README stand beside the manifest, the second the way."""

    packages: ClassVar = ("discreet",)
    secrets: ClassVar = (MARK, "Traceback")

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> Iterator[bytes]:
        (self._folder / "CANARY.csv").write_text(f"secret\n{MARK}\n")
        for number, case in enumerate(CASES):
            home = self._folder / f"release {number}"
            home.mkdir()
            made = publish(ward_frame(), policy_of(case, home), home / "release", seed=1)
            for way in (0, 64, 100):
                yield bytes((number, way)) + (made / MANIFEST).read_bytes()

    def open(self) -> None:
        self._releases = [self._folder / f"release {number}" / "release" for number in range(len(CASES))]

    def enter(self, data: bytes) -> list[str]:
        which, way, content = choices(data)
        place = self._folder / "looked at"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._releases[which % len(CASES)], place)
        (place / MANIFEST).write_bytes(content)
        if way % 2 and (document := _document(content)) is not None:
            restated(place, Step("", (), document))
        return looked(place, way // 2)

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        document = _document(content)
        if document is None:
            return texts.step(content, _PIECES, coins)
        changed = trees.step(document, coins)
        odd = coins.random() < _AS_IT_IS
        text = json.dumps(changed, ensure_ascii=odd, indent=None if odd else 1) + "\n" * (not odd)
        return text.encode("utf-8", "surrogatepass")


def _document(content: bytes) -> dict[str, object] | None:
    """The JSON object that the bytes say, if they do."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
