"""Verify walks a release of pairs again: whatever a forger changes, it follows no longer, or it is rounding."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import publish, saved
from tampering import broken, copy_of, manifest_of, table_of, with_cell, write_manifest, write_table

import discreet
from discreet.ground.exact import fraction_text
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.pairs.layout import labelled_pairs, taxonomies_of
from discreet.release.diffgen.pairs.measured import Candidate, Level
from discreet.schema.domain import Integers, Listed

JOBS = tuple("abcdefgh")
SCHEMA = discreet.Schema(
    quasi_identifiers=("age", "job", "sex"),
    sensitive="disease",
    domains={
        "age": Integers(low=0, high=79),
        "job": Listed(values=JOBS),
        "sex": Listed(values=("f", "m")),
        "disease": Listed(values=("flu", "cold", "hiv")),
    },
)
Block = dict[str, Any]


def people(rows: int = 1_000) -> pd.DataFrame:
    coins = np.random.default_rng(0)
    age = np.clip(coins.normal(40, 18, rows), 0, 79).astype(int)
    job = np.clip(age / 12 + coins.normal(0, 1.5, rows), 0, 7).astype(int)
    disease = np.where(
        coins.random(rows) < 1 / (1 + np.exp((45 - age) / 8)), "hiv", coins.choice(["flu", "cold"], rows)
    )
    sex = np.where(coins.random(rows) < 0.3 + 0.05 * job, "m", "f")
    return pd.DataFrame({"age": age, "job": np.array(JOBS)[job], "sex": sex, "disease": disease})


def found(folder: Path, shows: Callable[[Block], bool]) -> Path:
    """The first seed whose release shows what is asked for."""
    policy = saved(discreet.Policy(schema=SCHEMA, mechanism=discreet.Pairs(epsilon=3)), folder / "p.toml")
    for seed in range(50):
        release = publish(people(), policy, folder / f"r{seed}", seed=seed)
        if shows(manifest_of(release)["discreet"]):
            return release
        shutil.rmtree(release)
    raise AssertionError("no seed shows it")


def rounds_of(release: Path) -> list[Any]:
    return manifest_of(release)["discreet"]["rounds"]


def is_again(block: Block) -> bool:
    return "tables again" in block["guarantee"]["parts"]


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> Path:
    """All spent in rounds, one of them on a table with groups."""
    return found(
        tmp_path_factory.mktemp("full"),
        lambda block: (
            not is_again(block)
            and None not in block["rounds"]
            and len(block["rounds"]) > 1
            and any("groups" in each["levels"] for each in block["rounds"])
        ),
    )


@pytest.fixture(scope="module")
def again(tmp_path_factory) -> Path:
    """A stop, and columns that were counted again."""
    return found(
        tmp_path_factory.mktemp("again"),
        lambda block: is_again(block) and None in block["rounds"] and any(block["rounds"]),
    )


@pytest.fixture(params=["full", "again"])
def release(request) -> Path:
    return request.getfixturevalue(request.param)


def test_both_hold(release):
    """So that what follows is found for its own reason."""
    assert broken(release) == []


# Numbers in the tables


def rows_of(table: pa.Table, number: int = 5) -> list[int]:
    return np.unique(np.linspace(0, table.num_rows - 1, number).astype(int)).tolist()


@pytest.mark.parametrize("name", ["columns", "pairs"])
@pytest.mark.parametrize("column", ["MEASURED", "AGAIN"])
def test_a_noisy_count_raised_is_found(release, name, column):
    """The counts no longer fit, or all else that followed from it: groups, rounds, parts."""
    with copy_of(release) as folder:
        table = table_of(folder, name)
        if column not in table.column_names or table[column].null_count:
            pytest.skip("nothing was counted again")
        for row in rows_of(table):
            write_table(folder, name, with_cell(table, row, column, table[column][row].as_py() + 60))
            assert broken(folder), f"{name}, row {row}"


@pytest.mark.parametrize("name", ["columns", "pairs"])
def test_a_count_moved_beyond_rounding_is_found_and_a_unit_is_not(release, name):
    """A count stands on a grid; another machine may round it to the next place."""
    with copy_of(release) as folder:
        table = table_of(folder, name)
        for row in rows_of(table):
            count = table["COUNT"][row].as_py()
            for units, checks in ((1, []), (8, ["model"]), (40 * UNIT, ["model"])):
                write_table(folder, name, with_cell(table, row, "COUNT", count + units / UNIT))
                assert broken(folder) == checks, f"{name}, row {row}, {units}"


def test_counts_of_another_total_are_found(release):
    """All of them a hundredth larger: they agree with each other, and not with what was measured."""
    with copy_of(release) as folder:
        for name in ("columns", "pairs"):
            table = table_of(folder, name)
            counts = pa.array(np.rint(np.array(table["COUNT"]) * 1.01 * UNIT) / UNIT)
            write_table(folder, name, table.set_column(table.column_names.index("COUNT"), "COUNT", counts))
        assert broken(folder) == ["model"]


def test_another_group_is_found(release):
    """Groups follow from the noisy counts."""
    with copy_of(release) as folder:
        table = table_of(folder, "columns")
        for row in rows_of(table):
            group = table["GROUP"][row].as_py()
            write_table(folder, "columns", with_cell(table, row, "GROUP", group % 8 + 1))
            assert "schema" in broken(folder)


def test_columns_counted_again_are_there_where_something_was_left_and_only_there(full, again):
    """All of them or none."""
    for each, some in ((again, False), (full, True)):
        with copy_of(each) as folder:
            table = table_of(folder, "columns")
            cells = pa.array([5 if some else None] * table.num_rows, pa.int64())
            place = table.column_names.index("AGAIN")
            write_table(folder, "columns", table.set_column(place, "AGAIN", cells))
            assert "choices" in broken(folder)
    with copy_of(again) as folder:
        table = table_of(folder, "columns")
        write_table(folder, "columns", with_cell(table, 3, "AGAIN", None))
        assert "schema" in broken(folder)


# Rounds


def forge(folder: Path, rounds: list[Candidate | None]) -> None:
    """Other rounds, with a table for each of them that has the right rows."""
    taxonomies = taxonomies_of(SCHEMA)
    table = labelled_pairs(taxonomies, rounds)
    table = table.append_column("MEASURED", pa.array(np.full(table.num_rows, 9)))
    write_table(folder, "pairs", table.append_column("COUNT", pa.array(np.full(table.num_rows, 9.0))))
    manifest = manifest_of(folder)
    manifest["discreet"]["rounds"] = [
        each
        and {
            "columns": [taxonomies[place].name for place in each.columns],
            "levels": [level.value for level in each.levels],
        }
        for each in rounds
    ]
    write_manifest(folder, manifest)


def candidates_of(release: Path) -> list[Candidate | None]:
    names = list(SCHEMA.columns)
    return [
        each and Candidate(*(names.index(name) for name in each["columns"]), tuple(map(Level, each["levels"])))
        for each in rounds_of(release)
    ]


CELLS, GROUPS = (Level.CELLS, Level.CELLS), (Level.GROUPS, Level.CELLS)
FORGED: dict[str, Callable[[list[Any]], list[Any]]] = {
    "a table twice": lambda rounds: [rounds[0] or rounds[1]] * len(rounds),
    "a table that is not worth its noise": lambda rounds: [*rounds[:-1], Candidate(0, 1, CELLS)],
    "one round less": lambda rounds: rounds[:-1],
    "one round more": lambda rounds: [*rounds, None],
    "no rounds": lambda rounds: [],
    "stops alone": lambda rounds: [None],
    "a round more in the middle": lambda rounds: [rounds[0], None, *rounds[1:]],
    "a column with itself": lambda rounds: [*rounds[:-1], Candidate(1, 1, CELLS)],
    "columns the wrong way round": lambda rounds: [*rounds[:-1], Candidate(3, 2, CELLS)],
}


@pytest.mark.parametrize("what", FORGED)
def test_rounds_that_could_not_have_come_are_found(release, what):
    """Though every table has the rows that it should have: the walk asks for others."""
    with copy_of(release) as folder:
        forge(folder, FORGED[what](candidates_of(folder)))
        assert {"manifest", "schema", "choices", "promise"} & set(broken(folder))


def test_a_choice_that_was_offered_is_taken_as_it_is_stated(full):
    """Which of the offered tables was the right one only the rows tell: what is found then is the counts alone."""
    rounds = candidates_of(full)
    others = [Candidate(*each, CELLS) for each in ((1, 2), (1, 3), (2, 3))]
    other = next(each for each in others if each not in rounds)
    with copy_of(full) as folder:
        forge(folder, [*rounds[:-1], other])
        assert broken(folder) == ["model"]


def test_rounds_in_another_order_are_found(full, again):
    """With their tables: a model that grew otherwise has other counts; a stop elsewhere has other shares."""
    for release in (full, again):
        rounds = candidates_of(release)
        with copy_of(release) as folder:
            table = table_of(folder, "pairs")
            order = list(range(len(rounds)))[::-1]
            parts = [table.filter(pa.compute.equal(table["ROUND"], at + 1)) for at in order]
            numbers = [np.full(part.num_rows, place) for place, part in enumerate(parts, start=1)]
            moved = pa.concat_tables(parts).set_column(0, "ROUND", pa.array(np.concatenate(numbers)))
            write_table(folder, "pairs", moved)
            manifest = manifest_of(folder)
            manifest["discreet"]["rounds"] = [manifest["discreet"]["rounds"][at] for at in order]
            write_manifest(folder, manifest)
            assert {"choices", "promise", "model"} & set(broken(folder))


def test_another_level_is_found(full):
    """Stated of a table that has the rows of the true one."""
    at = next(place for place, each in enumerate(rounds_of(full)) if "groups" in each["levels"])
    with copy_of(full) as folder:
        manifest = manifest_of(folder)
        manifest["discreet"]["rounds"][at]["levels"] = ["cells", "cells"]
        write_manifest(folder, manifest)
        assert "schema" in broken(folder)


# What it cost


def test_parts_that_are_not_those_of_the_walk_are_found(release):
    """A millionth moved from each part to the next: they still add up to epsilon."""
    with copy_of(release) as folder:
        manifest = manifest_of(folder)
        parts = manifest["discreet"]["guarantee"]["parts"]
        names = list(parts)
        for one, other in zip(names, [*names[1:], names[0]], strict=True):
            changed = copy.deepcopy(manifest)
            for name, step in ((one, -1), (other, 1)):
                moved = Fraction(parts[name]) + Fraction(step, 10**6)
                changed["discreet"]["guarantee"]["parts"][name] = fraction_text(moved)
            write_manifest(folder, changed)
            assert "promise" in broken(folder), (one, other)


def test_a_part_that_is_not_stated_is_found(release):
    """Each of them left out, and each called otherwise."""
    with copy_of(release) as folder:
        manifest = manifest_of(folder)
        parts = manifest["discreet"]["guarantee"]["parts"]
        for name in parts:
            for other in (None, "leaves", "choice of round 999"):
                changed = copy.deepcopy(manifest)
                changed["discreet"]["guarantee"]["parts"] = {
                    (other if each == name else each): share
                    for each, share in parts.items()
                    if other is not None or each != name
                }
                write_manifest(folder, changed)
                assert "promise" in broken(folder), (name, other)


def test_another_total_is_found(release):
    """By a fifth: all shares follow from it. By so little that nothing follows, it is another release that is true."""
    with copy_of(release) as folder:
        manifest = manifest_of(folder)
        total = manifest["discreet"]["total"]
        for other in (total * 4 // 5, total * 6 // 5, -total, total * 1000):
            changed = copy.deepcopy(manifest)
            changed["discreet"]["total"] = other
            write_manifest(folder, changed)
            assert {"promise", "choices"} & set(broken(folder)), other
