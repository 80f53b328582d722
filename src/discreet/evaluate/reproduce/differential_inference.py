"""The differential inference theorem: what the quotient of two noisy counts tells, by its law and as printed.

Paper: [WWFW] section 2.1, Theorem 2 and Corollary 1.
Symbols: X = x + noise, Y = y + noise of scale b = 1/epsilon each; here y = .99 x, as in the paper's example.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.diffgen.quotient import enough, quantile, success
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting

EPSILONS = (0.1, 1.0)
SCALES = (5, 10, 20, 50, 82, 100, 1_000)  # x, in scales of the noise
CONFIDENCE = 0.99  # y / x
TOLERANCE = 0.05
PRINTED = {(0.1, 100.0): 1.02, (0.1, 1_000.0): 1.0002}
COLUMNS = (
    "epsilon",
    "x",
    "printed: mean of Y/X over y/x",
    "Theorem 2: mean over y/x",
    "the same where X > x/2",
    "Theorem 2: standard deviation",
    "the same where X > x/2",
    "2.5 %",
    "97.5 %",
    f"within {TOLERANCE}",
)
_GRID = 400_001


def taylor(epsilon: float, x: float) -> tuple[float, float]:
    """The mean of Y/X over y/x and its variance by Theorem 2; neither is finite in truth."""
    scales = 2 / (epsilon * x) ** 2
    return 1 + scales, scales * (1 + CONFIDENCE**2)


def cut_off(epsilon: float, x: float) -> tuple[float, float]:
    """The same where X is above x/2, which is finite: Y has the mean y and the variance 2 b^2, whatever X is."""
    drawn = (np.arange(_GRID) + 0.5) / _GRID
    shown = x + np.where(drawn < 0.5, 1, -1) * np.log(2 * np.minimum(drawn, 1 - drawn)) / epsilon
    inverse = x / shown[shown > x / 2]
    squared = (CONFIDENCE**2 + 2 / (epsilon * x) ** 2) * float((inverse**2).mean())
    mean = float(inverse.mean())
    return mean, squared - (CONFIDENCE * mean) ** 2


def interval(epsilon: float, x: float) -> tuple[float, float]:
    """What Y/X stays between in 95 % of all draws."""
    low, high = (quantile(share, epsilon=epsilon, x=x, y=CONFIDENCE * x) for share in (0.025, 0.975))
    return low, high


def _quotients(setting: Setting) -> Result:
    rows: list[tuple[Cell, ...]] = []
    for number, epsilon in enumerate(EPSILONS):
        for scales in SCALES:
            x = scales / epsilon
            mean, variance = taylor(epsilon, x)
            cut, spread = cut_off(epsilon, x)
            near = success(TOLERANCE, epsilon=epsilon, x=x, y=CONFIDENCE * x)
            printed = PRINTED.get((epsilon, x))
            law = *interval(epsilon, x), near
            rows.append((epsilon, x, printed, mean, cut, variance**0.5, spread**0.5, *law))
        setting.tell((number + 1) / len(EPSILONS))
    needed = enough(TOLERANCE, epsilon=EPSILONS[0])
    factor = needed * TOLERANCE * EPSILONS[0]
    return Result(
        columns=COLUMNS,
        rows=tuple(rows),
        figures=(("quotients", _figure(rows)),),
        ours=f"At epsilon = 0.1 and y = {CONFIDENCE} x, 95 % of the quotients lie between {_told(rows, 100, 7)} and "
        f"{_told(rows, 100, 8)} at x = 100, and between {_told(rows, 1_000, 7)} and {_told(rows, 1_000, 8)} at x = "
        f"1,000. Where X is above x/2 the mean is {_told(rows, 100, 4, 3)} and {_told(rows, 1_000, 4, 4)} times y/x. "
        f"From x = {factor:.1f} / (tolerance epsilon) on the quotient is within the tolerance with 95 %: "
        f"{needed:,.0f} for {TOLERANCE} at epsilon = 0.1",
        data="no data: the law of the quotient, summed over quantiles of the noise",
    )


def _told(rows: list[tuple[Cell, ...]], x: float, place: int, digits: int = 2) -> str:
    """A number at the first epsilon."""
    (row,) = (row for row in rows if row[:2] == (EPSILONS[0], x))
    return f"{float(row[place] or 0):.{digits}f}"


def _figure(rows: list[tuple[Cell, ...]]) -> Figure:
    own = [row for row in rows if row[0] == EPSILONS[0]]
    curves = tuple(
        Curve(label=label, points=tuple((float(row[1] or 0), float(row[place] or 0)) for row in own), dashed=dashed)
        for label, place, dashed in (
            ("2.5 %", 7, False),
            ("97.5 %", 8, False),
            ("mean by Theorem 2, over y/x", 3, True),
        )
    )
    return Figure(title="Y/X at epsilon = 0.1, y = .99 x", x="x", y="Y/X", curves=curves, log_x=True)


DIFFERENTIAL_INFERENCE = Item(
    name="differential-inference",
    paper="[WWFW] section 2.1, Theorem 2 and Corollary 1",
    line="the quotient of two noisy counts: how near it is to the confidence of a rule",
    claim="E[Y/X] is y/x times 1 + 2 b^2 / x^2, which is 1.02 for epsilon = 0.1 and x = 100 and 1.0002 for x = 1,000, "
    "and the variance is 2 b^2 / x^2 (1 + (y/x)^2), which is small in these cases: noise does not hide a rule of many "
    "people.",
    differs="X has a positive density at 0, so the quotient has neither a mean nor a variance, whatever x is: the "
    "printed ones are values of a Taylor series. They are near what is left where X is cut off at x/2 from about x = "
    "10 / epsilon on for the mean and 20 / epsilon for the variance; a simulated variance is whatever it happens to "
    "be. At x = 100 and epsilon = 0.1 the quotient is off by up to a half, which is not small. The corollary holds by "
    "quantiles. Both answers together cost 2 epsilon. How releases fare, whose noise is not fresh in every count, is "
    "what the audit's attack `ratio` measures.",
    run=_quotients,
    whole=True,
)
