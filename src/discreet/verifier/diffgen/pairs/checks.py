"""The checks of a release of pairs, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.diffgen.pairs.model import check_model
from discreet.verifier.diffgen.pairs.tables import found_in
from discreet.verifier.diffgen.pairs.walk import parts_of
from discreet.verifier.diffgen.stated import Parts
from discreet.verifier.diffgen.unshown import NOT_CHECKABLE as NOT_CHECKABLE
from discreet.verifier.files import Files


def _parts(files: Files) -> Parts:
    """What every part cost by the walk that the measurements took; raises ReleaseError where there is none."""
    return parts_of(files.once(found_in))


def check_schema(files: Files) -> str | None:
    """Both tables have exactly the rows and columns that the domains, the noisy counts and the rounds give."""
    files.once(found_in)
    return None


def check_choices(files: Files) -> str | None:
    """Every round chose a table that its share was worth, or nothing, and they went on until epsilon was spent."""
    files.once(_parts)
    return None


def check_promise(files: Files) -> str | None:
    """What the parts cost adds up to epsilon exactly, and every part is the one that the walk asks for."""
    spent = files.once(found_in).stated.spent
    if spent.broken or spent.parts == files.once(_parts):
        return spent.broken
    return "the parts of epsilon are not those of such a release"


CHECKS = (
    *FIRST,
    Claim(
        "schema",
        check_schema,
        "only declared columns, cells of the public domains, and groups that follow from the noisy counts",
        first=True,
    ),
    Claim("choices", check_choices, "every round chose a table that its share was worth", first=True, share=0.5),
    Claim("promise", check_promise, "the parts of epsilon add up exactly, and each is the one that the walk asks for"),
    Claim(
        "model",
        lambda files: check_model(files.once(found_in)),
        "every count is the fit of what was measured",
        share=2.0,
    ),
    *LAST,
)
