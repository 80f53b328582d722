"""Nothing is worked out twice on one way through: what was searched, built, read or hashed is handed on."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, Case, House, policy_of, publish, ward_frame, ward_schema

import discreet
from discreet.engine.duck.database import Database
from discreet.estimate.diffgen.leaves import LeafModel
from discreet.guarantee.source import source_of
from discreet.mechanism.alphabeta.planning.parameters import keep_and_insert
from discreet.mechanism.alphabeta.planning.several import several_views
from discreet.mechanism.check import check
from discreet.mechanism.diffgen.planning.budget import exponential_budget, histogram_budget
from discreet.mechanism.diffgen.planning.cuts import diffgen_tree
from discreet.mechanism.diffgen.planning.tree import tree_of
from discreet.mechanism.mechanism import publishing
from discreet.query.condition import columns_of
from discreet.query.tables import truth_tables
from discreet.release.difference import differences, policy_content, release_content
from discreet.release.diffgen.pairs.fit import fit_of
from discreet.release.diffgen.tables import read_leaves
from discreet.release.family import Family
from discreet.release.folder import read_manifest
from discreet.release.manifest import sha256
from discreet.schema.policy import Policy
from discreet.schema.schema import schema_from_json
from discreet.schema.taxonomy import taxonomy_of
from discreet.verifier.diffgen import leaves
from discreet.verifier.diffgen.pairs import tables
from discreet.verifier.diffgen.rows import rows_of

Named = Callable[..., str]
CHOICES = discreet.DiffGen(epsilon=2, guide="exponential", specializations=3)
SHARES = {"gender": {"M": "0.6", "F": "0.4"}}


class Calls:
    """Functions that are counted wherever the package knows them; `named` says which of several calls one is."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch, self.found = patch, Counter[str]()

    def of(self, function: Any, named: Named = lambda *_: "") -> None:
        """Count a function of a module."""
        for module in [each for name, each in sys.modules.items() if name.startswith("discreet.")]:
            if vars(module).get(function.__name__) is function:
                self._patch.setattr(module, function.__name__, self._counted(function, function.__name__, named))

    def within(self, owner: type, name: str, named: Named = lambda *_: "") -> None:
        """Count a method or a property of a class."""
        real = vars(owner)[name]
        inner = next((getattr(real, each) for each in ("fget", "func") if hasattr(real, each)), real)
        counted = self._counted(inner, name, named)
        again: Any = counted if inner is real else type(real)(counted)
        if hasattr(again, "__set_name__"):
            again.__set_name__(owner, name)
        self._patch.setattr(owner, name, again)

    def _counted(self, real: Callable[..., Any], name: str, named: Named) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            self.found[f"{name} {named(*args)}".strip()] += 1
            return real(*args, **options)

        return counted


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(monkeypatch)


def once(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 1)


def all_the_way(policy: Path, folder: Path) -> None:
    """Load, read, plan, publish and hear the notes, as the command line does."""
    loaded = Policy.load(policy)
    with closing(discreet.read_table(ward_frame(), loaded)) as table:
        discreet.plan(table, loaded)
        discreet.publish(table, loaded, to=folder / "out").close()
    publishing(loaded.mechanism).notes(loaded.schema)


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def test_frapp_searches_its_promise_once(calls: Calls, tmp_path: Path) -> None:
    """From the policy file to the release, and once more in `check`, which loads the policy itself."""
    policy = policy_of(case_of("frapp"), tmp_path)
    calls.within(discreet.Frapp, "_guarantee")
    all_the_way(policy.path, tmp_path)
    assert calls.found == once("_guarantee")
    assert check(policy.path, ward_frame()) == ()
    assert calls.found == {"_guarantee": 2}


@pytest.mark.parametrize(
    ("name", "search"), [("alphabeta", keep_and_insert), ("several views", several_views)], ids=["one", "several"]
)
def test_alphabeta_searches_its_promise_once(
    name: str, search: Callable[..., Any], calls: Calls, tmp_path: Path
) -> None:
    """For one view and for several, whose search takes longest."""
    policy = policy_of(case_of(name), tmp_path)
    calls.of(search)
    calls.of(source_of)
    all_the_way(policy.path, tmp_path)
    assert calls.found == once(search.__name__, "source_of")
    assert check(policy.path, ward_frame()) == ()
    assert calls.found == {search.__name__: 2, "source_of": 2}


def test_a_source_is_read_once(calls: Calls, tmp_path: Path) -> None:
    """Of the policy and, for the README, of what the release states; and by whoever verifies."""
    mechanism = discreet.AlphaBeta(prior=0.005, posterior=0.3, source=SHARES)
    policy = policy_of(case_of("alphabeta"), tmp_path, mechanism=mechanism)
    calls.of(source_of)
    all_the_way(policy.path, tmp_path)
    assert calls.found == {"source_of": 2}
    assert discreet.verify(tmp_path / "out").holds
    assert calls.found == {"source_of": 3}


@pytest.mark.parametrize("mechanism", [discreet.DiffGen(epsilon=1), CHOICES], ids=["histogram", "exponential"])
def test_diffgen_builds_a_taxonomy_once_a_column(mechanism: discreet.DiffGen, calls: Calls, tmp_path: Path) -> None:
    """And divides its epsilon once; the class has no taxonomy."""
    policy = policy_of(case_of("diffgen"), tmp_path, mechanism=mechanism)
    calls.of(taxonomy_of, lambda schema, name: name)
    calls.of(histogram_budget)
    calls.of(exponential_budget)
    all_the_way(policy.path, tmp_path)
    budget = "histogram_budget" if mechanism.guide == "histogram" else "exponential_budget"
    assert calls.found == once("taxonomy_of age", "taxonomy_of gender", "taxonomy_of postcode", budget)


def test_diffgen_grows_its_tree_once_from_what_it_remembers(calls: Calls, tmp_path: Path) -> None:
    """A release that is made again: its tree is grown and checked once, for counts, variances and levels."""
    policy = policy_of(case_of("diffgen"), tmp_path, mechanism=CHOICES)
    publish(ward_frame(), policy, tmp_path / "one")
    calls.of(diffgen_tree)
    calls.of(tree_of, lambda parents: "" if not hasattr(parents, "levels") else "of a tree")
    publish(ward_frame(), policy, tmp_path / "two")
    assert {name: number for name, number in calls.found.items() if name != "tree_of of a tree"} == once(
        "diffgen_tree", "tree_of"
    )


def test_publishing_digests_the_policy_and_says_the_facts_once(
    case: Case, ward: discreet.Table, policy: Policy, calls: Calls, tmp_path: Path
) -> None:
    """And hashes every file that it wrote once."""
    calls.within(Policy, "digest")
    calls.within(Family, "facts")
    calls.of(sha256, lambda file: file.name)
    calls.of(read_manifest)
    publish(ward, policy, tmp_path / "out")
    hashed = ("sha256 README.md", *(f"sha256 {name}.parquet" for name in case.tables))
    assert calls.found == once("digest", "facts", "read_manifest", *hashed)


def test_a_later_view_reads_the_one_before_once(calls: Calls, tmp_path: Path) -> None:
    """With one database; that of the release which is opened in the end waits for a question."""
    policy = policy_of(case_of("several views"), tmp_path)
    publish(ward_frame(), policy, tmp_path / "one")
    with closing(discreet.read_table(ward_frame(seed=6), policy)) as table:
        calls.of(read_manifest, lambda folder: folder.name)
        calls.within(Database, "__init__")
        discreet.publish(table, policy, to=tmp_path / "two").close()
    assert calls.found == {"read_manifest one": 1, "read_manifest two": 1, "__init__": 1}


def test_verifying_reads_hashes_and_says_everything_once(case: Case, published: House, calls: Calls) -> None:
    """The manifest, every file's hash, the facts."""
    calls.within(Family, "facts")
    calls.of(sha256, lambda file: file.name)
    calls.of(read_manifest)
    assert discreet.verify(published.folder / "one").holds
    hashed = ("sha256 README.md", *(f"sha256 {name}.{kind}" for name in case.tables for kind in ("parquet", "csv")))
    assert calls.found == once("facts", "read_manifest", *hashed)


def test_verifying_counts_the_sizes_of_buckets_once(calls: Calls, tmp_path: Path) -> None:
    """In each of both tables, for their classes and for the shares of values."""
    release = publish(ward_frame(), policy_of(case_of("buckets"), tmp_path), tmp_path / "out")
    sizes = [f"FROM {table} GROUP BY BID)" for table in ("qit", "st")]
    calls.within(Database, "rows", lambda own, sql: " ".join(each for each in sizes if each in sql))
    assert discreet.verify(release).holds
    for each in sizes:
        assert sum(number for name, number in calls.found.items() if each in name) == 1


@pytest.mark.parametrize("mechanism", [discreet.DiffGen(epsilon=1), CHOICES], ids=["histogram", "exponential"])
def test_verifying_a_diffgen_release_reads_its_rows_once(
    mechanism: discreet.DiffGen, calls: Calls, tmp_path: Path
) -> None:
    """Both files, and the taxonomies of their columns."""
    policy = policy_of(case_of("diffgen"), tmp_path, mechanism=mechanism)
    release = publish(ward_frame(), policy, tmp_path / "out")
    calls.of(leaves.found_in)
    calls.of(taxonomy_of, lambda schema, name: name)
    calls.of(rows_of, lambda files, name, *_: name)
    assert discreet.verify(release).holds
    columns = ("taxonomy_of age", "taxonomy_of gender", "taxonomy_of postcode")
    assert calls.found == once("found_in", *columns, "rows_of data/leaves.parquet", "rows_of data/tables.parquet")


def test_pairs_builds_a_taxonomy_once_a_column(calls: Calls, tmp_path: Path) -> None:
    """Planning, measuring and writing; and verifying, which reads both files once and fits the model once."""
    policy = policy_of(case_of("pairs"), tmp_path)
    calls.of(taxonomy_of, lambda schema, name: name)
    all_the_way(policy.path, tmp_path)
    columns = [f"taxonomy_of {name}" for name in policy.schema.columns]
    assert calls.found == {**once(*columns), "taxonomy_of disease": 2}  # once more for the README, of the schema alone
    calls.found.clear()
    calls.of(tables.found_in)
    calls.of(fit_of)
    calls.of(rows_of, lambda files, name, *_: name)
    assert discreet.verify(tmp_path / "out").holds
    files = ("rows_of data/columns.parquet", "rows_of data/pairs.parquet")
    assert calls.found == {**once("found_in", "fit_of", *columns, *files), "taxonomy_of disease": 2}


def test_an_answer_of_leaves_reckons_the_noise_of_each_attribute_once(calls: Calls, tmp_path: Path) -> None:
    """And the people who meet the rest of the condition."""
    release = publish(ward_frame(), policy_of(case_of("diffgen"), tmp_path), tmp_path / "out")
    with closing(discreet.open_release(release)) as opened:
        calls.within(LeafModel, "_share_noise", lambda own, position, asked: position)
        calls.within(LeafModel, "_mass", lambda own, parts, place, position: position)
        calls.of(read_leaves)
        opened.count("age > 30 AND gender = 'M' AND disease = 'Flu'")
    assert calls.found == once("_share_noise 0", "_share_noise 1", "_mass 0", "_mass 1", "read_leaves")


def test_what_groups_of_leaves_have_in_common_is_asked_once(calls: Calls, tmp_path: Path) -> None:
    """The condition once for all groups, and a value once for the groups that follow each other with it."""
    release = publish(ward_frame(), policy_of(case_of("diffgen"), tmp_path), tmp_path / "out")
    with closing(discreet.open_release(release)) as opened:
        calls.of(truth_tables, lambda leaves, *_: " ".join(sorted(set().union(*(columns_of(each) for each in leaves)))))
        groups = opened.count_by("gender", "disease", where="age > 30")
    assert len(groups.rows) == 8
    assert calls.found == {"truth_tables age": 1, "truth_tables gender": 2, "truth_tables disease": 8}


def test_a_difference_reads_the_schema_of_each_side_once(published: House, calls: Calls) -> None:
    """With its manifest; of a policy it has one."""
    calls.of(schema_from_json)
    content = release_content(read_manifest(published.folder / "one"))
    assert differences(content, content) == ()
    assert calls.found == once("schema_from_json")
    policy = policy_content(published.policy)
    assert differences(policy, policy) == ()
    assert calls.found == once("schema_from_json")


def test_what_is_kept_is_for_one_value_and_one_schema(calls: Calls) -> None:
    """An equal schema is answered again, another one is searched for; a changed mechanism knows nothing of it."""
    one = discreet.Frapp(prior=0.05, posterior=0.5)
    calls.within(discreet.Frapp, "_guarantee")
    found = one.guarantee(ward_schema(120))
    assert one.guarantee(ward_schema(120)) is found
    assert calls.found == once("_guarantee")
    assert one.guarantee(ward_schema(200)).rows == 200
    assert one.guarantee(ward_schema(120)) == found
    assert replace(one, posterior="3/5").guarantee(ward_schema(120)).gamma == Fraction(3, 5)
    assert calls.found == {"_guarantee": 4}
    fresh = discreet.Frapp(prior=0.05, posterior=0.5)
    assert (one, hash(one), repr(one)) == (fresh, hash(fresh), repr(fresh))
