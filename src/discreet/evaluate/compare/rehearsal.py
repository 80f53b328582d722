"""One rehearsal: what a release that was made to be thrown away answers, and what it took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.estimate.estimate import Counts, Estimate
from discreet.ground.arrays import Floats

if TYPE_CHECKING:
    from discreet.estimate.release import Release
    from discreet.evaluate.compare.workload import Question
    from discreet.schema.policy import Policy


class Task(NamedTuple):
    """One release to be made: of which policy, with which coins."""

    policy: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one release answered, number by number, and what it took; no true count and no row is in it.

    `values` are None where the release does not tell the number; `exact` says which answers leave no doubt.
    """

    policy: int
    seed: int
    unit: str
    notion: str
    promise: str
    estimator: str
    values: tuple[float | None, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    exact: tuple[bool, ...]
    size: int  # bytes of all files
    publish_cpu: float
    answer_cpu: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Run:
        """Read one back."""
        known: dict[str, Any] = {each.name: data[each.name] for each in fields(cls)}
        return cls(**known | {name: tuple(each) for name, each in known.items() if isinstance(each, list)})

    @property
    def numbers(self) -> Floats:
        """The values; what is unknown is not a number."""
        return np.array(self.values, dtype=np.float64)


def run_of(release: Release, task: Task, asked: Sequence[Question], publish_cpu: float) -> Run:
    """Ask a release that has just been published."""
    start = time.process_time()
    answers = answers_of(release, asked)
    return Run(
        policy=task.policy,
        seed=task.seed,
        unit=release.unit,
        notion=str(release.facts["notion"]),
        promise=str(release.facts["words"]),
        estimator=release.estimators[0],
        values=tuple(each.value for each in answers),
        low=tuple(float(each.low) for each in answers),
        high=tuple(float(each.high) for each in answers),
        exact=tuple(each.exact for each in answers),
        size=sum(path.stat().st_size for path in release.path.rglob("*") if path.is_file()),
        publish_cpu=publish_cpu,
        answer_cpu=time.process_time() - start,
    )


def answers_of(release: Release, asked: Sequence[Question]) -> list[Estimate]:
    """An estimate for each number that is asked for; a group that the release rules out has nobody."""
    return list(_flat(asked, release.query_many([each.text for each in asked]), release.unit))


def _flat(asked: Sequence[Question], found: Sequence[Estimate | Counts], unit: str) -> Iterator[Estimate]:
    for question, answer in zip(asked, found, strict=True):
        if isinstance(answer, Estimate):
            yield answer
        else:
            known = dict(answer.rows)
            yield from (known.get(group) or _nobody(unit) for group in question.groups)


def _nobody(unit: str) -> Estimate:
    return Estimate(
        value=0.0,
        standard_error=0.0,
        low=0.0,
        high=0.0,
        confidence=1.0,
        bounds=(0, 0),
        unit=unit,
        estimator="none",
        conditional_on="nothing",
    )


def name_of_policy(policy: Policy) -> str:
    """The name of its file, or of its mechanism."""
    return policy.path.name if policy.path else policy.mechanism.kind
