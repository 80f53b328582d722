"""discreet diff: two releases, or two policies, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.options import AsJson
from discreet.cli.show import guarded, say, show_json
from discreet.errors import DiscreetError
from discreet.ground.shown import and_more, plain
from discreet.release.difference import Difference, differences, policy_content, release_content, same_release
from discreet.release.folder import read_manifest
from discreet.schema.policy import Policy

EXAMPLE = "Example: discreet diff old.toml new.toml"
MOST = 8

Side = Annotated[Path, typer.Argument(help="A release folder or a policy file.", show_default=False)]


@guarded
def diff(a: Side, b: Side, as_json: AsJson = False) -> None:
    """Compare two releases or two policies, in words; what a release says of itself is not verified."""
    kinds = _kind(a), _kind(b)
    if kinds[0] != kinds[1]:
        raise DiscreetError(f"A is a {kinds[0]} and B is a {kinds[1]}; compare two of a kind")
    one, two = (_content(path, kinds[0]) for path in (a, b))
    found = differences(one, two)
    if as_json:
        show_json([difference.as_json() for difference in found])
        return
    say(f"A: {plain(str(a))}\nB: {plain(str(b))}")
    say(_verdict(kinds[0], one, two, found), style="bold")
    for topic, group in groupby(found, key=lambda difference: difference.topic):
        _show(topic, list(group))


def _kind(path: Path) -> str:
    if path.is_dir():
        return "release"
    if path.is_file():
        return "policy"
    raise DiscreetError(f"({path}) must be a release folder or a policy file; there is nothing of that name")


def _content(path: Path, kind: str) -> dict[str, Any]:
    """What is compared: of a release its manifest alone, read as a stranger's."""
    return release_content(read_manifest(path)) if kind == "release" else policy_content(Policy.load(path))


def _verdict(kind: str, one: dict[str, Any], two: dict[str, Any], found: Sequence[Difference]) -> str:
    number = f"{len(found)} difference{'s' if len(found) != 1 else ''}"
    if kind == "policy":
        return f"two policies with {number}" if found else "two policies that say the same"
    if not same_release(one, two):
        return f"not the same release: {number} in what the two say of themselves"
    return "the same release: what they state and every stated hash is the same" + (
        "; only copies differ" if found else ""
    )


def _show(topic: str, group: list[Difference]) -> None:
    """The first few differences of a topic, weaker tolerances before others; of the rest, how many and which way."""
    say(topic)
    group.sort(key=lambda difference: not difference.meaning.startswith("weaker"))
    for difference in group[:MOST]:
        say(f"  {difference}")
    if rest := group[MOST:]:
        kinds = Counter(difference.meaning for difference in rest) if topic == "tolerances" else Counter()
        ways = ", ".join(f"{number:,} {meaning}" for meaning, number in kinds.most_common(3))
        say(f"  {and_more(len(group), MOST)}" + (f": {ways}" if ways else ""))
