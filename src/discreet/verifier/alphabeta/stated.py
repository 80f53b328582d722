"""What an alpha-beta or FRAPP release states, read once more from its block `discreet`: exact and without a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import ReleaseError
from discreet.schema.schema import Schema
from discreet.verifier.alphabeta.source import EVEN, Parts, extremes, source_of
from discreet.verifier.stated import fraction, keys, listed, one_of, whole

VIEW = "data/view.parquet"
EARLIER = "data/earlier.parquet"
SLOT = "SLOT"  # the column that tells the copies of a tuple apart, where records are counted
ADVERSARIES = ("exclusive", "independent")
MOST_VIEWS = 50
MOST_SLOTS = 10_000
MOST_ROWS = 10**14


@dataclass(frozen=True, kw_only=True)
class Tuples:
    """What alpha-beta promises: tuples of the table are kept, and every other one may be inserted."""

    d: Fraction
    gamma: Fraction
    adversary: str
    keep: Fraction
    inserts: tuple[Fraction, ...]  # for each view
    again: Fraction | None  # to show what an earlier view showed, where there may be several
    weights: tuple[Fraction, Fraction]  # the least and the largest of a tuple
    slots: int
    candidates: int


@dataclass(frozen=True, kw_only=True)
class Records:
    """What FRAPP promises: each record keeps its tuple, or becomes one of the others."""

    d: Fraction
    gamma: Fraction
    keep: Fraction
    rows: int
    domain: int
    candidates: int


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The parameters that were asked for, the promise that was given, and how many tuples there are.

    FRAPP has one view, no slots and no source, as its kind says.
    """

    prior: Fraction
    posterior: Fraction
    adversary: str
    tuning: str
    views: int
    slots: int
    source: Mapping[str, Parts]
    promised: Tuples | Records
    tuples: int
    view: int
    earlier: int

    @property
    def weights(self) -> tuple[Fraction, Fraction]:
        """The least and the largest weight of a tuple, as they follow from the source."""
        return extremes(self.source)


def stated_of(block: Mapping[str, Any], schema: Schema) -> Stated:
    """The numbers of a block; raises ReleaseError where one is missing, of another type or beyond its limits."""
    frapp = one_of(block["mechanism"]["kind"], "kind", "alphabeta", "frapp") == "frapp"
    asked = _frapp(block["mechanism"]) if frapp else _alphabeta(block["mechanism"], schema)
    return Stated(
        **asked,
        promised=_records(block["guarantee"]) if frapp else _tuples(block["guarantee"]),
        tuples=whole(block["tuples"], "tuples"),
        view=whole(block["view"], "view", 1, asked["views"]),
        earlier=whole(block["earlier"], "earlier"),
    )


def tables_of(stated: Stated) -> dict[str, int]:
    """The data files, and how many tuples each is stated to have."""
    return {VIEW: stated.tuples, **({EARLIER: stated.earlier} if stated.views > 1 else {})}


def _frapp(data: Any) -> dict[str, Any]:
    read = keys(data, "mechanism", "kind", "prior", "posterior")
    only = {"adversary": "independent", "tuning": "optimal", "views": 1, "slots": 1}
    return {**_asked(read), **only, "source": {}}


def _alphabeta(data: Any, schema: Schema) -> dict[str, Any]:
    names = ("kind", "prior", "posterior", "adversary", "tuning", "views", "slots", "source")
    read = keys(data, "mechanism", *names)
    return {
        **_asked(read),
        "adversary": one_of(read["adversary"], "adversary", *ADVERSARIES),
        "tuning": one_of(read["tuning"], "tuning", "optimal", "paper"),
        "views": whole(read["views"], "views", 1, MOST_VIEWS),
        "slots": whole(read["slots"], "slots", 1, MOST_SLOTS),
        "source": source_of(read["source"], schema),
    }


def _asked(read: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fraction(read[name], name) for name in ("prior", "posterior")}


def _records(data: Any) -> Records:
    read = keys(data, "guarantee", "notion", "d", "gamma", "keep", "rows", "domain", "candidates")
    one_of(read["notion"], "notion", "(d, gamma)-privacy of tuples seen once")
    domain = fraction(read["domain"], "domain")
    if domain.denominator != 1 or domain < 2:
        raise ReleaseError("domain must be a whole number, 2 or more, as text")
    return Records(**_promise(read), rows=whole(read["rows"], "rows", 1, MOST_ROWS), domain=domain.numerator)


def _tuples(data: Any) -> Tuples:
    names = ("notion", "d", "gamma", "adversary", "keep", "insert", "candidates", "slots")
    several = ("later", "again") if "later" in data else ()
    read = keys(data, "guarantee", *names, *several, optional=("weights",))
    one_of(read["notion"], "notion", "(d, gamma)-privacy")
    weights = [fraction(each, "weights") for each in listed(read["weights"], "weights")] if "weights" in read else EVEN
    if len(weights) != 2:
        raise ReleaseError("weights must be the least and the largest")
    inserts = [read["insert"], *(listed(read["later"], "later") if several else ())]
    return Tuples(
        **_promise(read),
        adversary=one_of(read["adversary"], "adversary", *ADVERSARIES),
        inserts=tuple(fraction(each, "insert") for each in inserts[: MOST_VIEWS + 1]),
        again=fraction(read["again"], "again") if several else None,
        weights=(weights[0], weights[1]),
        slots=whole(read["slots"], "slots", 1, MOST_SLOTS),
    )


def _promise(read: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: fraction(read[name], name) for name in ("d", "gamma", "keep")}
    return found | {"candidates": whole(read["candidates"], "candidates", 1)}
