"""What a policy needs to know of a mechanism, and the register of those that it may name.

`discreet.families` enters them, by name; a mechanism is loaded when a policy names it. Nothing else in this room knows
one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from discreet.schema.register import Register

if TYPE_CHECKING:  # the registers are filled whenever the package is imported, and that should be light
    from discreet.schema.schema import Schema

# The key within [mechanism], or one from the top that begins with table or domains; and what is wrong with it.
Complain = Callable[[tuple[str, ...], str], None]


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


MECHANISMS: Register[type[Mechanism]] = Register()  # by kind; filled by discreet.families
