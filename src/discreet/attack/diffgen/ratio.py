"""The ratio attack: two noisy counts give a rule's confidence, and with it a guess about everybody who matches it.

He asks how many people meet some conditions, and how many of them have each sensitive value. Noise hides a person in
each answer. It does not hide the quotient of large answers.

Paper: [WWFW] section 2.1 (the differential inference theorem).
Departs: a release answers from one fixed file, so that questions cost nothing and noise is not drawn for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.diffgen.asking import Chosen, answers, condition, matching
from discreet.attack.diffgen.quotient import enough
from discreet.attack.rate import Rate, clustered, rate_of
from discreet.attack.target import NO_TABLE, Target, codes_of
from discreet.errors import PolicyError
from discreet.ground.arrays import Floats, Ints
from discreet.ground.progress import Tell

NOBODY = -1
_DRAWN = 4  # conditions looked at for each rule that is wanted
_MOST_VALUES = 256  # of a column, for its values to be conditions
BELONGS = (
    "what is learned is about the group: it is as true of people who are not in the release, so epsilon, whatever it "
    "is, promises nothing here"
)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Conditions, and what the release says of people who meet them: how many, and how many have each value."""

    conditions: tuple[Chosen, ...]
    size: Floats  # X
    having: Floats = field(repr=False)  # Y, rules x sensitive values

    @property
    def ratio(self) -> Floats:
        """Y/X, no less than 0 and no more than 1."""
        found: Floats = np.clip(self.having / np.maximum(self.size, 1.0)[:, None], 0.0, 1.0)
        return found


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """He tries up to `rules` rules, each with two conditions, and wants confidences right to within `tolerance`.

    Rules: conditions on two quasi-identifiers are drawn by chance among values that are frequent by the release's own
    answers. Those stay whose answer is large enough for the tolerance with plain noise of the release's epsilon; where
    none is, the largest.
    """

    rules: int = 100
    tolerance: float = 0.05

    name: ClassVar[str] = "ratio"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "divides two noisy counts, and takes the quotient for the confidence of a rule about people"
    needs: ClassVar[str] = "quasi-identifiers of the people"
    cost: ClassVar[float] = 4.0

    def __post_init__(self) -> None:
        if type(self.rules) is not int or self.rules < 1:
            raise PolicyError(f"rules ({self.rules}) must be a whole number of at least 1")
        if not 0 < self.tolerance < 1:
            raise PolicyError(f"tolerance ({self.tolerance}) must be between 0 and 1; say 0.05")

    def unfit(self, target: Target) -> str:
        if target.table is None:
            return NO_TABLE
        if not target.table.rows:
            return "nobody is in the table"
        return "" if _columns(target) else "no quasi-identifier has few enough values for a rule"

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        rules = self._rules(target, tell)
        yield self._guesses(target, rules)
        yield self._accuracy(target, rules)

    def _rules(self, target: Target, tell: Tell) -> Rules:
        release, schema = target.release, target.schema
        drawn = self._drawn(target)
        tell(0.3)
        size = answers(release, (condition(schema, each) for each in drawn))
        wanted = enough(self.tolerance, epsilon=float(target.manifest.statement.guarantee.epsilon))
        large = np.flatnonzero(size >= wanted)[: self.rules]
        kept = large if len(large) else np.argsort(-size, kind="stable")[: self.rules]
        conditions = tuple(drawn[place] for place in kept.tolist())
        values = range(len(schema.domains[schema.sensitive]))
        asked = [condition(schema, {**each, schema.sensitive: value}) for each in conditions for value in values]
        tell(0.5)
        having = answers(release, asked).reshape(len(conditions), len(values))
        return Rules(conditions=conditions, size=size[kept], having=having)

    def _drawn(self, target: Target) -> list[Chosen]:
        """Conditions by chance: a value as likely as it is frequent, of two columns or the only one."""
        coins, columns = target.coins(self.name), _columns(target)
        shares = {name: _shares(target, name) for name in columns}
        found: dict[tuple[tuple[str, int], ...], None] = {}
        for _ in range(_DRAWN * self.rules):
            two = np.sort(coins.choice(len(columns), size=min(2, len(columns)), replace=False)).tolist()
            names = [columns[place] for place in two]
            found[tuple((name, int(coins.choice(len(shares[name]), p=shares[name]))) for name in names)] = None
        return [dict(each) for each in found]

    def _guesses(self, target: Target, rules: Rules) -> Finding:
        sensitive = target.schema.sensitive
        often = np.bincount(target.codes[sensitive])
        rate, matched = self._right(target.codes, sensitive, rules, target.confidence)
        control = None
        if target.kept_out is not None and target.kept_out.rows:
            control, _ = self._right(codes_of(target.kept_out), sensitive, rules, target.confidence)
        return Finding(
            name=self.name,
            group=self.group,
            measures="people who match a rule and whose value was guessed right",
            rate=rate,
            baseline=float(often.max() / often.sum()),
            baseline_is="always the most frequent value",
            covered=False,
            control=control,
            note=BELONGS,
            details={
                "rules": len(rules.conditions),
                "people_who_match": matched,
                "believed": float(rules.ratio.max(axis=1).mean()),
                "most_believed": float(rules.ratio.max()),
            },
        )

    def _right(self, codes: Mapping[str, Ints], sensitive: str, rules: Rules, confidence: float) -> tuple[Rate, int]:
        """How often the rule with the highest ratio is right; people whom no rule matches are not counted."""
        best = _best(codes, rules)
        people = np.flatnonzero(best != NOBODY)
        if not len(people):
            return Rate(rate=0.0, low=0.0, high=1.0, attempts=0), 0
        guess = rules.ratio.argmax(axis=1)
        return clustered(codes[sensitive][people] == guess[best[people]], best[people], confidence), len(people)

    def _accuracy(self, target: Target, rules: Rules) -> Finding:
        """How near each rule's highest ratio is to the share that it stands for."""
        sensitive, near, off = target.codes[target.schema.sensitive], 0, []
        guess = rules.ratio.argmax(axis=1)
        for place, chosen in enumerate(rules.conditions):
            own = sensitive[matching(target.codes, chosen)]
            true = float((own == guess[place]).mean()) if len(own) else 0.0
            off.append(abs(float(rules.ratio[place, guess[place]]) - true))
            near += off[-1] <= self.tolerance
        return Finding(
            name=self.name,
            variant="accuracy of the ratio",
            group=self.group,
            measures=f"rules whose ratio is within {self.tolerance:.3g} of the true share",
            rate=rate_of(near, len(off), target.confidence),
            covered=False,
            note=BELONGS,
            details={
                "median_error": float(np.median(off)),
                "largest_error": max(off),
                "enough_with_plain_noise": enough(
                    self.tolerance, epsilon=float(target.manifest.statement.guarantee.epsilon)
                ),
                "smallest_answer": float(rules.size.min()),
            },
        )


def _best(codes: Mapping[str, Ints], rules: Rules) -> Ints:
    """For each person the matching rule with the highest ratio; NOBODY where none matches."""
    found = np.full(len(next(iter(codes.values()))), NOBODY, dtype=np.int64)
    for place in np.argsort(rules.ratio.max(axis=1), kind="stable").tolist():
        found[matching(codes, rules.conditions[place])] = place
    return found


def _columns(target: Target) -> Sequence[str]:
    """Quasi-identifiers whose values can be conditions."""
    schema = target.schema
    return [name for name in schema.quasi_identifiers if 1 < len(schema.domains[name]) <= _MOST_VALUES]


def _shares(target: Target, name: str) -> Floats:
    """How frequent each value of a column is, by the release; all alike where it says nothing of any."""
    schema = target.schema
    asked = (condition(schema, {name: code}) for code in range(len(schema.domains[name])))
    found = np.maximum(answers(target.release, asked), 0.0)
    return found / found.sum() if found.sum() else np.full(len(found), 1 / len(found))
