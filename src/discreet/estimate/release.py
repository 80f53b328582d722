"""A release that answers: counts with intervals, from its files alone. What every kind of release shares."""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import text
from discreet.engine.faults import Unfit
from discreet.errors import QueryError, ReleaseError
from discreet.estimate.asks import UNBIASED, Asks, By, grouped_by
from discreet.estimate.estimate import Counts, Estimate
from discreet.estimate.estimator import Asked, Estimator, Groups
from discreet.estimate.evaluating import evaluating
from discreet.estimate.limits import Limits
from discreet.estimate.unit import meaning_of
from discreet.ground.arrays import Ints
from discreet.ground.closing import Closes
from discreet.ground.confidence import why_not
from discreet.ground.progress import Progress
from discreet.query.bands import Grouping, column_of, columns_in, groups_of
from discreet.query.bands import Groups as Labels
from discreet.query.condition import Condition, Every
from discreet.query.figure import Asked as Figure
from discreet.query.figure import Quantile, Sum, of_those
from discreet.release.bounds import check_cells, engine_memory
from discreet.release.family import FAMILIES
from discreet.release.plain import plain_file
from discreet.release.statement import Manifest
from discreet.schema.schema import Schema

if TYPE_CHECKING:
    from discreet.query.parse import Query

MOST_GROUPS = 10_000


class Release(Closes, Asks):
    """An open release. It reads only the folder's own files; nothing it does can touch the custodian's table.

    Many threads may ask it at once; `cancel` stops what is being answered. It closes at the end of a `with`.

    GROUP BY has one rule in every family: the groups are all combinations of the columns' values that the release does
    not rule out, in the order of the domains, and each is asked as the condition that it is.
    """

    def __init__(self, manifest: Manifest[Any, Any, Any], limits: Limits | None = None) -> None:
        self._manifest = manifest
        self._limits = limits or Limits()
        self._family = FAMILIES[manifest.kind]
        self._known: dict[str, Estimator] = {}
        self._lock = threading.RLock()  # for what is known, and for the engine's coming and going
        self._opened: Database | None = None
        self._closed = False
        self._progress: Progress | None = None

    @property
    def _engine(self) -> Database:
        """The database that reads the files, opened with the first question."""
        with self._lock:
            self._check_open()
            if self._opened is None:
                memory = engine_memory(self._manifest.folder, self._limits.memory)
                self._opened = Database(paths=[self._manifest.folder], memory=memory)
            return self._opened

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
        return dict(self._manifest.facts)

    @property
    def estimators(self) -> tuple[str, ...]:
        """The ways to an answer that this release has, the default first."""
        return tuple(name for name, each in self._family.estimators.items() if each.fits(self))

    @property
    def holds(self) -> str:
        """What `size` counts, in words: rows, tuples with the random ones, or noisy counts of leaves."""
        return self._family.holds

    @property
    @abstractmethod
    def rows(self) -> int | None:
        """How many people it is about; None where the release does not tell."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How much its files hold, which need not be people: `holds` says what it counts."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """What its counts count: people, records or distinct tuples."""

    @property
    def unit_words(self) -> str:
        """What a reader must know of the unit before he uses a number; empty where the word says it all."""
        return meaning_of(self.unit)

    def lacks(self, people: Mapping[str, Ints]) -> bool | None:
        """Whether it lacks people, given as positions in the domains, whom it would hold if it were made of them.

        None where nothing but its counts can tell.
        """
        return None

    @abstractmethod
    def _possible(self, column: str) -> Collection[Any]:
        """The values of a column that the release does not rule out, in the order of the domain."""

    def count(
        self,
        where: str = "",
        *,
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """How many meet the condition; an empty condition counts everybody. `unit` says who or what is counted.

        `estimator` is one of `estimators`, by default the first. `aux` hands in public tables (Arrow, pandas, or a dict
        of lists) for IN (SELECT ... FROM name).
        """
        return self.count_many([where], estimator=estimator, confidence=confidence, aux=aux)[0]

    def count_many(
        self,
        wheres: Sequence[str],
        *,
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> list[Estimate]:
        """An estimate for each condition; they share the passes over the rows."""
        with self._asking():
            queries = self._parsed(wheres, aux)
            if any(query.group_by for query in queries):
                raise QueryError("a question with GROUP BY gives several counts; use count_by or query")
            if any(query.figure is not None for query in queries):
                raise QueryError("count must have a condition or SELECT COUNT(*); use query for sums and means")
            return self._estimates(Asked(conditions=[query.where for query in queries]), estimator, confidence)

    def count_by(
        self,
        *columns: By,
        where: str = "",
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Counts:
        """An estimate for each group of values of the columns that the release does not rule out.

        ("age", 1) counts by the first level of the column's hierarchy, such as its bands.
        """
        if not columns:
            raise QueryError("count_by needs at least one column")
        grouped = ", ".join(map(grouped_by, columns))
        with self._asking():
            (query,) = self._parsed([f"SELECT COUNT(*) FROM release GROUP BY {grouped}"], None)
            (condition,) = self._conditions([where], aux)
            return self._grouped(replace(query, where=condition), estimator, confidence)

    def query(
        self,
        sql: str,
        *,
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Estimate | Counts:
        """Answer a condition or a whole SELECT of one figure: COUNT(*), SUM, AVG or what is worked out of them, with or
        without GROUP BY.
        """
        return self.query_many([sql], estimator=estimator, confidence=confidence, aux=aux)[0]

    def query_many(
        self,
        questions: Sequence[str],
        *,
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> list[Estimate | Counts]:
        """An answer for each condition or SELECT, in their order; all are read before the first is answered.

        Those without GROUP BY share the passes over the rows. The limit of time is for all of them together.
        """
        with self._asking():
            queries = self._parsed(questions, aux)
            plain = [query.where for query in queries if not query.group_by and query.figure is None]
            counted = iter(self._estimates(Asked(conditions=plain), estimator, confidence) if plain else ())
            return [
                self._grouped(each, estimator, confidence)
                if each.group_by
                else next(counted)
                if each.figure is None
                else self._figures([of_those(each.figure, [each.where])], estimator, confidence)[0]
                for each in queries
            ]

    def learn(self, progress: Progress | None = None) -> None:
        """Do ahead of time what the first question would have to wait for; `progress` is told how far it is."""
        self.follow(progress)

    def follow(self, progress: Progress | None) -> None:
        """Tell `progress` from now on how far it is, where a question has to wait for what must be learned first."""
        self._progress = progress

    def check(self, question: str, *, aux: Mapping[str, Any] | None = None) -> None:
        """Raise QueryError where a question would not be answered, as `query` would, but without answering it."""
        with self._asking():
            (query,) = self._parsed([question], aux)
            self._groups(query)
            if query.figure is not None:
                self._checked(query.figure)

    def cancel(self) -> None:
        """Stop every question that is being answered, from whatever thread: each raises Cancelled."""
        with self._lock:
            opened = self._opened
        if opened is not None:
            opened.cancel()

    def close(self) -> None:
        """Let go of the files; what is being answered is cancelled, and what is asked later is refused."""
        with self._lock:
            self._closed, opened, self._opened = True, self._opened, None
        if opened is not None:
            opened.close()

    def _check_open(self) -> None:
        """Raise QueryError where the release is closed: nothing is answered then, whatever is remembered."""
        if self._closed:
            raise QueryError("the release is closed; open it again")

    def _asking(self) -> AbstractContextManager[None]:
        """Answer one question inside, within the limits and apart from those of other threads."""
        return self._engine.asking(self._limits.seconds)

    def _parsed(self, questions: Sequence[str], aux: Mapping[str, Any] | None) -> list[Query]:
        """Questions as values; what reads SQL is loaded with the first of them."""
        from discreet.query.auxiliary import register_auxiliary
        from discreet.query.parse import parse_query

        known = register_auxiliary(aux, self._engine)
        return [parse_query(question, self.schema, known) for question in questions]

    @contextmanager
    def _reading(self, name: str, most: int) -> Iterator[str]:
        """SQL that reads one table of the release; whatever its bytes make the libraries raise is one sentence.

        A table with more rows than `most`, which the manifest states, is not read: a small file may hold billions.
        """
        try:
            path = plain_file(self._manifest.folder, name).resolve()
            if check_cells(path, self._manifest.folder, self._limits.memory) > most:
                raise ValueError
            yield f"SELECT * FROM read_parquet({text(str(path))})"
        except (Unfit, pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            raise ReleaseError(
                f"release ({self._manifest.folder}) has a table that cannot be read; verify says more"
            ) from None

    def _grouped(self, query: Query, estimator: str | None, confidence: float) -> Counts:
        """One condition a group."""
        labels, listed = self._labels(query), list(product(*self._groups(query)))
        chosen = [[key.is_label(value) for key, value in zip(labels, group, strict=True)] for group in listed]
        conditions = [Every((*each, query.where)) for each in chosen]
        if query.figure is not None:
            figures = [of_those(query.figure, [condition]) for condition in conditions]
            estimates = self._figures(figures, estimator, confidence)
        else:
            columns = [column_of(key) for key in query.group_by]
            plain = tuple(name for name in columns if name is not None)
            same = len(plain) == len(columns)
            grouped = Groups(columns=plain, values=listed, where=query.where) if same else None
            estimates = self._estimates(Asked(conditions=conditions, groups=grouped), estimator, confidence)
        return Counts(columns=tuple(map(str, query.group_by)), rows=tuple(zip(listed, estimates, strict=True)))

    def _by(self, key: Grouping, where: Condition, estimator: str | None, confidence: float) -> Counts:
        from discreet.query.parse import Query

        return self._grouped(Query(where=where, group_by=(key,)), estimator, confidence)

    def _labels(self, query: Query) -> list[Labels]:
        """How rows are grouped by each thing that is grouped by."""
        return [groups_of(key, self.schema) for key in query.group_by]

    def _groups(self, query: Query) -> list[Collection[Any]]:
        """The labels of each thing that is grouped by; raises QueryError where that gives too many groups."""
        values = {name: self._possible(name) for key in query.group_by for name in columns_in(key)}
        labels = [each.possible(values) for each in self._labels(query)]
        if (groups := math.prod(map(len, labels))) > MOST_GROUPS:  # before they are listed: a domain may be any size
            raise QueryError(
                f"GROUP BY gives {groups:,} groups, at most {MOST_GROUPS:,} are answered; group by fewer columns"
            )
        return labels

    def _figures(self, figures: Sequence[Figure], estimator: str | None, confidence: float) -> list[Estimate]:
        """What is worked out of sums, which hold over coins: there is no other way to them."""
        if estimator not in (None, UNBIASED):
            raise QueryError(
                f"estimator ({estimator}) answers counts alone; leave it out for sums, means and what is worked out"
            )
        worked = iter(self._worked_out([each for each in figures if not isinstance(each, Quantile)], confidence))
        return [self._quantile(each, confidence) if isinstance(each, Quantile) else next(worked) for each in figures]

    def _estimates(self, asked: Asked, estimator: str | None, confidence: float) -> list[Estimate]:
        name = self.estimators[0] if estimator is None else estimator
        if name not in self.estimators:
            other = self._family.estimators.get(name)
            why = f"needs {other.needs}; here it" if other else ""
            raise QueryError(f"estimator ({name}) {why} must be one of {', '.join(self.estimators)}".replace("  ", " "))
        if wrong := why_not(confidence):
            raise QueryError(wrong)
        with self._lock:
            if name not in self._known:
                self._known[name] = self._family.estimators[name](self)
            known = self._known[name]
        with evaluating():
            found = known.estimates(asked, confidence)
        figures = (Sum(where=condition) for condition in asked.conditions)
        return [replace(each, origin=self._origin(figure)) for each, figure in zip(found, figures, strict=True)]
