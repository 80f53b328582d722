"""A release that answers: counts with intervals, from its files alone. What every kind of release shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar

import duckdb
import numpy as np
import pyarrow as pa

from discreet.engine.duck import Engine
from discreet.engine.encoding import identifier, literal, text
from discreet.errors import QueryError, ReleaseError
from discreet.estimate.estimate import Counts, Estimate
from discreet.query.auxiliary import register_auxiliary
from discreet.query.condition import Atom, Column, Condition, Every
from discreet.query.parse import Query, parse_query
from discreet.release.folder import Manifest, plain_file
from discreet.schema.schema import Schema

MOST_GROUPS = 10_000


class Release(ABC):
    """An open release. It reads only the folder's own files; nothing it does can touch the custodian's table."""

    estimators: ClassVar[tuple[str, ...]]

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._engine = Engine(paths=[manifest.folder])

    @property
    def path(self) -> Path:
        return self._manifest.folder

    @property
    def schema(self) -> Schema:
        """The published columns and their public domains."""
        return self._manifest.schema

    @property
    def facts(self) -> Mapping[str, Any]:
        """What is promised, to whom, and what is not covered."""
        return dict(self._manifest.block["facts"])

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows the release has: people, or tuples with the random ones."""

    @abstractmethod
    def _answers(self, conditions: Sequence[Condition], estimator: str, confidence: float) -> list[Estimate]:
        """An estimate for each condition."""

    @abstractmethod
    def _occurring(self, column: str) -> list[Any]:
        """The values of a column that a GROUP BY lists."""

    def count(
        self,
        where: str = "",
        *,
        estimator: str = "unbiased",
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """How many people meet the condition; an empty condition counts everybody.

        `aux` hands in public tables (Arrow, pandas, or a dict of lists) for IN (SELECT ... FROM name).
        """
        return self.count_many([where], estimator=estimator, confidence=confidence, aux=aux)[0]

    def count_many(
        self,
        wheres: Sequence[str],
        *,
        estimator: str = "unbiased",
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> list[Estimate]:
        """An estimate for each condition; they share the passes over the rows."""
        known = register_auxiliary(aux, self._engine)
        queries = [parse_query(where, self.schema, known) for where in wheres]
        if any(query.group_by for query in queries):
            raise QueryError("a question with GROUP BY gives several counts; use count_by or query")
        return self._estimates([query.where for query in queries], estimator, confidence)

    def count_by(
        self,
        *columns: str,
        where: str = "",
        estimator: str = "unbiased",
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Counts:
        """An estimate for each group of values of the columns that the release shows to occur."""
        grouped = ", ".join(identifier(column) for column in columns)
        query = parse_query(f"SELECT COUNT(*) FROM release GROUP BY {grouped}", self.schema) if columns else Query()
        if not query.group_by:
            raise QueryError("count_by needs at least one column")
        condition = parse_query(where, self.schema, register_auxiliary(aux, self._engine))
        if condition.group_by:
            raise QueryError("the condition of count_by must have no GROUP BY of its own")
        return self._grouped(Query(where=condition.where, group_by=query.group_by), estimator, confidence)

    def query(
        self,
        sql: str,
        *,
        estimator: str = "unbiased",
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Estimate | Counts:
        """Answer a condition or a whole SELECT COUNT(*) ... [GROUP BY]."""
        query = parse_query(sql, self.schema, register_auxiliary(aux, self._engine))
        if query.group_by:
            return self._grouped(query, estimator, confidence)
        return self._estimates([query.where], estimator, confidence)[0]

    def close(self) -> None:
        self._engine.close()

    @contextmanager
    def _reading(self, name: str) -> Iterator[str]:
        """SQL that reads one table of the release; whatever its bytes make the libraries raise is one sentence."""
        try:
            path = plain_file(self._manifest.folder, name).resolve()
            yield f"SELECT * FROM read_parquet({text(str(path))})"
        except (duckdb.Error, pa.ArrowException, KeyError, ValueError, TypeError):
            raise ReleaseError(
                f"release ({self._manifest.folder}) has a table that cannot be read; verify says more"
            ) from None

    def _grouped(self, query: Query, estimator: str, confidence: float) -> Counts:
        """One condition a group: the groups are products of the values that occur in the published tables."""
        values = [self._occurring(column) for column in query.group_by]
        if (groups := int(np.prod([len(each) for each in values]))) > MOST_GROUPS:
            raise QueryError(f"GROUP BY gives {groups:,} groups, at most {MOST_GROUPS:,} are answered; add a condition")
        listed = list(product(*values))
        conditions = []
        for group in listed:
            chosen = [
                Atom((Column(column), " IS NULL" if value is None else f" = {literal(value)}"))
                for column, value in zip(query.group_by, group, strict=True)
            ]
            conditions.append(Every((*chosen, query.where)))
        self._check(estimator, confidence)
        with _evaluating():
            estimates = self._grouped_answers(query, listed, conditions, estimator, confidence)
        return Counts(columns=query.group_by, rows=tuple(zip(listed, estimates, strict=True)))

    def _grouped_answers(
        self,
        query: Query,
        groups: Sequence[tuple[Any, ...]],
        conditions: Sequence[Condition],
        estimator: str,
        confidence: float,
    ) -> list[Estimate]:
        """An estimate for each group, whose condition stands at its place."""
        return self._answers(conditions, estimator, confidence)

    def _estimates(self, conditions: Sequence[Condition], estimator: str, confidence: float) -> list[Estimate]:
        self._check(estimator, confidence)
        with _evaluating():
            return self._answers(conditions, estimator, confidence)

    def _check(self, estimator: str, confidence: float) -> None:
        if estimator not in self.estimators:
            raise QueryError(f"estimator ({estimator}) must be one of {', '.join(self.estimators)}")
        if not 0 < confidence < 1:
            raise QueryError(f"confidence ({confidence}) must be between 0 and 1, such as 0.95")


@contextmanager
def _evaluating() -> Iterator[None]:
    try:
        yield
    except duckdb.Error:
        raise QueryError(
            "the condition cannot be evaluated: its arithmetic overflows or the tables are damaged; use smaller "
            "numbers, or verify the release"
        ) from None


def width_of(confidence: float) -> float:
    """How many standard errors an interval reaches to each side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
