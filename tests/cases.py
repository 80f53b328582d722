"""Every mechanism as the suites for all families see it: one case each, over the same ward of people."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from response.family import RESPONSE
from response.mechanism import Response

import discreet
from discreet.families import register
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.mechanisms import Mechanism

register(RESPONSE)  # the fourth family, which no file of the package knows
ROWS = 120
PUBLISHED = ("age", "gender", "postcode", "disease")
SHARED = Path(__file__).parents[2] / "shared" / "data"  # public tables beside the repository, where they are there
NOT_SHARED = "the data of ../shared is not here"
REQUIRE_TOOLS = "DISCREET_REQUIRE_TOOLS"  # set to 1, as in .ci/run: a test that lacks a tool fails


def needs_shared(*names: str) -> pytest.MarkDecorator:
    """The mark of a test of the data of ../shared: skipped where one of these is not there, and counted at the end."""
    return pytest.mark.skipif(not all((SHARED / name).exists() for name in names), reason=NOT_SHARED)


class Tool(NamedTuple):
    """What some tests run beside Python: what is said where it is not there, and what brings it."""

    gone: str
    command: str


TOOLS = {  # by the name of the program; `make tools` knows the same ones
    "strace": Tool("strace is not here", "apt-get install strace"),
    "cc": Tool("no C compiler here", "apt-get install gcc libc6-dev"),
    "ssh-keygen": Tool("ssh-keygen is not here", "apt-get install openssh-client"),
}
ATHERIS = "atheris is not here (it has wheels for CPython 3.11 to 3.13 on Linux on x86-64)"


def needs_tool(name: str) -> pytest.MarkDecorator:
    """The mark of a test that runs a tool of the system: skipped where it is not there, and counted at the end.

    Where tools are required, the skip is a failure (conftest.py). So is `pytest.skip(TOOLS[name].gone)` in a test.
    """
    return pytest.mark.skipif(shutil.which(name) is None, reason=TOOLS[name].gone)


class Unproven(NamedTuple):
    """What a release states and its files cannot show: where in the block, what else may stand there, and why."""

    place: tuple[str, ...]
    other: Any
    why: str


def few(number: int) -> int:
    """How many generated examples: so many in the slow suite, a tenth of them in the ordinary run."""
    return number if os.environ.get("DISCREET_SLOW") else max(10, number // 10)


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A mechanism in one of its variants, and what the suites must know of it.

    `other` is the mechanism with another promise. `any_order`: the same rows in another order are the same release.
    `views`: how many states of the table the promise covers. `charged`: any number of states, for each costs epsilon.
    `reserved` are names that no published column may have. `free`: columns in which one cell may be another one of its
    domain and the whole another true release. `unproven`: what verify takes as it is stated. `rounding`: by how much a
    count that is checked may be another one, for machines that round otherwise.
    """

    name: str
    mechanism: Callable[[], Mechanism]
    other: Callable[[], Mechanism]
    tables: tuple[str, ...]
    unit: str
    any_order: bool = True
    views: int = 1
    charged: bool = False
    public_rows: int | None = None
    reserved: tuple[str, ...] = ("BID", "COUNT")
    variant: bool = False  # of a mechanism that another case has: it runs in the slow suite
    free: tuple[str, ...] = PUBLISHED
    unproven: tuple[Unproven, ...] = ()
    rounding: float = 0.0

    @property
    def refuses(self) -> bool:
        """Whether a second state of the table is refused."""
        return self.views == 1 and not self.charged

    def __str__(self) -> str:
        return self.name


def tolerance() -> discreet.Tolerance:
    return discreet.Tolerance(theta=2, floor="1/10", values={"HIV": "1/4"})


SCORE = Unproven(
    ("mechanism", "score"), "max", "values were chosen from noisy tables, or by secret coins, and neither is published"
)
AGREE = "what was counted is not published, only what was made of it: counts that agree, whichever way"
PLANNED = (
    Unproven(("mechanism", "sizes"), "multi", "how sizes were looked for leaves no mark, only how many there are"),
    Unproven(("mechanism", "max_size"), 40, "no bucket was as large as was allowed"),
    Unproven(("mechanism", "tolerance", "ceiling"), "9/10", "no tolerance was as high as the ceiling"),
    Unproven(("mechanism", "tolerance", "values"), {}, "the rule gives the value the tolerance that is named for it"),
)

CASES = (
    Case(
        name="buckets",
        mechanism=lambda: discreet.Buckets(tolerance=tolerance()),
        other=lambda: discreet.Buckets(tolerance=tolerance(), max_size=40),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=PLANNED,
    ),
    Case(
        name="anatomy",
        mechanism=lambda: discreet.Anatomy(l=2),
        other=lambda: discreet.Anatomy(l=3),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
    ),
    Case(
        name="near buckets",
        mechanism=lambda: discreet.Buckets(tolerance=tolerance(), assignment="near", window=60),
        other=lambda: discreet.Buckets(tolerance=tolerance(), assignment="near", window=110),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=PLANNED,
    ),
    Case(
        name="near anatomy",
        variant=True,
        mechanism=lambda: discreet.Anatomy(l=2, assignment="near", window=60),
        other=lambda: discreet.Anatomy(l=2, assignment="near", window=110),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
    ),
    Case(
        name="known buckets",
        variant=True,
        mechanism=lambda: discreet.Buckets(tolerance=tolerance(), known=1),
        other=lambda: discreet.Buckets(tolerance=tolerance(), known=2),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=PLANNED,
    ),
    Case(
        name="buckets with fakes",
        mechanism=lambda: discreet.Buckets(tolerance=tolerance(), fakes=1),
        other=lambda: discreet.Buckets(tolerance=tolerance(), fakes=2),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=PLANNED,
    ),
    Case(
        name="known and fakes",
        variant=True,
        mechanism=lambda: discreet.Buckets(tolerance=tolerance(), known=1, fakes=2),
        other=lambda: discreet.Buckets(tolerance=tolerance(), known=1, fakes=1),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=PLANNED,
    ),
    Case(
        name="known near buckets",
        variant=True,
        mechanism=lambda: discreet.Buckets(tolerance=tolerance(), assignment="near", window=60, known=1),
        other=lambda: discreet.Buckets(tolerance=tolerance(), assignment="near", window=60, known=2),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=PLANNED,
    ),
    Case(
        name="alphabeta",
        mechanism=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.2),
        other=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.3),
        tables=("view",),
        unit="distinct tuples",
    ),
    Case(
        name="several views",
        mechanism=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.3, adversary="independent", views=3),
        other=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.3, adversary="independent", views=2),
        tables=("view", "earlier"),
        unit="distinct tuples",
        views=3,
    ),
    Case(
        name="records",
        variant=True,
        mechanism=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.2, slots=8),
        other=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.2, slots=9),
        tables=("view",),
        unit="records",
        public_rows=ROWS,
        reserved=("BID", "COUNT", "SLOT"),
        free=(*PUBLISHED, "SLOT"),
    ),
    Case(
        name="frapp",
        mechanism=lambda: discreet.Frapp(prior=0.05, posterior=0.5),
        other=lambda: discreet.Frapp(prior=0.05, posterior=0.6),
        tables=("view",),
        unit="records",
        public_rows=ROWS,
    ),
    Case(
        name="diffgen",
        mechanism=lambda: discreet.DiffGen(epsilon=1),
        other=lambda: discreet.DiffGen(epsilon=0.5),
        tables=("leaves", "tables"),
        unit="people",
        charged=True,
        reserved=("BID", "COUNT", "ATTRIBUTE", "VALUE", "CELL"),
        free=(),
        unproven=(SCORE, Unproven(("mechanism", "consistency"), "none", AGREE)),
    ),
    Case(
        name="diffgen choices",
        variant=True,
        mechanism=lambda: discreet.DiffGen(epsilon=2, guide="exponential", specializations=3),
        other=lambda: discreet.DiffGen(epsilon=1, guide="exponential", specializations=3),
        tables=("leaves", "tables"),
        unit="people",
        charged=True,
        reserved=("BID", "COUNT", "ATTRIBUTE", "VALUE", "CELL"),
        free=(),
        unproven=(SCORE, Unproven(("mechanism", "consistency"), "paper", AGREE)),
    ),
    Case(
        name="pairs",
        mechanism=lambda: discreet.Pairs(epsilon=16),
        other=lambda: discreet.Pairs(epsilon=8),
        tables=("columns", "pairs"),
        unit="people",
        charged=True,
        free=(),
        unproven=(Unproven(("total",), 100, "noise may have given any total that all else follows from"),),
        rounding=0.0025,
    ),
    Case(
        name="response",
        mechanism=lambda: Response(keep="3/4"),
        other=lambda: Response(keep="4/5"),
        tables=("responses",),
        unit="people",
        any_order=False,
    ),
)


def ward_schema(public_rows: int | None = None) -> discreet.Schema:
    """Published columns with domains that every family can use."""
    postcodes = ("9001", "0213", "0214")
    return discreet.Schema(
        quasi_identifiers=("age", "gender", "postcode"),
        sensitive="disease",
        domains={
            "age": Integers(low=0, high=110),
            "gender": Listed(values=("M", "F")),
            "postcode": Listed(values=postcodes, paths=tuple((each, each[:2] + "**", "*") for each in postcodes)),
            "disease": Listed(values=("Measles", "Asthma", "HIV", "Flu")),
        },
        public_rows=public_rows,
    )


def apart(domain: Domain) -> Domain:
    """The same domain, which keeps values apart that look alike."""
    alike = tuple(each.values for each in domain.twins if each.sure) if isinstance(domain, Listed) else ()
    return replace(domain, distinct=alike) if alike else domain


def ward_frame(rows: int = ROWS, seed: int = 5) -> pd.DataFrame:
    """A ward of people who do not exist; everything that must stay private is easy to find again."""
    coins = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "fullname": [f"Zyxwvut Qqqson{i:04d}" for i in range(rows)],
            "insurance_no": [f"9-77-{i:06d}-K" for i in range(rows)],
            "bed_tag": [f"bedtag_{i:05d}" for i in range(rows)],
            "age": coins.integers(0, 105, rows),
            "gender": coins.choice(["M", "F"], rows),
            "postcode": coins.choice(["9001", "0213", "0214"], rows),
            "disease": coins.choice(["Measles", "Asthma", "HIV", "Flu"], rows, p=[0.3, 0.3, 0.1, 0.3]),
            "doctor_remark": [f"remark <<{i:05d}>> on the patient" for i in range(rows)],
            "bill_in_cents": coins.permutation(rows) + 81_726_354,
        }
    )


def only(holds: Callable[[Case], object], reason: str) -> pytest.MarkDecorator:
    """The mark of a claim about some cases: the others are skipped, with the reason."""
    skipped = pytest.mark.skip(reason=reason)
    params = [pytest.param(case, id=str(case), marks=() if holds(case) else skipped) for case in CASES]
    return pytest.mark.parametrize("case", params, indirect=True)


def crossed(
    name: str, things: Sequence[object], *, every: int = 1, gap: Callable[[Case, object], str] = lambda case, thing: ""
) -> pytest.MarkDecorator:
    """The mark of a claim about many things: the first `every` of them for all cases, all of them for the first case.

    `gap` gives the reason why something makes no sense for a case, or nothing.
    """
    params = []
    for number, case in enumerate(CASES):
        for thing in things[: every if number else None]:
            why = gap(case, thing)
            marks = pytest.mark.skip(reason=why) if why else ()
            params.append(pytest.param(case, thing, id=f"{case}-{_words(thing)}", marks=marks))
    return pytest.mark.parametrize(("case", name), params, indirect=["case"])


def _words(thing: object) -> str:
    """What a thing is called in the name of a test."""
    if isinstance(thing, tuple | dict):
        return "-".join(map(_words, thing.items() if isinstance(thing, dict) else thing))
    return thing.__name__ if isinstance(thing, type) else str(thing).encode("unicode_escape").decode()


def retold(
    schema: discreet.Schema, names: Mapping[str, str], values: Mapping[str, Mapping[str, str]] | None = None
) -> discreet.Schema:
    """A schema with columns under other names, and with other texts for some listed values of a column."""

    def told(name: str, domain: Domain) -> Domain:
        known = (values or {}).get(name, {})
        return replace(domain, values=tuple(known.get(value, value) for value in domain)) if known else domain

    return discreet.Schema(
        quasi_identifiers=tuple(names.get(name, name) for name in schema.quasi_identifiers),
        sensitive=names.get(schema.sensitive, schema.sensitive),
        domains={names.get(name, name): told(name, domain) for name, domain in schema.domains.items()},
        public_rows=schema.public_rows,
    )


def policy_of(
    case: Case,
    folder: Path,
    name: str = "ward.toml",
    *,
    schema: discreet.Schema | None = None,
    mechanism: Mechanism | None = None,
) -> discreet.Policy:
    """The case's policy, with its schema or mechanism replaced where one is given."""
    return saved(
        discreet.Policy(
            schema=schema or ward_schema(case.public_rows),
            mechanism=mechanism or case.mechanism(),
            identifiers=("fullname", "insurance_no"),
            person="bed_tag",
        ),
        folder / name,
    )


def saved(policy: discreet.Policy, path: Path) -> discreet.Policy:
    """A policy saved to a file and loaded again, so that its series lies beside it."""
    return discreet.Policy.load(policy.save(path))


def opened(source: object, policy: discreet.Policy, to: Path, **options: object) -> discreet.Release:
    """Read, publish, and leave the release open; a table that is open already stays so."""
    if isinstance(source, discreet.Table):
        return discreet.publish(source, policy, to=to, **options)
    table = discreet.read_table(source, policy)
    try:
        return discreet.publish(table, policy, to=to, **options)
    finally:
        table.close()


def publish(source: object, policy: discreet.Policy, to: Path, **options: object) -> Path:
    """Read, publish and let go of everything."""
    opened(source, policy, to, **options).close()
    return to


def usual_series() -> Path:
    """The series of whoever publishes without naming one: each test is somebody else."""
    return Path(os.environ["XDG_DATA_HOME"]) / "discreet" / "people.series"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def sources(frame: pd.DataFrame, folder: Path, row_group: int = 7) -> dict[str, object]:
    """The same rows as a frame, as CSV, as Parquet and as an Arrow table."""
    folder.mkdir(exist_ok=True)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", index=False, row_group_size=row_group)
    return {
        "pandas": frame,
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
        "arrow": pa.Table.from_pandas(frame),
    }


class Broken(Exception):
    """What tests inject."""


def break_at(patch: pytest.MonkeyPatch, owner: object, name: str, error: type[BaseException], calls: int = 0) -> None:
    """Let a function work `calls` times, then run it once more and raise."""
    real, seen = getattr(owner, name), []

    def breaking(*args: object, **options: object) -> object:
        result = real(*args, **options)
        seen.append(name)
        if len(seen) > calls:
            raise error("injected")
        return result

    patch.setattr(owner, name, breaking)


class House:
    """A custodian's folder: a policy, its series, and as many releases as the series allows."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.policy = policy_of(case, folder)
        self.series = folder / "ward.series"

    def publish(self, source: object, name: str, *, policy: discreet.Policy | None = None, **options: object) -> Path:
        """Into the folder of that name, with this series unless another is named."""
        return publish(source, policy or self.policy, self.folder / name, **{"series": self.series, **options})

    def facts(self, name: str) -> dict[str, object]:
        with closing(discreet.open_release(self.folder / name)) as release:
            return dict(release.facts)

    @property
    def remembered(self) -> int:
        """How many releases the series knows."""
        with closing(sqlite3.connect(self.series)) as database:
            return int(database.execute("SELECT count(*) FROM entry").fetchone()[0])
