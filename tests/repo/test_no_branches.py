"""A family answers for itself: outside the families' rooms nothing asks of what class or kind a thing is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.families import KINDS
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.guarantee.fprime import FPrimePrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release import family
from discreet.schema.mechanisms import MECHANISMS

SRC = Path(discreet.__file__).parent
FAMILIES = {family.FAMILIES[kind].name for kind in KINDS}
CLASSES = {MECHANISMS[kind].__name__ for kind in KINDS} | {
    each.__name__
    for each in (
        DGammaPrivacy,
        EpsilonPrivacy,
        FPrimePrivacy,
        FrappPrivacy,
        discreet.AlphaBetaPlan,
        discreet.BucketPlan,
        discreet.DiffGenPlan,
        discreet.DiffGenRelease,
    )
}
CLASSES |= {"BucketRelease", "AlphaBetaRelease", "Bucketing", "Perturbing"}


def branches(tree: ast.AST) -> Iterator[str]:
    """The places where code asks for a class or a kind of mechanism, guarantee, plan or release."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, asked]) if _names(asked) & CLASSES:
                yield f"line {node.lineno}: isinstance of {_names(asked) & CLASSES}"
            case ast.Call(func=ast.Name(id="hasattr")):
                yield f"line {node.lineno}: hasattr"
            case ast.Compare() if _names(node) & CLASSES and "type" in _names(node):
                yield f"line {node.lineno}: a type is compared"
            case ast.Compare() if _texts(node) & {*KINDS}:
                yield f"line {node.lineno}: compared with {_texts(node) & {*KINDS}}"
            case ast.MatchClass(cls=ast.Name(id=name)) if name in CLASSES:
                yield f"line {node.lineno}: case {name}"
            case ast.MatchValue(value=ast.Constant(value=str(text))) if text in KINDS:
                yield f"line {node.lineno}: case {text!r}"


def _names(node: ast.AST) -> set[str]:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _texts(node: ast.AST) -> set[str]:
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def shared_modules() -> list[Path]:
    """Every file of the package that is in no family's own room."""
    return sorted(path for path in SRC.rglob("*.py") if not FAMILIES & set(path.relative_to(SRC).parts[:-1]))


@pytest.mark.parametrize("path", shared_modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_no_shared_module_asks_for_a_class_or_a_kind(path):
    """Not by isinstance, type, match, hasattr, nor by comparing a kind."""
    found = list(branches(ast.parse(path.read_text(encoding="utf-8"))))
    if path.relative_to(SRC).as_posix() == "table/source.py":  # asks what a caller's frame can do, not what it is
        found = [each for each in found if "hasattr" not in each]
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "if isinstance(plan, BucketPlan): pass",
        "if isinstance(m, Buckets | discreet.Anatomy): pass",
        "if type(m) is DiffGen: pass",
        "if mechanism.kind == 'frapp': pass",
        "if block['kind'] in ('buckets', 'anatomy'): pass",
        "if hasattr(plan, 'classes'): pass",
        "match guarantee:\n case EpsilonPrivacy(): pass",
        "match data:\n case {'kind': 'diffgen'}: pass",
    ],
)
def test_the_search_finds_what_it_looks_for(code):
    """Each way to ask is seen."""
    assert list(branches(ast.parse(code)))


def test_the_families_rooms_are_left_out_and_nothing_else():
    """The search looks at most of the package."""
    found = {path.relative_to(SRC).as_posix() for path in shared_modules()}
    assert {"families.py", "cli/plan.py", "mechanism/publish.py", "verifier/verify.py", "estimate/open.py"} <= found
    assert not any("buckets" in name for name in found)
