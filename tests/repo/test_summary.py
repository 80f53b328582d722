"""What the suite says of itself at the end: how many tests could not run for want of data or of a tool."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
TESTS = """
import pytest
from cases import TOOLS, needs_shared, needs_tool

@needs_shared("no such table.parquet")
@pytest.mark.parametrize("number", range(3))
def test_of_a_table_that_is_not_there(number): ...

@needs_shared()
def test_of_no_table(): ...

@needs_tool("strace")
@pytest.mark.parametrize("number", range(2))
def test_of_a_tool_that_is_not_there(number): ...

@needs_tool("cc")
def test_of_a_tool_that_is_there(): ...

def test_that_finds_out_later():
    pytest.skip(f"{TOOLS['cc'].gone}: it does not start")

@pytest.mark.skip(reason="something else")
def test_that_is_skipped_anyway(): ...
"""


def _suite(folder, **environment):
    """Run the tests above where there is a cc and no strace."""
    (folder / "conftest.py").write_text((HERE / "conftest.py").read_text())
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "programs").mkdir()
    _program(folder / "programs" / "cc", "exit 0")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", str(folder)]
    paths = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    inherited = {name: value for name, value in os.environ.items() if name != "DISCREET_REQUIRE_TOOLS"}
    ours = {"PYTHONPATH": paths, "PATH": str(folder / "programs")}
    return subprocess.run(  # noqa: S603 - our interpreter
        words, cwd=folder, env={**inherited, **ours, **environment}, capture_output=True, text=True, check=False
    )


def _program(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.slow
def test_skipped_for_want_of_data_or_tools_is_counted_at_the_end(tmp_path):
    """Only those, by their reason, also where other processes ran them; and what to do about it."""
    done = _suite(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 7 skipped" in done.stdout
    assert "3 tests skipped: the data of ../shared is not here" in done.stdout
    assert "2 tests skipped: strace is not here; to install it: apt-get install strace" in done.stdout
    assert "1 tests skipped: no C compiler here; to install it: apt-get install gcc libc6-dev" in done.stdout


@pytest.mark.slow
def test_where_tools_are_required_a_test_without_its_tool_fails(tmp_path):
    """Data may still be missing: it is not on every machine, and tools can be installed on any."""
    done = _suite(tmp_path, DISCREET_REQUIRE_TOOLS="1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "strace is not here; to install it: apt-get install strace (DISCREET_REQUIRE_TOOLS is set)" in done.stdout
    assert "1 failed, 2 passed, 4 skipped, 2 errors" in done.stdout


@pytest.mark.parametrize("user", ["0", "1000"])
@pytest.mark.parametrize("works", [True, False])
def test_make_tools_installs_what_is_missing_or_says_how_and_never_fails(tmp_path, user, works):
    """With apt-get and as root it installs; else it prints the command."""
    said = _make_tools(tmp_path, user=user, apt=f'echo "$@" >> {tmp_path}/asked; exit {int(not works)}')
    asked = (tmp_path / "asked").read_text() if (tmp_path / "asked").exists() else ""
    if user == "0":
        assert asked.splitlines()[0].endswith("update")
    if user == "0" and works:
        assert asked.splitlines()[1].endswith("strace gcc libc6-dev openssh-client")
        assert "installed: strace gcc libc6-dev openssh-client" in said
    else:
        assert "apt-get install strace gcc libc6-dev openssh-client" in said
        assert "installed:" not in said
    assert bool(asked) == (user == "0")


def test_make_tools_says_nothing_where_all_is_there_and_does_without_apt(tmp_path):
    for name in ("strace", "cc", "ssh-keygen"):
        _program(tmp_path / name, "exit 0")
    assert _make_tools(tmp_path, user="0", apt=None) == ""
    (tmp_path / "strace").unlink()
    assert "apt-get install strace" in _make_tools(tmp_path, user="0", apt=None)


def _make_tools(folder, *, user, apt):
    """What `make tools` says on a system with nothing but a shell, this user, and perhaps apt-get."""
    make, shell = shutil.which("make"), shutil.which("sh")
    if make is None:
        pytest.skip("make is not here")
    _program(folder / "id", f"echo {user}")
    if not (folder / "sh").exists():
        (folder / "sh").symlink_to(shell)
    if apt is not None:
        _program(folder / "apt-get", apt)
    done = subprocess.run(  # noqa: S603 - make, with programs of our own
        [make, "--no-print-directory", "tools"],
        cwd=HERE.parent,
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
