"""Every manifest that is one step away from a true one: verify refuses it, or no file can show that it is false.

What may pass is listed here by class, each with its reason; what passes and is not listed fails, and so does what is
listed and never passes.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cases import CASES, Case
from mutations import Step, restated, steps
from tampering import MANIFEST, SAMPLED, Releases, broken, copy_of, manifest_of

THIN = 5  # one step in so many where not all are taken, beside what SAMPLED leaves out


class Passing(NamedTuple):
    """A class of steps that verify takes: where they are, of which kinds, and why no file shows them to be false."""

    places: tuple[str, ...]
    kinds: tuple[str, ...]
    why: str

    def covers(self, step: Step) -> bool:
        where = ".".join(map(str, step.place))
        return step.kind in self.kinds and any(fnmatchcase(where, each) for each in self.places)


def passing(case: Case) -> dict[str, Passing]:
    """What may pass for a case, by a name."""
    own = {
        ".".join(each.place): Passing((f"discreet.{'.'.join(each.place)}*",), ANY, each.why) for each in case.unproven
    }
    return {**EVERYWHERE, **own}


ANY = ("number", "text", "borrowed", "nothing", "left out", "twin", "moved")
_DOMAINS = "discreet.schema.domains.*"
EVERYWHERE = {
    "continued": Passing(
        ("discreet.continued",), ("number", "borrowed"), "the series that it goes on from is not among the files"
    ),
    "randomness": Passing(("discreet.randomness",), ("borrowed",), "coins leave no trace of where they came from"),
    "words": Passing(("discreet.words",), ("number", "borrowed"), "an earlier version of the words tells the same"),
    "before": Passing(
        ("discreet.guarantee.before",), ("number", "borrowed"), "what earlier releases cost is not among the files"
    ),
    "public_rows": Passing(
        ("discreet.schema.public_rows",), ("number", "borrowed"), "as many rows as that may have been there"
    ),
    "kept_slack": Passing(("discreet.kept_slack",), ("number",), "a search that may end early may have kept less"),
    "range": Passing((f"{_DOMAINS}.integers.*",), ("number", "borrowed"), "a domain may hold numbers that nobody has"),
    "value": Passing(
        (f"{_DOMAINS}.values", f"{_DOMAINS}.hierarchy"), ("one more",), "a domain may hold values that nobody has"
    ),
    "absent": Passing(
        (f"{_DOMAINS}.values.*", f"{_DOMAINS}.hierarchy.*"),
        ("text", "left out", "borrowed", "nothing", "twin", "number"),
        "a value that nobody has may be another, or none",
    ),
    "order": Passing(
        (f"{_DOMAINS}.values.*", f"{_DOMAINS}.hierarchy.*"),
        ("moved",),
        "the order of a domain shows in the order of rows alone",
    ),
    "label": Passing((f"{_DOMAINS}.hierarchy.*.*",), ANY, "labels of groups are public, and stand in no table"),
}


def taken(folder: Path, step: Step, truth: dict[str, Any]) -> bool:
    """Whether verify takes the step, either as it stands or with all restated that follows from it."""
    (folder / MANIFEST).write_bytes(step.written.encode())
    if not broken(folder):
        return True
    return restated(folder, step) and manifest_of(folder) != truth and not broken(folder)


def every_step(case: Case, releases: Releases) -> list[Step]:
    others = (manifest_of(releases.plain(each)) for each in CASES)
    return list(steps(manifest_of(releases.plain(case)), others))


@SAMPLED
@pytest.mark.parametrize("case", CASES, ids=str)
def test_whatever_is_stated_otherwise_is_found_or_is_listed(case: Case, thin: int, releases: Releases, record_property):
    """As it stands, and restated by a forger who makes anew whatever follows from the manifest."""
    allowed, release = passing(case), releases.plain(case)
    truth = manifest_of(release)
    every = every_step(case, releases)
    chosen = every if thin == 1 else every[CASES.index(case) :: thin * THIN]
    passed: Counter[str] = Counter()
    unlisted = []
    with copy_of(release) as folder:
        readme = (folder / "README.md").read_bytes()
        for step in chosen:
            (folder / "README.md").write_bytes(readme)
            if taken(folder, step, truth):
                names = [name for name, each in allowed.items() if each.covers(step)]
                passed.update(names[:1])
                unlisted += [] if names else [(step.kind, step.place, step.content is None)]
    record_property("mutations", {"case": str(case), "taken": len(chosen), "passed": dict(passed)})
    assert not unlisted
    if thin == 1:
        assert not {".".join(each.place) for each in case.unproven} - set(passed), "listed, and never passes"
