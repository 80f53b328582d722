"""Audit releases of public and of made-up tables: what every attack finds, what it costs, and the figures of the docs.

python bench/attacks.py                    every table, every family
python bench/attacks.py --quick            the made-up hospital alone, 10,000 rows
python bench/attacks.py --only census_occ  tables whose name begins so
python bench/attacks.py --figures          write docs/attacks/figures/ anew, from the public tables

CPU seconds of a whole audit stand beside the limit of 300 for 150,000 rows, and beside what `verify` takes of the same
release in the same run. On Adult with shares up to 1/4 the learning attacker must be right for 58 % at least: below
that he is too weak. Where a figure is over its limit the line says OVER, and the bench fails.
The public tables are in ../shared/data; without one, its lines are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from judged import DATA, QUARTER, F
from tables import hospital

import discreet
from discreet.attack.attack import Finding, Group
from discreet.attack.attacks import every_attack
from discreet.attack.figure import drawn
from discreet.attack.report import shown_number
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.schema.mechanisms import Mechanism
from discreet.verifier.verify import verify

FIGURES = Path(__file__).parents[1] / "docs" / "attacks" / "figures"
CPU, ROWS, RIGHT, SEED = 300.0, 150_000, 0.58, 1
KEPT_OUT = 0.1  # of the rows: nobody publishes them
SOURCES = Sources(folder=DATA, quick=False)
OVER: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table and how it is published; `twice`: a second release with other coins is lent to those who intersect."""

    table: str
    name: str
    mechanism: Mechanism
    twice: bool = False


BUCKETS = (
    ("shares up to 1/4", discreet.Buckets(tolerance=QUARTER), True),
    ("theta 8, floor .02", discreet.Buckets(tolerance=F), False),
    ("shares up to 1/4, known 1", discreet.Buckets(tolerance=QUARTER, known=1), False),
    ("shares up to 1/4, fakes 1", discreet.Buckets(tolerance=QUARTER, fakes=1), False),
)
EPSILON = tuple(
    (f"{kind.kind} at epsilon {each}", kind(epsilon=each), False)
    for each in (0.1, 1)
    for kind in (discreet.DiffGen, discreet.Pairs)
)


def views(prior: str) -> tuple[tuple[str, Mechanism, bool], ...]:
    """Both adversaries of alpha-beta; releases with other coins are lent to those who put views together."""
    return tuple(
        (f"alpha-beta, {each}", discreet.AlphaBeta(prior=prior, posterior="0.2", adversary=each), True)
        for each in ("exclusive", "independent")
    )


PUBLISHED = {
    "Adult": (*BUCKETS, *views("0.0005"), *EPSILON),
    "census_occ": (*BUCKETS, *EPSILON),
    "census, four columns": views("0.02"),  # all its columns have too many tuples for the noise
    "hospital": (*BUCKETS, *EPSILON),
}
FOUR = ("Age", "Gender", "Education", "Occupation")


def rows_of(name: str, quick: bool) -> tuple[pa.Table, str] | None:
    """The rows of a table and its sensitive column; None where the table is not here."""
    if name == "hospital":
        return hospital(10_000 if quick else 70_000), "diagnosis"
    file = "adult_full.parquet" if name == "Adult" else "census_occ.parquet"
    if quick or not (DATA / file).is_file():
        return None
    if name == "Adult":
        return SOURCES.adult(), "occupation"
    census = SOURCES.table("OCC")
    return census.select(FOUR) if name == "census, four columns" else census, "Occupation"


def audits(case: Case, rows: pa.Table, sensitive: str) -> tuple[discreet.AuditReport, float, float]:
    """The audit of one release, with people who were kept out; CPU seconds of the audit and of `verify`."""
    out = np.random.default_rng(5).random(len(rows)) < KEPT_OUT
    schema = schema_of(rows, sensitive)
    policy = discreet.Policy(schema=schema, mechanism=case.mechanism)
    with ExitStack() as stack:
        table = stack.enter_context(opened(rows.filter(pa.array(~out)), policy))
        apart = stack.enter_context(opened(rows.filter(pa.array(out)), policy))
        release = stack.enter_context(released(table, case.mechanism, SEED))
        others = [stack.enter_context(released(table, case.mechanism, SEED + 1))] if case.twice else []
        start = time.process_time()
        verify(release.path, allow_seeded=True)
        verified = time.process_time()
        report = discreet.audit(release, table, kept_out=apart, others=others)
        return report, time.process_time() - verified, verified - start


def show(case: Case, report: discreet.AuditReport, cpu: float, verified: float, rows: int) -> None:
    """Every finding of an audit on a line, and what the audit cost."""
    limit = CPU * max(1.0, rows / ROWS)
    print(
        f"\n{case.table}, {case.name}: {rows:,} rows, {cpu:.1f} CPU s ({cpu / max(verified, 0.01):.0f} x verify)",
        end="",
    )
    print(judged(cpu <= limit, f"{case.table}, {case.name}: CPU {cpu:.0f} s"))
    for each in report.findings:
        beside = "" if each.bound is None else f", bound {shown_number(each, float(each.bound))}"
        before = "" if each.baseline is None else f", without {shown_number(each, each.baseline)}"
        out = "" if each.control is None else f", kept out {shown_number(each, each.control.rate)}"
        mark = " covered" if each.covered else ""
        print(f"  {each.title}: {shown_number(each, each.rate.rate)}{beside}{before}{out}{mark}", end="")
        weak = (case.table, case.name, each.title) == ("Adult", BUCKETS[0][0], "learning") and each.rate.rate < RIGHT
        print(judged(not each.beats and not weak, f"{case.table}, {case.name}: {each.title}"))
    for name, why in report.left_out:
        print(f"  {name}: not run, {why}")


def judged(kept: bool, what: str) -> str:
    """Nothing, or OVER, which is remembered."""
    if not kept:
        OVER.append(what)
    return "" if kept else "  OVER"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    panels: dict[str, list[tuple[str, list[Finding]]]] = defaultdict(list)
    for case, rows, sensitive in cases(asked.only, asked.quick):
        report, cpu, verified = audits(case, rows, sensitive)
        show(case, report, cpu, verified, len(rows))
        for name, some in pictured(case, report.findings).items():
            panels[name].append((f"{case.table}, {case.name}", some))
    if asked.figures:
        FIGURES.mkdir(exist_ok=True)
        for name, attack, _ in every_attack():
            if any(each.share for _, some in panels[name] for each in some):
                (FIGURES / f"{name}.svg").write_text(drawn(panels[name], f"{name}: {attack.line}"), encoding="utf-8")
    if OVER:
        print("\nOVER: " + "; ".join(OVER))
    return 1 if OVER else 0


def pictured(case: Case, findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """What figures show of an audit of a public table, by attack; of what is measured t too, which is from 0 to 1."""
    found: dict[str, list[Finding]] = defaultdict(list)
    for each in findings if case.table != "hospital" else ():
        if each.group is not Group.MEASURED:
            found[each.name].append(each)
        elif isinstance(case.mechanism, discreet.Buckets):  # other releases have no people for classes
            found[each.name].append(replace(each, share=each.share or each.details["symbol"] == "t"))
    return found


def cases(only: str, quick: bool) -> Iterator[tuple[Case, pa.Table, str]]:
    """Every release that is asked for, with its rows."""
    for table, published in PUBLISHED.items():
        if table.startswith(only) and (found := rows_of(table, quick)) is not None:
            for name, mechanism, twice in published:
                yield Case(table=table, name=name, mechanism=mechanism, twice=twice), *found


if __name__ == "__main__":
    sys.exit(main())
