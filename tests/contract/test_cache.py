"""What was learned of a release is kept in the user's cache: used again, never trusted, bounded, and easy to clear."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from cases import CASES, contents, opened, policy_of, ward_frame
from commands import alone

import discreet
from discreet.estimate import remembered
from discreet.estimate.buckets.learning import learn as room

CASE = CASES[0]
ASKED = "disease = 'HIV' AND age < 40"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cached")
    opened(ward_frame(600), policy_of(CASE, folder), folder / "release", seed=3).close()
    return folder / "release"


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    """A copy, to be changed at will."""
    return Path(shutil.copytree(original, tmp_path / "release"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the environment names; nothing is in it yet."""
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "learned"


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """How often something was learned, one entry each."""
    calls, real = [], room.learn

    def counted(*args: object) -> object:
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(room, "learn", counted)
    return calls


def asked(folder: Path) -> discreet.Estimate:
    with discreet.open_release(folder) as release:
        return release.count(ASKED, estimator="learned")


def only_file(cache: Path) -> Path:
    (found,) = cache.iterdir()
    return found


def test_who_opens_a_release_again_learns_nothing_and_hears_the_same(release, cache, learnt):
    """Wherever the folder lies; it is the files that count. Nothing is written beside them."""
    before = contents(release)
    first = asked(release)
    moved = release.rename(release.with_name("elsewhere"))
    assert asked(moved) == first
    assert len(learnt) == 1
    assert contents(moved) == before
    assert only_file(cache).suffix == ".npz"


def test_what_is_kept_is_private_and_holds_plain_arrays(release, cache):
    """Nobody else reads it, and no pickle is needed to."""
    asked(release)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    with np.load(only_file(cache), allow_pickle=False) as arrays:
        assert {"weights", "second", "kept", "prior"} < set(arrays.files)
        assert all(arrays[name].dtype.kind in "fi" for name in arrays.files)


@pytest.mark.parametrize("name", ["datapackage.json", "data/qit.parquet", "data/st.parquet"])
def test_another_byte_is_another_release(name, original):
    """The name in the cache follows from every byte of what is learned from, and from the version."""
    files = [original / each for each in ("datapackage.json", "data/qit.parquet", "data/st.parquet")]
    usual = remembered.digest_of(files, "1")
    assert usual == remembered.digest_of(files, "1") != remembered.digest_of(files, "2")
    changed = original.parent / "changed"
    held = bytearray((original / name).read_bytes())
    held[len(held) // 2] ^= 1
    changed.write_bytes(held)
    assert remembered.digest_of([changed if each == original / name else each for each in files], "1") != usual


def test_a_release_with_another_byte_is_learned_anew(release, cache, learnt):
    """A space at the end of the manifest says nothing else, and yet it is another file."""
    asked(release)
    manifest = release / "datapackage.json"
    manifest.write_bytes(manifest.read_bytes() + b" ")
    asked(release)
    assert len(learnt) == len(list(cache.iterdir())) == 2


def changed(path: Path, **arrays: object) -> None:
    """Replace some of the arrays in a file of the cache; those that are None are left out."""
    with np.load(path) as held:
        every = {**{name: held[name] for name in held.files}, **arrays}
    np.savez(path, **{name: array for name, array in every.items() if array is not None})


class Trap:
    """What must never be loaded."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (os.environ["DISCREET_CACHE"] + "/sprung",)


def as_a_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Trap()))


def with_a_pickle_inside(path: Path) -> None:
    changed(path, weights=np.array([Trap()], dtype=object))


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a few bytes short": lambda path: path.write_bytes(path.read_bytes()[:-10]),
    "noise": lambda path: path.write_bytes(np.random.default_rng(1).bytes(5000)),
    "another byte": lambda path: path.write_bytes(_flipped(path.read_bytes())),
    "one array": lambda path: path.write_bytes(_one_array()),
    "foreign": lambda path: np.savez(path, other=np.zeros(3)),
    "fewer weights": lambda path: changed(path, weights=np.zeros(3, dtype=np.float32)),
    "other numbers": lambda path: changed(path, second=np.zeros(3)),
    "no prior": lambda path: changed(path, prior=None),
    "places that are none": lambda path: changed(path, kept=np.full(600, 10**6, dtype=np.int32)),
    "a scalar that is none": lambda path: changed(path, misfit=np.zeros(2)),
    "a scalar that is text": lambda path: changed(path, misfit=np.array("much")),
    "not a number": lambda path: changed(path, misfit=np.array(np.nan)),
    "pickle": as_a_pickle,
    "pickle inside": with_a_pickle_inside,
}


def _flipped(held: bytes) -> bytes:
    return held[: len(held) // 2] + bytes([held[len(held) // 2] ^ 255]) + held[len(held) // 2 + 1 :]


def _one_array() -> bytes:
    held = io.BytesIO()
    np.save(held, np.zeros(3))
    return held.getvalue()


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_or_foreign_is_learned_again(damage, release, cache, learnt):
    """The same answer comes out, the file is whole again, and no pickle was loaded."""
    first = asked(release)
    path = only_file(cache)
    whole = contents(cache)
    DAMAGES[damage](path)
    assert contents(cache) != whole
    assert asked(release) == first
    assert len(learnt) == 2
    assert asked(release) == first
    assert len(learnt) == 2
    assert not (cache.parent / "sprung").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_byte_that_is_changed_makes_reading_fail(cache):
    """Every byte of a small file in turn, and every length: the arrays come out, or nothing does."""
    remembered.remember("a", {"numbers": np.zeros(2, dtype=np.float32)})
    path = only_file(cache)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 8, 32, 128):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            found = remembered.recall("a")
            assert found is None or isinstance(found, dict)
        path.write_bytes(whole[:place])
        assert remembered.recall("a") is None


def test_a_pickle_would_have_sprung(cache):
    """The trap of these tests is one."""
    cache.mkdir(parents=True)
    pickle.loads(pickle.dumps(Trap()))  # noqa: S301 - our own
    assert (cache.parent / "sprung").exists()


def test_beyond_the_bound_what_was_not_used_for_longest_goes(cache, monkeypatch):
    """Looking something up is use; what is larger than the bound is not kept at all."""
    monkeypatch.setattr(remembered, "MOST", 25_000)
    small, large = {"a": np.zeros(1000)}, {"a": np.zeros(4000)}
    for day, name in enumerate("abc"):
        remembered.remember(name, small)
        os.utime(cache / f"{name}.npz", (day, day))
    assert remembered.recall("a") is not None
    remembered.remember("d", small)
    assert sorted(path.stem for path in cache.iterdir()) == ["a", "c", "d"]
    remembered.remember("e", large)
    assert sorted(path.stem for path in cache.iterdir()) == ["a", "c", "d"]
    assert remembered.held() == (3, sum(path.stat().st_size for path in cache.iterdir()))


def test_a_cache_that_cannot_be_written_is_no_error(release, tmp_path, monkeypatch, learnt):
    """It is learned each time, and nothing is left."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("DISCREET_CACHE", str(blocked))
    first = asked(release)
    assert asked(release) == first
    assert len(learnt) == 2
    assert blocked.read_text() == "no folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="to root no folder is closed")
def test_a_cache_that_is_only_for_reading_is_no_error(release, cache, learnt):
    """What stands there is used; what is new is not kept."""
    cache.mkdir(parents=True)
    cache.chmod(0o500)
    assert asked(release).estimator == "learned"
    assert asked(release).estimator == "learned"
    assert len(learnt) == 2
    assert not list(cache.iterdir())


def test_a_disk_that_is_full_is_no_error(release, cache, monkeypatch, learnt):
    """No half of a file is left."""

    def full(file: object, **arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert asked(release).estimator == "learned"
    assert not list(cache.iterdir())


def test_the_command_says_what_is_kept_where_and_clears_it(release, cache, tmp_path):
    """For people and for programs; clearing says what is gone."""
    own = {"DISCREET_CACHE": str(cache.parent)}
    asked(release)
    said = alone("cache", cwd=tmp_path, **own).stdout
    assert str(cache) in said.replace("\n", "")
    assert "1 releases" in said
    size = only_file(cache).stat().st_size

    def told(*words: str) -> dict[str, object]:
        return dict(json.loads(alone("cache", *words, "--json", cwd=tmp_path, **own).stdout))

    kept = {"folder": str(cache), "releases": 1, "bytes": size, "cleared": False}
    assert told() == kept
    assert told("--clear") == {**kept, "cleared": True}
    assert not list(cache.iterdir())
    assert told() == {**kept, "releases": 0, "bytes": 0}
    assert "0 releases" in alone("cache", "--clear", cwd=tmp_path, **own).stdout


def test_without_a_name_it_is_the_users_cache(tmp_path, monkeypatch):
    """Where the system keeps caches."""
    monkeypatch.delenv("DISCREET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in remembered.cache_folder().parents
    assert remembered.cache_folder().parts[-2:] == ("discreet", "learned")
