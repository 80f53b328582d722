"""How skewed the sensitive attributes are, and the l that l-diversity would need. Paper: [WWFW] Figures 2 and 3."""

from __future__ import annotations

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.data import FILES
from discreet.evaluate.reproduce.item import Item, Result, Setting
from discreet.evaluate.reproduce.tolerances import FLOOR
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.anatomy import modelling_l, why_not_anatomy
from discreet.mechanism.buckets.planning.compare import THETAS


def _frequencies(setting: Setting) -> Result:
    rows, figures, ends = [], [], []
    for name in FILES:
        counts = setting.sources.histogram(name)
        total = sum(counts.values())
        shares = [count / total for count in counts.values()]
        rows += [(name, rank, str(value), count, count / total) for rank, (value, count) in enumerate(counts.items())]
        curve = Curve(label=name, points=tuple((float(rank), 100 * share) for rank, share in enumerate(shares)))
        figures.append(
            (
                name,
                Figure(
                    title=f"{name}: share of each value",
                    x="value, rarest first",
                    y="% of rows",
                    curves=(curve,),
                    kind="bars",
                ),
            )
        )
        ends.append(f"{name}: {len(shares)} values, {min(shares):.3%} to {max(shares):.2%}")
    return Result(
        columns=("data", "rank", "value", "rows", "share"),
        rows=tuple(rows),
        figures=tuple(figures),
        ours="; ".join(ends),
        data=setting.sources.words(),
    )


def _diversity(setting: Setting) -> Result:
    rows, curves, told = [], [], []
    for name in FILES:
        counts = setting.sources.histogram(name)
        points = []
        for theta in THETAS:
            limits = Tolerance(theta=theta, floor=FLOOR).of(counts)
            wanted = modelling_l(limits)
            reason = why_not_anatomy(counts, limits)
            rows.append((name, int(theta), wanted, "no" if reason else "yes"))
            points.append((float(theta), float(wanted)))
        curves.append(Curve(label=name, points=tuple(points)))
        possible = [str(theta) for data, theta, _, yes in rows if data == name and yes == "yes"]
        told.append(f"{name}: l-diversity is possible {'for theta ' + ', '.join(possible) if possible else 'for none'}")
    figure = Figure(title="l that keeps every tolerance", x="theta", y="l", curves=tuple(curves), log_x=True)
    return Result(
        columns=("data", "theta", "l", "possible"),
        rows=tuple(rows),
        figures=(("l", figure),),
        ours="; ".join(told),
        data=setting.sources.words(),
    )


FREQUENCIES = Item(
    name="frequencies",
    paper="[WWFW] Figure 2, [W14] Figure 7.1",
    line="how skewed the sensitive attributes are",
    claim="OCC has 50 values from 0.18 % to 7.5 % of the rows, EDU 14 values from 0.44 % to 27.3 %.",
    differs="UCI's Census-Income is another extract of a census: as a whole it has 46 occupations from 0.035 % to 8.84 "
    "%, and 17 levels of education from 0.41 % to 24.2 %. The synthetic census has the papers' numbers and ends.",
    run=_frequencies,
)
DIVERSITY = Item(
    name="diversity",
    paper="[WWFW] Figure 3, [W14] Figure 7.2",
    line="the l that l-diversity would need, against theta",
    claim="Except for theta = 32 a large l is needed; it cannot be reached for l >= 14 on OCC and l >= 4 on EDU, so "
    "not for most of the tolerances.",
    differs="l depends on the rarest value alone, and reachability on the most frequent one, so both move with the "
    "extract. From the ends that the papers print l is 13 on OCC and 7 on EDU at theta = 32, so it is possible on OCC "
    "there, and nowhere else.",
    run=_diversity,
)
