"""Everything that discreet raises on purpose.

    DiscreetError
    ├── PolicyError      the policy file is wrong (all problems at once, with lines)
    ├── TableError       the table does not fit the policy; never carries a cell
    ├── Infeasible       no plan keeps this tolerance; names the values and the remedy
    ├── CertificateError a plan's certificate does not prove the bound that it states
    ├── SeriesRefusal    publishing now would give fresh coins to rows already published
    ├── ReleaseError     a release folder cannot be read or written
    ├── SigningError     a key cannot be used to sign or to check a signature; never carries a part of it
    ├── QueryError       a condition is not one that a release answers
    └── EngineError      the engine failed: nobody asked for anything wrong
        ├── OutOfMemory  ... for want of memory
        ├── OutOfTime    ... for want of time
        └── Cancelled    ... because somebody stopped it

A message reads ``name (value) must be ...; <what to do>``. No message carries a cell of a sensitive table.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """The root of the tree: one clear sentence for a person."""


class PolicyError(DiscreetError):
    """The policy is wrong; `key` says where, so that a message can name the line.

    It is the path of a key within what was built, such as ("max_size",) of a mechanism or ("values", "HIV") of a
    tolerance; or a path from the top of the policy, which begins with "table" or "domains". () is the whole.
    """

    def __init__(self, message: str, *, key: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.key = key


class TableError(DiscreetError):
    """The table does not fit the policy; `key` is as in PolicyError, where a line of the policy can be blamed."""

    def __init__(self, message: str, *, key: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.key = key


class Infeasible(DiscreetError):
    """Nothing within the limits keeps the promise; `values` stand in the way, and `key` is as in PolicyError.

    `refused` is what a series must remember of it, for to know that this was refused tells something of the rows.
    """

    def __init__(
        self, message: str, *, values: tuple[object, ...] = (), key: tuple[str, ...] = (), refused: str = ""
    ) -> None:
        super().__init__(message)
        self.values = values
        self.key = key
        self.refused = refused


class CertificateError(DiscreetError):
    """The prices of a certificate do not prove its bound."""


class SeriesRefusal(DiscreetError):
    """The series forbids this release; the message names the earlier one."""


class ReleaseError(DiscreetError):
    """A release folder cannot be read or written."""


class SigningError(DiscreetError):
    """A key to sign with, or to check a signature with, cannot be used; the message carries nothing of it."""


class QueryError(DiscreetError):
    """This condition cannot be answered."""


class EngineError(DiscreetError):
    """The engine could not do what it was rightly asked to do; the same question may be answered another time."""


class OutOfMemory(EngineError):
    """It would take more memory, or more room for an analyst's scratch folder, than there is or than is allowed."""


class OutOfTime(EngineError):
    """It took longer than is allowed."""


class Cancelled(EngineError):
    """It was stopped on request."""
