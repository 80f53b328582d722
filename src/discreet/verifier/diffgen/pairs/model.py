"""The model of a release of pairs: fitted again as analysts have it told, and held against every COUNT.

The fit is the publisher's own code. A count that is fitted otherwise breaks no promise: it tells an analyst less well
what was measured, which stands beside it, and which the walk was checked from.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.pairs.course import course_of
from discreet.release.diffgen.pairs.fit import fit_of
from discreet.release.diffgen.pairs.measured import Candidate, Level, Measured, Round
from discreet.release.diffgen.pairs.tables import pair_tables
from discreet.release.diffgen.pairs.walk import Setting
from discreet.verifier.diffgen.pairs.found import COLUMNS, PAIRS, Found
from discreet.verifier.diffgen.pairs.stated import Choice
from discreet.verifier.diffgen.rows import UNIT

_UNITS, _SHARE = 1.0, 1e-6  # by which a count may differ from the fit: rounding, and another machine's arithmetic


def check_model(found: Found) -> str | None:
    """Every COUNT is what the model says that fits the measurements."""
    sizes, ordered = (tuple(map(len, found.taxonomies)), tuple(each.ordered for each in found.taxonomies))
    setting = Setting(epsilon=found.stated.spent.epsilon, sizes=sizes, ordered=ordered)
    rounds = tuple(map(_round, found.stated.rounds, found.rounds))
    measured = Measured(total=found.stated.total, ones=found.ones, rounds=rounds, again=found.again)
    model = fit_of(measured, course_of(setting, measured)).model
    for name, own, stated in zip(found.names, model.margins, found.columns, strict=True):
        if _differ(own, stated):
            return f"COUNT of {name} in {COLUMNS} is not the fit of what was measured"
    for number, (table, counts) in enumerate(zip(pair_tables(model), found.pairs, strict=True), start=1):
        if _differ(table, counts):
            return f"COUNT of table {number} in {PAIRS} is not the fit of what was measured"
    return None


def _round(chosen: Choice | None, noisy: Ints | None) -> Round:
    if chosen is None:
        return Round()
    one, two = (Level.GROUPS if coarse else Level.CELLS for coarse in chosen.grouped)
    return Round(Candidate(*chosen.places, (one, two)), noisy)


def _differ(fitted: Floats, stated: Ints) -> bool:
    """Whether a table is another than the fitted one, beyond rounding."""
    allowed = _UNITS + _SHARE * float(fitted.sum()) * UNIT
    return bool((np.abs(stated - fitted * UNIT) > allowed).any())
