"""What searches found, as they found it: each is a sentence now."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from cases import CASES, policy_of
from tampering import Releases, copy_of, manifest_of, write_manifest

import discreet


@pytest.mark.parametrize("name", ["\\u0000", "a\\u0000b.csv"])
def test_a_hierarchy_whose_name_no_file_can_have_is_a_problem(tmp_path: Path, name: str) -> None:
    """A zero byte in a path is no OSError."""
    assert "a name that a file can have" in _told(tmp_path, f'hierarchy = "{name}"')


@pytest.mark.parametrize("name", ["/dev/zero", "."])
def test_a_hierarchy_that_is_no_file_is_not_read(tmp_path: Path, name: str) -> None:
    """A device may have no end."""
    assert "it is a folder or a device" in _told(tmp_path, f'hierarchy = "{name}"')


def _told(folder: Path, domain: str) -> str:
    """What is said of a policy in which the domain of gender is another one."""
    path = policy_of(CASES[0], folder).path
    assert path is not None
    text = path.read_text(encoding="utf-8")
    before = text[text.index("[domains.gender]") :].split("\n[", 1)[0]
    path.write_text(text.replace(before, f"[domains.gender]\n{domain}\n"), encoding="utf-8")
    with pytest.raises(discreet.PolicyError) as refused:
        discreet.Policy.load(path)
    assert [str(each) for each in discreet.Policy.check(path)]
    return str(refused.value)


@pytest.mark.parametrize("number", [121, 2**53, 2**64])
def test_more_people_than_rows_are_refused(releases: Releases, number: int) -> None:
    """Where the manifest is read; 2^64 had got as far as an array of 64 bits. Nor are there 2^64 rows."""
    case = next(case for case in CASES if case.name == "buckets with fakes")
    with copy_of(releases.plain(case)) as folder:
        manifest = manifest_of(folder)
        manifest["discreet"]["people"][0][1][0] = number
        write_manifest(folder, manifest)
        with pytest.raises(discreet.ReleaseError, match="people must be a list"):
            discreet.open_release(folder)
        manifest["discreet"]["rows"] = max(number, 2**53)
        write_manifest(folder, manifest)
        with pytest.raises(discreet.ReleaseError, match="rows in the block"):
            discreet.open_release(folder)


def test_people_that_do_not_fit_the_buckets_are_refused_where_they_are_asked(releases: Releases) -> None:
    """An answer from a release with fakes whose manifest states fewer values, or other sizes of buckets."""
    case = next(case for case in CASES if case.name == "buckets with fakes")
    for key in ("people", "classes"):
        with copy_of(releases.plain(case)) as folder:
            manifest = manifest_of(folder)
            manifest["discreet"][key] = manifest["discreet"][key][1:]
            write_manifest(folder, manifest)
            with pytest.raises(discreet.ReleaseError), closing(discreet.open_release(folder)) as release:
                release.count("age = 3 AND disease = 'Flu'", estimator="unbiased")
