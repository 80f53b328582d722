"""Randomized response: every row as it is, but for its sensitive value, which a coin may exchange for another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.errors import PolicyError
from discreet.ground.exact import Number, exact, toml_number
from discreet.ground.progress import Progress, Steps
from discreet.ground.shown import shown
from discreet.mechanism.plan import Alternatives, Stakes
from discreet.release.copies import write_copies
from discreet.release.manifest import write_manifest
from discreet.schema.json_schema import NUMBER
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table
from response.release import ROWS, ResponseNumbers, ResponsePrivacy

UNIT = 1 << 62  # coins are 62-bit numbers


@dataclass(frozen=True, kw_only=True)
class ResponsePlan:
    """How many rows will keep their value, and what that promises."""

    guarantee: ResponsePrivacy
    rows: int

    @property
    def warnings(self) -> tuple[str, ...]:
        return ("quasi-identifiers are published as they are",)

    @property
    def stakes(self) -> Stakes:
        return Stakes(
            number=float(self.guarantee.keep),
            what="how often the truth is told",
            unprotected=0,
            alone=None,
            size=self.rows,
        )

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        return {"rows": self.rows, "keep": str(self.guarantee.keep), "ratio": str(self.guarantee.ratio)}

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        yield f"{self.rows:,} rows, each keeps its value with probability {float(self.guarantee.keep):.4g}"


@dataclass(frozen=True, kw_only=True)
class Response:
    """k-ary randomized response with probability `keep` to tell the truth."""

    keep: Number

    kind: ClassVar[str] = "response"
    blamed: ClassVar[str] = "keep"
    compared: ClassVar[tuple[str, ...]] = ()
    explains: ClassVar[bool] = False
    part_tells: ClassVar[bool] = True
    any_order: ClassVar[bool] = False
    views: ClassVar[int] = 1
    shows_rows: ClassVar[bool] = True
    cost: ClassVar[Fraction] = Fraction(0)
    steps: ClassVar[Mapping[str, float]] = {"answering": 1.0}

    def __post_init__(self) -> None:
        if not 0 < exact("keep", self.keep) < 1:
            raise PolicyError(f"keep ({shown(self.keep)}) must be between 0 and 1; it is a probability", key=("keep",))
        object.__setattr__(self, "keep", exact("keep", self.keep))

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        for name in section:
            if name != "keep":
                complain((name,), f"{name} is not a parameter of response{did_you_mean(name, ('keep',))}")
        try:
            found = cls(keep=section.get("keep", 0))
            found.check(schema)
        except PolicyError as error:
            complain(error.key, str(error))
            return None
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return {"required": ["keep"], "properties": {"keep": {"description": "How often the truth is told."} | NUMBER}}

    def check(self, schema: Schema) -> None:
        values = len(schema.domains[schema.sensitive])
        if values < 2 or exact("keep", self.keep) * values <= 1:
            raise PolicyError(
                f"keep ({shown(self.keep)}) must be above 1/{values}, where every value is as likely", key=("keep",)
            )

    def guarantee(self, schema: Schema) -> ResponsePrivacy:
        return ResponsePrivacy(keep=exact("keep", self.keep), values=len(schema.domains[schema.sensitive]))

    def as_toml(self) -> dict[str, Any]:
        return {"keep": toml_number(exact("keep", self.keep))}

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "keep": str(self.keep)}

    def fits(self, table: Table) -> None:
        pass

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return ("every row is published with its quasi-identifiers",)

    def plan(self, table: Table, progress: Progress | None = None) -> ResponsePlan:
        return ResponsePlan(guarantee=self.guarantee(table.schema), rows=table.rows)

    def alternatives(self, table: Table, over: str) -> Alternatives:
        raise PolicyError(f"{self.kind} has one plan; there is nothing to compare")

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        return ""

    def make(self, table: Table, place: Place, coins: Coins, folder: Path, *, csv: bool, steps: Steps) -> bytes:
        schema, drawn = table.schema, hashlib.blake2b(digest_size=16)
        lie, other = coins.stream("lie"), coins.stream("other")
        values, parts = len(schema.domains[schema.sensitive]), []
        with steps.step("answering") as tell:
            for *known, truth in table.codes(tell=tell):
                lies = lie.integers(0, UNIT, size=len(truth)) >= int(exact("keep", self.keep) * UNIT)
                moved = (truth + 1 + other.integers(0, values - 1, size=len(truth))) % values
                parts.append([*known, np.where(lies, moved, truth)])
                drawn.update(parts[-1][-1].tobytes())
            _write(parts, schema, folder / ROWS)
            if csv:
                write_copies(folder, [ROWS])
            write_manifest(
                folder,
                schema,
                mechanism=self.as_json(),
                guarantee=self.guarantee(schema),
                numbers=ResponseNumbers(rows=table.rows),
                csv=csv,
                continued=place.continued,
                seeded=coins.seeded,
            )
        return drawn.digest()


def _write(parts: list[list[np.ndarray]], schema: Schema, to: Path) -> None:
    """The rows in the order of the domains, which says nothing of the input's."""
    to.parent.mkdir()
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort(columns[::-1])
    cells = {
        name: pa.array(list(schema.domains[name])).take(pa.array(column[order]))
        for name, column in zip(schema.columns, columns, strict=True)
    }
    with pq.ParquetWriter(to, pa.table(cells).schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(pa.table(cells))
