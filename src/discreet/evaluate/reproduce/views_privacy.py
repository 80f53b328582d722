"""From how many views on the printed probabilities give too much away, by every history of a tuple.

Paper: [RSH] section 4.4.1, Algorithm 7.
Symbols: as in `discreet.mechanism.alphabeta.papers.algorithm_7`; a history says of each view whether it showed a tuple.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from discreet.attack.alphabeta.posterior import history_ratio
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.mechanism.alphabeta.papers.algorithm_7 import Printed

PRIOR, POSTERIOR = 10, Fraction(1, 5)
PAPER_ROWS, PAPER_DOMAIN = 30_162, 648_023_040
MOST_VIEWS, QUICK_MOST_VIEWS = 14, 5
POSITIVE, NEGATIVE, JOINING = "shown by every view", "shown by none", "joins later"


def likelihood_ratios(law: Printed, joins: int = 1) -> dict[tuple[int, ...], float]:
    """For every history of a tuple (shown or not in each view): its probability if the tuple is in the table from view
    `joins` on, over that if it never is.
    """
    numbers = range(1, law.views + 1)
    inserts, there = [law.insert_in(number) for number in numbers], [number >= joins for number in numbers]
    return {
        history: history_ratio(law.keep, inserts, law.again, history, there)
        for history in product((0, 1), repeat=law.views)
    }


def leaks(law: Printed, d: float, gamma: float) -> tuple[float, float, float]:
    """The largest posterior of a tuple of prior d, the smallest as a multiple of what is allowed, and the largest of a
    tuple that may join later.
    """

    def posterior(ratio: float) -> float:
        return d * ratio / (d * ratio + 1 - d)

    ratios = likelihood_ratios(law).values()
    joining = max(max(likelihood_ratios(law, joins).values()) for joins in range(1, law.views + 1))
    return posterior(max(ratios)), posterior(min(ratios)) / d / (d / gamma), posterior(joining)


def paper_law(views: int) -> tuple[Printed, float, float]:
    """The paper's parameters on Adult for v views, with d and gamma."""
    d = PRIOR * Fraction(PAPER_ROWS, PAPER_DOMAIN)
    return Printed(keep=0.5, insert=float(d / POSTERIOR), views=views), float(d), float(POSTERIOR)


def _privacy(setting: Setting) -> Result:
    most = QUICK_MOST_VIEWS if setting.quick else MOST_VIEWS
    rows: list[tuple[Cell, ...]] = []
    first: dict[str, int] = {}
    points: dict[str, list[tuple[float, float]]] = {}
    for views in range(1, most + 1):
        law, d, gamma = paper_law(views)
        high, low, joining = leaks(law, d, gamma)
        rows.append((views, high, low, joining, "yes" if high <= gamma and low >= 1 else "no"))
        for label, value, broken in (
            (POSITIVE, high / gamma, high > gamma),
            (NEGATIVE, 1 / low, low < 1),
            (JOINING, joining / gamma, joining > gamma),
        ):
            points.setdefault(label, []).append((float(views), value))
            if broken:
                first.setdefault(label, views)
        setting.tell(views / most)
    starts = {label: _from(first.get(label), most) for label in points}
    return Result(
        columns=(
            "v",
            "largest posterior",
            "least posterior / prior, over d / gamma",
            "posterior if it joins later",
            "private if nothing changes",
        ),
        rows=tuple(rows),
        figures=(("views", _figure(points)),),
        ours=f"A tuple that joins the table later passes gamma {starts[JOINING]}, one that every view shows "
        f"{starts[POSITIVE]}, and one that none shows falls below what is allowed {starts[NEGATIVE]}",
        data=f"no table is needed: n = {PAPER_ROWS:,}, m = {PAPER_DOMAIN:,}, (10 n/m, 0.2)-privacy, s = 1/2, "
        "beta = d / gamma, all 2^v histories of a tuple of prior d",
    )


def _figure(points: dict[str, list[tuple[float, float]]]) -> Figure:
    return Figure(
        title="the printed probabilities for v views: above 1 they fail",
        x="v",
        y="leakage / what is allowed",
        curves=tuple(Curve(label=label, points=tuple(found)) for label, found in points.items()),
        log_y=True,
    )


def _from(views: int | None, most: int) -> str:
    return f"from v = {views} on" if views else f"for no v up to {most}"


VIEWS_PRIVACY = Item(
    name="views-privacy",
    paper="[RSH] section 4.4.1, Algorithm 7",
    line="several views of one table: from how many on privacy fails",
    claim="Algorithm 7 publishes any declared number of views v and stays (d, gamma)-private; it is argued for a table "
    "that does not change, which is called the worst case.",
    differs="Its probabilities follow from no promise. The posterior of a tuple that every view shows grows "
    "with v towards e times the odds of one view, that of a tuple that none shows falls by half with each view, "
    "and a tuple that joins the table for view i hides among (1 - s)^(i-1) as many inserted ones. Probabilities "
    "must be chosen for the declared v; and a table that does not change is not the worst case.",
    run=_privacy,
)
