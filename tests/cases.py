"""Every mechanism as the suites for all families see it: one case each, over the same ward of people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import discreet
from discreet.schema.domain import Integers, Listed
from discreet.schema.mechanisms import Mechanism

ROWS = 120
PUBLISHED = ("age", "gender", "postcode", "disease")


class Unproven(NamedTuple):
    """What a release states and its files cannot show: where in the block, what else may stand there, and why."""

    place: tuple[str, ...]
    other: Any
    why: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """A mechanism in one of its variants, and what the suites must know of it.

    `any_order`: the same rows in another order are the same release. `views`: how many states of the table the promise
    covers. `charged`: any number of states, for each costs epsilon. `free`: columns in which one cell may be another
    one of its domain and the whole another true release. `unproven`: what verify takes as it is stated. `escapes`: what
    a stranger's bytes make asking raise beside a DiscreetError: a finding, for which one test is marked.
    """

    name: str
    mechanism: Callable[[], Mechanism]
    tables: tuple[str, ...]
    unit: str
    any_order: bool = True
    views: int = 1
    charged: bool = False
    public_rows: int | None = None
    free: tuple[str, ...] = PUBLISHED
    unproven: tuple[Unproven, ...] = ()
    escapes: tuple[type[Exception], ...] = ()

    def __str__(self) -> str:
        return self.name


def tolerance() -> discreet.Tolerance:
    return discreet.Tolerance(theta=2, floor="1/10", values={"HIV": "1/4"})


TUNING = Unproven(("mechanism", "tuning"), "paper", "any probabilities that keep the promise may be chosen")
SCORE = Unproven(("mechanism", "score"), "max", "any score may choose values: what the choice costs is stated")
AGREE = "counts that agree may have been made to agree in another way"

CASES = (
    Case(
        name="buckets",
        mechanism=lambda: discreet.Buckets(tolerance=tolerance()),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
        unproven=(
            Unproven(("mechanism", "sizes"), "two", "sizes that keep the tolerances may come from any plan"),
            Unproven(("mechanism", "max_size"), 40, "no bucket was as large as was allowed"),
            Unproven(("mechanism", "composition"), "round-robin", "buckets do not show who was put into them how"),
        ),
    ),
    Case(
        name="anatomy",
        mechanism=lambda: discreet.Anatomy(l=2),
        tables=("qit", "st"),
        unit="people",
        any_order=False,
    ),
    Case(
        name="alphabeta",
        mechanism=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.2),
        tables=("view",),
        unit="distinct tuples",
        unproven=(TUNING,),
    ),
    Case(
        name="several views",
        mechanism=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.3, adversary="independent", views=3),
        tables=("view", "earlier"),
        unit="distinct tuples",
        views=3,
        unproven=(TUNING,),
    ),
    Case(
        name="records",
        mechanism=lambda: discreet.AlphaBeta(prior=0.02, posterior=0.2, slots=8),
        tables=("view",),
        unit="records",
        public_rows=ROWS,
        free=(*PUBLISHED, "SLOT"),
        unproven=(TUNING, Unproven(("schema", "public_rows"), 121, "one row more is within what chance explains")),
    ),
    Case(
        name="frapp",
        mechanism=lambda: discreet.Frapp(prior=0.05, posterior=0.5),
        tables=("view",),
        unit="records",
        public_rows=ROWS,
    ),
    Case(
        name="diffgen",
        mechanism=lambda: discreet.DiffGen(epsilon=1),
        tables=("leaves", "tables"),
        unit="people",
        charged=True,
        free=(),
        unproven=(SCORE, Unproven(("mechanism", "consistency"), "none", AGREE)),
        escapes=(UnicodeDecodeError,),
    ),
    Case(
        name="diffgen choices",
        mechanism=lambda: discreet.DiffGen(epsilon=2, guide="exponential", specializations=3),
        tables=("leaves", "tables"),
        unit="people",
        charged=True,
        free=(),
        unproven=(
            SCORE,
            Unproven(("mechanism", "consistency"), "paper", AGREE),
            Unproven(("levels",), 3, "the tree is not published, and a path with fewer counts has less noise on it"),
        ),
        escapes=(UnicodeDecodeError,),
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


def policy_of(case: Case, folder: Path, name: str = "ward.toml") -> discreet.Policy:
    """The case's policy, saved to a file and loaded again, so that its series lies beside it."""
    policy = discreet.Policy(
        schema=ward_schema(case.public_rows),
        mechanism=case.mechanism(),
        identifiers=("fullname", "insurance_no"),
        person="bed_tag",
    )
    return discreet.Policy.load(policy.save(folder / name))


def publish(source: object, policy: discreet.Policy, to: Path, **options: object) -> Path:
    """Read, publish and let go of everything."""
    table = discreet.read_table(source, policy)
    try:
        discreet.publish(table, policy, to=to, **options).close()
    finally:
        table.close()
    return to


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
