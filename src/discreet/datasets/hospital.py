"""A synthetic hospital: patients who do not exist, with diseases that depend on age, gender and zip code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from discreet.ground.arrays import Floats

# disease: base weight, age at its peak, spread in years, factor for women, ward
DISEASES: dict[str, tuple[float, float, float, float, str]] = {
    "Flu": (19.0, 30, 60, 1.0, "General"),
    "Hypertension": (16.0, 68, 22, 0.9, "Cardiology"),
    "Diabetes": (11.0, 62, 22, 0.8, "General"),
    "Back pain": (10.0, 48, 25, 1.0, "Orthopaedics"),
    "Asthma": (8.0, 20, 30, 1.1, "Pulmonology"),
    "Depression": (7.0, 35, 25, 1.7, "Psychiatry"),
    "Fracture": (6.0, 15, 40, 0.8, "Orthopaedics"),
    "Arthritis": (5.5, 72, 18, 1.5, "Orthopaedics"),
    "Gastritis": (4.5, 45, 30, 1.0, "General"),
    "Migraine": (4.0, 35, 20, 2.2, "Neurology"),
    "Pneumonia": (3.2, 75, 25, 0.8, "Pulmonology"),
    "Heart failure": (3.0, 78, 14, 0.8, "Cardiology"),
    "Stroke": (2.4, 74, 15, 0.9, "Neurology"),
    "Breast cancer": (0.09, 60, 16, 40.0, "Oncology"),
    "Lung cancer": (1.6, 68, 12, 0.6, "Oncology"),
    "Hepatitis": (1.1, 40, 25, 0.7, "General"),
    "Epilepsy": (0.9, 15, 35, 1.0, "Neurology"),
    "HIV": (1.0, 36, 14, 0.4, "General"),
    "Tuberculosis": (0.7, 45, 25, 0.6, "Pulmonology"),
    "Schizophrenia": (0.5, 28, 14, 0.8, "Psychiatry"),
}
ZIPCODES = tuple(f"{prefix}{last}" for prefix in ("0213", "0214", "0221", "1012") for last in range(5))
FIRST_NAMES = (
    "Ada",
    "Ben",
    "Cleo",
    "Dov",
    "Ema",
    "Finn",
    "Gia",
    "Hugo",
    "Ines",
    "Jon",
    "Kim",
    "Lea",
    "Max",
    "Nia",
    "Omar",
    "Pia",
)
LAST_NAMES = (
    "Adler",
    "Brook",
    "Cohen",
    "Duarte",
    "Evans",
    "Fischer",
    "Garcia",
    "Haas",
    "Ito",
    "Jansen",
    "Khan",
    "Lopez",
    "Moreau",
)

POLICY = """\
version = 1

[table]
identifiers = ["name", "ssn"]                     # dropped; even their names stay out of the release
quasi_identifiers = ["age", "gender", "zipcode"]  # published as they are
sensitive = "disease"                             # what must not be inferred
person = "ssn"                                    # one row a person; the loader checks it
                                                  # (ward is not named here, so it is not published)
[domains.age]
integers = [0, 110]

[domains.gender]
values = ["F", "M"]

[domains.zipcode]
hierarchy = "zipcode.csv"

[domains.disease]
values = [
{values}
]

[mechanism]
kind = "buckets"
sizes = "optimal"

[mechanism.tolerance]            # how probable an inference of a value may become:
theta = 8                        # min(1, 8 x the value's share + 0.02),
floor = 0.02
values = {{ HIV = 0.05, Flu = 1 }} # except HIV, at most 5 %, and Flu, which is not sensitive
"""


def hospital(patients: int = 20_000, seed: int = 20_000) -> pa.Table:
    """The table: name, ssn, age, gender, zipcode, ward, disease. The same for the same seed; nobody in it is real."""
    coins = np.random.default_rng(seed)
    age = np.clip(
        np.concatenate([coins.normal(8, 6, patients // 6), coins.normal(52, 22, patients - patients // 6)]),
        0,
        104,
    )
    age = coins.permutation(age.astype(np.int64))
    woman = coins.random(patients) < 0.52
    zipcode = coins.choice(len(ZIPCODES), patients, p=_zipf(len(ZIPCODES)))
    weight = np.empty((patients, len(DISEASES)))
    for column, (base, peak, spread, women, _) in enumerate(DISEASES.values()):
        by_age = 0.06 + np.exp(-(((age - peak) / spread) ** 2))
        by_zip = 1 + 0.7 * np.sin(zipcode * 1.7 + column)
        weight[:, column] = base * by_age * np.where(woman, women, 1.0) * by_zip
    edges = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    drawn = np.minimum((coins.random(patients)[:, None] > edges).sum(axis=1), len(DISEASES) - 1)
    names = list(DISEASES)
    first, last = coins.choice(FIRST_NAMES, patients), coins.choice(LAST_NAMES, patients)
    number = coins.choice(10**8, patients, replace=False)  # so that two hospitals have other patients
    return pa.table(
        {
            "name": [f"{one} {two}" for one, two in zip(first, last, strict=True)],
            "ssn": [f"9{each:08d}" for each in number],  # no real number starts with 9
            "age": age,
            "gender": np.where(woman, "F", "M").tolist(),
            "zipcode": [ZIPCODES[each] for each in zipcode],
            "ward": [DISEASES[names[each]][4] for each in drawn],
            "disease": [names[each] for each in drawn],
        }
    )


def write_hospital(folder: Path, patients: int = 20_000) -> tuple[Path, Path]:
    """Write the table, its policy and the zip codes' hierarchy into a folder; returns the first two paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data, policy = folder / "hospital.csv", folder / "hospital.toml"
    arrow_csv.write_csv(hospital(patients), data)
    lines = [f'  "{name}",' for name in DISEASES]
    policy.write_text(POLICY.format(values="\n".join(lines)), encoding="utf-8")
    rows = [f"{code};{code[:4]}*;{code[:2]}***;*" for code in ZIPCODES]
    (folder / "zipcode.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return data, policy


def _zipf(length: int) -> Floats:
    weight: Floats = 1 / np.sqrt(np.arange(1, length + 1))
    return weight / float(weight.sum())
