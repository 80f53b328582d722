"""The checks of a release of pairs, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.pairs.course import Course, course_of
from discreet.release.diffgen.pairs.fit import fit_of
from discreet.release.diffgen.pairs.layout import setting_of
from discreet.release.diffgen.pairs.manifest import COLUMNS, PAIRS
from discreet.release.diffgen.pairs.read import PairTables, read_pairs
from discreet.release.diffgen.pairs.tables import pair_tables
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.diffgen.checks import NOT_CHECKABLE as NOT_CHECKABLE
from discreet.verifier.files import Files

PairFiles = Files
_UNITS, _SHARE = 1.0, 1e-6  # by which a count may differ from the fit: rounding, and another machine's arithmetic


def _read(files: PairFiles) -> PairTables:
    """Both tables as numbers."""
    return read_pairs(files.manifest)


def _course(files: PairFiles) -> Course:
    """The walk that the measurements took; raises ReleaseError where there is none."""
    found = files.once(_read)
    return course_of(setting_of(files.manifest.statement.mechanism.epsilon, found.taxonomies), found.measured)


def check_schema(files: PairFiles) -> str | None:
    """Both tables have exactly the rows and columns that the domains, the noisy counts and the rounds give."""
    files.once(_read)
    return None


def check_promise(files: PairFiles) -> str | None:
    """What the parts cost adds up to epsilon exactly, and every part is the one that the walk asks for."""
    mechanism, guarantee = files.manifest.statement.mechanism, files.manifest.statement.guarantee
    if mechanism.epsilon != guarantee.epsilon:
        return "the guarantee is not for the epsilon that the mechanism states"
    if not guarantee.holds or not guarantee.counts_cost:
        return "the parts do not add up to epsilon, or something that was counted cost nothing"
    found = files.once(_read)
    parts = files.once(_course).parts([each.name for each in found.taxonomies], found.measured)
    return None if parts == guarantee.parts else "the parts of epsilon are not those of such a release"


def check_choices(files: PairFiles) -> str | None:
    """Every round chose a table that its share was worth, or nothing, and they went on until epsilon was spent."""
    files.once(_course)
    return None


def check_model(files: PairFiles) -> str | None:
    """Every COUNT is what the model says that fits the measurements."""
    found = files.once(_read)
    model = fit_of(found.measured, files.once(_course)).model
    for taxonomy, own, stated in zip(found.taxonomies, model.margins, found.columns, strict=True):
        if _differ(own, stated):
            return f"COUNT of {taxonomy.name} in {COLUMNS} is not the fit of what was measured"
    for number, (table, counts) in enumerate(zip(pair_tables(model), found.pairs, strict=True), start=1):
        if _differ(table, counts):
            return f"COUNT of table {number} in {PAIRS} is not the fit of what was measured"
    return None


def _differ(fitted: Floats, stated: Ints) -> bool:
    """Whether a table is another than the fitted one, beyond rounding."""
    allowed = _UNITS + _SHARE * float(fitted.sum()) * UNIT
    return bool((np.abs(stated - fitted * UNIT) > allowed).any())


CHECKS = (
    *FIRST,
    Claim(
        "schema",
        check_schema,
        "only declared columns, cells of the public domains, and groups that follow from the noisy counts",
        first=True,
    ),
    Claim("choices", check_choices, "every round chose a table that its share was worth", first=True, share=0.5),
    Claim("promise", check_promise, "the parts of epsilon add up exactly"),
    Claim("model", check_model, "every count is the fit of what was measured", share=2.0),
    *LAST,
)
