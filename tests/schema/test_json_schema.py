"""The JSON Schema that editors use says the same as the loader."""

import dataclasses
import json
import subprocess
import sys
import tomllib

import jsonschema
import pytest

from discreet import Policy
from discreet.datasets.hospital import write_hospital
from discreet.schema.json_schema import SHIPPED, json_schema
from discreet.schema.mechanisms import MECHANISMS


@pytest.fixture
def policy_text(tmp_path):
    _, path = write_hospital(tmp_path, 2_000)
    return path.read_text(encoding="utf-8")


def _accepted_by_schema(text: str) -> bool:
    return jsonschema.Draft202012Validator(json_schema()).is_valid(tomllib.loads(text))


def test_the_schema_is_a_schema():
    """It follows the draft that it names."""
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_a_policy_that_loads_is_valid(policy_text, tmp_path):
    """The demo's policy passes both."""
    assert not Policy.check(tmp_path / "hospital.toml")
    assert _accepted_by_schema(policy_text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version = 1", "version = 2"),
        ('sensitive = "disease"', ""),
        ('kind = "buckets"', 'kind = "bucket"'),
        ('sizes = "optimal"', 'sizes = "three"'),
        ("theta = 8", "theta = -8"),
        ("theta = 8", "tehta = 8"),
        ("integers = [0, 110]", "integers = [0]"),
        ("integers = [0, 110]", "integer = [0, 110]"),
        ('values = ["F", "M"]', "values = []"),
        ('values = ["F", "M"]', 'values = ["F", 1]'),
        ('hierarchy = "zipcode.csv"', "hierarchy = 7"),
        ("[domains.gender]", "[domain.gender]"),
        ('sizes = "optimal"', "max_size = 0"),
        ('quasi_identifiers = ["age", "gender", "zipcode"]', 'quasi_identifiers = "age"'),
    ],
)
def test_what_the_schema_refuses_the_loader_refuses(policy_text, tmp_path, old, new):
    """The same mistakes are mistakes for both."""
    assert old in policy_text
    text = policy_text.replace(old, new)
    (tmp_path / "hospital.toml").write_text(text, encoding="utf-8")
    assert not _accepted_by_schema(text)
    assert Policy.check(tmp_path / "hospital.toml")


def test_the_schema_knows_every_mechanism():
    """A mechanism that is registered is one that an editor offers."""
    schema = json_schema()
    offered = [schema["$defs"][each["$ref"].rpartition("/")[2]] for each in schema["properties"]["mechanism"]["oneOf"]]
    assert sorted(each["properties"]["kind"]["const"] for each in offered) == sorted(MECHANISMS)


def test_the_shipped_file_is_the_one_that_is_made():
    """`make schema` was run: what an editor reads is what the mechanisms of the package say."""
    code = "import json, discreet.schema.json_schema as made; print(json.dumps(made.json_schema()))"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == json.loads(made.stdout)


def test_each_mechanism_offers_exactly_its_fields():
    """The keys of a section are the parameters of the mechanism, by the same names."""
    for mechanism in MECHANISMS.values():
        offered = mechanism.json_schema()
        assert set(offered["properties"]) == {field.name for field in dataclasses.fields(mechanism)}, mechanism.kind
        needed = {field.name for field in dataclasses.fields(mechanism) if _has_no_default(field)}
        assert set(offered["required"]) == needed, mechanism.kind


def _has_no_default(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
