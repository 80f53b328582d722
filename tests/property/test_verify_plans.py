"""Verification of how buckets were planned and composed: whoever states another plan than the files show is found,
also where he tells everything else anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from mutations import Step, restated
from tampering import broken, copy_of, manifest_of, table_of, write_table

import discreet
from discreet.schema.domain import Integers, Listed

VALUES = ("e", "a", "h", "d", "c", "b", "g", "f")
Block = dict[str, Any]


def publish(to: Path, mechanism: Any, rows: int = 240, *, numbers: bool = False) -> Path:
    """People with values of very different frequencies, whose ages follow them; values may be whole numbers."""
    coins = np.random.default_rng(4)
    shares = np.array([0.3, 0.2, 0.15, 0.12, 0.1, 0.06, 0.04, 0.03])
    held = np.repeat(np.arange(8), np.ceil(shares * rows).astype(int))[:rows]
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("age",),
            sensitive="disease",
            domains={
                "age": Integers(low=0, high=99),
                "disease": Integers(low=0, high=7) if numbers else Listed(values=VALUES),
            },
        ),
        mechanism=mechanism,
    )
    values = held if numbers else [VALUES[each] for each in held]
    frame = pd.DataFrame({"age": coins.integers(0, 100, rows), "disease": values})
    with discreet.read_table(frame, policy) as table:
        discreet.publish(table, policy, to=to, seed=1).close()
    return to


def buckets(**given: Any) -> discreet.Buckets:
    return discreet.Buckets(tolerance=discreet.Tolerance(theta=2, floor="1/25"), **given)


MADE: dict[str, Callable[[Path], Path]] = {
    "optimal": lambda to: publish(to, buckets(slack=0)),
    "two": lambda to: publish(to, buckets(sizes="two", slack=0)),
    "one": lambda to: publish(to, buckets(sizes="one", slack=0)),
    "near": lambda to: publish(to, buckets(sizes="two", slack=0, assignment="near", window=80)),
    "near one": lambda to: publish(to, buckets(sizes="one", assignment="near", window=120)),
    "even": lambda to: publish(to, buckets(composition="even")),
    "in turn": lambda to: publish(to, buckets(composition="round-robin")),
    "near even": lambda to: publish(to, buckets(composition="even", assignment="near", window=120)),
    "near in turn": lambda to: publish(to, buckets(composition="round-robin", assignment="near", window=120)),
    "even with fakes": lambda to: publish(to, buckets(composition="even", fakes=1)),
    "in turn with fakes": lambda to: publish(to, buckets(composition="round-robin", fakes=1)),
    "slack": lambda to: publish(to, discreet.Buckets(tolerance=discreet.Tolerance(floor="2/5"))),
    "slack two": lambda to: publish(to, buckets(sizes="two")),
    "numbers": lambda to: publish(to, buckets(), numbers=True),
    "anatomy": lambda to: publish(to, discreet.Anatomy(l=3), rows=241),
    "threes": lambda to: publish(
        to, discreet.Buckets(tolerance=discreet.Tolerance(floor="1/2"), min_size=3, max_size=3, slack=0)
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Callable[[str], Path]:
    folder, known = tmp_path_factory.mktemp("releases"), {}

    def one(name: str) -> Path:
        if name not in known:
            known[name] = MADE[name](folder / name)
        return known[name]

    return one


def forged(folder: Path, edit: Callable[[Block], Any]) -> list[str]:
    """What does not hold of a release whose block says something else, and whose words say the same."""
    manifest = manifest_of(folder)
    edit(manifest["discreet"])
    assert restated(folder, Step("", (), manifest))
    return broken(folder)


@pytest.mark.parametrize("name", MADE)
def test_what_is_published_holds_and_told_again_it_does(name, made):
    with copy_of(made(name)) as folder:
        assert broken(folder) == []
        assert forged(folder, lambda block: None) == []


# Sizes


SIZES = {"one": 1, "two": 2, "multi": 50, "optimal": 50}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["optimal", "two", "one", "near", "near one"])
def test_a_plan_of_fewer_sizes_is_found_exactly_where_there_are_more(name, sizes, made):
    """Window by window: two windows of one size each may have two."""
    block = manifest_of(made(name))["discreet"]
    people, windows = table_of(made(name), "qit").to_pandas().groupby("BID").size(), block.get("windows")
    parts = [people] if windows is None else [people.loc[each["first"] : each["last"]] for each in windows]
    most = max(part.nunique() for part in parts)
    assert most == {"optimal": 6, "two": 2, "one": 1, "near": 2, "near one": 1}[name]
    with copy_of(made(name)) as folder:
        found = forged(folder, lambda block: block["mechanism"].update(sizes=sizes))
        assert found == ([] if most <= SIZES[sizes] else ["buckets"])


@pytest.mark.parametrize("name", ["optimal", "near", "anatomy"])
def test_classes_in_another_order_are_found(name, made):
    """They stand by size, the smallest first."""
    with copy_of(made(name)) as folder:
        assert forged(folder, lambda block: block["classes"].reverse()) == ["buckets"]


def test_larger_buckets_than_anatomy_makes_are_found(made):
    """They are diverse and of l and l + 1 rows, but with twos there are more of them."""

    def edit(block: Block) -> None:
        block["mechanism"] = {"kind": "anatomy", "l": 2, "composition": "free"}
        block["kept_slack"] = "0"

    with copy_of(made("threes")) as folder:
        assert forged(folder, edit) == ["buckets"]


@pytest.mark.parametrize(("name", "l"), [("anatomy", 2), ("anatomy", 4), ("optimal", 2)])
def test_another_l_is_found(name, l, made):  # noqa: E741 - the paper's name
    def edit(block: Block) -> None:
        block["mechanism"] = {"kind": "anatomy", "l": l, "composition": "free"}
        block["guarantee"]["tolerance"] = [[value, f"1/{l}"] for value in VALUES]
        block["unprotected"] = []

    with copy_of(made(name)) as folder:
        assert "buckets" in forged(folder, edit)


@pytest.mark.parametrize("least", [201, 0, 51])
def test_limits_of_sizes_that_no_policy_can_state_are_found(least, made):
    """Above the largest there may be, none, or above its own maximum."""
    with copy_of(made("optimal")) as folder:
        assert forged(folder, lambda block: block["mechanism"].update(min_size=least))
    with copy_of(made("optimal")) as folder:
        assert forged(folder, lambda block: block["mechanism"].update(max_size=201))


@pytest.mark.parametrize(("name", "kept"), [("slack", "3/20"), ("slack", "0"), ("slack two", "3/80")])
def test_less_slack_than_the_sizes_leave_is_found_where_any_search_keeps_more(name, kept, made):
    """With at most two sizes; a search among more may miss some."""
    assert manifest_of(made(name))["discreet"]["kept_slack"] == "3/10"
    assert len(manifest_of(made(name))["discreet"]["classes"]) <= 2
    with copy_of(made(name)) as folder:
        assert forged(folder, lambda block: block.update(kept_slack=kept)) == ["slack"]


# Ids


def renumbered(folder: Path, name: Callable[[int], int]) -> None:
    """Give buckets other ids in both tables, which stay in order."""
    for table in ("qit", "st"):
        own = table_of(folder, table)
        ids = pa.array([name(each) for each in own["BID"].to_pylist()], type=own["BID"].type)
        write_table(folder, table, own.set_column(own.column_names.index("BID"), "BID", ids))


@pytest.mark.parametrize("name", ["optimal", "anatomy", "near"])
def test_ids_are_those_from_one_on(name, made):
    """Shifted by one, with a gap, or doubled: what an id says beside is nobody's to choose."""
    others: dict[str, Callable[[int], int]] = {
        "shifted": lambda each: each + 1,
        "a gap": lambda each: each + (each > 3),
        "doubled": lambda each: 2 * each,
    }
    for what, other in others.items():
        with copy_of(made(name)) as folder:
            renumbered(folder, other)
            assert broken(folder) == (["buckets", "windows"] if name == "near" else ["buckets"]), what


# Composition


@pytest.mark.parametrize("stated", ["free", "even", "round-robin"])
@pytest.mark.parametrize("name", ["optimal", "even", "in turn", "near", "near even", "near in turn"])
def test_another_composition_is_found_unless_it_may_be_that(name, stated, made):
    """What is dealt in turn is even, and an even one may be free: that it is not, no file shows."""
    own = manifest_of(made(name))["discreet"]["mechanism"]["composition"]
    order = ["free", "even", "round-robin"]
    with copy_of(made(name)) as folder:
        found = forged(folder, lambda block: block["mechanism"].update(composition=stated))
        assert found == ([] if order.index(stated) <= order.index(own) else ["composition"])


@pytest.mark.parametrize("name", ["in turn", "in turn with fakes", "near in turn"])
def test_two_values_exchanged_between_buckets_are_no_longer_in_turn(name, made):
    """Buckets of one size, and of one window; all sums stay."""
    entries, block = table_of(made(name), "st").to_pylist(), manifest_of(made(name))["discreet"]
    sizes = Counter(table_of(made(name), "qit")["BID"].to_pylist())
    held: dict[int, Counter[str]] = {bucket: Counter() for bucket in sizes}
    for row in entries:
        held[row["BID"]][row["disease"]] += row["COUNT"]
    last = block["windows"][0]["last"] if "windows" in block else len(sizes)
    found = 0
    for one, two in combinations(range(1, last + 1), 2):
        if sizes[one] != sizes[two] or len(only := list((held[one] - held[two]).elements())) < 2:
            continue
        gives, takes = only[0], next(iter(held[two] - held[one]))
        changed = {**held, one: held[one] - Counter([gives]) + Counter([takes])}
        changed[two] = held[two] - Counter([takes]) + Counter([gives])
        with copy_of(made(name)) as folder:
            rows = [
                {"BID": bucket, "disease": value, "COUNT": here[value]}
                for bucket, here in sorted(changed.items())
                for value in VALUES
                if here[value]
            ]
            write_table(folder, "st", pa.Table.from_pylist(rows, schema=table_of(folder, "st").schema))
            assert "composition" in broken(folder)
        found += 1
        if found == 3:
            return
    assert found


# What a block must state


def left_out(*place: str) -> Callable[[Block], Any]:
    def edit(block: Block) -> None:
        for key in place[:-1]:
            block = block[key]
        del block[place[-1]]

    return edit


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("optimal", left_out("mechanism", "tolerance", "ceiling")),
        ("optimal", left_out("mechanism", "slack")),
        ("anatomy", left_out("mechanism", "composition")),
        ("even", lambda block: block["mechanism"].update(composition="random")),
    ],
)
def test_what_the_first_releases_did_not_state_must_be_stated_since(name, edit, made):
    """One form for each version of the words, and no default."""
    with copy_of(made(name)) as folder:
        assert forged(folder, edit)


TWINS: dict[str, Callable[[Block], Any]] = {
    "a value of the promise": lambda block: block["guarantee"]["tolerance"][1].__setitem__(0, 1.0),
    "another value of the promise": lambda block: block["guarantee"]["tolerance"][2].__setitem__(0, "2"),
    "a number of people": lambda block: block["classes"][0].update(buckets=float(block["classes"][0]["buckets"])),
    "true for a size": lambda block: block["mechanism"].update(min_size=True),
}


@pytest.mark.parametrize("what", TWINS)
def test_a_number_of_another_type_is_found(what, made):
    """1.0 and "1" are not the value 1, also where a reader takes them for it."""
    with copy_of(made("numbers")) as folder:
        manifest = manifest_of(folder)
        TWINS[what](manifest["discreet"])
        if restated(folder, Step("", (), manifest)):
            assert broken(folder)
