"""Data flows one way: which room may import which, in one small table; and a family is a room that no other knows."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from discreet.families import KINDS
from discreet.release import family

SRC = Path(__file__).parents[2] / "src" / "discreet"
SENTENCE = SRC / "__init__.pyi"

# Each room and the rooms it may know. `release`, `query` and `estimate` never see a table or a mechanism:
# what an analyst runs cannot touch raw data.
ALLOWED = {
    "errors": set(),
    "ground": {"errors"},
    "engine": {"errors", "ground"},
    "schema": {"errors", "ground", "engine"},
    "guarantee": {"errors", "ground", "schema"},
    "series": {"errors", "ground", "engine"},
    "table": {"errors", "ground", "engine", "schema"},
    "release": {"errors", "ground", "engine", "schema", "guarantee"},
    "query": {"errors", "ground", "engine", "schema"},
    "estimate": {"errors", "ground", "engine", "schema", "guarantee", "release", "query"},
    "mechanism": {"errors", "ground", "engine", "schema", "guarantee", "series", "table", "release", "estimate"},
    "attack": {
        "errors",
        "ground",
        "engine",
        "schema",
        "guarantee",
        "series",
        "table",
        "release",
        "query",
        "estimate",
        "verifier",
    },
    "verifier": {"errors", "ground", "engine", "schema", "release"},  # of the last, what APART lists
    "families": {"attack", "estimate", "guarantee", "mechanism", "release", "schema", "verifier"},
    "datasets": {"errors", "ground"},
    "evaluate": {
        "errors",
        "ground",
        "engine",
        "schema",
        "table",
        "guarantee",
        "mechanism",
        "release",
        "query",
        "estimate",
        "verifier",
        "attack",
        "datasets",
    },
    "cli": {
        "errors",
        "ground",
        "engine",
        "schema",
        "table",
        "guarantee",
        "mechanism",
        "release",
        "estimate",
        "verifier",
        "attack",
        "evaluate",
        "datasets",
    },
}
FAMILIES = {family.FAMILIES[kind].name for kind in KINDS}
ROOMS = ("mechanism", "release", "verifier", "estimate")  # in which every family has a room of its own
FILES = {  # that every family has, so that whoever knows one finds his way in the next
    "mechanism": ("policy", "planning/plan.py", "making/write.py"),
    "release": ("manifest.py", "words.py", "changes.py"),
    "verifier": ("checks.py", "stated.py"),
    "estimate": ("release.py", "unbiased.py"),
}
DEEPEST = 12
PLACE = re.compile(r"discreet(\.\w+)+:\w+")  # what a register imports when it is first asked for


def _modules() -> list[Path]:
    return sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def _room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def _family(parts: tuple[str, ...]) -> str | None:
    """The family that a path or a module, in parts below the package, belongs to."""
    return parts[1] if len(parts) > 2 and parts[0] in ROOMS and parts[1] in FAMILIES else None


def _imported(path: Path) -> set[str]:
    """The modules of the package that a module imports, at once or later; the root's are those of its sentence."""
    root = path == SRC / "__init__.py"
    tree = ast.parse((SENTENCE if root else path).read_text(encoding="utf-8"))
    typing = [each for each in ast.walk(tree) if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.dump(each.test)]
    apart = {id(each) for branch in typing for each in ast.walk(branch)}
    found = set()
    for node in ast.walk(tree):
        if id(node) in apart:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == (1 if root else 0), f"{path}: import rooms by their full name"
            module = ".".join(filter(None, ("discreet" * root, node.module)))
            whole = {f"{module}.{alias.name}" for alias in node.names}
            modules = {each for each in whole if _file(each) is not None}
            found |= modules or {module}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PLACE.fullmatch(node.value):
            found.add(node.value.partition(":")[0])
    return {name for name in found if name.split(".")[0] == "discreet"}


def _file(name: str) -> Path | None:
    """The file of a module, if it is one of the package."""
    path = SRC.joinpath(*name.split(".")[1:])
    for each in (path.with_suffix(".py"), path / "__init__.py"):
        if name.startswith("discreet") and each.exists():
            return each
    return None


def test_every_room_is_in_the_table():
    """A new room says what it may know before it is used."""
    assert {_room(path) for path in _modules()} == set(ALLOWED)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_rooms_that_its_own_may_know(path):
    """The table is kept, and nothing inside imports the package root."""
    known = {name.split(".")[1] if "." in name else "discreet" for name in _imported(path)}
    assert known <= ALLOWED[_room(path)] | {_room(path)}


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_a_family_never_imports_another_and_what_is_shared_imports_none(path):
    """Inside the three rooms of families, each knows itself and what is shared, and what is shared knows none."""
    parts = path.relative_to(SRC).parts
    if parts[0] not in ROOMS:
        return
    others = {_family(tuple(name.split(".")[1:])) for name in _imported(path)} - {None, _family(parts)}
    assert not others, f"{path} imports {others}"


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("room", ROOMS)
def test_families_have_the_same_rooms_and_files(room, family):
    """Knowing one family, a reader can guess where things are in the next."""
    for name in FILES[room]:
        assert (SRC / room / family / name).exists(), name


def test_rooms_form_no_cycle():
    """Follow the table from any room and you never come back."""
    done: set[str] = set()
    while len(done) < len(ALLOWED):
        ready = {room for room, known in ALLOWED.items() if room not in done and known <= done}
        assert ready, f"a cycle among {set(ALLOWED) - done}"
        done |= ready


@cache
def _chain(name: str) -> tuple[str, ...]:
    """The longest chain of imports from a module down."""
    path = _file(name)
    below = (_chain(each) for each in _imported(path) if each != name) if path else ()
    return (name, *max(below, key=len, default=()))


CUSTODIAN = ("schema", "guarantee", "series", "table", "mechanism")
CHOOSING = ("table/read.py", "table/names.py", "table/profile.py")  # where a table or a file is opened


def test_only_the_engines_room_knows_duckdb():
    """A second engine is one more room: nobody else imports DuckDB's library, nor catches its errors."""
    for path in _modules():
        if _room(path) != "engine":
            assert "duckdb" not in {each.split(".")[0] for each in _libraries(path)}, path


def test_the_custodians_side_knows_an_engine_by_its_verbs():
    """No statement for one engine's database stands where the custodian's rows are handled."""
    for path in _modules():
        named = path.relative_to(SRC).as_posix()
        if _room(path) in CUSTODIAN and named not in CHOOSING:
            assert not any(each.startswith("discreet.engine.duck") for each in _imported(path)), path
        if _room(path) in CUSTODIAN and _room(path) != "series":  # which keeps its own file with SQLite
            texts = [each.value for each in ast.walk(_tree(path)) if isinstance(each, ast.Constant)]
            assert not any(isinstance(each, str) and re.match(r"\(?(SELECT|CREATE|COPY)\b", each) for each in texts), (
                path
            )


def _libraries(path: Path) -> set[str]:
    """Every module that a module imports, of whatever library."""
    found = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_import_chains_are_at_most_twelve_deep():
    """From the package root and from the command line, too."""
    names = [".".join(("discreet", *path.relative_to(SRC).with_suffix("").parts)) for path in _modules()]
    longest = max((_chain(name.removesuffix(".__init__")) for name in ["discreet", *names]), key=len)
    assert len(longest) <= DEEPEST, " > ".join(longest)
    assert len(longest) > 6  # the chains were followed


def test_the_package_root_has_no_code():
    """The root is the public sentence: a docstring, imports and __all__, in a stub that it reads."""
    for file in (SRC / "__init__.py", SENTENCE):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        assert all(isinstance(node, ast.Expr | ast.Import | ast.ImportFrom | ast.Assign) for node in tree.body)
    for path in SRC.rglob("__init__.py"):
        assert path == SRC / "__init__.py" or not path.read_text(encoding="utf-8").strip()


VERIFIERS = [path for path in _modules() if _room(path) == "verifier"]
# What the verifier shares with those who publish, beside errors, exact numbers, engine and domains: how a folder and a
# manifest are read and written, the prose that it must hold, and signatures. No inequality of a promise is in it.
APART = {
    "verify.py": {
        "release.bounds",
        "release.family",
        "release.folder",
        "release.signature",
        "release.signed",
        "release.statement",
    },
    "files.py": {"release.plain", "release.statement"},
    "form.py": {"release.family", "release.manifest", "release.statement"},
    "checks.py": {"release.family", "release.manifest", "release.plain", "release.statement"},
    "lookalikes.py": {"release.family", "release.statement"},
    "tables.py": {"release.bounds"},
    # What a file may unpack to is a limit on bytes, and says nothing of what they promise.
    "diffgen/rows.py": {"release.pages"},
    # How COUNT is fitted to what was measured breaks no promise: what was measured stands beside it.
    "diffgen/pairs/model.py": {
        f"release.diffgen.pairs.{name}" for name in ("course", "fit", "measured", "tables", "walk")
    },
}


@pytest.mark.parametrize("path", VERIFIERS, ids=lambda path: str(path.relative_to(SRC)))
def test_the_verifier_shares_no_rule_with_those_who_publish(path):
    """Whatever is promised is worked out once more: beside domains and the engine, only what is listed is shared."""
    named = path.relative_to(SRC / "verifier").as_posix()
    shared = {name.removeprefix("discreet.") for name in _imported(path)}
    assert {name for name in shared if name.startswith("release.")} == APART.get(named, set())


def test_only_those_who_verify_know_the_verifier():
    """Nobody who plans, publishes or answers leans on what checks it."""
    rooms = {_room(path) for path in _modules() if any(".verifier." in name for name in _imported(path))}
    assert rooms <= {"verifier", "families", "attack", "cli", "evaluate", "__init__"}


def test_the_verifier_follows_no_planner_table_series_or_estimate():
    """Nothing that `verify` or a family's checks import, near or far, lies in those rooms."""
    checks = [f"discreet.verifier.{family}.checks" for family in FAMILIES]
    waiting, seen = ["discreet.verifier.verify", *checks], set()
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if name in seen or path is None:
            continue
        seen.add(name)
        waiting += _imported(path)
    assert "discreet.verifier.checks" in seen
    assert not {name for name in seen if name.split(".")[1] in ("mechanism", "table", "series", "estimate")}


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_a_file_is_one_idea(path):
    """No drawers by name, and no file beyond 400 lines."""
    assert path.stem not in ("utils", "helpers", "common", "misc")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_an_array_has_one_name(path):
    """Whole numbers, decimal numbers and yes or no are Ints, Floats and Bools of `ground/arrays.py` everywhere."""
    if path != SRC / "ground" / "arrays.py":
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(NDArray\[|np\.dtype\[)np\.(int64|float64|bool_)\]", text)
