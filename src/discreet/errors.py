"""Everything that discreet raises on purpose.

    DiscreetError
    ├── PolicyError      the policy file is wrong (all problems at once, with lines)
    ├── TableError       the table does not fit the policy; never carries a cell
    ├── Infeasible       no plan keeps this tolerance; names the values and the remedy
    ├── CertificateError a plan's certificate does not prove the bound that it states
    ├── SeriesRefusal    publishing now would give fresh coins to rows already published
    ├── ReleaseError     a release folder cannot be read or written
    └── QueryError       a condition is not one that a release answers

A message reads ``name (value) must be ...; <what to do>``. No message carries a cell of a sensitive table.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """The root of the tree: one clear sentence for a person."""


class PolicyError(DiscreetError):
    """The policy is wrong."""


class TableError(DiscreetError):
    """The table does not fit the policy."""


class Infeasible(DiscreetError):
    """No bucket setting within the size limits keeps every tolerance."""

    def __init__(self, message: str, *, values: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.values = values


class CertificateError(DiscreetError):
    """The prices of a certificate do not prove its bound."""


class SeriesRefusal(DiscreetError):
    """The series forbids this release; the message names the earlier one."""


class ReleaseError(DiscreetError):
    """A release folder cannot be read or written."""


class QueryError(DiscreetError):
    """This condition cannot be answered."""
