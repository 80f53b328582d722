"""What a policy needs to know of a mechanism, and the register of those that it may name.

`discreet.families.register` enters a mechanism with its family; nothing else in this room knows one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from discreet.schema.schema import Schema

Complain = Callable[[tuple[str, ...], str], None]  # the key within [mechanism], and what is wrong with it


class Mechanism(Protocol):
    """A frozen value with the parameters of one way to publish; every field has the same name in the policy file."""

    kind: ClassVar[str]

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        """Build the mechanism from its section of the policy; complain of every problem instead of raising."""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of its section but for `kind`: `properties` and which of them are `required`."""

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the parameters do not fit the schema."""

    def as_toml(self) -> dict[str, Any]:
        """The section that `read` would read back."""

    def as_json(self) -> dict[str, Any]:
        """Every public parameter, as a release states them; None is one that is not set."""


MECHANISMS: dict[str, type[Mechanism]] = {}  # by kind; filled by discreet.families
