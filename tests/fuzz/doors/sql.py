"""Questions to releases of every family: through the library, alone and grouped, and through the command line."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from cases import CASES, policy_of, publish, ward_frame
from hostile import questions
from hostile.tables import MARK

import discreet
from fuzz import texts
from fuzz.door import choices, commanded, said

ASKED = tuple(case for case in CASES if not case.variant)
_HONEST = (
    "age > 3 AND disease = 'Flu'",
    "age BETWEEN 20 AND 40 OR gender = 'F' AND NOT postcode IN ('9001', '0213')",
    "age % 7 = 3 AND abs(age - 50) < 9",
    "disease LIKE 'F%' OR postcode IS NULL",
    "SELECT COUNT(*) FROM release WHERE gender = 'M' AND age * 2 > 7",
    "SELECT gender, COUNT(*) FROM release WHERE age <> 4 GROUP BY gender",
    "SELECT disease, gender, COUNT(*) AS n FROM release GROUP BY disease, gender",
    "age IN (SELECT n FROM near)",
    "gender NOT IN (SELECT z FROM near WHERE n = 2)",
    "",
)
_PIECES = (
    *questions.COLUMNS,
    *questions.NUMBERS,
    *questions.TEXTS,
    *questions.HOSTILE_TERMS,
    *questions.HOSTILE_CONDITIONS,
    *questions.TAILS,
    *questions.SIGNS,
    *questions.SOURCES,
    *questions.STATEMENTS,
    *("AND", "OR", "NOT", "(", ")", "age = 1", "IN (", "BETWEEN", "GROUP BY", "COUNT(*)", "SELECT", "WHERE"),
)
_COMMANDS = 4  # of 256 ways go through the command line, which opens the release each time


class Questions:
    """The first byte chooses the release, the second the way to ask."""

    packages: ClassVar = ("discreet", "sqlglot.dialects.duckdb")
    secrets: ClassVar = (MARK, "Traceback")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._canary = folder / questions.CANARY
        self._pieces = [self._ours(each) for each in _PIECES]

    def _ours(self, text: str) -> str:
        """A piece as a question to the ward says it."""
        for theirs, ours in questions.WARD.items():
            text = text.replace(theirs, ours)
        return text.replace(questions.CANARY, str(self._canary))

    def prepare(self) -> Iterator[bytes]:
        self._canary.write_text(f"secret\n{MARK}\n")
        for number, case in enumerate(ASKED):
            home = self._folder / f"release {number}"
            home.mkdir()
            publish(ward_frame(), policy_of(case, home), home / "release", seed=1)
        for number, question in enumerate((*_HONEST, *questions.HOSTILE_CONDITIONS, *questions.STATEMENTS)):
            yield bytes((number, number // len(ASKED))) + self._ours(question).encode("utf-8", "surrogatepass")

    def open(self) -> None:
        self._paths = [self._folder / f"release {number}" / "release" for number in range(len(ASKED))]
        self._releases = [discreet.open_release(path) for path in self._paths]
        for release in self._releases:
            release.count(_HONEST[0])  # what is learned of it is learned once

    def enter(self, data: bytes) -> list[str]:
        which, way, content = choices(data)
        text = texts.read(content)
        release = self._releases[which % len(ASKED)]
        if way < _COMMANDS:
            return commanded("query", self._paths[which % len(ASKED)], "--", text)
        match way % 8:
            case 0:
                return said(lambda: release.count_by("gender", where=text, aux=questions.AUX))
            case 1:
                return said(lambda: release.count_many([text, "age = 2"], aux=questions.AUX))
            case 2:
                return said(lambda: release.query(text, aux=questions.AUX))
            case 3:
                estimator = release.estimators[way % len(release.estimators)]
                return said(lambda: release.count(text, estimator=estimator))
            case _:
                return said(lambda: release.query(text))

    def changed(self, content: bytes, coins: random.Random) -> bytes | None:
        return texts.step(content, self._pieces, coins)
