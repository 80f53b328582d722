"""The fourth family: it lives in the tests, and no file of the package knows it."""

from __future__ import annotations

from discreet.release.family import Family
from response.estimate import ResponseRelease, Unbiased
from response.mechanism import Response
from response.release import (
    CHANGES,
    CHECKS,
    NOT_CHECKABLE,
    WORDS,
    fields_of,
    files_of,
    guarantee_from_json,
    mechanism_from_json,
    numbers_from_json,
)

RESPONSE = Family(
    name="response",
    mechanisms={Response.kind: Response},
    files=files_of,
    fields=fields_of,
    mechanism=mechanism_from_json,
    guarantee=guarantee_from_json,
    numbers=numbers_from_json,
    number_names=("rows",),
    checks=CHECKS,
    not_checkable=NOT_CHECKABLE,
    words=WORDS,
    changes=CHANGES,
    reader=ResponseRelease,
    estimators={Unbiased.name: Unbiased},
    holds="rows",
)
