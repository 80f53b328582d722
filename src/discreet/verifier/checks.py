"""The checks that every family shares: each says what is broken, or nothing.

A family's list is `FIRST`, its own, `LAST`; every check may rely on those before it having held.
"""

from __future__ import annotations

import filecmp
import json
from pathlib import Path

from discreet.engine.duck.database import Database
from discreet.release.family import FAMILIES
from discreet.release.manifest import sha256
from discreet.release.plain import strangers
from discreet.release.statement import README
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files
from discreet.verifier.form import check_form
from discreet.verifier.layout.check import check_layout
from discreet.verifier.lookalikes import check_lookalikes, lookalikes_told


def check_files(files: Files) -> str | None:
    """Every file is declared and plain, and every declared file is there."""
    declared = {each.path for each in files.manifest.resources}
    if found := strangers(files.manifest.folder, declared):
        return f"{len(found)} files are not declared in the manifest, the first is {found[0]!r}"
    for name in sorted({*declared, README}):
        files.path(name)
    return None


def check_hashes(files: Files) -> str | None:
    """Every file has the bytes that the manifest states."""
    for each in files.manifest.resources:
        path = files.path(each.path)
        if path.stat().st_size != each.bytes or each.hash != f"sha256:{sha256(path)}":
            return f"{each.path} is not the file that the manifest describes"
    if files.manifest.readme != f"sha256:{sha256(files.path(README))}":
        return f"{README} is not the file that the manifest describes"
    return None


def check_words(files: Files) -> str | None:
    """The facts and the README say what the numbers promise, in the words of their version."""
    family, statement = FAMILIES[files.manifest.kind], files.manifest.statement
    facts = family.facts(statement)
    if json.dumps(files.manifest.facts) != json.dumps(facts):  # 1 is neither 1.0 nor true, and the order counts
        return "the facts do not say what the guarantee promises"
    words = family.readme(statement, facts).encode()
    readme = files.path(README)
    if readme.stat().st_size != len(words) or readme.read_bytes() != words:  # a stranger's may be of any size
        return f"{README} does not say what the manifest promises"
    return None


def check_copies(files: Files) -> str | None:
    """CSV copies, if any, are the Parquet files' rows in order and nothing else: made again, the same bytes."""
    copies = [each.path for each in files.manifest.resources if each.path.endswith(".csv")]
    if not copies:
        return None
    with Database(paths=[files.manifest.folder], threads=1) as database:
        for copy in copies:
            again = database.scratch / "copy.csv"
            database.write_csv(files.path(str(Path(copy).with_suffix(".parquet"))), again)
            if not filecmp.cmp(files.path(copy), again, shallow=False):
                return f"{copy} is not the copy of the Parquet file"
    return None


def check_randomness(files: Files) -> str | None:
    """The coins were secret, as far as the release says."""
    if files.block["randomness"] == "secure" or files.allow_seeded:
        return None
    return "the coins came from a seed, so anyone can toss them again; publish without a seed"


FIRST = (
    Claim("files", check_files, "every file is declared and plain", first=True),
    Claim("hashes", check_hashes, "every file has the stated bytes", share=0.1),
    Claim("layout", check_layout, "every byte of the tables follows from their cells", first=True, share=0.1),
    Claim("form", check_form, "the manifest is written in the one way there is, and holds no free text"),
)
LOOKALIKES = Claim(
    "lookalikes",
    lambda files: check_lookalikes(files.manifest),
    "no two sensitive values look alike",
    told=lambda files: lookalikes_told(files.manifest),
)
LAST = (
    LOOKALIKES,
    Claim("words", check_words, "the facts and the README say what the numbers promise"),
    Claim("copies", check_copies, "CSV copies, if any, hold the same rows"),
    Claim("randomness", check_randomness, "the coins are stated to be secret"),
)
