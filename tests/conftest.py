"""In CI the generated examples are the same each time: a change fails because of what it changed."""

import os

import pytest
from hypothesis import settings
from tampering import Releases

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    """Releases of every case to tamper with, each made once."""
    return Releases(tmp_path_factory.mktemp("releases"))
