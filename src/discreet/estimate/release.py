"""A release that answers: counts with intervals, from its files alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from discreet.engine.duck import Engine
from discreet.engine.encoding import Encoding, code, identifier, literal, text
from discreet.errors import QueryError, ReleaseError
from discreet.estimate.answer import answer
from discreet.estimate.composition import Composition, Ints
from discreet.estimate.estimate import Counts, Estimate
from discreet.estimate.rows import Rows
from discreet.estimate.unbiased import Regression
from discreet.query.auxiliary import register_auxiliary
from discreet.query.condition import Atom, Column, Condition, Every
from discreet.query.parse import Query, parse_query
from discreet.query.split import Part, split_by
from discreet.release.folder import Manifest, plain_file, read_manifest
from discreet.release.manifest import QIT, ST
from discreet.schema.schema import Schema

ESTIMATORS = ("unbiased", "uniform")
MOST_GROUPS = 10_000
_MOST_PARTS = 24  # parts of one question whose covariances are estimated; beyond, they are bounded
_MOST_MATCHES = 1 << 26  # numbers of matching rows, by bucket and condition, that are held at a time: 512 MB


class Release:
    """An open release. It reads only the folder's own files; nothing it does can touch the custodian's table."""

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
    def rows(self) -> int:
        return self._manifest.rows

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

    @cached_property
    def _regression(self) -> Regression:
        return Regression(composition=self._composition)

    @cached_property
    def _rows(self) -> Rows:
        """The QIT, opened with the first question."""
        ids = self._composition.ids
        with self._reading(QIT) as read:
            self._engine.rows(f"CREATE VIEW qit AS {read}")
            return Rows(self._engine, self.schema, "qit", ids)

    @cached_property
    def _composition(self) -> Composition:
        """The ST, read with the first question."""
        sensitive = self.schema.sensitive
        encoding = self.schema.domains[sensitive].encoding
        with self._reading(ST) as read:
            self._engine.rows(f"CREATE VIEW st AS {read}")
            whole = Encoding(range(1, 2**53))
            columns = {"BID": ("BID", whole), sensitive: (sensitive, encoding), "COUNT": ("COUNT", whole)}
            self._engine.encode("st_coded", "st", columns)
            entries = self._engine.arrow(
                f"SELECT BID, {code(sensitive, encoding)}::INTEGER AS code, COUNT FROM st_coded"
            )
            if any(column.null_count for column in entries.columns) or not len(entries):
                raise ValueError
            bucket, codes, count = (column.to_numpy() for column in entries.columns)
            if (np.diff(bucket) < 0).any():
                raise ValueError
        ids, position = np.unique(bucket, return_inverse=True)
        occurring, value = np.unique(codes, return_inverse=True)
        listed = list(self.schema.domains[sensitive])
        values = tuple(listed[each] for each in occurring)
        return Composition(ids=ids, values=values, bucket=position, value=value, count=count)

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
        estimates = self._estimates(conditions, estimator, confidence)
        return Counts(columns=query.group_by, rows=tuple(zip(listed, estimates, strict=True)))

    def _occurring(self, column: str) -> list[Any]:
        if column == self.schema.sensitive:
            return list(self._composition.values)
        with self._reading(QIT):
            found = self._rows.occurring(column)
        return [value for value in self.schema.domains[column] if value in found]

    def _estimates(self, conditions: Sequence[Condition], estimator: str, confidence: float) -> list[Estimate]:
        if estimator not in ESTIMATORS:
            raise QueryError(f"estimator ({estimator}) must be one of {', '.join(ESTIMATORS)}")
        if not 0 < confidence < 1:
            raise QueryError(f"confidence ({confidence}) must be between 0 and 1, such as 0.95")
        width = NormalDist().inv_cdf((1 + confidence) / 2)
        try:
            split = split_by(conditions, self.schema.sensitive, self._composition.encoding, self._engine)
            answers: list[Estimate] = []
            for some in _batches(split, _MOST_MATCHES // len(self._composition.ids)):
                wanted = [each for parts in some for each in (*_conditions(parts), *_pairs(parts).values())]
                matches = self._rows.matches(wanted)
                answers += [self._answer(parts, matches, estimator, confidence, width) for parts in some]
        except duckdb.Error:
            raise QueryError(
                "the condition cannot be evaluated: its arithmetic overflows or the tables are damaged; use smaller "
                "numbers, or verify the release"
            ) from None
        return answers

    def _answer(
        self,
        parts: Sequence[Part],
        matches: Mapping[Condition, Ints],
        estimator: str,
        confidence: float,
        width: float,
    ) -> Estimate:
        found = [matches[condition] for condition in _conditions(parts)]
        joint = {pair: matches[condition] for pair, condition in _pairs(parts).items()}
        chosen = [part.values for part in parts]
        return answer(self._regression, found, chosen, joint, estimator=estimator, confidence=confidence, width=width)


def _batches(split: Sequence[Sequence[Part]], most: int) -> Iterator[list[Sequence[Part]]]:
    """Conditions in their order, so many at a time that their matches in each bucket fit in memory."""
    some: list[Sequence[Part]] = []
    held = 0
    for parts in split:
        number = len(parts) + len(_pairs(parts))
        if some and held + number > most:
            yield some
            some, held = [], 0
        some.append(parts)
        held += number
    if some:
        yield some


def _conditions(parts: Sequence[Part]) -> list[Condition]:
    return [part.condition for part in parts]


def _pairs(parts: Sequence[Part]) -> dict[tuple[int, int], Condition]:
    """The conditions that pairs of parts meet together, while there are few."""
    if len(parts) > _MOST_PARTS:
        return {}
    pairs = combinations(range(len(parts)), 2)
    return {(one, two): Every((parts[one].condition, parts[two].condition)) for one, two in pairs}


def open_release(folder: str | Path) -> Release:
    """Open a release folder for questions; raises ReleaseError where it is not one. `verify` checks its promise."""
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError(f"release ({folder}) must be a folder")
    return Release(read_manifest(path))
