"""The JSON Schema that editors use says the same as the loader."""

import tomllib

import jsonschema
import pytest

from discreet import Policy
from discreet.datasets.hospital import write_hospital
from discreet.schema.json_schema import json_schema
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
