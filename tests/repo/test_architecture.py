"""Data flows one way: which room may import which, in one small table."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "discreet"

# Each room and the rooms it may know. `release`, `query` and `estimate` never see a table or a mechanism:
# what an analyst runs cannot touch raw data.
ALLOWED = {
    "errors": set(),
    "engine": {"errors"},
    "schema": {"errors", "engine"},
    "guarantee": {"errors", "schema"},
    "series": {"errors", "engine"},
    "table": {"errors", "engine", "schema"},
    "release": {"errors", "engine", "schema", "guarantee"},
    "query": {"errors", "engine", "schema"},
    "estimate": {"errors", "engine", "schema", "guarantee", "release", "query"},
    "mechanism": {"errors", "engine", "schema", "guarantee", "series", "table", "release", "estimate"},
    "datasets": {"errors"},
    "evaluate": {"errors", "engine", "schema", "table", "guarantee", "mechanism", "query", "estimate", "datasets"},
    "cli": {
        "errors",
        "engine",
        "schema",
        "table",
        "guarantee",
        "mechanism",
        "release",
        "estimate",
        "evaluate",
        "datasets",
    }
    | {"datasets", "discreet"},
}


def _modules() -> list[Path]:
    return sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def _room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """The rooms (or 'discreet', for the package root) that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import rooms by their full name"
            names = [node.module or ""]
        for name in names:
            if name.split(".")[0] == "discreet":
                found.add(name.split(".")[1] if "." in name else "discreet")
    return found


def test_every_room_is_in_the_table():
    """A new room says what it may know before it is used."""
    assert {_room(path) for path in _modules()} == set(ALLOWED)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_rooms_that_its_own_may_know(path):
    """The table is kept, and nothing below the command line imports the package root."""
    assert _imports(path) <= ALLOWED[_room(path)] | {_room(path)}


def test_rooms_form_no_cycle():
    """Follow the table from any room and you never come back."""
    done: set[str] = set()
    while len(done) < len(ALLOWED):
        ready = {room for room, known in ALLOWED.items() if room not in done and known - {"discreet"} <= done}
        assert ready, f"a cycle among {set(ALLOWED) - done}"
        done |= ready


def test_the_package_root_has_no_code():
    """The root is the public sentence: a docstring, imports and __all__."""
    tree = ast.parse((SRC / "__init__.py").read_text(encoding="utf-8"))
    assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in tree.body)
    for path in SRC.rglob("__init__.py"):
        assert path == SRC / "__init__.py" or not path.read_text(encoding="utf-8").strip()


def test_the_verifier_shares_no_code_with_the_planner():
    """Nothing that `verify` imports, near or far, lies in mechanism, table or series."""
    waiting, seen = ["discreet.release.verify"], set()
    while waiting:
        name = waiting.pop()
        path = SRC.joinpath(*name.split(".")[1:]).with_suffix(".py")
        if name in seen or not path.exists():
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet."):
                waiting.append(node.module)
    assert "discreet.release.checks" in seen
    assert not {name for name in seen if name.split(".")[1] in ("mechanism", "table", "series")}


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_a_file_is_one_idea(path):
    """No drawers by name, and no file beyond 400 lines."""
    assert path.stem not in ("utils", "helpers", "common", "misc")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
