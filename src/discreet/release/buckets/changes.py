"""How two bucket releases, or policies, differ: parameters, tolerances value by value, sizes and loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from discreet.ground.shown import name_of, name_some
from discreet.release.buckets.manifest import QIT
from discreet.release.buckets.strength import (
    certainty_meaning,
    fakes_meaning,
    known_meaning,
    rule_changes,
    tolerance_changes,
)
from discreet.release.family import READ, Change, Changes, Content
from discreet.release.promised import TOGETHER

_PARAMETERS: dict[str, str | Callable[[Any, Any], str]] = {
    "sizes": "which bucket sizes the plan may use; the promise does not depend on it",
    "min_size": "the smallest bucket that the plan may use; the promise does not depend on it",
    "max_size": "the largest bucket that the plan may use; the promise does not depend on it",
    "slack": "the share of every cap that the plan leaves unused; the promise does not depend on it, answers do",
    "assignment": "which rows may share a bucket: with near ones answers are closer as a rule, and one who learns from "
    "all buckets guesses right less often; the promise does not depend on it",
    "window": "of near buckets, how many rows are bucketed together; the promise does not depend on it. Where one "
    "follows from the other's refusal, that tells something of the rows",
    "window_declared": "whether the policy gave the window, or it follows from counts and tolerances by the rule",
    "composition": "how values are spread over buckets: free gives the most exact answers, round-robin the least",
    "known": known_meaning,
    "fakes": fakes_meaning,
}


def _rules(a: Content, b: Content) -> Iterator[Change]:
    """Theta, floor, ceiling and which values are named, where both have them."""
    return rule_changes(a, b) if _ruled(a, b) else iter(())


def _tolerances(a: Content, b: Content) -> Iterator[Change]:
    """The tolerance of each value, where both protect the same column."""
    one, two = a[READ], b[READ]
    if one.sensitive == two.sensitive and ("guarantee" in a or _ruled(a, b)):
        yield from tolerance_changes(a, b, one.domains[one.sensitive], two.domains[two.sensitive])


def _ruled(a: Content, b: Content) -> bool:
    return "tolerance" in a["mechanism"] and "tolerance" in b["mechanism"]


def _rows(a: Content, b: Content) -> str:
    return f"{abs(b['rows'] - a['rows']):,} {'more' if b['rows'] > a['rows'] else 'fewer'}"


def _loss(a: Content, b: Content) -> str:
    side = "more" if b["loss"] > a["loss"] else "less"
    if a["rows"] != b["rows"]:
        return f"{side}, but of another number of rows"
    return f"{side}: {'larger' if side == 'more' else 'smaller'} buckets, so answers are {side} uncertain as a rule"


def _average(a: Content, b: Content) -> str:
    number = [sum(each["buckets"] for each in content["classes"]) for content in (a, b)]
    if not all(number):
        return "other buckets"
    return f"{a['rows'] / number[0]:.3g} -> {b['rows'] / number[1]:.3g} rows a bucket on average"


def _unprotected(a: Content, b: Content) -> str:
    before, after = (sum(people for _, people in content["unprotected"]) for content in (a, b))
    if before == after:
        return "other values without protection, of as many people"
    return f"{abs(after - before):,} {'more' if after > before else 'fewer'} people without protection"


def _windows(a: Content, b: Content) -> str:
    before, after = (len(content["windows"]) for content in (a, b))
    if before == after:
        return "the same number of windows, with other buckets"
    return f"{abs(after - before):,} {'more' if after > before else 'fewer'} windows"


def _runs(windows: Any) -> str:
    return f"{len(windows):,} windows"


def _held(people: Any) -> str:
    return name_some([f"{name_of(value)} ({sum(numbers):,})" for value, numbers in people])


def _values(unprotected: Any) -> str:
    return name_some([f"{name_of(value)} ({people:,})" for value, people in unprotected]) or "none"


def _classes(classes: Any) -> str:
    return name_some([f"{each['buckets']:,} of {each['size']}" for each in classes])


CHANGES = Changes(
    main=QIT,
    together=lambda _a, _b: TOGETHER,
    parameters=_PARAMETERS,
    told=("tolerance",),
    numbers={
        "rows": _rows,
        "classes": _average,
        "loss": _loss,
        "unprotected": _unprotected,
        "windows": _windows,
        "refused_windows": lambda _a, _b: "what was tried in vain before: each tells something of the rows",
        "people": lambda _a, _b: "how many people have each value in the buckets of each size",
        "certainty": certainty_meaning,
        "kept_slack": lambda _a, _b: "the slack that the plan keeps: more makes answers more exact as a rule",
    },
    shown={"classes": _classes, "unprotected": _values, "windows": _runs, "people": _held},
    mechanism=_rules,
    guarantee=_tolerances,
    roles={"quasi-identifier": "B publishes it as it is", "sensitive": "B publishes it by bucket only"},
)
