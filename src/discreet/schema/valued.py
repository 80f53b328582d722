"""What every kind of domain shares: its values in order, a missing cell as one more, and a hierarchy above them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from discreet.engine.encoding import Encoding

Value = int | str | Decimal | None  # None is a missing cell, where the domain has it


class Valued(ABC):
    """A domain as its encoding lists it."""

    paths: tuple[tuple[str, ...], ...]
    missing: bool

    @property
    @abstractmethod
    def type(self) -> str:
        """integer, number or text."""

    @property
    def in_order(self) -> bool:
        """Whether smaller and larger mean something."""
        return True

    @property
    def by_place(self) -> bool:
        """Whether text is smaller or larger by its place in the list, and not by itself."""
        return False

    @property
    @abstractmethod
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""

    @property
    def given(self) -> Encoding:
        """The same values as they are read off a custodian's cells."""
        return self.encoding

    @property
    @abstractmethod
    def texts(self) -> tuple[str, ...]:
        """The values as they are written, a missing one aside."""

    @property
    def extent(self) -> str:
        """From where to where the values go, where that says them all."""
        return ""

    def constant(self, literal: int | str | Decimal) -> int | str | Decimal:
        """What a question compares the values with, as the domain writes it; raises ValueError with how to write it."""
        return literal

    @abstractmethod
    def __contains__(self, value: object) -> bool:
        """Whether it is a value of the domain."""

    def __len__(self) -> int:
        return len(self.encoding)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.encoding)

    @property
    def levels(self) -> int:
        """How many levels of labels there are between the values and '*'."""
        return max(len(self.paths[0]) - 2, 0) if self.paths else 0

    def labels_at(self, level: int) -> dict[str, list[int]]:
        """The labels of a level in the order of their first values, each with the codes of its values."""
        found: dict[str, list[int]] = {}
        for code, path in enumerate(self.paths):
            found.setdefault(path[level], []).append(code)
        return found

    def _rest_as_json(self) -> dict[str, Any]:
        """What a domain says besides its values."""
        hierarchy = {"hierarchy": [list(path) for path in self.paths]} if self.paths else {}
        return {**hierarchy, **({"missing": True} if self.missing else {})}
