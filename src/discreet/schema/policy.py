"""The policy: one TOML file with the schema, the mechanism and its parameters, checked without touching data."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from discreet.errors import PolicyError
from discreet.ground.exact import fraction_of
from discreet.schema.lines import key_lines, line_of
from discreet.schema.lookalikes import check_lookalikes
from discreet.schema.mechanisms import Mechanism
from discreet.schema.missing import Marks, check_marks
from discreet.schema.read import DATA, VERSION, Parts, Problem, from_the_top, read_document
from discreet.schema.same import Same, check_same
from discreet.schema.schema import RESERVED, Schema
from discreet.schema.write import write_document


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What may be published about whom, and how.

    `marks` has, for columns of the table, the texts that mean a missing cell, and `same` other spellings of values.
    A `draft` is published by nobody: a person must read it first, and take that word out.
    """

    schema: Schema
    mechanism: Mechanism
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    marks: Marks = field(default_factory=dict, hash=False)
    same: Same = field(default_factory=dict, hash=False)
    draft: bool = False
    path: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        names = [*self.schema.columns, *self.identifiers]
        if len({name.casefold() for name in names}) < len(names):
            raise PolicyError(
                "every column must have one role; names that differ only in case are one name", key=("table",)
            )
        if not self.schema.quasi_identifiers:
            raise PolicyError("quasi_identifiers must name at least one column", key=("table", "quasi_identifiers"))
        if reserved := [name for name in self.schema.columns if name.upper() in RESERVED]:
            raise PolicyError(
                f"a published column must not be called {reserved[0]}; a release adds its own",
                key=self.schema.role_key(reserved[0]),
            )
        if self.person and self.person.casefold() in {name.casefold() for name in self.schema.columns}:
            raise PolicyError(
                f"person ({self.person}) must not be published; take it out of the other roles", key=("table", "person")
            )
        for name, texts in self.marks.items():
            if name not in self.schema.columns:
                raise PolicyError(f"marks ({name}) must be for published columns only; take it out", key=("domains",))
            check_marks(name, texts, self.schema.domains[name])
        for name, spellings in self.same.items():
            if name not in self.schema.columns:
                raise PolicyError(f"same ({name}) must be for published columns only; take it out", key=("domains",))
            check_same(name, spellings, self.schema.domains[name], self.marks.get(name, ()))
        check_lookalikes(self.schema)
        self.mechanism.check(self.schema)

    @classmethod
    def check(cls, path: str | Path) -> tuple[Problem, ...]:
        """Everything that is wrong with a policy file, in line order; empty where it can be loaded."""
        return read_policy(Path(path)).problems

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; raises PolicyError with every problem and its line."""
        found = read_policy(Path(path))
        if found.policy is None:
            raise PolicyError(told_of(path, found.problems))
        return found.policy

    def save(self, path: str | Path) -> Path:
        """Write the policy (and the hierarchies it uses, beside it) so that `load` reads the same policy back."""
        return write_document(self, VERSION, Path(path))

    @cached_property
    def digest(self) -> bytes:
        """What decides a release besides the rows: schema and mechanism, and nothing private.

        What is not set does not count, so a parameter that a later version adds does not make it another policy.
        """
        stated = {name: value for name, value in self.mechanism.as_json().items() if value not in (None, {})}
        content = {"schema": self.schema.as_json(), "mechanism": stated}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()


@dataclass(frozen=True, kw_only=True)
class PolicyFile:
    """A policy file as far as it could be read: what is wrong, what could be told, and where each key stands."""

    problems: tuple[Problem, ...]
    policy: Policy | None = None
    parts: Parts | None = None
    lines: dict[tuple[str, ...], int] = field(default_factory=dict)


def told_of(path: str | Path, problems: Sequence[Problem]) -> str:
    """Problems in lines, each with the name of the file, but for those that are the table's alone or name it."""
    name, own = Path(path).name or path, f"policy ({path})"
    named = (each.key == DATA or each.message.startswith(own) for each in problems)
    return "\n".join(each.message if told else f"{name}{each}" for each, told in zip(problems, named, strict=True))


def read_policy(path: Path) -> PolicyFile:
    """Read a policy file without raising."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        document = tomllib.loads(text, parse_float=_exact_float)
    except OSError as error:
        why = f"policy ({path}) must be a file that can be read: {error.strerror}; name a TOML file"
        return PolicyFile(problems=(Problem(line=None, message=why),))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return PolicyFile(problems=(Problem(line=line, message="the file must be UTF-8 text; save it as UTF-8"),))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return PolicyFile(problems=(Problem(line=_line_in(error), message=f"the file must be TOML: {error}"),))
    except ValueError:
        return PolicyFile(problems=(Problem(line=None, message="whole numbers must have fewer digits"),))
    found: list[tuple[tuple[str, ...], str]] = []
    parts = read_document(document, VERSION, path.parent, lambda key, message: found.append((key, message)))
    lines = key_lines(text)
    distinct = {Problem(line=line_of(key, lines), message=message, key=key) for key, message in found}
    problems = tuple(sorted(distinct, key=lambda problem: (problem.line or 0, problem.message)))
    if problems or parts.schema is None or parts.mechanism is None:
        return PolicyFile(problems=problems, parts=parts, lines=lines)
    try:
        policy = Policy(
            schema=parts.schema,
            mechanism=parts.mechanism,
            identifiers=parts.roles.identifiers,
            person=parts.roles.person,
            marks=parts.marks,
            same=parts.same,
            draft=parts.draft,
            path=path,
        )
    except PolicyError as error:
        key = from_the_top(error.key)
        problem = Problem(line=line_of(key, lines), message=str(error), key=key)
        return PolicyFile(problems=(problem,), parts=parts, lines=lines)
    return PolicyFile(problems=(), policy=policy, parts=parts, lines=lines)


def _exact_float(text: str) -> Fraction | Decimal | float:
    """A decimal as the fraction it says; inf, nan and what is too long are refused where they matter."""
    found = fraction_of(text.replace("_", ""))
    if found is not None:
        return found
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent of twenty digits
        return math.nan
    return number if number.is_finite() else float(text)


def _line_in(error: Exception) -> int | None:
    """The line that the TOML parser names in its message."""
    words = str(error).replace(",", " ").replace(")", " ").split()
    return int(words[words.index("line") + 1]) if "line" in words else None
