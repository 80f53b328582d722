"""Verification of every family: whatever a manifest states otherwise than it is, or in other words, is found."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, Case, Unproven
from tampering import (
    MANIFEST,
    SAMPLED,
    WORDS,
    Releases,
    broken,
    copy_of,
    look,
    manifest_of,
    number_in,
    other_numbers,
    places,
    put,
    sample,
    write_manifest,
)

EVERY = pytest.mark.parametrize("case", CASES, ids=str)
LASTING = tuple(case for case in CASES if case.views > 1 or case.charged)
Block = dict[str, Any]


def found_after(folder: Path, manifest: dict[str, Any], change: Callable[[Block], object]) -> set[str]:
    """What does not hold once the block of a manifest is changed; the manifest itself stays as it is."""
    changed = copy.deepcopy(manifest)
    change(changed["discreet"])
    assert json.dumps(changed) != json.dumps(manifest)
    write_manifest(folder, changed)
    return set(broken(folder))


# --- Numbers --------------------------------------------------------------------------------------------------------


def stated_numbers(case: Case, block: Block) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every number of a block that the files can show to be wrong, with another one that it may be changed to."""
    unproven = {each.place for each in case.unproven}
    for place in places(block):
        if place[0] in ("facts", "schema", "version", "words") or place in unproven:
            continue
        for other in other_numbers(look(block, place))[: 2 if place[0] == "guarantee" else 1]:
            yield place, other


def look_for_numbers(case: Case, release: Path) -> None:
    with copy_of(release) as folder:
        manifest = manifest_of(folder)
        for place, other in stated_numbers(case, manifest["discreet"]):
            found = found_after(folder, manifest, lambda block, place=place, other=other: put(block, place, other))
            assert found, f"{place} from {look(manifest['discreet'], place)} to {other}"
            assert "hashes" not in found


@EVERY
def test_every_number_that_is_stated_otherwise_is_found(case: Case, releases: Releases):
    """Parameters, promises and counts are held against the tables, against each other, or against the words."""
    look_for_numbers(case, releases.plain(case))


@pytest.mark.slow
@pytest.mark.parametrize("case", LASTING, ids=str)
def test_every_number_of_a_second_state_that_is_stated_otherwise_is_found(case: Case, releases: Releases):
    """Also what earlier releases cost, and how many tuples they showed."""
    look_for_numbers(case, releases.later(case))


UNPROVEN = [
    pytest.param(case, each, id=f"{case}-{'.'.join(each.place)}", marks=pytest.mark.xfail(strict=True, reason=each.why))
    for case in CASES
    for each in case.unproven
]


@pytest.mark.parametrize(("case", "unproven"), UNPROVEN)
def test_what_no_file_shows_is_found_when_it_is_stated_otherwise(case: Case, unproven: Unproven, releases: Releases):
    """It is not: verify takes these as they are stated, and each says why."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        assert found_after(folder, manifest, lambda block: put(block, unproven.place, unproven.other))


# --- Words ----------------------------------------------------------------------------------------------------------

FACTS: dict[str, Callable[[Block], object]] = {
    "other words": lambda block: block["facts"].update(words="Nobody can infer anything."),
    "another inequality": lambda block: block["facts"].update(inequality="Pr = 0"),
    "another adversary": lambda block: block["facts"].update(adversary="Knows nothing."),
    "another unit": lambda block: block["facts"].update(unit="a village"),
    "fewer limits": lambda block: block["facts"]["not_covered"].pop(),
    "a fact more": lambda block: block["facts"].update(certified=True),
    "a fact less": lambda block: block["facts"].pop("adversary"),
    "the other of a new series and a first one": lambda block: block.update(continued=not block["continued"]),
    "lies of another version": lambda block: block.update(
        version="0.0.1", facts={**block["facts"], "words": "Nobody can infer anything."}
    ),
}


@SAMPLED
@EVERY
def test_facts_that_lie_are_found(case: Case, thin: int, releases: Releases):
    """By the check of what is promised and by no other, whatever version they name."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        for what, change in sample(FACTS.items(), thin, case):
            found = found_after(folder, manifest, change)
            assert found, what
            assert found <= WORDS


@EVERY
def test_the_promise_of_another_release_is_found(case: Case, releases: Releases):
    """Parameters and guarantee that fit together, but neither these facts nor these tables."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        for other in CASES:
            theirs = manifest_of(releases.plain(other))["discreet"]
            if theirs["guarantee"] != manifest["discreet"]["guarantee"]:
                parts = {name: theirs[name] for name in ("mechanism", "guarantee")}
                assert found_after(folder, manifest, lambda block, parts=parts: block.update(parts)), other


TEXTS = {
    "the profile": ("$schema",),
    "the name": ("name",),
    "a file's name": ("resources", 0, "name"),
    "a file's format": ("resources", 0, "format"),
    "a file's mediatype": ("resources", 0, "mediatype"),
    "the version": ("discreet", "version"),
}


@pytest.mark.parametrize("place", TEXTS.values(), ids=TEXTS)
def test_text_that_is_none_of_the_format_is_found(place: tuple[Any, ...], releases: Releases):
    """A release has one name, one profile and known formats: text in their places would leave the house unread."""
    with copy_of(releases.plain(CASES[0])) as folder:
        manifest = manifest_of(folder)
        put(manifest, place, "bed 7 is the mayor")
        write_manifest(folder, manifest)
        assert broken(folder)


@EVERY
def test_other_text_in_the_block_is_found(case: Case, releases: Releases):
    """Wherever a word of the format or a parameter stands, no other text may."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        block = manifest["discreet"]
        unproven = {each.place for each in case.unproven}
        for place in places({name: block[name] for name in ("mechanism", "guarantee", "randomness", "readme")}):
            if isinstance(look(block, place), str) and number_in(look(block, place)) is None and place not in unproven:
                assert found_after(folder, manifest, lambda block, place=place: put(block, place, "x")), place


# --- The form -------------------------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[Block], object]] = {
    "an older format": lambda block: block.update(format=1),
    "a newer format": lambda block: block.update(format=3),
    "newer words": lambda block: block.update(words=99),
    "no words": lambda block: block.pop("words"),
    "a key more": lambda block: block.update(note="x"),
    "no readme": lambda block: block.pop("readme"),
    "no guarantee": lambda block: block.pop("guarantee"),
    "a mechanism that nobody knows": lambda block: block["mechanism"].update(kind="magic"),
    "no mechanism": lambda block: block.update(mechanism={}),
    "a promise that nobody knows": lambda block: block["guarantee"].update(notion="secrecy"),
}


@EVERY
def test_a_block_of_another_form_is_found(case: Case, releases: Releases):
    """One failing check: manifest."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        for what, change in FORMS.items():
            assert found_after(folder, manifest, change) == {"manifest"}, what


@EVERY
def test_a_parameter_more_or_less_is_found(case: Case, releases: Releases):
    """A mechanism states its kind and its parameters and nothing else; likewise a promise."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        for part in ("mechanism", "guarantee"):
            assert found_after(folder, manifest, lambda block, part=part: block[part].update(note="x"))
        name = next(each for each in manifest["discreet"]["mechanism"] if each != "kind")
        assert found_after(folder, manifest, lambda block: block["mechanism"].pop(name))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 100_000, '{"discreet": 1}', "\ufeff{}", '"\\ud800"', "NaN"]
)
def test_a_manifest_that_is_none_gives_a_verdict(text: str, releases: Releases):
    """One failing check: manifest."""
    with copy_of(releases.plain(CASES[0])) as folder:
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        assert broken(folder) == ["manifest"]


# --- Domains --------------------------------------------------------------------------------------------------------

SCHEMAS: dict[str, Callable[[Block], object]] = {
    "a value more": lambda schema: schema["domains"]["disease"]["values"].append("Gout"),
    "a value less": lambda schema: schema["domains"]["disease"]["values"].remove("Flu"),
    "values in another order": lambda schema: schema["domains"]["gender"]["values"].reverse(),
    "a wider range": lambda schema: schema["domains"]["age"].update(integers=[0, 120]),
    "a narrower range": lambda schema: schema["domains"]["age"].update(integers=[0, 50]),
    "missing cells": lambda schema: schema["domains"]["gender"].update(missing=True),
    "roles exchanged": lambda schema: schema.update(
        quasi_identifiers=["age", "gender", "disease"], sensitive="postcode"
    ),
}


@SAMPLED
@EVERY
def test_another_schema_than_that_of_the_files_is_found(case: Case, thin: int, releases: Releases):
    """Domains and roles are held against the tables and the columns that the manifest describes."""
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        for what, change in sample(SCHEMAS.items(), thin, case):
            assert found_after(folder, manifest, lambda block, change=change: change(block["schema"])), what


def described(manifest: dict[str, Any], name: str, **constraints: Any) -> None:
    """Let all columns of that name be described alike."""
    for each in manifest["resources"]:
        for field in each["schema"]["fields"]:
            if field["name"] == name and field["type"] == "integer":
                field["constraints"].update(constraints)
            elif field["name"] == name and "enum" in field["constraints"]:
                field["constraints"]["enum"] = constraints["enum"]


@EVERY
def test_a_domain_without_some_of_the_cells_is_found_also_where_the_columns_say_the_same(
    case: Case, releases: Releases
):
    """A forger who restates everything about a column cannot restate what is in it."""
    with copy_of(releases.plain(case)) as folder:
        for name, domain, constraints in (
            ("age", {"integers": [0, 50]}, {"maximum": 50}),
            ("disease", {"values": ["Measles", "Asthma", "Flu"]}, {"enum": ["Measles", "Asthma", "Flu"]}),
        ):
            manifest = manifest_of(releases.plain(case))
            manifest["discreet"]["schema"]["domains"][name] = domain
            described(manifest, name, **constraints)
            write_manifest(folder, manifest)
            assert broken(folder), name


# --- Manifests made to hurt -----------------------------------------------------------------------------------------

LIMITED = """
import resource, sys, time, discreet
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for folder in sys.argv[1:]:
    started = time.monotonic()
    assert not discreet.verify(folder, allow_seeded=True).holds, folder
    try:
        release = discreet.open_release(folder)
        try:
            release.count("age > 3 AND disease = 'Flu'")
        finally:
            release.close()
    except discreet.DiscreetError:
        pass
    assert time.monotonic() - started < 10, folder
"""


def limited(folders: list[Path]) -> None:
    """Verify and ask in a process of its own, with 4 GB and a limit of time."""
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests
            [sys.executable, "-c", LIMITED, *map(str, folders)],
            capture_output=True,
            text=True,
            timeout=10 + 10 * len(folders),
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail("one of the releases took more than 10 seconds")
    assert done.returncode == 0, done.stderr[-800:]


def hurtful(releases: Releases, to: Path, change: Callable[[dict[str, Any]], object]) -> list[Path]:
    """A copy of every case's release with a manifest that was changed."""
    made = []
    for case in CASES:
        made.append(shutil.copytree(releases.plain(case), to / case.name))
        manifest = manifest_of(made[-1])
        change(manifest)
        write_manifest(made[-1], manifest)
    return made


@pytest.mark.parametrize("number", ["1e200000000", "1/" + "9" * 400_000], ids=["exponent", "digits"])
def test_a_number_written_to_be_huge_does_not_stop_verify(number: str, releases: Releases, tmp_path):
    """A few characters must not cost hours, in whichever parameter of whichever family they stand."""

    def change(manifest: dict[str, Any]) -> None:
        block = manifest["discreet"]
        for place in places({name: block[name] for name in ("mechanism", "guarantee")}):
            if number_in(look(block, place)) is not None:
                put(block, place, number)
            elif place[-1] in ("l", "slots", "views", "specializations"):
                put(block, place, 10**18)

    limited(hurtful(releases, tmp_path, change))


def test_a_domain_stated_to_be_huge_does_not_stop_verify(releases: Releases, tmp_path):
    """A range of 2^53 numbers is two numbers in the manifest, and must not be listed, whoever's domain it is."""

    def change(manifest: dict[str, Any]) -> None:
        for name in ("age", "disease"):
            manifest["discreet"]["schema"]["domains"][name] = {"integers": [0, 2**53 - 1]}
            for each in manifest["resources"]:
                for field in each["schema"]["fields"]:
                    if field["name"] == name:
                        limits = {"required": True, "minimum": 0, "maximum": 2**53 - 1}
                        field.update(type="integer", constraints=limits)

    limited(hurtful(releases, tmp_path, change))
