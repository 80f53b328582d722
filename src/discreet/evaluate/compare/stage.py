"""Where policies are rehearsed: their tables, read once for all that publish the same columns in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from discreet.errors import PolicyError
from discreet.evaluate.compare.rehearsal import name_of_policy
from discreet.ground.closing import Closes
from discreet.ground.progress import Progress
from discreet.schema.policy import Policy
from discreet.table.read import read_table
from discreet.table.source import CsvForm
from discreet.table.table import Table


class Stage(Closes):
    """Policies with their tables; `source` is anything that a table is read from, or a table that is open already."""

    def __init__(
        self, source: Any, policies: Sequence[Policy], csv: CsvForm | None, progress: Progress | None = None
    ) -> None:
        self.policies = tuple(policies)
        self._open = ExitStack()
        self.tables: list[Table] = []
        try:
            for place, policy in enumerate(policies):
                like = next((i for i in range(place) if _reads_alike(policies[i], policy)), None)
                if isinstance(source, Table):
                    self.tables.append(_same(source, policy))
                elif like is not None:
                    self.tables.append(self.tables[like])
                else:
                    own = read_table(source, policy, csv=csv, progress=progress)
                    self.tables.append(self._open.enter_context(own))
        except BaseException:
            self._open.close()
            raise

    def close(self) -> None:
        """Let go of the tables that were read here."""
        self._open.close()


def _reads_alike(one: Policy, two: Policy) -> bool:
    return (one.schema, one.identifiers, one.person, one.marks, one.same) == (
        two.schema, two.identifiers, two.person, two.marks, two.same,
    )  # fmt: skip


def _same(table: Table, policy: Policy) -> Table:
    """The table, where it was read as the policy would read it."""
    if table.schema != policy.schema:
        raise PolicyError(
            f"policy ({name_of_policy(policy)}) must have the schema that the open table was read by; give the file or "
            "the frame instead, and each policy reads it"
        )
    return table
