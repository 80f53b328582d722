"""A light start: what is asked is loaded, and nothing else. Here are modules; `bench/start.py` has the seconds."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import CASES, policy_of, ward_frame
from keys import ed25519, line_of, write_private

import discreet
from discreet.cli.main import VERBS
from discreet.schema.register import at

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
HEAVY = ("numpy", "pyarrow", "duckdb", "scipy", "sqlglot", "highspy", "pandas", "matplotlib", "opendp", "randomgen")
SIGNING = ("cryptography", "bcrypt")
OTHER = ("discreet.mechanism", "discreet.table", "discreet.series", "discreet.evaluate", "discreet.datasets")
RUN = "import sys\nfrom discreet.cli.main import main\nsys.argv[0] = 'discreet'\ntry:\n    main()\n"
RUN += "except SystemExit as end:\n    assert not end.code, end.code\n"


def loaded(code: str, *words: object) -> set[str]:
    """The modules that a process has when it has run some code."""
    tell = "\nimport sys\nprint('\\n' + ' '.join(sys.modules))"
    command = [sys.executable, "-c", code + tell, *map(str, words)]
    environment = {name: value for name, value in os.environ.items() if name != "EAGER_IMPORT"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)  # noqa: S603 - us
    return set(done.stdout.splitlines()[-1].split())


def of(modules: set[str], *packages: str) -> set[str]:
    """Those that are one of these packages or in one."""
    return {name for name in modules if any(f"{name}.".startswith(f"{package}.") for package in packages)}


def test_importing_the_package_loads_no_library_and_no_room_of_a_family():
    """The names are known; what they stand for is not there yet."""
    modules = loaded("import discreet; assert 'Buckets' in dir(discreet)")
    assert "discreet.families" in modules
    assert not of(
        modules, *HEAVY, *OTHER, *SIGNING, "typer", "discreet.estimate", "discreet.query", "discreet.release.buckets"
    )


def test_a_name_loads_what_it_stands_for():
    """The first time that it is asked for."""
    modules = loaded("import discreet; discreet.Policy")
    assert "discreet.schema.policy" in modules
    assert not of(modules, *HEAVY, *OTHER)


def test_the_sentence_is_one_list():
    """What is offered is what the stub imports and lists, every name of it, also by `import *` and all at once."""
    tree = ast.parse((ROOT / "src" / "discreet" / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {
        each.asname or each.name for node in tree.body if isinstance(node, ast.ImportFrom) for each in node.names
    }
    (listed,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert set(listed) == imported == set(discreet.__all__) == set(dir(discreet))
    everything: dict[str, object] = {}
    exec("from discreet import *", everything)  # noqa: S102 - the sentence itself
    assert set(listed) <= set(everything)


def test_help_loads_no_verb():
    """The list of verbs needs the command line's own libraries, and none that computes."""
    modules = loaded(RUN, "--help")
    assert "typer" in modules
    assert not of(modules, *HEAVY, *OTHER, "discreet.estimate")
    assert of(modules, "discreet.cli") == {"discreet.cli", "discreet.cli.main"}


@pytest.mark.parametrize("place", VERBS)
def test_the_list_of_verbs_says_what_the_verbs_say(place):
    """Each line is the verb's own docstring, and each place holds a verb with an example."""
    assert VERBS[place] == at(place).__doc__
    assert at(f"{place.partition(':')[0]}:EXAMPLE").startswith(f"Example: discreet {place.rpartition(':')[2]}")


@pytest.mark.parametrize("golden", ["buckets-optimal", "anatomy", "alphabeta-independent", "diffgen-target", "pairs"])
def test_a_question_loads_no_mechanism_no_solver_and_no_frames(golden):
    """Nor scipy, for a small release; nor an experiment of a paper. Another family's estimators stay where they are."""
    modules = loaded(RUN, "query", GOLDEN / golden / "release", "1 = 1")
    family = {"anatomy": "buckets", "pairs": "diffgen"}.get(golden, golden.partition("-")[0])
    assert of(modules, f"discreet.estimate.{family}")
    others = [f"discreet.estimate.{each}" for each in ("buckets", "alphabeta", "diffgen") if each != family]
    assert not of(modules, *OTHER, *others, "highspy", "scipy", "pandas", "matplotlib", "opendp", "randomgen")


def test_verifying_loads_no_estimator_and_no_mechanism():
    """What checks a promise shares no code with what made it, in the process too."""
    modules = loaded(RUN, "verify", GOLDEN / "anatomy" / "release", "--allow-seeded")
    assert "discreet.verifier.buckets.checks" in modules
    assert not of(modules, *OTHER, "discreet.estimate", "discreet.query", "scipy", "highspy", "sqlglot", "pandas")
    assert not of(modules, *SIGNING)


def test_what_signs_is_loaded_by_those_who_name_a_key(tmp_path):
    """To publish without one, and to verify a signed release without one, loads nothing of it; a key does."""
    key, rows = write_private(tmp_path / "key", ed25519(), "openssh"), tmp_path / "rows.csv"
    policy_of(CASES[0], tmp_path)
    ward_frame().to_csv(rows, index=False)
    words = ("publish", rows, "--policy", tmp_path / "ward.toml", "--series", tmp_path / "series")
    assert not of(loaded(RUN, *words, "-o", tmp_path / "plain"), *SIGNING)
    assert of(loaded(RUN, *words, "-o", tmp_path / "out", "--sign", key), "cryptography")
    assert not of(loaded(RUN, "verify", tmp_path / "out"), *SIGNING)
    assert of(loaded(RUN, "verify", tmp_path / "out", "--key", line_of(ed25519())), "cryptography")
