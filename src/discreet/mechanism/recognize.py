"""Knowing people again: what a table shows of its people, and which releases of a series have some of them.

People are told apart by the policy's `person`, else by the fewest columns, identifiers included, that differ for most
rows. A table is compared with each release by that release's columns where it has them, else by histograms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from discreet.engine.digest import digest_of
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.series.apart import MOST, Column, candidates
from discreet.series.digest import RowDigest
from discreet.series.people import CHANCE, Histogram, closeness, keyed_people, people_from_bytes, shared
from discreet.series.refusals import Refusal
from discreet.series.rules import Met
from discreet.series.sketch import Sketch, Sketching
from discreet.series.store import Entry
from discreet.series.words import Words
from discreet.table.table import Table

_LISTED = 1 << 20  # values of a domain whose digests are looked up; a larger one is digested cell by cell
_KEPT = 1 << 16  # values of a column whose histogram is kept
_SAMPLE = 1 << 13  # rows by which columns are chosen
UNKNOWN = (
    "the people of this table cannot be known again: no columns differ for most rows. A second release of them is "
    "noticed only by histograms that are too close; name the column that tells persons apart as person"
)


class Recognizing:
    """What one table shows of its people: read once, and compared with any number of releases.

    `rows` and `ordered` are the digests by which the series knows the rows themselves.
    """

    def __init__(self, table: Table, key: bytes, tell: Tell | None = None) -> None:
        self._table, self._key = table, key
        self._given = {source.casefold(): name for name, source in table.given.items()}
        self._sketches: dict[tuple[str, ...], Sketch] = {}
        self._looked_up: dict[str, Words] = {}
        digest = RowDigest(key, table.encodings)
        listed = [each.as_given and len(each) <= _LISTED for _, each in table.encodings]
        sizes = [len(each) * own for (_, each), own in zip(table.encodings, listed, strict=True)]
        counts = [np.zeros(size, dtype=np.int64) for size in sizes]
        step, seen = -(-table.rows // _SAMPLE), 0
        sample: list[list[Ints]] = []
        for codes in table.codes(tell=tell):
            digest.update(codes)
            for count, column in zip(counts, codes, strict=True):
                if len(count):
                    count += np.bincount(column, minlength=len(count))
            sample.append([column[-seen % step :: step].copy() for column in codes])
            seen += len(codes[0])
        self.rows, self.ordered = digest.rows, digest.ordered
        self._counts = dict(zip(table.schema.columns, counts, strict=True))
        self._step = step
        self._sampled = {
            name: np.concatenate([batch[place] for batch in sample]) for place, name in enumerate(table.schema.columns)
        }

    def meet(self, entries: Sequence[Entry]) -> dict[int, Met]:
        """The entries that have people of this table, by number."""
        found = {}
        for entry in entries:
            if (met := self._met(entry.people)) is not None:
                found[entry.number] = met
        return found

    def refused(self, refusals: Sequence[Refusal]) -> tuple[str, ...]:
        """What was refused of these people."""
        return tuple(each.what for each in refusals if each.rows == self.rows or self._met(each.people) is not None)

    @property
    def sampled(self) -> dict[str, Ints]:
        """The published columns of some rows, as positions in their domains."""
        return self._sampled

    @cached_property
    def kept(self) -> bytes:
        """What the series keeps of these people."""
        return keyed_people(self.sketch, self._table.rows, self._histograms, self._key).as_bytes()

    @cached_property
    def sketch(self) -> Sketch | None:
        """The rows by the columns that tell people apart; None where there are none."""
        if self._table.person is not None:
            return self._sketch_of((self._table.given[self._table.person].casefold(),))
        for columns in candidates(*self._sample(), self._step):
            found = self._sketch_of(tuple(sorted(columns)))
            if found.unique > MOST:
                return found
        return None

    def _met(self, kept: bytes) -> Met | None:
        """How people of whom this was kept are met here."""
        if not kept:
            return Met(common=self._table.rows, how="in a series that did not remember people yet")
        people = people_from_bytes(kept)
        columns = {name.casefold() for name in self._table.columns}
        if people.columns and set(people.columns) <= columns:
            common = shared(people, self._sketch_of(people.columns), self._key)
            how = f"about {common:,} of the {self._table.rows:,} people of this table are in it"
            return Met(common=common, how=how) if common else None
        seldom = closeness(people, self._histograms, self._key)
        if seldom is None or seldom >= CHANCE:
            return None
        return Met(common=0, how="its histograms and these are closer than those of two tables of different people")

    def _sketch_of(self, columns: tuple[str, ...]) -> Sketch:
        """The rows by some columns of the source, their names without letter case."""
        if columns not in self._sketches:
            person = self._table.person
            exact = person is not None and columns == (self._table.given[person].casefold(),)
            sketching = Sketching(columns, exact=exact)
            for digests in self._digests(columns):
                sketching.update(digests)
            self._sketches[columns] = sketching.sketch()
        return self._sketches[columns]

    def _digests(self, columns: Sequence[str]) -> Iterator[list[Words]]:
        """The digests of cells: looked up by code where a column is published and its domain is small."""
        names = [self._given.get(column, "") for column in columns]
        if all(name in self._counts and len(self._counts[name]) for name in names):
            listed = [self._words(name) for name in names]
            for codes in self._table.codes(*names):
                yield [words[column] for words, column in zip(listed, codes, strict=True)]
        else:
            spelt = {name.casefold(): name for name in self._table.columns}
            yield from self._table.digests(*(spelt[column] for column in columns))

    def _words(self, name: str) -> Words:
        """The digests of the values of a domain that occur, by code."""
        if name not in self._looked_up:
            counts, encoding = self._counts[name], self._table.schema.domains[name].given
            words = np.zeros(len(counts), dtype=np.uint64)
            for code in np.flatnonzero(counts).tolist():
                words[code] = digest_of(encoding[code])
            self._looked_up[name] = words
        return self._looked_up[name]

    @cached_property
    def _histograms(self) -> dict[str, Histogram]:
        """How often each value of each published column occurs, by the digests of the values."""
        found = {}
        for name, counts in self._counts.items():
            occurring = np.flatnonzero(counts)
            if 0 < len(occurring) <= _KEPT:
                found[self._table.given[name].casefold()] = (self._words(name)[occurring], counts[occurring])
        return found

    def _sample(self) -> tuple[dict[str, Column], list[str]]:
        """A sample of the policy's columns, and the order in which to take them: identifiers, then by their values."""
        table = self._table
        identifiers = [table.given[name] for name in table.identifiers if name in table.given]
        found = {table.given[name].casefold(): column for name, column in self._sampled.items()}
        found |= self._sampled_digests(identifiers)
        first, last = {name.casefold() for name in identifiers}, table.given[table.schema.sensitive].casefold()
        values = {name: len(np.unique(column)) for name, column in found.items()}
        return found, sorted(found, key=lambda name: (name not in first, name == last, -values[name], name))

    def _sampled_digests(self, columns: Sequence[str]) -> dict[str, Column]:
        sample: list[list[Words]] = []
        seen = 0
        for digests in self._table.digests(*columns) if columns else ():
            sample.append([column[-seen % self._step :: self._step] for column in digests])
            seen += len(digests[0])
        return {
            name.casefold(): np.concatenate([batch[place] for batch in sample]) for place, name in enumerate(columns)
        }
