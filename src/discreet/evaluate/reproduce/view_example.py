"""Table 1 and Example 4.1: the small table, its view, and the estimate: what is printed and what is right.

Paper: [RSH] sections 1.1, 1.4, 2.4 and Example 4.1.
Symbols: n = 6, m = 1200, alpha = 2/3, beta = 1/150; n_V, n_D tuples of the view and of the domain meet the condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import pyarrow as pa

from discreet.estimate.estimate import Estimate
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.reproduce.printed import COLUMNS, Statement, compared, holding
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
SEED = 0


def _meet(rows: tuple[Row, ...]) -> int:
    return sum(score < 3 * age for age, _, score in rows)


@cache
def _answer() -> Estimate:
    """What a release that shows Table 1(d) answers."""
    names = tuple(DOMAINS)
    schema = Schema(quasi_identifiers=names[:-1], sensitive=names[-1], domains=DOMAINS)
    mechanism = Given(prior=PRIOR, posterior=Fraction(1, 2), view=VIEW, keep=ALPHA + BETA, insert=BETA)
    rows = pa.table(dict(zip(names, map(list, zip(*TABLE, strict=True)), strict=True)))
    with opened(rows, Policy(schema=schema, mechanism=mechanism)) as table, released(table, mechanism, SEED) as release:
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


PRINTED = (
    Statement(
        place="section 1.1", what="rows of Table 1(a) in the domain of section 1.1", printed=6,
        right=lambda: sum(16 <= age <= 35 for age, _, _ in TABLE),
        why="age 36 is outside [16, 35]; Example 4.1 has [20, 39]",
    ),
    Statement(place="Example 4.1", what="m", printed=1200, right=lambda: count_domain("", DOMAINS)),
    Statement(
        place="Table 1(c)", what="tuples of the table", printed=2, right=lambda: len(set(TABLE) & set(FRAPP_VIEW)),
    ),
    Statement(place="Table 1(d)", what="tuples of the table", printed=4, right=lambda: len(set(TABLE) & set(VIEW))),
    Statement(place="Table 1(d)", what="other tuples", printed=8, right=lambda: len(set(VIEW) - set(TABLE))),
    Statement(
        place="section 1.4", what="posterior in Table 1(c)", printed=1 / 3, right=_posterior_frapp, rounded=True,
        why="for a tuple of prior n/m that is shown once; it is printed as less than 1/3, and is a little more",
    ),
    Statement(
        place="section 1.4", what="posterior in Table 1(d)", printed=1 / 3, right=_posterior_alpha_beta, rounded=True,
        why="for a tuple of prior n/m that is shown; 1/3 is the share of true tuples among all 12, not, as printed, "
        "their ratio to the others, which is 1/2",
    ),
    Statement(
        place="Example 4.1", what="n_D", printed=190, right=_possible,
        why="the print forgets the three nationalities, and takes <= for <",
    ),
    Statement(place="Example 4.1", what="n_V", printed=6, right=lambda: _meet(VIEW)),
    Statement(
        place="Example 4.1", what="true count", printed=4, right=lambda: _meet(TABLE),
        why="those of 32, 33 and 36 years",
    ),
    Statement(
        place="Example 4.1", what="estimate", printed=7.1, right=_estimate, rounded=True, why="follows from n_D",
    ),
)  # fmt: skip
OURS = (
    Statement(
        place="Example 4.1", what="pairs of age and score with score <= 3 * age",
        right=lambda: count_domain("score <= 3 * age", {name: DOMAINS[name] for name in ("age", "score")}),
        why="so the printed n_D comes about",
    ),
    Statement(
        place="Example 4.1", what="estimate with the printed n_D", right=_estimate_as_printed,
        why="so the printed estimate comes about: its arithmetic is right",
    ),
    Statement(place="Example 4.1", what="standard error of the estimate", right=_standard_error),
    Statement(place="Table 1(d)", what="expected size of such a view", right=_expected_size),
)  # fmt: skip


def _example(setting: Setting) -> Result:
    setting.seeds.take("the release that shows Table 1(d)", SEED)
    rows = compared((*PRINTED, *OURS), setting)
    return Result(
        columns=COLUMNS,
        rows=rows,
        figures=(("numbers", _figure(rows)),),
        ours=f"Of the numbers that the paper prints {holding(rows)}; the estimate is {_estimate():.2f} "
        f"for a true count of {_meet(TABLE)}, with a standard error of {_standard_error():.2f}",
        data="the paper's own small table; whose says which numbers the paper prints and which are ours",
    )


def _figure(rows: Sequence[tuple[Cell, ...]]) -> Figure:
    """The four numbers of the worked estimate."""
    wanted = ("n_D", "n_V", "true count", "estimate")
    by = {str(row[2]): row for row in rows}
    curves = tuple(
        Curve(label=label, points=tuple((float(i), float(by[name][place] or 0)) for i, name in enumerate(wanted)))
        for label, place in (("printed", 3), ("right", 4))
    )
    return Figure(title="Example 4.1", x="number", y="tuples", curves=curves, kind="bars", log_y=True, names=wanted)


VIEW_EXAMPLE = Item(
    name="view-example",
    paper="[RSH] Table 1, sections 1.1 and 1.4, Example 4.1",
    line="the small table of alpha-beta and its worked estimate: what is printed and what is right",
    claim="190 tuples of the domain have a score below three times the age, 6 of the view and 4 of the table do, and "
    "the estimate is 7.1; a tuple that is seen has a posterior of 1/3 under alpha-beta, and of less under FRAPP.",
    differs="The print counts pairs of age and score only, so it forgets the factor 3 of nationality, and with <= for "
    "<; the true count is 3. The posteriors are right to two digits.",
    run=_example,
    whole=True,
)
