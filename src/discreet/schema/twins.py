"""Values that look alike: two spellings of one value in a list split what is promised of it.

Found by skeletons, each value's worked out once, so a list of any length takes a time that grows with it alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from unicodedata import normalize

from discreet.errors import PolicyError
from discreet.ground.shown import and_more
from discreet.schema.skeleton import LETTERS, SIGNS, loose_skeleton, skeletons

Lists = tuple[tuple[str, ...], ...]

_SHOWN = 3  # groups, and values of a group, that a message names
_LONGEST = 60  # characters of a value that it shows
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_DOUBTFUL = "0 and O, 1 and l and I, or white space"
_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("white space", lambda text: " ".join(text.split())),
    ("letter case", str.casefold),
    ("signs that do not show, or dashes and quotation marks", lambda text: text.translate(SIGNS)),
    ("letters of other alphabets", lambda text: text.translate(LETTERS)),
    ("other signs for the same letters", lambda text: normalize("NFKC", text)),
)


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Values of a list, in its order, that a person may take for one; not `sure` where people often tell them apart."""

    values: tuple[str, ...]
    sure: bool

    @property
    def why(self) -> str:
        """In what they differ."""
        if not self.sure:
            return _DOUBTFUL
        first, *others = self.values[:_SHOWN]
        return ", ".join(dict.fromkeys(_way(first, other) for other in others))

    def __str__(self) -> str:
        named = " and ".join(quoted(value) if value else "an empty cell" for value in self.values[:_SHOWN])
        more = and_more(len(self.values), _SHOWN)
        return f"{named}{f' {more}' if more else ''} ({self.why})"


def alike_in(values: Sequence[str], distinct: Lists = (), *, doubtful: bool = True) -> tuple[Alike, ...]:
    """The groups of values that look alike, but for those that are said to be `distinct`: the sure ones first."""
    place = {value: number for number, each in enumerate(distinct) for value in each}
    keys = list(map(skeletons, values))
    sure = _grouped(values, keys)
    found = [Alike(values=group, sure=True) for group in sure if not _settled(group, place)]
    if doubtful:
        known = {value: number for number, group in enumerate(sure) for value in group}
        loose = _grouped(values, map(_loosely, values, keys))
        found += [
            Alike(values=group, sure=False)
            for group in loose
            if not _settled(group, known) and not _settled(group, place)
        ]
    return tuple(found)


def alike(values: Iterable[str]) -> bool:
    """Whether all of some values could be taken for one, if only by somebody who takes 0 for O."""
    listed = tuple(dict.fromkeys(values))
    return len(listed) < 2 or _grouped(listed, map(_loosely, listed, map(skeletons, listed))) == [listed]


def check_distinct(distinct: object, values: Sequence[object], *, missing: bool) -> Lists:
    """Lists of values that are said to be kept apart; raises PolicyError where they are no such lists.

    Where an empty cell is a value, the empty text stands for it.
    """
    if not isinstance(distinct, list | tuple) or not all(map(_is_list, distinct)):
        raise PolicyError('distinct must be lists of two values or more, such as [["HIV", "hiv"]]')
    if values and not isinstance(values[0], str):
        raise PolicyError("distinct is for text: two numbers never look alike; take it out")
    known, seen = {*values, *([""] if missing else [])}, set[str]()
    for each in distinct:
        for value in each:
            if value not in known:
                raise PolicyError(f"distinct ({quoted(value)}) must name values of the domain; mend or delete it")
            if value in seen:
                raise PolicyError(
                    f"distinct ({quoted(value)}) must name a value once; write all that look alike as one list"
                )
            seen.add(value)
        if not alike(each):
            raise PolicyError(
                f"distinct ({', '.join(map(quoted, each[:_SHOWN]))}) must name values that look alike; these do not: "
                "take the list out"
            )
    return tuple(map(tuple, distinct))


def quoted(value: str, most: int | None = _LONGEST) -> str:
    """A value as TOML writes it: in quotes, and what could be taken for something else by its number."""
    cut = value if most is None or len(value) <= most else value[:most]
    return f'"{"".join(map(_plain, cut))}{"..." if cut != value else ""}"'


def named(value: str, most: int | None = _LONGEST) -> str:
    """The same as a key."""
    return value if _BARE.fullmatch(value) and quoted(value) == f'"{value}"' else quoted(value, most)


def advice(groups: Sequence[Alike]) -> str:
    """What a custodian may say of them, as it is written in a policy. The empty text stands for an empty cell."""
    first = list(islice(groups, _SHOWN))
    dots = ", ..." if len(groups) > _SHOWN else ""
    same = [(each, group.values[0]) for group in first if "" not in group.values for each in group.values[1:]]
    empty = [quoted(each) for group in first for each in group.values if "" in group.values and each]
    ways = [f"same = {{ {', '.join(f'{named(one)} = {quoted(two)}' for one, two in same)}{dots} }}"] if same else []
    ways += [f"missing_as = [{', '.join(empty)}{dots}]"] if empty else []
    apart = ", ".join(f"[{', '.join(map(quoted, group.values))}]" for group in first)
    return (
        f"say {' and '.join(ways)} to read them as one value, or distinct = [{apart}{dots}] to keep them "
        "apart on purpose"
    )


def told(groups: Sequence[Alike]) -> str:
    """The first few groups in words, and how many more there are."""
    return " ".join(filter(None, ("; ".join(map(str, groups[:_SHOWN])), and_more(len(groups), _SHOWN))))


def _plain(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign.isprintable() and ord(sign) not in LETTERS and SIGNS.get(ord(sign)) is None:
        return sign if normalize("NFKC", sign) == sign else _numbered(sign)
    return _numbered(sign)


def _numbered(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _is_list(each: object) -> bool:
    if not isinstance(each, list | tuple) or not all(isinstance(value, str) for value in each):
        return False
    return len(set(each)) == len(each) > 1


def _way(one: str, two: str) -> str:
    return next((name for name, way in _WAYS if way(one) == way(two)), "several of these at once")


def _loosely(value: str, keys: Sequence[str]) -> tuple[str, ...]:
    return (*keys, f"{loose_skeleton(value)}\n")  # no other skeleton ends so


def _settled(group: Iterable[str], place: dict[str, int]) -> bool:
    """Whether all of a group stand in one place."""
    places = {place.get(value) for value in group}
    return len(places) == 1 and None not in places


def _grouped(values: Sequence[str], keys: Iterable[Iterable[str]]) -> list[tuple[str, ...]]:
    """Values that share a key, near or far, in the order of the list; those that share none are left out."""
    above: dict[int, int] = {}  # from a value to an earlier one that it shares a key with
    first: dict[str, int] = {}
    for place, own in enumerate(keys):
        for key in own:
            earlier = first.setdefault(key, place)
            if earlier != place:
                one, two = sorted((_root(earlier, above), _root(place, above)))
                if one != two:
                    above[two] = one
    found: dict[int, list[int]] = {}
    for place in above:
        found.setdefault(_root(place, above), []).append(place)
    return [tuple(values[each] for each in (root, *sorted(rest))) for root, rest in sorted(found.items())]


def _root(place: int, above: dict[int, int]) -> int:
    while place in above:
        if above[place] in above:
            above[place] = above[above[place]]
        place = above[place]
    return place
