"""Table 1 and Example 4.1: the small table, its view, and the estimate, with the printed numbers beside ours.

Paper: [RSH] sections 1.1, 1.4, 2.4 and Example 4.1.
Symbols: n = 6, m = 1200, alpha = 2/3, beta = 1/150; n_V, n_D tuples of the view and of the domain meet the condition.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pyarrow as pa

from discreet.estimate.estimate import Estimate
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.scratch import opened, released
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.alphabeta.papers.given import Given
from discreet.query.count_domain import count_domain
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema

Row = tuple[int, str, int]

TABLE: tuple[Row, ...] = (
    (25, "British", 99),
    (27, "British", 97),
    (21, "Indian", 82),
    (32, "Indian", 90),
    (33, "American", 94),
    (36, "American", 94),
)
FRAPP_VIEW: tuple[Row, ...] = (
    (25, "British", 99),
    (28, "Indian", 99),
    (29, "American", 81),
    (32, "Indian", 90),
    (39, "American", 84),
    (32, "Indian", 89),
)
VIEW: tuple[Row, ...] = (
    (25, "British", 99),
    (21, "British", 99),
    (22, "Indian", 89),
    (32, "Indian", 90),
    (28, "Indian", 99),
    (29, "American", 81),
    (33, "American", 94),
    (27, "American", 94),
    (32, "British", 83),
    (36, "American", 94),
    (26, "American", 99),
    (39, "Indian", 94),
)
DOMAINS: dict[str, Domain] = {
    "age": Integers(low=20, high=39),
    "nationality": Listed(values=("American", "British", "Indian")),
    "score": Integers(low=81, high=100),
}
ALPHA, BETA = Fraction(2, 3), Fraction(1, 150)
PRIOR = Fraction(6, 1200)  # n / m
WHERE = "score < 3 * age"


def _meet(rows: tuple[Row, ...]) -> int:
    return sum(score < 3 * age for age, _, score in rows)


@cache
def _answer() -> Estimate:
    """What a release that shows Table 1(d) answers."""
    names = tuple(DOMAINS)
    schema = Schema(quasi_identifiers=names[:-1], sensitive=names[-1], domains=DOMAINS)
    mechanism = Given(prior=PRIOR, posterior=Fraction(1, 2), view=VIEW, keep=ALPHA + BETA, insert=BETA)
    rows = pa.table(dict(zip(names, map(list, zip(*TABLE, strict=True)), strict=True)))
    with opened(rows, Policy(schema=schema, mechanism=mechanism)) as table, released(table, mechanism, 0) as release:
        return release.count(WHERE)


def _estimate() -> float:
    return _answer().value or 0.0


def _standard_error() -> float:
    """Of the estimate, at the count that it gives."""
    return _answer().standard_error or 0.0


def _estimate_as_printed() -> float:
    """(n_V - beta n_D) / alpha with the printed n_D, which counts another domain than the example's."""
    return float((_meet(VIEW) - BETA * 190) / ALPHA)


def _possible() -> int:
    return count_domain(WHERE, DOMAINS)


def _posterior_alpha_beta() -> float:
    """Of a tuple of prior n / m that the view shows."""
    promise = DGammaPrivacy(
        d=PRIOR, gamma=Fraction(1, 2), adversary="independent", keep=ALPHA + BETA, insert=BETA, candidates=1
    )
    return float(promise.posterior)


def _posterior_frapp() -> float:
    """The same for FRAPP with g = 1/3 and a tuple shown once."""
    promise = FrappPrivacy(d=PRIOR, gamma=Fraction(1, 2), keep=Fraction(1, 3), rows=6, domain=1200, candidates=1)
    return float(promise.posterior(1))


def _expected_size() -> float:
    return float((ALPHA + BETA) * 6 + BETA * (1200 - 6))


Number = int | float
# What is compared, the number in print, ours, and why they differ.
NUMBERS: tuple[tuple[str, Number | None, Callable[[], Number], str], ...] = (
    ("rows of Table 1(a) in the domain of section 1.1", 6, lambda: sum(16 <= age <= 35 for age, _, _ in TABLE),
     "age 36 is outside [16, 35]; Example 4.1 has [20, 39]"),
    ("m of Example 4.1", 1200, lambda: count_domain("", DOMAINS), ""),
    ("Table 1(c), tuples of the table", 2, lambda: len(set(TABLE) & set(FRAPP_VIEW)), ""),
    ("Table 1(d), tuples of the table", 4, lambda: len(set(TABLE) & set(VIEW)), ""),
    ("Table 1(d), other tuples", 8, lambda: len(set(VIEW) - set(TABLE)), ""),
    ("expected size of such a view", 12, _expected_size, ""),
    ("posterior in Table 1(c)", 1 / 3, _posterior_frapp, "for a tuple of prior n/m that is shown once"),
    ("posterior in Table 1(d)", 1 / 3, _posterior_alpha_beta, "for a tuple of prior n/m that is shown"),
    ("Example 4.1, n_D", 190, _possible, "the print forgets the three nationalities, and takes <= for <"),
    ("(age, score) with score <= 3 * age", 190,
     lambda: count_domain("score <= 3 * age", {name: DOMAINS[name] for name in ("age", "score")}), ""),
    ("Example 4.1, n_V", 6, lambda: _meet(VIEW), ""),
    ("Example 4.1, true count", 4, lambda: _meet(TABLE), "those of 32, 33 and 36 years"),
    ("Example 4.1, estimate", 7.1, _estimate, "follows from n_D"),
    ("Example 4.1, estimate with the printed n_D", 7.1, _estimate_as_printed, ""),
    ("Example 4.1, standard error", None, _standard_error, ""),
)  # fmt: skip


def _same(printed: Number | None, ours: Number) -> str:
    if printed is None:
        return ""
    return "yes" if abs(printed - ours) <= 0.02 * abs(printed) else "no"


def _example(setting: Setting) -> Result:
    rows: list[tuple[Cell, ...]] = []
    for number, (name, printed, compute, why) in enumerate(NUMBERS):
        ours = compute()
        rows.append((name, printed, ours, _same(printed, ours), why))
        setting.tell((number + 1) / len(NUMBERS))
    shown = [row for row in rows if str(row[0]).startswith("Example 4.1") and row[1] is not None]
    curves = tuple(
        Curve(label=label, points=tuple((float(i), float(row[place] or 0)) for i, row in enumerate(shown)))
        for label, place in (("printed", 1), ("ours", 2))
    )
    figure = Figure(
        title="n_D, n_V, true count, estimate, estimate with the printed n_D",
        x="number",
        y="tuples",
        curves=curves,
        kind="bars",
        log_y=True,
    )
    hold, printed_numbers = sum(row[3] == "yes" for row in rows), sum(row[1] is not None for row in rows)
    return Result(
        columns=("number", "printed", "ours", "same", "why"),
        rows=tuple(rows),
        figures=(("numbers", figure),),
        ours=f"{hold} of the {printed_numbers} printed numbers hold; the estimate is {_estimate():.2f} "
        f"for a true count of {_meet(TABLE)}, with a standard error of {_standard_error():.2f}",
        data="the paper's own small table",
    )


VIEW_EXAMPLE = Item(
    name="view-example",
    paper="[RSH] Table 1, Example 4.1",
    line="the small table of alpha-beta and its worked estimate",
    claim="190 tuples of the domain have a score below three times the age, 6 of the view and 4 of the table do, and "
    "the estimate is 7.1; a tuple that is seen has a posterior of 1/3 under FRAPP and under alpha-beta.",
    differs="The print counts pairs of age and score only, so it forgets the factor 3 of nationality, and with <= for "
    "<; the true count is 3. The posterior is right to two digits.",
    run=_example,
)
