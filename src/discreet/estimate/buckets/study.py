"""Learning from an open bucket release once: remembered in the user's cache, or learned with a compiler.

The same is learned whatever values and columns are called and in which order they, rows and buckets stand: coins are
seeded by a digest of the patterns and of the numbers of values, and values are taken by how frequent they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine.duck.database import Database
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.learning.knowledge import Knowledge, knowledge_of
from discreet.estimate.buckets.learning.patterns import Patterns, patterns_of
from discreet.estimate.buckets.likely import Likely
from discreet.estimate.buckets.regression import Regressed
from discreet.estimate.remembered import digest_of, recall, remember
from discreet.ground.progress import Progress, Steps

VERSION = "buckets 1"  # of what is learned; a change of it makes every release be learned anew
_READING, _CHECKING = "reading the rows", "checking what was learned"
_BYTES = 40  # that a row takes while it is learned from, beside what its bucket holds


@dataclass(frozen=True, kw_only=True)
class Study:
    """A release as learning sees it: the ST, the bucket of each row, and each column as codes, read when needed."""

    composition: Composition
    regression: Regressed
    bucket: NDArray[np.int32]
    columns: Sequence[tuple[str, bool]]  # and whether the codes have an order
    codes: Callable[[str], NDArray[np.integer[Any]]]
    files: Sequence[Path]
    engine: Database

    def knowledge(self, progress: Progress | None = None) -> Knowledge:
        """What the cache remembers of these files; otherwise it is learned, and remembered."""
        name = digest_of(self.files, VERSION)
        found = recall(name)
        known = knowledge_of(found, len(self.bucket), len(self.composition.values), self._weights) if found else None
        if known is None:
            known = self._learned(progress)
            remember(name, known.arrays)
        return known

    @property
    def _weights(self) -> int:
        """How many numbers W has: one for each row and each value of its bucket."""
        return int(self.composition.sizes[self.composition.bucket].sum())

    def _learned(self, progress: Progress | None) -> Knowledge:
        from discreet.estimate.buckets.learning.calibrate import calibrated
        from discreet.estimate.buckets.learning.learn import SHARES, learn
        from discreet.estimate.buckets.learning.places import Places
        from discreet.estimate.buckets.learning.trust import trusted

        self.engine.afford(_BYTES * len(self.bucket) + 16 * self._weights)
        steps = Steps(self._checked(progress), {_READING: 0.05, **SHARES, _CHECKING: 0.1})
        with steps.step(_READING):
            columns = ((self.codes(name), order) for name, order in self.columns)
            patterns = patterns_of(len(self.bucket), columns, self.composition.marks[self.bucket])
        seed = self._seed(patterns)
        known = learn(self._places(Places, patterns), seed, steps)
        known = replace(known, prior=known.prior[np.argsort(self.composition.order)])
        with steps.step(_CHECKING) as tell:
            likely = Likely(self.composition, self.bucket, known)
            known = trusted(known, likely, self.composition, patterns, seed)
            likely = Likely(self.composition, self.bucket, known)
            return calibrated(known, likely, self.regression, patterns, seed, tell)

    def _seed(self, patterns: Patterns) -> bytes:
        """A digest of what is learned from, in the order in which it is."""
        digest = hashlib.sha256(np.sort(self.composition.totals).tobytes())
        for array in (patterns.codes, patterns.number):
            digest.update(array.tobytes())
        return digest.digest()

    def _places(self, kind: Any, patterns: Patterns) -> Any:
        from discreet.estimate.buckets.learning.made import Made

        own = self.composition
        made = Made(fakes=own.fakes, kind=own.kind, expected=own.expected) if own.fakes else None
        return kind(
            codes=patterns.codes,
            number=patterns.number.astype(np.float32),
            pattern=patterns.pattern,
            rows=np.concatenate([[0], np.cumsum(own.sizes)]),
            entries=np.searchsorted(own.bucket, np.arange(len(own.ids) + 1)),
            value=np.argsort(own.order)[own.value].astype(np.int32),
            count=own.count.astype(np.int32),
            values=len(own.values),
            levels=patterns.levels,
            made=made,
        )

    def _checked(self, progress: Progress | None) -> Progress:
        """Progress that also stops where the question was stopped or has taken its time."""

        def tell(step: str, done: float) -> None:
            self.engine.check()
            if progress is not None:
                progress(step, done)

        return tell
