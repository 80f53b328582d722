"""What a release of randomized responses states, promises and says, and how it is checked and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import PolicyError, ReleaseError
from discreet.ground.exact import exact
from discreet.release.family import Change, Changes, Content, Words, of_guarantee
from discreet.release.fields import Fields, field_of
from discreet.release.phrases_1 import ASKING, again_warning, promise
from discreet.release.promised import guarantee_changes
from discreet.release.statement import Manifest, Statement, whole_numbers
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files
from discreet.verifier.stated import fraction, keys, whole
from discreet.verifier.tables import Shape, check_tables, in_order

ROWS = "data/responses.parquet"
NOTION = "randomized response"


@dataclass(frozen=True, kw_only=True)
class ResponsePrivacy:
    """No value is more than `ratio` times as probable to be shown for one true value as for another."""

    keep: Fraction
    values: int

    @property
    def other(self) -> Fraction:
        """The probability of each value that is not the true one."""
        return (1 - self.keep) / (self.values - 1)

    @property
    def ratio(self) -> Fraction:
        return self.keep / self.other

    def as_json(self) -> dict[str, Any]:
        return {"notion": NOTION, "keep": str(self.keep), "values": self.values, "ratio": str(self.ratio)}


@dataclass(frozen=True, kw_only=True)
class StatedResponse:
    keep: Fraction
    kind: ClassVar[str] = "response"

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "keep": str(self.keep)}


@dataclass(frozen=True, kw_only=True)
class ResponseNumbers:
    rows: int

    def as_json(self) -> dict[str, Any]:
        return {"rows": self.rows}


ResponseStatement = Statement[StatedResponse, ResponsePrivacy, ResponseNumbers]
ResponseManifest = Manifest[StatedResponse, ResponsePrivacy, ResponseNumbers]


def files_of(statement: ResponseStatement) -> tuple[str, ...]:
    return (ROWS,)


def fields_of(statement: ResponseStatement, path: str) -> Fields:
    return [field_of(statement.schema, name) for name in statement.schema.columns]


def mechanism_from_json(data: Mapping[str, Any]) -> StatedResponse:
    match data:
        case {"kind": "response", "keep": str(keep), **rest} if not rest:
            return StatedResponse(keep=exact("keep", keep))
        case _:
            raise ReleaseError("the mechanism must state its kind and keep, and nothing else")


def guarantee_from_json(data: Any, mechanism: StatedResponse) -> ResponsePrivacy:
    match data:
        case {"notion": "randomized response", "keep": str(keep), "values": int(values), "ratio": str(ratio), **rest}:
            kept = exact("keep", keep)
            if not rest and type(values) is int and 1 < values < 10**9 and 0 < kept < 1:
                found = ResponsePrivacy(keep=kept, values=values)
                if found.ratio == exact("ratio", ratio):
                    return found
    raise PolicyError("guarantee must be that of randomized response, with keep, values and their ratio")


def numbers_from_json(block: Mapping[str, Any]) -> ResponseNumbers:
    return ResponseNumbers(**whole_numbers(block, "rows"))


def check_schema(files: Files) -> str | None:
    shape = Shape(columns=files.schema.columns, most=whole(files.block["rows"], "rows"))
    return check_tables(files, {ROWS: shape})


def check_rows(files: Files) -> str | None:
    """As many rows as stated, in the order of the domains."""
    domains = files.schema.domains
    if not in_order(files, "responses", [(name, domains[name].encoding) for name in files.schema.columns]):
        return f"the rows of {ROWS} are not in the order of the domains"
    seen = files.engine.rows("SELECT count(*) FROM responses")[0][0]
    stated = whole(files.block["rows"], "rows")
    return None if seen == stated else f"{ROWS} has {seen:,} rows, the manifest states {stated:,}"


def check_promise(files: Files) -> str | None:
    """The guarantee is that of the stated parameter over the sensitive domain."""
    values = len(files.schema.domains[files.schema.sensitive])
    keep = fraction(keys(files.block["mechanism"], "mechanism", "kind", "keep")["keep"], "keep")
    promised = keys(files.block["guarantee"], "guarantee", "notion", "keep", "values", "ratio")
    ratio = keep * (values - 1) / (1 - keep)
    stated = (fraction(promised["keep"], "keep"), promised["values"], fraction(promised["ratio"], "ratio"))
    if stated != (keep, values, ratio) or ratio <= 1:
        return "the guarantee is not the one that the stated parameter gives"
    return None


CHECKS = (
    *FIRST,
    Claim("schema", check_schema, "only declared columns, every cell in its domain", first=True),
    Claim("rows", check_rows, "the stated number of rows, in the order of the domains"),
    Claim("promise", check_promise, "the promise follows from the stated parameter"),
    *LAST,
)
NOT_CHECKABLE = ("that every value was kept or exchanged by a secret coin",)


def facts_1(guarantee: ResponsePrivacy, continued: bool) -> dict[str, Any]:
    return {
        "notion": NOTION,
        "words": f"A value is at most {float(guarantee.ratio):.4g} times as probable to stand in a person's row if it "
        "is the true one as if it is not.",
        "adversary": "Anyone who knows the person's row.",
        "inequality": "Pr(y shown | x true) <= ratio Pr(y shown | z true)",
        "unit": "one row of the table",
        "not_covered": ["Quasi-identifiers are published as they are.", "A second release of the same people."],
        **again_warning(continued),
    }


def readme_1(statement: ResponseStatement, facts: Mapping[str, Any]) -> str:
    return f"""# A release of {statement.numbers.rows:,} responses
{promise(facts, seeded=statement.seeded)}
## How to count

{ASKING}"""


WORDS = {1: Words(facts=of_guarantee(facts_1), readme=readme_1)}


def _guarantees(a: Content, b: Content) -> Iterator[Change]:
    meanings = {"keep": "how often the truth is told", "ratio": "how much likelier the truth is"}
    return guarantee_changes(a.get("guarantee", {}), b.get("guarantee", {}), meanings, plain=("ratio",))


CHANGES = Changes(main=ROWS, together=lambda _a, _b: "two answers of the same people", guarantee=_guarantees)
