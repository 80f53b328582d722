"""The learning attacker: he learns from all buckets together, as analysts do, and guesses one person's value.

He is outside of the promise, which speaks of what one bucket says: relations that hold for many people may be learned,
that is what a release is for. He believes what the model believes that answers questions. How much of it comes from the
person's own bucket is seen beside the same model without the buckets, and on people who were kept out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import bucket_release, general, learned
from discreet.attack.buckets.guessing import Guesses, guess, kept_out, scored
from discreet.attack.target import NO_TABLE, Target
from discreet.ground.progress import Tell

OWN = "without anybody's bucket"


@dataclass(frozen=True, kw_only=True)
class Learning:
    """He learns who has which value from the whole release, and takes each person's most probable one."""

    name: ClassVar[str] = "learning"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "learns from all buckets who has which value, and guesses a person's most probable one"
    needs: ClassVar[str] = "the table"
    cost: ClassVar[float] = 20.0

    def unfit(self, target: Target) -> str:
        if target.table is None:
            return NO_TABLE
        if "learned" not in target.release.estimators:
            return "nothing is learned from this release"
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        release = bucket_release(target)
        release.learn(lambda _, done: tell(0.9 * done))
        beliefs = learned(release)
        guesses = guess(target, beliefs, lambda done: tell(0.9 + 0.05 * done))
        told = _told(guesses)
        yield from scored(self.name, guesses, target, covered=False, note=told, control=kept_out(target, beliefs))
        if (release.knowledge.kept >= 0).all():
            before = general(release)
            blind = guess(target, before, lambda done: tell(0.95 + 0.05 * done))
            yield from scored(self.name, blind, target, covered=False, variant=OWN, control=kept_out(target, before))


def _told(guesses: Guesses) -> str:
    """What he makes of it, in a sentence."""
    return (
        f"of {guesses.above.mean():.1%} of the people he believes some protected value beyond its tolerance; in the "
        f"mean he gives the true value {guesses.true.mean():.2f}, and his guess {guesses.believed.mean():.2f}"
    )
