"""Policies and their hierarchies: read, saved again, held against a table whose cells nobody may see, and planned."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import tomli_w
from cases import CASES, policy_of, ward_frame

import discreet
from fuzz import texts, trees
from fuzz.door import choices, commanded, said

_DOCS = Path(__file__).parents[3] / "docs"
_BLOCK = re.compile(r"```toml\n(.*?)```|((?:^    .*\n|^\n)+)", re.DOTALL | re.MULTILINE)
_HIERARCHY = b"9001;90**;*\n0213;02**;*\n0214;02**;*\n"
_FILE = "postcode.csv"
_BETWEEN = b"\0"  # a policy, and then the hierarchy that it may name
_RAW = ("Zyxwvut", "9-77-", "bedtag_", "remark <<")  # what every cell has that is not of a public domain
_ROWS = 40
_PIECES = (
    *("[table]", "[domains.age]", "[domains.disease]", "[mechanism]", "[mechanism.tolerance]", "draft = true\n"),
    *("version = 1\n", "person = 'bed_tag'\n", "public_rows = 40\n", "identifiers = ['fullname']\n"),
    *("quasi_identifiers = ['fullname', 'age']\n", "sensitive = 'insurance_no'\n", "sensitive = 'bill_in_cents'\n"),
    *("integers = [0, 110]\n", "integers = [0, 9007199254740991]\n", "integers = [-9223372036854775808, 0]\n"),
    *("dates = ['2020-01-01', '2021-12-31']\n", "decimals = [0, 1]\n", "step = 0.001\n", "values = ['a', 'A ', 'a']\n"),
    *(
        "missing = 'category'\n",
        "marks = ['?']\n",
        "widths = [5, 10, 50]\n",
        "prefixes = [1, 2]\n",
        "bands = [0, 18]\n",
    ),
    *(f"hierarchy = '{_FILE}'\n", "hierarchy = '../../etc/passwd'\n", "same = { hiv = 'HIV' }\n", "level = 1\n"),
    *("distinct = [['HIV', 'hiv']]\n", "theta = 2\n", "floor = 0.1\n", "floor = 1e-400\n", "values = { HIV = 0.05 }\n"),
    *(f"kind = '{kind}'\n" for kind in ("buckets", "anatomy", "alphabeta", "frapp", "diffgen", "pairs", "laplace")),
    *(
        "l = 2\n",
        "prior = 0.02\n",
        "posterior = 0.2\n",
        "views = 3\n",
        "slots = 8\n",
        "epsilon = 1\n",
        "max_size = 50\n",
    ),
    *(
        "known = 1\n",
        "fakes = 1\n",
        "window = 60\n",
        "assignment = 'near'\n",
        "specializations = 5\n",
        "sizes = 'two'\n",
    ),
    *("=", "[", "]", "{", "}", "'", '"', "'''", '"""', "\\u0000", "\\uD800", "#", ".", ",", "\n", "\0", ";", "*"),
    *("inf", "nan", "true", "1979-05-27T07:32:00Z", "07:32:00", "0x7f", "1_000", "1e999999999", "-0.0", "'9' "),
)


class Policies:
    """The second byte chooses how far a policy is followed."""

    packages: ClassVar = ("discreet",)
    secrets: ClassVar = (*_RAW, "Traceback")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table = folder / "ward.csv"

    def prepare(self) -> Iterator[bytes]:
        ward_frame(rows=_ROWS).to_csv(self._table, index=False)
        for number, case in enumerate(CASES):
            path = policy_of(case, self._folder, f"seed {number}.toml").path
            assert path is not None
            text = path.read_text(encoding="utf-8")
            for way in (0, 16, 64):
                yield bytes((0, way)) + text.encode() + _BETWEEN + _HIERARCHY
        for page in sorted(_DOCS.rglob("*.md")):
            for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
                text = "".join(line.removeprefix("    ") for line in (block[1] or block[2]).splitlines(keepends=True))
                if "[domains" in text or "[mechanism" in text:
                    yield bytes((0, 0)) + text.encode() + _BETWEEN + _HIERARCHY

    def open(self) -> None:
        (self._folder / "policy").mkdir(exist_ok=True)

    def enter(self, data: bytes) -> list[str]:
        _, way, content = choices(data)
        policy, _, hierarchy = content.partition(_BETWEEN)
        path = self._folder / "policy" / "policy.toml"
        path.write_bytes(policy)
        path.with_name(_FILE).write_bytes(hierarchy)
        if way < 4:
            return commanded("check", self._table, "--policy", path)
        if way < 12:
            return said(lambda: _planned(self._table, path))
        if way < 32:
            return said(lambda: _reviewed(path, self._table))
        return said(lambda: _kept(path))

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        policy, _, hierarchy = content.partition(_BETWEEN)
        drawn = coins.random()
        if drawn < 0.15:
            return policy + _BETWEEN + texts.step(hierarchy, (";", "\n", "*", "9001", '"', ""), coins)
        if drawn < 0.55:
            try:
                document = trees.step(tomllib.loads(policy.decode()), coins)
                return tomli_w.dumps(document).encode("utf-8", "surrogatepass") + _BETWEEN + hierarchy
            except (ValueError, TypeError, AttributeError, RecursionError):
                pass  # no TOML, before or after the step
        return texts.step(policy, _PIECES, coins) + _BETWEEN + hierarchy


def _kept(path: Path) -> str:
    """Check and load agree, and a policy that is saved and loaded again is the same one."""
    problems = discreet.Policy.check(path)
    try:
        policy = discreet.Policy.load(path)
    except discreet.PolicyError as error:
        assert problems, "what cannot be loaded has problems"
        return str(error)
    assert not problems, "what has problems cannot be loaded"
    again = discreet.Policy.load(policy.save(path.with_name("again.toml")))
    assert again == policy, "saved and loaded it is the same"
    return str(policy.schema.columns)


def _reviewed(path: Path, table: Path) -> str:
    found = discreet.review(path, table)
    return "\n".join([*map(str, found.problems), *found.warnings, *found.notes, "reviewed"])


def _planned(source: Path, path: Path) -> str:
    policy = discreet.Policy.load(path)
    with discreet.read_table(source, policy) as table:
        return str(discreet.plan(table, policy))
