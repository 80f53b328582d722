"""The sensitive side: rows that were checked against the policy's domains, and nothing of them in any message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.engine.duck import Engine
from discreet.engine.encoding import Encoding, code
from discreet.schema.schema import Schema

ROWS = "rows_in_domain"  # the engine's relation with the published columns, in the encoding of their domains


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of which every published cell lies in its declared domain; `histogram` counts the sensitive values."""

    engine: Engine
    schema: Schema
    rows: int
    histogram: dict[object, int]

    @property
    def encodings(self) -> tuple[tuple[str, Encoding], ...]:
        return tuple((name, self.schema.domains[name].encoding) for name in self.schema.columns)

    def codes(self, *names: str) -> Iterator[list[NDArray[np.int64]]]:
        """Columns (by default all that are published) as positions in their domains, in row order, batch by batch."""
        wanted = [(name, self.schema.domains[name].encoding) for name in names or self.schema.columns]
        parts = [f"{code(name, encoding)}::BIGINT" for name, encoding in wanted]
        for batch in self.engine.batches(f"SELECT {', '.join(parts)} FROM {ROWS}"):
            yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def close(self) -> None:
        """Let go of the rows and of what was spilled of them."""
        self.engine.close()
