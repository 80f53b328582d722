"""The checks of a release of leaves and tables, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import numpy as np

from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.diffgen.division import check_parts
from discreet.verifier.diffgen.leaves import found_in
from discreet.verifier.diffgen.steps import check_steps
from discreet.verifier.diffgen.unshown import NOT_CHECKABLE as NOT_CHECKABLE
from discreet.verifier.files import Files


def check_schema(files: Files) -> str | None:
    """Both tables have exactly the rows and columns that the domains and the generalized values give."""
    files.once(found_in)
    return None


def check_counts(files: Files) -> str | None:
    """No count is negative, and the cells of every generalized value add up to its leaves, exactly, class by class."""
    found = files.once(found_in)
    axes = [cut for cut in found.cuts if len(cut.values) > 1]
    for cut, table in zip(found.cuts, found.tables, strict=True):
        sums = np.zeros((len(cut.values), found.classes), dtype=np.int64)
        np.add.at(sums, cut.groups, table)
        others = tuple(axis for axis, own in enumerate(axes) if own is not cut)
        if not np.array_equal(sums, found.leaves.sum(axis=others).reshape(sums.shape)):
            return f"the cells of {cut.taxonomy.name} do not add up to the leaves"
    return None


CHECKS = (
    *FIRST,
    Claim(
        "schema",
        check_schema,
        "only declared columns, generalized values of the public taxonomies, in a fixed order",
        first=True,
        share=2.0,
    ),
    Claim("counts", check_counts, "no negative count, and tables and leaves add up exactly", share=1.0),
    Claim(
        "promise",
        lambda files: check_parts(files.once(found_in)),
        "the parts of epsilon add up exactly, and each has the share that the rule gives it",
    ),
    Claim(
        "steps",
        lambda files: check_steps(files.once(found_in)),
        "as many specializations, and counts on a record's path, as the values allow",
    ),
    *LAST,
)
