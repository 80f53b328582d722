"""A hospital publishes a table about its patients, and an analyst counts in the release. Nobody in it is real.

    python examples/hospital.py

The script owns the table, so it can print the true counts beside the answers. It asserts everything that it says.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa

import discreet
from discreet.datasets.hospital import DISEASES, ZIPCODES, hospital
from discreet.schema.domain import Integers, Listed

OLDER_WOMEN = "gender = 'F' AND age > 60"
QUESTIONS = (
    f"disease = 'Hypertension' AND {OLDER_WOMEN}",
    f"disease = 'Arthritis' AND {OLDER_WOMEN}",
    "disease IN ('Flu', 'Asthma') AND age < 18",
    "(disease = 'Migraine' AND gender = 'F') OR (disease = 'Back pain' AND gender = 'M')",
    "disease = 'HIV' AND age BETWEEN 20 AND 40",
)


def main() -> None:
    patients = hospital(20_000)
    with tempfile.TemporaryDirectory() as folder:
        publish(patients, hospital_policy(), Path(folder))
        check(Path(folder) / "release")
        release = discreet.open_release(Path(folder) / "release")
        ask(release, patients)
        ask_by_disease(release, patients)
        release.close()


def hospital_policy() -> discreet.Policy:
    """What may be published about whom: the same as a policy file, in Python."""
    schema = discreet.Schema(
        quasi_identifiers=("age", "gender", "zipcode"),
        sensitive="disease",
        domains={
            "age": Integers(low=0, high=110),
            "gender": Listed(values=("F", "M")),
            "zipcode": Listed(values=ZIPCODES),
            "disease": Listed(values=tuple(DISEASES)),
        },
    )
    tolerance = discreet.Tolerance(theta=8, floor="0.02", values={"HIV": "0.05", "Flu": 1})
    mechanism = discreet.Buckets(tolerance=tolerance)
    return discreet.Policy(schema=schema, mechanism=mechanism, identifiers=("name", "ssn"), person="ssn")


def publish(patients: pa.Table, policy: discreet.Policy, folder: Path) -> None:
    """Plan, then publish; the series, with the secret key, stays outside the release."""
    table = discreet.read_table(patients, policy)
    plan = discreet.plan(table, policy)
    print(f"{plan.records:,} patients in {plan.buckets:,} buckets: {dict(plan.classes)}; loss {plan.loss:,}")
    release = discreet.publish(table, policy, to=folder / "release", series=folder / "hospital.series")
    assert release.rows == plan.records == patients.num_rows
    assert not set(release.schema.columns) & {"name", "ssn", "ward"}
    print(release.facts["words"], end="\n\n")
    release.close()
    table.close()


def check(release: Path) -> None:
    """What anybody can check who has the folder and nothing else."""
    verdict = discreet.verify(release)
    print(verdict, end="\n\n")
    assert verdict.holds


def ask(release: discreet.Release, patients: pa.Table) -> None:
    """Single questions: the learned answer, the unbiased one beside it, the papers' uniform model, and the truth."""
    print(f"{'truth':>6} {'learned':>8} {'95 % interval':>16} {'unbiased':>9} {'uniform':>8}  question")
    for question in QUESTIONS:
        truth, answer = true_count(patients, question), release.count(question)
        design, model = answer.design, release.count(question, estimator="uniform")
        shown = f"{answer.value:>8,.0f} {answer.shown_interval:>16} {design.value:>9,.0f} {model.value:>8,.0f}"
        print(f"{truth:>6,} {shown}  {question}")
        assert answer.bounds[0] <= truth <= answer.bounds[1], "bounds are always true"
        assert abs(design.value - truth) < 6 * design.standard_error, "an honest standard error, whatever was learned"
    first, truth = release.count(QUESTIONS[0], estimator="uniform"), true_count(patients, QUESTIONS[0])
    assert truth > first.high, "the uniform model does not see that hypertension comes with age, and is sure of it"
    alone = release.count(OLDER_WOMEN)
    assert alone.exact, "quasi-identifiers alone are exact"
    assert alone.value == true_count(patients, OLDER_WOMEN)
    print()


def ask_by_disease(release: discreet.Release, patients: pa.Table) -> None:
    """A table of answers: unbiased ones add up to the exact total, and learned ones are nearer than uniform ones."""
    learned = release.count_by("disease", where=OLDER_WOMEN)
    uniform = release.count_by("disease", where=OLDER_WOMEN, estimator="uniform")
    truths = {disease: true_count(patients, f"disease = '{disease}' AND {OLDER_WOMEN}") for disease in DISEASES}
    print(f"{'truth':>6} {'learned':>8} {'unbiased':>9} {'uniform':>8}  women above 60 with")
    for (group, answer), (_, model) in zip(learned, uniform, strict=True):
        shown = f"{answer.value:>8,.0f} {answer.design.value:>9,.0f} {model.value:>8,.0f}"
        print(f"{truths[group[0]]:>6,} {shown}  {group[0]}")
    total = release.count(OLDER_WOMEN).value
    assert abs(sum(answer.design.value for _, answer in learned) - total) < 1e-3  # design is not cut to the bounds
    held = sum(answer.low <= truths[group[0]] <= answer.high for group, answer in learned)
    print(f"\n{held} of {len(learned)} intervals hold the truth; their designs add up to {total:,.0f}")
    assert held >= 0.6 * len(learned), "19 of 20 are to be expected, if the model holds"
    frequent = ("Hypertension", "Diabetes", "Arthritis", "Asthma", "Fracture", "Migraine", "Depression")
    errors = [
        sum(abs(counts[disease].value - truths[disease]) for disease in frequent) for counts in (learned, uniform)
    ]
    print(f"sum of errors over {len(frequent)} frequent diseases: learned {errors[0]:,.0f}, uniform {errors[1]:,.0f}")
    assert errors[0] < errors[1]


def true_count(patients: pa.Table, condition: str) -> int:
    """What only the owner of the table can know."""
    with duckdb.connect() as database:
        database.register("patients", patients)
        found = database.execute(f"SELECT count(*) FROM patients WHERE {condition}").fetchall()
    return int(found[0][0])


if __name__ == "__main__":
    main()
