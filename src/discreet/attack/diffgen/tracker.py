"""Trackers: a person who is like no other is singled out by the difference of two counts that many people are in.

count(C) - count(C and not D) is count(C and D), and nobody asked for that. Where every answer has fresh noise, he asks
again and again and takes the mean. A release answers from one fixed file: asking again gives the same, and differences
say what the file's model says of such people.

Paper: trackers are Denning's; [WWFW] section 2.1 has counts with noise.
Departs: the noise is discrete, as the product's is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.diffgen.asking import answers, condition
from discreet.attack.diffgen.presence import allowed
from discreet.attack.rate import Rate, rate_of
from discreet.attack.target import NO_TABLE, Target, codes_of
from discreet.errors import PolicyError
from discreet.ground.arrays import Floats, Ints
from discreet.ground.keys import keys_of
from discreet.ground.progress import Tell

_TAIL = 1e-13  # of a noise law that is left out
_MOST_QUESTIONS = 5_000  # for people of each side
FIXED = (
    "answers come from one fixed file, so asking again gives nothing new; what differences tell of a value is as true "
    "of people who were kept out, and epsilon does not bound it"
)


def right_by_averaging(epsilon: float, answers: int, *, counts: int = 1) -> float:
    """How often he is right about an even yes or no who asks `answers` times and takes the mean.

    Each time the answer is the sum or difference of so many `counts`, each with fresh discrete Laplace noise that costs
    epsilon; the two truths differ by 1. Together it costs answers x counts x epsilon, and `allowed` of that is never
    passed.
    """
    if epsilon <= 0 or answers < 1 or counts < 1:
        raise PolicyError("epsilon must be above 0, and answers and counts at least 1")
    law = _sum_law(epsilon, answers * counts)
    middle = len(law) // 2
    # he says yes where the sum of noises is above -answers/2 with yes true; even sums at the middle are a coin
    half, odd = divmod(answers, 2)
    above = float(law[middle - half + (0 if odd else 1) :].sum())
    return above if odd else above + float(law[middle - half]) / 2


def _sum_law(epsilon: float, number: int) -> Floats:
    """The law of the sum of so many noises, around its middle."""
    p = np.exp(-epsilon)
    reach = int(np.ceil(-np.log(_TAIL) / epsilon)) + 1
    steps = np.abs(np.arange(-reach, reach + 1))
    one = (1 - p) / (1 + p) * p**steps
    size = 1 << int(np.ceil(np.log2(2 * reach * number + 2)))
    whole = np.fft.irfft(np.fft.rfft(one, size) ** number, size)
    return np.maximum(whole[: 2 * reach * number + 1], 0.0)


@dataclass(frozen=True, kw_only=True)
class Tracker:
    """He knows the quasi-identifiers of up to `targets` people who are like no other, and asks for differences."""

    targets: int = 200

    name: ClassVar[str] = "tracker"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "takes differences of counts to single out people whose quasi-identifiers nobody else has"
    needs: ClassVar[str] = "quasi-identifiers of the people"
    cost: ClassVar[float] = 8.0

    def __post_init__(self) -> None:
        if type(self.targets) is not int or self.targets < 1:
            raise PolicyError(f"targets ({self.targets}) must be a whole number of at least 1")

    def unfit(self, target: Target) -> str:
        if target.table is None:
            return NO_TABLE
        if not target.schema.quasi_identifiers:
            return "there are no quasi-identifiers to know a person by"
        return "" if len(_alone(target.codes, target)) else "nobody is alone with his quasi-identifiers"

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        people = self._some(target, _alone(target.codes, target))
        own = {name: column[people] for name, column in target.codes.items()}
        differences = _differences(target, own)
        tell(0.6)
        outside = self._outsiders(target)
        theirs = None if outside is None else _differences(target, outside)
        yield self._values(target, own, differences, outside, theirs)
        if theirs is not None and len(theirs):
            yield self._presence(target, differences, theirs)

    def _some(self, target: Target, listed: Ints) -> Ints:
        most = max(1, min(self.targets, _MOST_QUESTIONS // (1 + len(target.schema.domains[target.schema.sensitive]))))
        return np.sort(target.coins(self.name).permutation(listed)[:most])

    def _outsiders(self, target: Target) -> dict[str, Ints] | None:
        """People who were kept out, with quasi-identifiers that nobody in the table has, nor another of them."""
        if target.kept_out is None or not target.kept_out.rows:
            return None
        codes = codes_of(target.kept_out)
        names = target.schema.quasi_identifiers
        key, known = keys_of(codes, target.codes, names=names)
        alone = np.bincount(key)[key] == 1
        listed = np.flatnonzero(alone & ~np.isin(key, known))
        people = self._some(target, listed)
        return {name: column[people] for name, column in codes.items()} if len(people) else None

    def _values(
        self,
        target: Target,
        own: Mapping[str, Ints],
        differences: Floats,
        outside: Mapping[str, Ints] | None,
        theirs: Floats | None,
    ) -> Finding:
        sensitive = target.schema.sensitive
        often = np.bincount(target.codes[sensitive])

        def right(codes: Mapping[str, Ints], found: Floats) -> Rate:
            hit = codes[sensitive] == found.argmax(axis=1)
            return rate_of(int(hit.sum()), len(hit), target.confidence)

        return Finding(
            name=self.name,
            group=self.group,
            measures="people like no other whose value was guessed right, as the one with the largest difference",
            rate=right(own, differences),
            baseline=float(often.max() / often.sum()),
            baseline_is="always the most frequent value",
            covered=False,
            control=None if outside is None or theirs is None else right(outside, theirs),
            note=FIXED,
            details={"differences_of_true_values": _true(own[sensitive], differences)},
        )

    def _presence(self, target: Target, differences: Floats, theirs: Floats) -> Finding:
        """Who of both sides is in, by the sum of the differences: more than the middle one is in."""
        said, others = differences.sum(axis=1), theirs.sum(axis=1)
        cut = float(np.median(np.concatenate([said, others])))
        yes = (said > cut).mean() + (said == cut).mean() / 2
        no = (others < cut).mean() + (others == cut).mean() / 2
        attempts = 2 * min(len(said), len(others))
        epsilon = target.manifest.statement.guarantee.epsilon
        return Finding(
            name=self.name,
            variant="who is in",
            group=Group.SINGLING_OUT,
            measures="right answers to whether a person like no other is in, of people who are and people kept out",
            rate=rate_of(float(yes + no) / 2 * attempts, attempts, target.confidence),
            bound=allowed(epsilon),
            baseline=0.5,
            baseline_is="a coin",
            covered=False,
            note="a bound on these people only if who was kept out was drawn by chance; one release cannot tell",
            details={"difference_of_those_in": float(said.mean()), "of_those_kept_out": float(others.mean())},
        )


def _alone(codes: Mapping[str, Ints], target: Target) -> Ints:
    """Records whose quasi-identifiers no other record has."""
    (key,) = keys_of(codes, names=target.schema.quasi_identifiers)
    return np.flatnonzero(np.bincount(key)[key] == 1)


def _differences(target: Target, people: Mapping[str, Ints]) -> Floats:
    """count(C) - count(C and not (D and value)) for each person and sensitive value.

    C are all his quasi-identifiers but the one with the fewest values, which is D.
    """
    schema = target.schema
    names, sensitive = schema.quasi_identifiers, schema.sensitive
    last = min(names, key=lambda name: len(schema.domains[name]))
    values = range(len(schema.domains[sensitive]))
    asked = []
    for place in range(len(people[sensitive])):
        own = {name: int(people[name][place]) for name in names}
        wide = condition(schema, {name: code for name, code in own.items() if name != last})
        beside = f"{wide} AND " if wide else ""
        asked.append(wide)
        asked += [f"{beside}NOT ({condition(schema, {last: own[last], sensitive: value})})" for value in values]
    found = answers(target.release, asked).reshape(-1, 1 + len(values))
    return found[:, :1] - found[:, 1:]


def _true(value: Ints, differences: Floats) -> dict[str, float]:
    """What the differences of true values are, and of the others."""
    rows = np.arange(len(value))
    true = differences[rows, value]
    others = (differences.sum(axis=1) - true) / max(1, differences.shape[1] - 1)
    return {"mean": float(true.mean()), "mean_of_others": float(others.mean())}
