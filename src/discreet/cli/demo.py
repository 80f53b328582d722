"""discreet demo: the whole story on a hospital that does not exist."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any, cast

import pyarrow as pa
import typer

from discreet.cli.options import AsJson
from discreet.cli.show import bar, design_of, estimate_row, guarded, say, show_bars, show_json, show_table
from discreet.datasets.hospital import write_hospital
from discreet.engine.duck.database import Database
from discreet.errors import ReleaseError
from discreet.estimate.estimate import Estimate
from discreet.estimate.release import Release
from discreet.guarantee.words import percent
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.publish import plan as plan_table
from discreet.mechanism.publish import publish
from discreet.schema.policy import Policy
from discreet.table.read import read_table
from discreet.table.table import Table as Rows
from discreet.verifier.verify import Verdict, verify

EXAMPLE = "Example: discreet demo --keep hospital"
QUESTIONS = (
    "disease = 'Hypertension' AND gender = 'F' AND age > 60",
    "disease IN ('Flu', 'Asthma') AND age < 18",
    "(disease = 'Migraine' AND gender = 'F') OR (disease = 'Back pain' AND gender = 'M')",
    "disease = 'HIV' AND age BETWEEN 20 AND 40",
)
_MEANING = (
    "The estimate is learned: from all buckets together, how diseases go with the other columns. Its interval holds if",
    "the model does. 'Without model' holds over the publisher's coins, whatever the table is like; it is wide for a",
    "disease that must hide in large buckets.",
)
NEXT = (  # with the custodian's own table
    ("discreet init my.csv -o my.toml", "drafts a policy: read it, and decide where it says DECIDE"),
    ("discreet check my.csv --policy my.toml", "says everything that is wrong with it, with lines"),
    ("discreet plan my.csv --policy my.toml", "says what would be published, and what it costs"),
    ("discreet publish my.csv --policy my.toml -o release", "makes the folder that may leave the house"),
    ("discreet verify release", "checks the promise from its files alone"),
    ('discreet query release "..."', "counts, with an interval; discreet query --help says how to ask"),
)


@guarded
def demo(
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="A new folder for the table, the policy and the release.", show_default=False),
    ] = None,
    patients: Annotated[int, typer.Option(min=2_000, max=10_000_000, help="How many patients.")] = 20_000,
    as_json: AsJson = False,
) -> None:
    """Publish, verify and ask a synthetic hospital table, with the true counts beside."""
    if keep is not None and keep.exists():
        raise ReleaseError(f"folder ({keep}) must not exist yet; choose another name")
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary) / "hospital"
        series = None if keep else folder.parent / "demo.series"  # what is not kept need not be remembered
        story = _story(folder, patients, series, quiet=as_json)
    if as_json:
        show_json(story)
        return
    say()
    say("Next, with a table of your own", style="bold")
    for number, (command, why) in enumerate(NEXT, start=1):
        say(f"  {number}. {command:<50} {why}")
    if keep:
        say(f"Everything of this demo is in {keep}.")


def _story(folder: Path, patients: int, series: Path | None, *, quiet: bool) -> dict[str, Any]:
    data, policy_file = write_hospital(folder, patients)
    policy = Policy.load(policy_file)
    table = read_table(data, policy)
    plan = cast("BucketPlan", plan_table(table, policy))  # the demo's own policy says so
    if not quiet:
        _show_table(table, plan)
    release = publish(table, policy, to=folder / "release", series=series)
    verdict = verify(folder / "release")
    truths = _truths(data)
    with bar() as progress:
        release.follow(progress)
        answers = dict(zip(QUESTIONS, release.count_many(QUESTIONS), strict=True))
    if not quiet:
        _show_release(release, verdict)
        _show_answers(answers, truths)
    table.close()
    release.close()
    return {
        "rows": release.rows,
        "classes": [{"size": size, "buckets": buckets} for size, buckets in plan.classes],
        "loss": plan.loss,
        "verified": verdict.holds,
        "questions": [
            {"question": question, **answer.as_json(), "truth": truths[question]}
            for question, answer in answers.items()
        ],
    }


def _show_table(table: Rows, plan: BucketPlan) -> None:
    say(f"A hospital's table: {table.rows:,} patients (none of them real)", style="bold")
    say(
        "name, ssn, age, gender, zipcode, ward, disease; nobody should learn a patient's disease from what is "
        "published."
    )
    say()
    say("How many patients have each disease", style="bold")
    show_bars(table.histogram)
    say()
    say("What the policy tolerates", style="bold")
    hiv, flu = plan.tolerance["HIV"], plan.tolerance["Flu"]
    say(f"  HIV may be inferred with a probability of at most {percent(hiv)}; Flu ({percent(flu)}) is not sensitive;")
    say("  every other disease: at most 8 times its share plus 2 %.")
    say()
    say("The plan", style="bold")
    for line in plan.lines():
        say(line)


def _show_release(release: Release, verdict: Verdict) -> None:
    say()
    say("The release: two tables that share nothing but a bucket id", style="bold")
    with Database(paths=[release.path]) as engine:
        for name in ("qit", "st"):
            _show_rows(
                engine.arrow(f"SELECT * FROM '{release.path / 'data' / name}.parquet' LIMIT 3"),
                f"{name}.parquet",
            )
    say(release.facts["words"])
    say()
    say("Verified from the files alone", style="bold")
    say(str(verdict))


def _show_rows(rows: pa.Table, title: str) -> None:
    say(f" {title}", style="italic")
    show_table(rows.column_names, [list(map(str, row.values())) for row in rows.to_pylist()])


def _show_answers(answers: dict[str, Estimate], truths: dict[str, int]) -> None:
    say()
    say(
        "Four questions to the release (the true count is known here only because the demo owns the table)",
        style="bold",
    )
    show_table(
        ("question", "estimate", "95 % interval", "certainly", "without model", "truth"),
        [
            (question, *estimate_row(answer), design_of(answer), f"{truths[question]:,} {answer.unit}")
            for question, answer in answers.items()
        ],
    )
    for line in _MEANING:
        say(line)


def _truths(data: Path) -> dict[str, int]:
    with Database(paths=[data]) as engine:
        rows = f"read_csv('{data}', types = {{'zipcode': 'VARCHAR'}})"
        return {question: engine.rows(f"SELECT count(*) FROM {rows} WHERE {question}")[0][0] for question in QUESTIONS}
