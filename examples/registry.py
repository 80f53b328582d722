"""A disease registry publishes its table twice, as it grows: true tuples among random ones. Nobody in it is real.

    python examples/registry.py

The promise is made for both views together. The script owns the table, so it can print the true counts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa

import discreet
from discreet.datasets.hospital import DISEASES, ZIPCODES, hospital
from discreet.schema.domain import Integers, Listed

COLUMNS = ("age", "gender", "zipcode", "disease")
QUESTIONS = (
    "disease = 'Hypertension' AND age > 60",
    "disease IN ('Flu', 'Asthma') AND age < 18",
    "disease = 'HIV'",
    "disease = 'HIV' AND gender = 'M' AND zipcode LIKE '0213%'",
)


def main() -> None:
    patients = hospital(20_000)
    with tempfile.TemporaryDirectory() as name:
        folder, policy = Path(name), registry_policy()
        publish(patients.slice(0, 18_000), policy, folder, "spring")
        publish(patients, policy, folder, "autumn")
        ask(folder / "autumn", patients)
        refuse_a_third(patients, policy, folder)


def registry_policy() -> discreet.Policy:
    """A tuple that seemed at most 0.2 % probable is at most 30 % probable to one who has both views."""
    schema = discreet.Schema(
        quasi_identifiers=COLUMNS[:3],
        sensitive="disease",
        domains={
            "age": Integers(low=0, high=110),
            "gender": Listed(values=("F", "M")),
            "zipcode": Listed(values=ZIPCODES),
            "disease": Listed(values=tuple(DISEASES)),
        },
    )
    mechanism = discreet.AlphaBeta(prior="0.002", posterior="0.3", views=2)
    return discreet.Policy(schema=schema, mechanism=mechanism, identifiers=("name", "ssn"), person="ssn")


def publish(patients: pa.Table, policy: discreet.Policy, folder: Path, name: str) -> None:
    """Plan, publish and verify one state of the table."""
    table = discreet.read_table(patients, policy)
    plan = discreet.plan(table, policy)
    print(f"{name}: {plan.tuples:,} distinct tuples; no count is off by more than {plan.error_bound():,.0f}, 19 of 20")
    release = discreet.publish(table, policy, to=folder / name, series=folder / "registry.series")
    table.close()
    print(release.facts["words"])
    release.close()
    verdict = discreet.verify(folder / name)
    assert verdict.holds
    print("the promise holds, says verify\n")


def ask(folder: Path, patients: pa.Table) -> None:
    """Counts of distinct tuples, from the second view: unbiased, and clipped to what is possible."""
    release = discreet.open_release(folder)
    print(f"{'truth':>6} {'unbiased':>9} {'95 % interval':>16}  question")
    for question in QUESTIONS:
        truth, answer = distinct_tuples(patients, question), release.count(question)
        print(f"{truth:>6,} {answer.value:>9,.0f} {answer.shown_interval:>16}  {question}")
        assert answer.bounds[0] <= truth <= answer.bounds[1], "bounds are always true"
        assert abs(answer.value - truth) < 6 * answer.standard_error, "an honest standard error"
        clipped = release.count(question, estimator="clipped")
        assert 0 <= clipped.value <= answer.bounds[1]
    by_gender = release.count_by("gender", where="age > 60")
    together = sum(answer.design.value for _, answer in by_gender)
    assert abs(together - release.count("age > 60").design.value) < 1e-6, "unbiased answers add up"
    release.close()


def refuse_a_third(patients: pa.Table, policy: discreet.Policy, folder: Path) -> None:
    """The promise was made for two views."""
    table = discreet.read_table(patients.slice(100), policy)
    try:
        discreet.publish(table, policy, to=folder / "winter", series=folder / "registry.series")
    except discreet.SeriesRefusal as refusal:
        print(f"\na third view: {str(refusal).split(', the last')[0]} ... refused")
    else:
        raise AssertionError("a third view must be refused")
    finally:
        table.close()
    assert not (folder / "winter").exists()


def distinct_tuples(patients: pa.Table, condition: str) -> int:
    """What only the owner of the table can know."""
    with duckdb.connect() as database:
        database.register("patients", patients)
        wanted = f"SELECT DISTINCT {', '.join(COLUMNS)} FROM patients WHERE {condition}"
        found = database.execute(f"SELECT count(*) FROM ({wanted})").fetchall()
    return int(found[0][0])


if __name__ == "__main__":
    main()
