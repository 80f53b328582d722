"""What a release says of itself, with types: the block `discreet` of its manifest, and the files beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from discreet.errors import ReleaseError
from discreet.guarantee.guarantee import Guarantee
from discreet.schema.schema import Schema

FORMAT = 2
MANIFEST = "datapackage.json"
PENDING = f"{MANIFEST}.part"  # its name until nothing but the name of the release is missing
README = "README.md"
SIGNATURE = f"{MANIFEST}.sig"  # where the custodian signs; the manifest does not name it


class Stated(Protocol):
    """The parameters of a mechanism as a release states them: all of them, so that no default of today is needed."""

    kind: ClassVar[str]

    def as_json(self) -> dict[str, Any]:
        """The same parameters again."""


class Numbers(Protocol):
    """What a family states of a release beside what every release states, such as how many rows it has."""

    def as_json(self) -> dict[str, Any]:
        """The keys of the block and their values."""


M = TypeVar("M", bound=Stated)
G = TypeVar("G", bound=Guarantee)
N = TypeVar("N", bound=Numbers)


@dataclass(frozen=True, kw_only=True)
class Statement(Generic[M, G, N]):
    """The meaning of a release: its numbers. `words` is the version of the prose that says them to people."""

    schema: Schema
    mechanism: M
    guarantee: G
    numbers: N
    continued: bool
    seeded: bool
    words: int


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One data file as the manifest describes it."""

    path: str
    bytes: int
    hash: str
    fields: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Manifest(Generic[M, G, N]):
    """A release folder as it describes itself, read but not yet believed; `block` is what it says, as it stands."""

    folder: Path
    statement: Statement[M, G, N]
    facts: Mapping[str, Any]
    readme: str
    content: bytes = field(repr=False)  # as it was read
    resources: tuple[Resource, ...]
    block: Mapping[str, Any] = field(repr=False)

    @property
    def sha512(self) -> bytes:
        """Of the bytes that were read, for whoever signed them."""
        return hashlib.sha512(self.content).digest()

    @property
    def kind(self) -> str:
        """The kind of the mechanism that made it."""
        return self.statement.mechanism.kind

    @property
    def schema(self) -> Schema:
        return self.statement.schema


def whole_numbers(block: Mapping[str, Any], *names: str) -> dict[str, int]:
    """Numbers of a block by name; raises ReleaseError where one is no whole number, 0 or more."""
    for name in names:
        if type(block[name]) is not int or block[name] < 0:
            raise ReleaseError(f"{name} in the block 'discreet' must be a whole number, 0 or more")
    return {name: block[name] for name in names}
