"""The README's own words run: its policy, its commands and its Python, on a table that fits them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _block(start: str) -> str:
    """The indented block that begins with a line, as text without the indent."""
    lines = README.splitlines()
    first = next(number for number, line in enumerate(lines) if line.strip().startswith(start))
    block = []
    for line in lines[first:]:
        if line and not line.startswith("    "):
            break
        block.append(line[4:])
    return "\n".join(block)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the README's policy and a table of the README's form."""
    place = tmp_path_factory.mktemp("readme")
    (place / "hospital.toml").write_text(_block("version = 1"), encoding="utf-8")
    coins = np.random.default_rng(1)
    diseases = coins.choice(["Flu", "Cancer", "HIV", "Indigestion"], 400, p=[0.5, 0.22, 0.03, 0.25])
    rows = []
    for i, disease in enumerate(diseases):
        gender, zipcode = coins.choice(["F", "M"]), coins.choice(["02139", "02140"])
        rows.append(f"Ada {i},9{i:08d},{coins.integers(0, 100)},{gender},{zipcode},{disease}")
    header = _block("name,ssn").splitlines()[0]
    (place / "hospital.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return place


def test_the_readmes_commands_run_in_order(folder):
    """check, plan, publish, verify and both queries end with exit 0 and say something."""
    commands = [line for line in _block("discreet check hospital.csv").splitlines() if line.strip()]
    assert len(commands) == 6
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "discreet"
        done = subprocess.run(  # noqa: S603 - the README's own words
            [sys.executable, "-m", "discreet.cli.main", *words[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert done.stdout.strip()


def test_the_readmes_python_runs(folder):
    """The public sentence works as printed; with a series of its own, for the commands published these rows already."""
    program = _block("import discreet").replace('to="release")', 'to="release-py", series="other.series")')
    program = program.replace('verify("release")', 'verify("release-py")')
    done = subprocess.run(  # noqa: S603 - the README's own words
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "True" in done.stdout


def test_every_link_of_the_docs_leads_somewhere():
    """Relative links in Markdown files point to files that exist."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), (page, target)
