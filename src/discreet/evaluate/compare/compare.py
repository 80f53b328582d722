"""Comparing policies before anything is published: each is rehearsed in scratch, and nothing but the result stays."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import DiscreetError, PolicyError
from discreet.evaluate.compare.comparison import Comparison, Rehearsed, figures_of
from discreet.evaluate.compare.kept import Kept
from discreet.evaluate.compare.people import People
from discreet.evaluate.compare.rehearsal import Run, Task, name_of_policy, run_of
from discreet.evaluate.compare.stage import Stage
from discreet.evaluate.compare.workers import at_once
from discreet.evaluate.compare.workload import (
    COUNTS,
    PAPERS,
    Question,
    Workload,
    own_workload,
    question_for,
    workload_of,
)
from discreet.ground.arrays import Ints
from discreet.ground.progress import Progress
from discreet.mechanism.mechanism import publishing
from discreet.mechanism.plan import Stakes
from discreet.mechanism.publish import published_in_scratch
from discreet.schema.policy import Policy
from discreet.table.source import CsvForm, name_of_source
from discreet.table.table import Table

RELEASES = 3
_READING, _REHEARSING = 0.05, 0.95  # shares of the time


def compare(
    table: Any,
    policies: Sequence[Policy | str | Path],
    *,
    questions: Sequence[str] | None = None,
    workload: str = PAPERS,
    counts: int = COUNTS,
    releases: int = RELEASES,
    jobs: int = 1,
    state: str | Path | None = None,
    csv: CsvForm | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> Comparison:
    """How far off answers would be under each policy, beside what it promises: a rehearsal for the custodian.

    `table` is anything that a table is read from, or an open Table. Each policy publishes `releases` releases into
    scratch, with the coins of seeds 0, 1, ..., which answer `questions`, or `counts` numbers of a `workload`: papers,
    selections, ranges or tables. `jobs` processes share the work. `state` is a file that keeps what was rehearsed until
    the comparison is over, for its owner alone: after an interruption the same call goes on from there, and comes to
    the same numbers. `progress` is called with the step and the share that is done, `say` with what `state` had.

    Whoever chooses a parameter by the result has looked at the raw table: that is outside every epsilon.
    """
    for name, number in (("releases", releases), ("counts", counts), ("jobs", jobs)):
        if type(number) is not int or number < 1:
            raise PolicyError(f"{name} ({number}) must be a whole number from 1")
    read = [each if isinstance(each, Policy) else Policy.load(each) for each in policies]
    if not read:
        raise PolicyError("policies must name at least one; give two to compare them")
    names = _names(read)
    with ExitStack() as opened:
        stage = opened.enter_context(Stage(table, read, csv, _part(progress, 0.0, _READING)))
        stakes = [_stakes(policy, own) for policy, own in zip(read, stage.tables, strict=True)]
        people = _people(stage.tables)
        shared = _shared(read)
        asked = _asked(people[0], shared, questions, workload, counts)
        texts = [each.text for each in asked.questions]
        own = [tuple(question_for(text, policy) for text in texts) for policy in read]
        tasks = [Task(policy, seed) for seed in range(releases) for policy in range(len(read))]
        kept = None if state is None else opened.enter_context(Kept(Path(state), _rows(people), _named(read, texts)))
        try:
            runs = _rehearsed(stage, table, csv, tasks, own, jobs, kept, _part(progress, _READING, _REHEARSING), say)
        except DiscreetError:  # it would come to the same another time
            if kept is not None:
                kept.clear()
            raise
        truths = _Truths(people, own)
        found = tuple(
            _side(name, policy, stake, [runs[Task(place, seed)] for seed in range(releases)], truths, own[place])
            for place, (name, policy, stake) in enumerate(zip(names, read, stakes, strict=True))
        )
        first = people[0]
        every = {column for policy in read for column in policy.schema.columns}
        comparison = Comparison(
            table=name_of_source(table) if not isinstance(table, Table) else table.name,
            rows=len(first),
            workload=asked.name,
            words=asked.words,
            questions=len(asked.conditions),
            selectivity=float(truths.of(0, found[0].unit).mean() / len(first.counted_in(found[0].unit))),
            releases=releases,
            left_out=tuple(sorted(every - shared)) if questions is None else (),
            policies=found,
        )
        if kept is not None:
            kept.clear()
        return comparison


def rehearse(stage: Stage, task: Task, asked: Sequence[Question]) -> Run:
    """Publish into scratch with the coins of a seed, ask, and clear away."""
    policy, start = stage.policies[task.policy], time.process_time()
    try:
        with published_in_scratch(stage.tables[task.policy], policy.mechanism, seed=task.seed) as release:
            return run_of(release, task, asked, time.process_time() - start)
    except DiscreetError as error:
        raise type(error)(f"policy ({name_of_policy(policy)}) cannot be rehearsed: {error}") from None


class _Truths:
    """The true counts of each policy's questions, counted once for policies that count the same people."""

    def __init__(self, people: Sequence[People], asked: Sequence[Sequence[Question]]) -> None:
        self._people, self._asked = people, asked
        self._known: dict[tuple[int, str], Ints] = {}

    def of(self, policy: int, unit: str) -> Ints:
        """Number by number."""
        own = self._people[policy]
        first = next(place for place, each in enumerate(self._people) if each is own)
        if (first, unit) not in self._known:
            queries = [each.query for each in self._asked[policy]]
            self._known[first, unit] = np.concatenate(own.counted_in(unit).true_counts(queries))
        return self._known[first, unit]


def _side(
    name: str, policy: Policy, stakes: Stakes, runs: Sequence[Run], truths: _Truths, asked: Sequence[Question]
) -> Rehearsed:
    """The figures of one policy."""
    last = runs[-1]
    conditions = [each.conditions for each in asked for _ in each.groups]
    return Rehearsed(
        policy=name,
        kind=policy.mechanism.kind,
        notion=last.notion,
        promise=last.promise,
        stakes=stakes,
        unit=last.unit,
        estimator=last.estimator,
        size=float(np.mean([each.size for each in runs])),
        publish_cpu=float(np.mean([each.publish_cpu for each in runs])),
        answer_cpu=float(np.mean([each.answer_cpu for each in runs])),
        figures=figures_of(runs, truths.of(last.policy, last.unit), conditions),
    )


def _rehearsed(
    stage: Stage,
    source: Any,
    csv: CsvForm | None,
    tasks: Sequence[Task],
    asked: Sequence[Sequence[Question]],
    jobs: int,
    kept: Kept | None,
    progress: Progress | None,
    say: Callable[[str], None] | None,
) -> dict[Task, Run]:
    """A run for each task: those that are kept, and the others."""
    found = {Task(run.policy, run.seed): run for run in (kept.runs if kept is not None else ())}
    found = {task: found[task] for task in tasks if task in found}
    if found and say is not None and kept is not None:
        say(f"{len(found)} of {len(tasks)} releases were rehearsed before, and are taken from {kept.path}")
    left = [task for task in tasks if task not in found]
    made = (
        at_once(source, stage.policies, csv, left, asked, jobs)
        if jobs > 1
        else (rehearse(stage, task, asked[task.policy]) for task in left)
    )
    if progress is not None:
        progress("rehearsing", len(found) / len(tasks))
    for run in made if left else ():
        found[Task(run.policy, run.seed)] = run
        if kept is not None:
            kept.add(run)
        if progress is not None:
            progress("rehearsing", len(found) / len(tasks))
    return found


def _stakes(policy: Policy, table: Table) -> Stakes:
    """What the plan means for people; raises where the table cannot be published so."""
    mechanism = publishing(policy.mechanism)
    mechanism.fits(table)
    return mechanism.plan(table).stakes


def _people(tables: Sequence[Table]) -> list[People]:
    """The people of each table, the same ones for the same table."""
    found: dict[int, People] = {}
    for each in tables:
        if id(each) not in found:
            found[id(each)] = People.of(each)
    return [found[id(each)] for each in tables]


def _shared(policies: Sequence[Policy]) -> set[str]:
    """The columns that all policies publish with the same domain."""
    first, *others = (policy.schema for policy in policies)
    if any(each.sensitive != first.sensitive for each in others):
        raise PolicyError("policies must have the same sensitive column; questions about it are what is compared")
    found = {
        name
        for name in first.columns
        if all(name in each.columns and each.domains[name] == first.domains[name] for each in others)
    }
    if first.sensitive not in found or len(found) < 2:
        raise PolicyError(
            "policies must publish the sensitive column and at least one other with the same domains; there is nothing "
            "that all of them can be asked"
        )
    return found


def _asked(people: People, shared: set[str], questions: Sequence[str] | None, workload: str, counts: int) -> Workload:
    if questions is None:
        return workload_of(workload, people.of_columns(shared), counts)
    if not questions:
        raise PolicyError("questions must not be empty; leave them out for a workload")
    return own_workload(questions, people.schema)


def _rows(people: Sequence[People]) -> Callable[[bytes], bytes]:
    """A digest of all rows with a key."""
    return lambda key: hashlib.blake2b(b"".join(each.digest(key) for each in people), digest_size=16).digest()


def _named(policies: Sequence[Policy], texts: Sequence[str]) -> str:
    """What tells a comparison from others, whose runs must not be mixed with its own."""
    content = [[policy.digest.hex() for policy in policies], list(texts)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _names(policies: Sequence[Policy]) -> list[str]:
    """Names that tell the policies apart."""
    short = [name_of_policy(each) for each in policies]
    long = [str(each.path or name) for each, name in zip(policies, short, strict=True)]
    names = short if len(set(short)) == len(short) else long
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, start=1)]


def _part(progress: Progress | None, start: float, share: float) -> Progress | None:
    """The progress of a part of the whole."""
    if progress is None:
        return None
    told = progress
    return lambda step, done: told(step, start + share * done)
