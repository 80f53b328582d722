"""What a golden release is asked, what it must answer, and where two sets of answers differ."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import discreet
from discreet.ground.exact import plain_number

CONFIDENCE = 0.95
CLOSE = 1e-9  # relative: libraries of linear algebra round otherwise
LEARNED, LEARNED_NEAR = "learned", 1e-3
NOBODY = 1e-6  # a difference of counts that is none; the root of a rounding error is about 1e-8
SINGLE = {"pairs": 1e-4}  # the same, by kind, where noise is summed in single precision
OWN = ("value", "standard_error", "low", "high", "bounds", "unit", "estimator", "conditional_on", "note")
DESIGN = ("value", "low", "high")
COLUMNS = ("asked", "by", "group", *OWN, "design")


def stated_by(folder: Path) -> dict[str, Any]:
    """The block `discreet` of a release's manifest, as it stands."""
    return dict(json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))["discreet"])


def answers_of(folder: Path, questions: Sequence[str]) -> dict[str, Any]:
    """Everything that must stay: what the release says of itself, what is checked, and every estimator's answers."""
    checks = [check.name for check in discreet.verify(folder, allow_seeded=True).checks]
    with closing(discreet.open_release(folder)) as release:
        asked = [(each, estimator) for estimator in release.estimators for each in questions]
        return {
            **said_by(release),
            "checks": checks,
            "confidence": CONFIDENCE,
            "answers": [row for each in asked for row in counts_of(release, *each, CONFIDENCE)],
        }


def said_by(release: discreet.Release) -> dict[str, Any]:
    """What a release says of itself before anything is asked."""
    block = stated_by(release.path)
    return {
        "kind": block["mechanism"]["kind"],
        "format": block["format"],
        "words": block["words"],
        "notion": release.facts["notion"],
        "randomness": block["randomness"],
        "rows": release.rows,
        "size": release.size,
        "unit": release.unit,
        "estimators": list(release.estimators),
    }


def counts_of(release: discreet.Release, asked: str, estimator: str, confidence: float) -> list[dict[str, Any]]:
    """The counts that answer one question, one for each group where there are groups."""
    found = release.query(asked, estimator=estimator, confidence=confidence)
    one = isinstance(found, discreet.Estimate)
    counts = [(None, found)] if one else [([*map(plain_number, group)], own) for group, own in found]
    return [{"asked": asked, "by": estimator, "group": group, **_plain(each)} for group, each in counts]


def _plain(estimate: discreet.Estimate) -> dict[str, Any]:
    """An estimate as JSON has it; of `design`, the numbers."""
    stated = estimate.as_json()
    design = stated["design"]
    return {
        **{name: stated[name] for name in OWN},
        "design": None if design is None else [design[name] for name in DESIGN],
    }


def differences(kept: Any, found: Any, place: str = "", near: float = NOBODY) -> Iterator[str]:
    """Where two answers differ: numbers by more than rounding if one has a point, everything else at all.

    What was learned may be off by a thousandth of its standard error: another processor rounds otherwise.
    """
    if isinstance(kept, dict) and isinstance(found, dict) and set(kept) == set(found):
        if kept.get("by") == LEARNED and kept["standard_error"]:
            near = max(near, LEARNED_NEAR * kept["standard_error"])
        for name in kept:
            yield from differences(kept[name], found[name], f"{place} {name}", near)
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for number, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from differences(one, other, f"{place} {number}", near)
    elif {type(kept), type(found)} in ({float}, {float, int}):
        if not math.isclose(kept, found, rel_tol=CLOSE, abs_tol=near):
            yield f"{place}: {kept!r} was, {found!r} is"
    elif type(kept) is not type(found) or kept != found:
        yield f"{place}: {kept!r} was, {found!r} is"


def write_answers(content: dict[str, Any], path: Path) -> None:
    """As JSON with one answer a line, in the order of `columns`, so that it is small and a change is easy to see."""
    head = {**{name: value for name, value in content.items() if name != "answers"}, "columns": COLUMNS}
    lines = [f" {_line(name)}: {_line(value)}" for name, value in head.items()]
    rows = ",\n".join(_line([each[name] for name in COLUMNS]) for each in content["answers"])
    path.write_text("{\n" + ",\n".join([*lines, f' "answers": [\n{rows}\n ]']) + "\n}\n", encoding="utf-8")


def read_answers(path: Path) -> dict[str, Any]:
    """What `write_answers` wrote."""
    content = json.loads(path.read_text(encoding="utf-8"))
    columns = content.pop("columns")
    return {**content, "answers": [dict(zip(columns, row, strict=True)) for row in content["answers"]]}


def read_amended(golden: Path, last: str = "999") -> dict[str, Any]:
    """The answers of a golden release, with those in their place that a later decision gave, up to the `last`."""
    kept = read_answers(golden / "answers.json")
    later: dict[str, dict[str, Any]] = {}
    for path in sorted(golden.glob("answers-*.json")):
        if path.stem.removeprefix("answers-") > last:
            break
        later |= {_question(each): each for each in read_answers(path)["answers"]}
    return {**kept, "answers": [later.get(_question(each), each) for each in kept["answers"]]}


def write_amended(golden: Path, decision: str) -> int:
    """Write what a golden release answers now, and did not before, beside what it answered; how many answers."""
    kept, folder = read_amended(golden), golden / "release"
    questions = dict.fromkeys((each["asked"], each["by"]) for each in kept["answers"])
    with closing(discreet.open_release(folder)) as release:
        found = [count for each in questions for count in counts_of(release, *each, kept["confidence"])]
    moved = [new for old, new in zip(kept["answers"], found, strict=True) if any(differences(old, new))]
    if moved:
        write_answers({"decision": decision, "answers": moved}, golden / f"answers-{decision}.json")
    return len(moved)


def _question(answer: dict[str, Any]) -> str:
    return _line([answer["asked"], answer["by"], answer["group"]])


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
