"""Make golden releases: `python tests/golden/make.py [NAME ...] [--all] [--again] [--amend NUMBER]`.

Without names, those that are not there yet. One that is there is made anew with `--again` alone, and not at all from
version 0.1.0 on (README.md here). The coins are secret and are forgotten with the temporary folder, so a release that
is made anew is another one. Nobody in these tables is real.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from asking import answers_of, stated_by, write_amended, write_answers

import discreet
from discreet import (
    AlphaBeta,
    Anatomy,
    Buckets,
    Dates,
    Decimals,
    DiffGen,
    Frapp,
    Integers,
    Listed,
    Pairs,
    Tolerance,
    hierarchy_of_bands,
    hierarchy_of_dates,
    hierarchy_of_decimals,
    published_at,
)
from discreet.schema.domain import Domain, own_domain

HERE = Path(__file__).parent
DISEASES = ("Flu", "Asthma", "Measles", "HIV")
SHARES = (0.4, 0.3, 0.2, 0.1)
POSTCODES = ("0213", "0214", "0310", "9001")
HIERARCHY = tuple((each, each[:2] + "**", "*") for each in POSTCODES)
TRIES = 20  # until coins give what a golden is to show


# Tables


@dataclass(frozen=True, kw_only=True)
class Ward:
    """Public domains, people who do not exist, and what is asked about them."""

    schema: discreet.Schema
    rows: int
    questions: tuple[str, ...]
    seed: int = 1
    shares: tuple[float, ...] = SHARES  # of the sensitive values

    def table(self) -> pa.Table:
        """The same people every time: the sensitive value goes with the first column, so that answers tell something.

        Where cells may be missing, one in ten is.
        """
        coins = np.random.default_rng(self.seed)
        first, *others, sensitive = self.schema.columns
        known = {name: _known(self.schema.domains[name]) for name in self.schema.columns}
        codes = {name: coins.integers(0, len(known[name]), self.rows) for name in (first, *others)}
        chosen = coins.choice(len(self.shares), self.rows, p=self.shares)
        old = codes[first] * 2 >= len(known[first])
        codes[sensitive] = np.where(old & (chosen == 0) & (coins.random(self.rows) < 0.5), 2, chosen)
        columns = {}
        for name in self.schema.columns:
            gone = (coins.random(self.rows) < 0.1) & self.schema.domains[name].missing
            values = [None if lost else known[name][each] for each, lost in zip(codes[name], gone, strict=True)]
            texts = own_domain(self.schema.domains[name]).type == "text"
            columns[name] = pa.array(values, pa.string() if texts else None)
        return pa.table(columns)


def _known(domain: Domain) -> list[Any]:
    return [value for value in own_domain(domain) if value is not None]


def _ward(rows: int, *questions: str, sensitive: Any = None, public_rows: int | None = None, **domains: Any) -> Ward:
    name, domain = sensitive or ("disease", Listed(values=DISEASES))
    schema = discreet.Schema(
        quasi_identifiers=tuple(domains), sensitive=name, domains={**domains, name: domain}, public_rows=public_rows
    )
    return Ward(schema=schema, rows=rows, questions=questions)


def _with_rows(ward: Ward, public_rows: int) -> Ward:
    return replace(ward, schema=replace(ward.schema, public_rows=public_rows))


GENDER = Listed(values=("M", "F"))
WARD = _ward(
    120,
    "",
    "age < 40",
    "disease = 'HIV'",
    "age < 40 AND disease = 'HIV'",
    "gender = 'F' AND disease IN ('Flu', 'Asthma')",
    "gender = 'M' OR disease = 'Flu'",
    "NOT (gender = 'F' AND disease = 'HIV')",
    "age BETWEEN 30 AND 50 AND postcode LIKE '02%'",
    "age > 12 * visits",
    "age % 10 = visits OR disease = 'Measles'",
    "disease <> 'Flu' AND visits * 10 < age",
    "age < 20 AND age > 40",
    "SELECT COUNT(*) FROM release WHERE age < 40 GROUP BY disease",
    age=Integers(low=18, high=77),
    visits=Integers(low=0, high=5),
    gender=GENDER,
    postcode=Listed(values=POSTCODES, paths=HIERARCHY),
)
GAPS = _ward(  # cells may be missing, in quasi-identifiers of text and of numbers, and in the sensitive column
    120,
    "",
    "gender IS NULL",
    "disease IS NULL",
    "gender IS NOT NULL AND disease = 'HIV'",
    "gender IS NULL OR disease IS NULL",
    "gender = 'F' AND disease IS NULL",
    "NOT (gender = 'F')",
    "NOT (disease = 'Flu' OR gender IS NULL)",
    "age IS NULL AND disease IN ('Flu', 'Asthma')",
    "age < 4 * visits",
    "age > visits AND disease <> 'Flu'",
    "gender = 'M' OR age >= 6",
    "SELECT COUNT(*) FROM release WHERE disease IS NOT NULL GROUP BY gender",
    sensitive=("disease", Listed(values=DISEASES, missing=True)),
    age=Integers(low=0, high=9, missing=True),
    visits=Integers(low=0, high=3),
    gender=Listed(values=("M", "F"), missing=True),
)
_AGES = Integers(low=18, high=77)
KINDS = _ward(  # decimals, months, a list in order, and a column that is published in bands
    120,
    "",
    "level > 5.5",
    "level = 5.5 AND disease = 'HIV'",
    "level(level, 1) = '5.0-5.5'",
    "level * 2 + 0.5 > 12 AND disease <> 'Flu'",
    "admitted >= '2020-03'",
    "admitted BETWEEN '2019-12' AND '2020-01' AND disease = 'Flu'",
    "level(admitted, 1) = '2020' AND disease IN ('Flu', 'Asthma')",
    "stage > 'mild'",
    "NOT (stage BETWEEN 'none' AND 'mild') AND disease = 'Measles'",
    "age = 'old' AND disease = 'HIV'",
    "level IS NULL OR age > 'young'",
    "SELECT COUNT(*) FROM release WHERE stage >= 'mild' GROUP BY level(admitted, 1)",
    "SELECT COUNT(*) FROM release GROUP BY level",
    age=published_at(replace(_AGES, paths=hierarchy_of_bands(_AGES, {"young": 18, "middle": 40, "old": 60})), 1),
    level=Decimals(
        low=Decimal("4.0"),
        high=Decimal("7.5"),
        step=Decimal("0.5"),
        missing=True,
        paths=hierarchy_of_decimals(Decimals(low=Decimal(4), high=Decimal("7.5"), step=Decimal("0.5")), [1]),
    ),
    admitted=Dates(
        low="2019-11-01",
        high="2020-04-30",
        by="month",
        paths=hierarchy_of_dates(Dates(low="2019-11-01", high="2020-04-30", by="month"), ["year"]),
    ),
    stage=Listed(values=("none", "mild", "grave"), ordered=True),
)
STAGES = _ward(  # the sensitive column has whole numbers
    120,
    "",
    "age < 40",
    "stage = 4",
    "stage >= 2 AND age < 40",
    "stage > visits",
    "age > 15 * stage",
    "stage + visits = 4",
    "gender = 'F' OR stage = 1",
    "NOT (stage = 1)",
    "stage BETWEEN 2 AND 3 AND gender = 'M'",
    "stage IN (1, 4) AND visits * stage < 6",
    "age % 2 = 0 AND stage <> 2",
    "SELECT COUNT(*) FROM release GROUP BY stage",
    sensitive=("stage", Integers(low=1, high=4)),
    age=Integers(low=18, high=77),
    visits=Integers(low=0, high=5),
    gender=GENDER,
)
CELL = _ward(  # so small a domain that a view has few random tuples
    60,
    "",
    "age < 3",
    "disease = 'HIV'",
    "age < 3 AND disease = 'HIV'",
    "gender = 'F' AND disease IN ('Flu', 'Asthma')",
    "gender = 'M' OR disease = 'Flu'",
    "NOT (gender = 'F' AND disease = 'HIV')",
    "age BETWEEN 2 AND 4 AND visits >= 1",
    "age > 2 * visits",
    "age % 3 = visits OR disease = 'Measles'",
    "disease <> 'Flu' AND visits < age",
    "age < 1 AND age > 2",
    "SELECT COUNT(*) FROM release WHERE disease = 'Flu' GROUP BY gender",
    age=Integers(low=0, high=5),
    visits=Integers(low=0, high=3),
    gender=GENDER,
)
MANY = replace(WARD, rows=300)
STRAINS = replace(  # frequent values and rare ones
    _ward(
        400,
        "",
        "age < 40",
        "strain = 'A'",
        "strain = 'H'",
        "age < 40 AND strain = 'A'",
        "gender = 'F' AND strain IN ('B', 'G')",
        "gender = 'M' OR strain = 'C'",
        "NOT (gender = 'F' AND strain = 'D')",
        "age > 15 * visits AND strain <> 'E'",
        "age < 20 AND age > 40",
        "SELECT COUNT(*) FROM release WHERE age < 40 GROUP BY strain",
        sensitive=("strain", Listed(values=tuple("ABCDEFGH"))),
        age=Integers(low=18, high=77),
        visits=Integers(low=0, high=5),
        gender=GENDER,
    ),
    shares=(0.2, 0.16, 0.12, 0.17, 0.15, 0.13, 0.05, 0.02),
)
WIDE = replace(  # more whole numbers than DiffGen takes one by one
    WARD, schema=replace(WARD.schema, domains={**WARD.schema.domains, "age": Integers(low=18, high=317)})
)


# Releases


@dataclass(frozen=True, kw_only=True)
class Golden:
    """One release of a series; without a name, it is there only for those that come after it.

    `shows` says of the block `discreet` whether the coins gave what the golden is for. One that is `refused` leaves
    nothing but what its series remembers.
    """

    name: str = ""
    ward: Ward
    mechanism: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    shows: Callable[[Mapping[str, Any]], bool] = lambda block: True
    refused: bool = False


def _tolerance(**values: Any) -> Tolerance:
    return Tolerance(theta=2, floor="1/10", values=values)


PLAIN = Buckets(tolerance=_tolerance())
MISSING = Buckets(tolerance=Tolerance(floor="1/2", values={None: "1/4"}), assignment="near")
DGAMMA: dict[str, Any] = {"prior": "0.02", "posterior": "0.2"}
VIEWS = AlphaBeta(prior="0.02", posterior="0.3", adversary="independent", views=3)
SOURCE = {
    "age": {"0-1": "0.2", "2-5": "0.8"},
    "disease": {"Flu": "0.4", "Asthma": "0.3", "Measles": "0.2", "HIV": "0.1"},
}
CHOICES: dict[str, Any] = {"epsilon": 2, "guide": "exponential", "specializations": 3}


def _chosen(block: Mapping[str, Any]) -> int:
    """How many tables of pairs a release has."""
    return sum(each is not None for each in block["rounds"])


def _grouped(block: Mapping[str, Any]) -> bool:
    """Whether one of them is by groups."""
    return any("groups" in each["levels"] for each in filter(None, block["rounds"]))


def _alone(name: str, ward: Ward, mechanism: Any, **more: Any) -> tuple[Golden, ...]:
    return (Golden(name=name, ward=ward, mechanism=mechanism, **more),)


SERIES: tuple[tuple[Golden, ...], ...] = (
    _alone("buckets-optimal", WARD, PLAIN),
    _alone("buckets-multi", WARD, replace(PLAIN, sizes="multi")),
    _alone("buckets-two", WARD, replace(PLAIN, sizes="two")),
    _alone("buckets-one", WARD, replace(PLAIN, sizes="one")),
    _alone("buckets-min-size", WARD, replace(PLAIN, min_size=6, max_size=30)),
    _alone("buckets-named", WARD, Buckets(tolerance=_tolerance(HIV="1/4", Measles="0.35", Flu=1))),
    _alone("buckets-integers", STAGES, Buckets(tolerance=Tolerance(floor="1/2", values={4: "1/3"}))),
    _alone(
        "buckets-missing-csv",
        GAPS,
        Buckets(tolerance=Tolerance(floor="1/2", values={None: "1/4"})),
        options={"csv": True},
    ),
    _alone("buckets-round-robin", WARD, replace(PLAIN, composition="round-robin")),
    _alone("buckets-seeded", WARD, PLAIN, options={"seed": 7}),
    (
        Golden(ward=replace(WARD, seed=2), mechanism=PLAIN),
        Golden(name="buckets-continued", ward=WARD, mechanism=PLAIN, options={"new_series": True}),
    ),
    _alone("anatomy", WARD, Anatomy(l=2)),
    _alone("alphabeta-exclusive", CELL, AlphaBeta(**DGAMMA)),
    _alone("alphabeta-independent", CELL, AlphaBeta(**DGAMMA, adversary="independent"), options={"csv": True}),
    _alone("alphabeta-paper", CELL, AlphaBeta(**DGAMMA, adversary="independent", tuning="paper")),
    _alone("alphabeta-missing", GAPS, AlphaBeta(**DGAMMA)),
    (
        Golden(name="alphabeta-views-1", ward=CELL, mechanism=VIEWS),
        Golden(name="alphabeta-views-2", ward=replace(CELL, seed=2), mechanism=VIEWS),
    ),
    _alone("alphabeta-slots", _with_rows(CELL, 60), AlphaBeta(**DGAMMA, slots=4)),
    _alone("alphabeta-prior", _with_rows(CELL, 60), AlphaBeta(prior=1, posterior="0.6", adversary="independent")),
    _alone(
        "alphabeta-source",
        CELL,
        AlphaBeta(
            **DGAMMA,
            adversary="independent",
            source=SOURCE,
        ),
    ),
    _alone("frapp", _with_rows(CELL, 60), Frapp(prior="0.05", posterior="0.5")),
    _alone(
        "diffgen-leaves", MANY, DiffGen(epsilon=6), shows=lambda block: block["specializations"] > 1 < block["leaves"]
    ),
    _alone("diffgen-tables", WARD, DiffGen(epsilon="0.01"), shows=lambda block: block["specializations"] == 0),
    _alone("diffgen-missing", GAPS, DiffGen(epsilon=4), options={"csv": True}),
    _alone("diffgen-given", MANY, DiffGen(epsilon=4, specializations=2, consistency="none")),
    _alone("diffgen-target", _with_rows(MANY, 300), DiffGen(epsilon=4, target="gender")),
    _alone("diffgen-score-max", MANY, DiffGen(epsilon=4, score="max")),
    _alone("diffgen-exponential-exact", MANY, DiffGen(**CHOICES)),
    _alone("diffgen-exponential-paper", MANY, DiffGen(**CHOICES, consistency="paper")),
    _alone("diffgen-exponential-none", MANY, DiffGen(**CHOICES, consistency="none", score="max")),
    _alone("diffgen-exponential-default", WARD, DiffGen(epsilon=2, guide="exponential")),
    (
        Golden(ward=WIDE, mechanism=DiffGen(epsilon="0.5")),
        Golden(name="diffgen-second-wide", ward=replace(WIDE, seed=2), mechanism=DiffGen(epsilon=1)),
    ),
    # Those above speak in version 1 of the words.
    _alone("alphabeta-words-2", _with_rows(CELL, 60), AlphaBeta(**DGAMMA, slots=4)),
    _alone("frapp-words-2", _with_rows(CELL, 60), Frapp(prior="0.05", posterior="0.5")),
    _alone("diffgen-words-2", WARD, DiffGen(epsilon=2)),
    _alone("diffgen-words-2-rows", _with_rows(WARD, 120), DiffGen(epsilon=2)),
    _alone("buckets-words-2", WARD, Buckets(tolerance=_tolerance(HIV="1/4", Measles="0.35", Flu=1))),
    _alone("buckets-words-2-ceiling", WARD, Buckets(tolerance=Tolerance(theta=8, floor="1/10", ceiling="3/5"))),
    _alone(
        "buckets-words-2-missing",
        GAPS,
        Buckets(tolerance=Tolerance(theta=2, floor="1/10", values={None: 1}, ceiling="7/10")),
        options={"csv": True},
    ),
    _alone("anatomy-words-2", WARD, Anatomy(l=2)),
    _alone("buckets-words-3", WARD, Buckets(tolerance=Tolerance(theta=2, floor="1/4", ceiling="4/5"))),
    _alone("buckets-words-3-even", WARD, replace(PLAIN, slack=0, composition="even")),
    _alone("anatomy-words-3", WARD, Anatomy(l=2)),
    _alone("buckets-near", WARD, replace(PLAIN, assignment="near", window=30)),
    (
        Golden(ward=GAPS, mechanism=replace(MISSING, window=4), refused=True),
        Golden(name="buckets-near-refused", ward=GAPS, mechanism=replace(MISSING, window=20), options={"csv": True}),
    ),
    _alone("buckets-near-ruled", MANY, replace(PLAIN, sizes="two", slack=0, composition="even", assignment="near")),
    _alone("buckets-known", WARD, replace(PLAIN, known=1)),
    _alone(
        "buckets-known-named", WARD, Buckets(tolerance=_tolerance(HIV="1/4", Flu=1), known=2), options={"csv": True}
    ),
    _alone("buckets-known-near", WARD, replace(PLAIN, assignment="near", window=40, known=1)),
    _alone("buckets-fakes", STRAINS, Buckets(tolerance=Tolerance(theta=8, floor="1/50"), fakes=1)),
    _alone(
        "buckets-fakes-strict",
        STRAINS,
        Buckets(tolerance=Tolerance(floor="1/4"), fakes=1, slack=0),
        options={"csv": True},
        shows=lambda block: block["certainty"] != "1",
    ),
    _alone("buckets-known-fakes", STRAINS, Buckets(tolerance=Tolerance(floor="1/3"), known=1, fakes=2)),
    _alone(
        "buckets-known-fakes-missing",
        GAPS,
        Buckets(tolerance=Tolerance(floor="2/3", values={None: "1/2"}), known=1, fakes=3, composition="even"),
    ),
    _alone("buckets-fakes-integers", STAGES, Buckets(tolerance=Tolerance(theta=2, floor="1/4"), fakes=2, sizes="two")),
    _alone("anatomy-near", WARD, Anatomy(l=2, assignment="near", window=30)),
    _alone("alphabeta-words-3", CELL, AlphaBeta(**DGAMMA)),
    _alone("alphabeta-words-3-slots", _with_rows(CELL, 60), AlphaBeta(**DGAMMA, slots=4)),
    _alone("alphabeta-words-3-source", CELL, AlphaBeta(**DGAMMA, adversary="independent", source=SOURCE)),
    (
        Golden(ward=CELL, mechanism=VIEWS),
        Golden(name="alphabeta-words-3-views", ward=replace(CELL, seed=2), mechanism=VIEWS),
    ),
    _alone("frapp-words-3", _with_rows(CELL, 60), Frapp(prior="0.05", posterior="0.5")),
    _alone("diffgen-words-3", WARD, DiffGen(epsilon=2)),
    _alone("diffgen-words-3-target", _with_rows(MANY, 300), DiffGen(epsilon=4, target="gender")),
    _alone(
        "buckets-kinds", KINDS, Buckets(tolerance=_tolerance(HIV="1/4", Measles="0.35", Flu=1)), options={"csv": True}
    ),
    _alone("alphabeta-kinds", KINDS, AlphaBeta(**DGAMMA)),
    _alone("frapp-kinds", _with_rows(KINDS, 120), Frapp(prior="0.05", posterior="0.5")),
    _alone("diffgen-kinds", KINDS, DiffGen(epsilon=4)),
    _alone("diffgen-kinds-target", KINDS, DiffGen(epsilon=4, target="level")),
    _alone("pairs", MANY, Pairs(epsilon=10), shows=lambda block: _chosen(block) > 1 and _grouped(block)),
    _alone("pairs-kinds", KINDS, Pairs(epsilon=16), options={"csv": True}, shows=lambda block: _chosen(block) > 1),
    _alone(
        "pairs-again",
        WARD,
        Pairs(epsilon=8),
        options={"csv": True},
        shows=lambda block: (
            _chosen(block) and None in block["rounds"] and "tables again" in block["guarantee"]["parts"]
        ),
    ),
    _alone("pairs-none", GAPS, Pairs(epsilon="0.2"), shows=lambda block: not _chosen(block)),
)
NAMES = tuple(each.name for series in SERIES for each in series if each.name)


# Making


def make(series: tuple[Golden, ...], to: Path) -> None:
    """Make the releases of one series, check them, and put each with its answers at its place."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for attempt in range(TRIES):
            paths = [(place / f"{attempt}.series", place / f"{attempt}-{each.name}") for each in series]
            if all(_published(each, *own) for each, own in zip(series, paths, strict=True)):
                break
        else:
            raise SystemExit(f"{series[-1].name}: {TRIES} tries did not give what it is to show")
        for each in filter(lambda each: each.name, series):
            made, target = place / f"{attempt}-{each.name}", to / each.name
            verdict = discreet.verify(made, allow_seeded="seed" in each.options)
            if not verdict.holds:
                raise SystemExit(f"{each.name}: {verdict}")
            answers = answers_of(made, each.ward.questions)
            if target.exists():
                shutil.rmtree(target)
            target.mkdir(parents=True)
            shutil.move(made, target / "release")
            write_answers(answers, target / "answers.json")
            print(each.name)


def _published(golden: Golden, series: Path, to: Path) -> bool:
    """Publish one; whether the coins gave what it is to show."""
    policy = discreet.Policy(schema=golden.ward.schema, mechanism=golden.mechanism)
    with closing(discreet.read_table(golden.ward.table(), policy)) as table:
        try:
            discreet.publish(table, policy, to=to, series=series, **golden.options).close()
        except discreet.Infeasible:
            return golden.refused
    return golden.shows(stated_by(to))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make golden releases; those of one series are made together.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; without, those that are not there yet")
    parser.add_argument("--all", action="store_true", help="every one")
    parser.add_argument("--again", action="store_true", help="make anew what is there already")
    parser.add_argument(
        "--amend", metavar="NUMBER", help="a decision: write the answers that it changed beside the old"
    )
    parser.add_argument("--to", type=Path, default=HERE, help="another folder to put them in")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"not known: {', '.join(sorted(unknown))}; known are {', '.join(NAMES)}")
    there = {name for name in NAMES if (given.to / name).exists()}
    if given.amend:
        for name in sorted(there):
            print(name, write_amended(given.to / name, given.amend))
        return
    wanted = set(NAMES) if given.all else set(given.names) or set(NAMES) - there
    chosen = [series for series in SERIES if wanted & {each.name for each in series}]
    together = {each.name for series in chosen for each in series}
    if (old := sorted(together & there)) and not given.again:
        sys.exit(f"there already: {', '.join(old)}; say --again to make them anew, and say why in CHANGELOG.md")
    for series in chosen:
        make(series, given.to)


if __name__ == "__main__":
    main()
