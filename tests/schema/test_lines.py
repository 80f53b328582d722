"""A problem with a policy carries the key that it is about, and so names the right line, whatever its words are."""

from pathlib import Path

import pytest

from discreet import Policy
from discreet.errors import Infeasible, PolicyError
from discreet.schema.read import from_the_top

HEAD = """\
version = 1

[table]
quasi_identifiers = ["age", "zip"]
sensitive = "disease"
public_rows = 1000

[domains.age]
integers = [0, 110]

[domains.zip]
values = ["E1", "E2"]

[domains.disease]
values = ["Flu", "HIV", "Cancer"]

[mechanism]
"""
BUCKETS = HEAD + 'kind = "buckets"\nmax_size = 40\n\n[mechanism.tolerance]\ntheta = 4\nfloor = 0.05\n'
ANATOMY = HEAD + 'kind = "anatomy"\nl = 2\n'
DIFFGEN = HEAD + 'kind = "diffgen"\nepsilon = 1\n'
PAIRS = HEAD + 'kind = "pairs"\nepsilon = 1\n'
ALPHABETA = HEAD + 'kind = "alphabeta"\nprior = 0.01\nposterior = 0.2\n'
FRAPP = HEAD + 'kind = "frapp"\nprior = 0.01\nposterior = 0.2\n'
SOURCE = ALPHABETA + "\n[mechanism.source.disease]\nFlu = 0.5\nHIV = 0.1\nCancer = 0.4\n"

# policy, what is replaced, by what, and how the line begins that the problem must name
WRONG = [
    (BUCKETS, "max_size = 40", "max_size = 0", "max_size"),
    (BUCKETS, "max_size = 40", "max_size = 40\nmin_size = 41", "min_size"),
    (BUCKETS, "max_size = 40", "max_size = 40\nmin_size = 999", "min_size"),
    (BUCKETS, "max_size = 40", 'max_size = 40\nsizes = "ten"', "sizes"),
    (BUCKETS, "max_size = 40", 'max_size = 40\ncomposition = "x"', "composition"),
    (BUCKETS, "theta = 4", "theta = -4", "theta"),
    (BUCKETS, "floor = 0.05", 'floor = "much"', "floor"),
    (BUCKETS, "floor = 0.05", "floor = 0.05\nvalues.HIV = 2", "values.HIV"),
    (BUCKETS, "floor = 0.05", 'floor = 0.05\nvalues.HIV = "some"', "values.HIV"),
    (BUCKETS, "floor = 0.05", "floor = 0.05\nvalues.Flue = 0.5", "values.Flue"),
    (BUCKETS, "public_rows = 1000", "public_rows = 0", "public_rows"),
    (BUCKETS, "integers = [0, 110]", "integers = [110, 0]", "integers"),
    (BUCKETS, 'values = ["Flu", "HIV", "Cancer"]', "integers = [0, 9007199254740990]", "[domains.disease]"),
    (ANATOMY, "l = 2", "l = 1", "l ="),
    (ANATOMY, "l = 2", "l = 4", "l ="),
    (DIFFGEN, "epsilon = 1", "epsilon = -1", "epsilon"),
    (DIFFGEN, "epsilon = 1", "epsilon = 1000", "epsilon"),
    (DIFFGEN, "epsilon = 1", 'epsilon = "one"', "epsilon"),
    (DIFFGEN, "epsilon = 1", "epsilon = 1\nspecializations = 0", "specializations"),
    (DIFFGEN, "epsilon = 1", 'epsilon = 1\nscore = "x"', "score"),
    (DIFFGEN, "epsilon = 1", 'epsilon = 1\nconsistency = "paper"', "consistency"),
    (DIFFGEN, "epsilon = 1", 'epsilon = 1\nguide = "x"', "guide"),
    (PAIRS, "epsilon = 1", "epsilon = 0", "epsilon"),
    (PAIRS, "epsilon = 1", "epsilon = 21", "epsilon"),
    (PAIRS, "epsilon = 1", 'epsilon = "one"', "epsilon"),
    (PAIRS, "epsilon = 1", "epsilon = 1\nrounds = 3", "rounds"),
    (DIFFGEN, "epsilon = 1", 'epsilon = 1\ntarget = "agee"', "target"),
    (DIFFGEN, "epsilon = 1", "epsilon = 1\ntarget = 5", "target"),
    (DIFFGEN, "zip", "cell", "quasi_identifiers"),
    (DIFFGEN, "integers = [0, 110]", "integers = [0, 900000000]", "[domains.age]"),
    (DIFFGEN, '"E1", "E2"', ", ".join(f'"E{number}"' for number in range(2000)), 'values = ["E0"'),
    (ALPHABETA, "prior = 0.01", "prior = -1", "prior"),
    (ALPHABETA, "prior = 0.01", 'prior = "low"', "prior"),
    (ALPHABETA, "prior = 0.01", "prior = 0.5", "posterior"),
    (ALPHABETA, "posterior = 0.2", "posterior = 2", "posterior"),
    (ALPHABETA, "posterior = 0.2", 'posterior = 0.2\nadversary = "x"', "adversary"),
    (ALPHABETA, "posterior = 0.2", 'posterior = 0.2\ntuning = "x"', "tuning"),
    (ALPHABETA, "posterior = 0.2", "posterior = 0.2\nviews = 0", "views"),
    (ALPHABETA, "posterior = 0.2", "posterior = 0.2\nviews = 2\nslots = 2", "views"),
    (ALPHABETA, "posterior = 0.2", "posterior = 0.0101\nviews = 50", "views"),
    (ALPHABETA, "posterior = 0.2", "posterior = 0.2\nslots = 1.5", "slots"),
    (ALPHABETA, "posterior = 0.2", "posterior = 0.2\nsource = 5", "source"),
    (ALPHABETA.replace("zip", "slot"), "posterior = 0.2", "posterior = 0.2\nslots = 2", "slots"),
    (ALPHABETA.replace("posterior = 0.2", "posterior = 0.9"), "prior = 0.01", "prior = 0.6", "prior"),
    (ALPHABETA.replace("public_rows = 1000\n", ""), "prior = 0.01", "prior = 10", "prior"),
    (SOURCE, "HIV = 0.1", "HIV = 0", "HIV"),
    (SOURCE, "HIV = 0.1", 'HIV = "rare"', "HIV"),
    (SOURCE, "HIV = 0.1", "HiV = 0.1", "HiV"),
    (SOURCE, "HIV = 0.1\n", "", "[mechanism.source.disease]"),
    (SOURCE, "source.disease", "source.diseases", "[mechanism.source.diseases]"),
    (SOURCE, "HIV = 0.1", "HIV = 0." + "3" * 60, "[mechanism.source.disease]"),
    (FRAPP, "public_rows = 1000\n", "", "[table]"),
    (FRAPP, "prior = 0.01", "prior = 0.3", "posterior"),
    (FRAPP, "posterior = 0.2", "posterior = 0.01000000000000000000001", "posterior"),
]


@pytest.mark.parametrize(("text", "old", "new", "start"), WRONG, ids=lambda each: each[-24:] if each else "none")
def test_a_problem_names_the_line_of_its_key(text: str, old: str, new: str, start: str, tmp_path: Path):
    """Of every parameter of every mechanism, and of what else a mechanism can object to."""
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    assert not Policy.check(path)
    assert old in text
    wrong = text.replace(old, new)
    path.write_text(wrong, encoding="utf-8")
    (problem, *more) = Policy.check(path)
    lines = wrong.splitlines()
    assert problem.line is not None
    assert lines[problem.line - 1].startswith(start), problem
    assert not more


@pytest.mark.parametrize("kind", [PolicyError, Infeasible])
def test_an_error_carries_its_key_beside_its_words(kind):
    """The words alone are what a person reads; without a key the whole is meant."""
    assert (str(kind("x must be y", key=("x",))), kind("x must be y", key=("x",)).key) == ("x must be y", ("x",))
    assert kind("x must be y").key == ()


def test_a_key_of_a_mechanism_stands_in_its_section():
    """Unless it begins with another section of the policy."""
    assert from_the_top(("epsilon",)) == ("mechanism", "epsilon")
    assert from_the_top(()) == ("mechanism",)
    assert from_the_top(("table", "public_rows")) == ("table", "public_rows")
    assert from_the_top(("domains", "age", "values")) == ("domains", "age", "values")
