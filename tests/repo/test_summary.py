"""What the suite says of itself at the end: how many tests could not run for want of the data of ../shared."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
TESTS = """
import pytest
from cases import needs_shared

@needs_shared("no such table.parquet")
@pytest.mark.parametrize("number", range(3))
def test_of_a_table_that_is_not_there(number): ...

@needs_shared()
def test_of_no_table(): ...

@pytest.mark.skip(reason="something else")
def test_that_is_skipped_anyway(): ...
"""


@pytest.mark.slow
def test_skipped_for_want_of_data_is_counted_at_the_end(tmp_path):
    """Only those, by their reason, also where other processes ran them."""
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text())
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", str(tmp_path)]
    paths = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(  # noqa: S603 - our interpreter
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 4 skipped" in done.stdout
    assert "3 tests skipped: the data of ../shared is not here" in done.stdout
