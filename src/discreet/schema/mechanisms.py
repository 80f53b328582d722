"""The register of mechanisms that a policy may name: each is entered by its own room, when it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from discreet.schema.schema import Schema

Complain = Callable[[tuple[str, ...], str], None]  # the key within [mechanism], and what is wrong with it


class Mechanism(Protocol):
    """What a policy needs to know of a mechanism: its name, how to read its parameters and how to write them."""

    kind: ClassVar[str]

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        """Build the mechanism from its section of the policy; complain of every problem instead of raising."""

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the parameters do not fit the schema."""

    def as_toml(self) -> dict[str, Any]:
        """The section that `read` would read back."""

    def as_json(self) -> dict[str, Any]:
        """The public parameters, as a release states them."""


MECHANISMS: dict[str, type[Mechanism]] = {}

_M = TypeVar("_M", bound=type[Any])


def register(mechanism: _M) -> _M:
    """Enter a mechanism under its `kind`."""
    MECHANISMS[mechanism.kind] = mechanism
    return mechanism
