"""Paths: the way from each value of a domain up to the root '*', checked as a whole.

A path is a row of labels, the leaf first and '*' last. Level 0 holds the leaves, level 1 their parents, and so on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from discreet.errors import PolicyError
from discreet.ground.shown import name_some

Row = tuple[str, ...]
Paths = tuple[Row, ...]
Values = range | tuple[int, ...] | tuple[str, ...]
Interval = tuple[float, float]  # lowest and highest, both included; whole numbers, or infinite
Keys = Sequence[int] | Sequence[str] | Sequence[int | str]

ROOT = "*"
MOST_LEAVES = 1_000_000  # that a hierarchy of ranges or bands is built for
LONGEST = 60  # characters of a label that a message shows

_NUMBER = r"-?[0-9]{1,18}"
_FROM_TO = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.)\s*({_NUMBER})")
_BRACKETS = re.compile(rf"([\[\](])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\[\])])")
_ONE_SIDED = re.compile(rf"(<=|>=|[<>≤≥])\s*({_NUMBER})")
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class Tree(tuple[Row, ...]):
    """Paths that were found right for `values`, in their order: they need no second check."""

    values: Values | None = None  # None where they were not checked


def checked(
    paths: Iterable[Sequence[str]],
    values: Values | None = None,
    name: str = "hierarchy",
    apart: Sequence[Sequence[str]] = (),
) -> Paths:
    """The paths in the order of the values; raises one PolicyError that names every problem.

    Without values the leaves are the domain, in the order given. Where the values are whole numbers, so are the
    leaves ("07" is 7), and an interval above a leaf must contain it. Leaves of one list in `apart` may look alike.
    Equal labels are one object in the result.
    """
    if isinstance(paths, Tree) and paths.values is not None and values in (None, paths.values):
        return paths
    rows = [tuple(path) for path in paths]
    keys = _keys(rows, values)
    if found := list(_problems(rows, keys, values, apart)):
        raise PolicyError(f"{name} must be a tree with one path for each value; mend:\n  - " + "\n  - ".join(found))
    labels = {value: value for value in values or () if isinstance(value, str)}
    if values is not None:
        by_value = dict(zip(keys, rows, strict=True))
        rows = [_with_leaf(str(value), by_value[value]) for value in values]
    tree = Tree(tuple(map(labels.setdefault, row, row)) for row in rows)
    tree.values = tuple(row[0] for row in tree) if values is None else values
    return tree


def _with_leaf(leaf: str, row: Row) -> Row:
    return row if row[0] == leaf else (leaf, *row[1:])


def _keys(rows: list[Row], values: Values | None) -> Keys:
    """The value that each leaf stands for; a leaf that should be a whole number and is none stays text."""
    leaves = [row[0] if row else "" for row in rows]
    if not values or isinstance(values[0], str):
        return leaves
    return [int(leaf) if _WHOLE.fullmatch(leaf) else leaf for leaf in leaves]


def _problems(rows: list[Row], keys: Keys, values: Values | None, apart: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows or not all(rows):
        yield "rows must be there and have labels; give one row for each value, leaf to root, '*' last"
        return
    columns = Counter(map(len, rows)).most_common(1)[0][0]
    levels = list(zip(*(row for row in rows if len(row) == columns), strict=True))
    yield from _shape(rows, columns)
    yield from _spelling(rows)
    yield from _twins(levels, apart)
    yield from _parents(levels)
    if twice := [key for key, times in Counter(keys).items() if times > 1]:
        yield f"leaves ({name_some(map(_show, twice), len(twice))}) must stand once each; delete the other rows"
    if values is not None:
        yield from _coverage(keys, values)
        yield from _intervals(rows, keys)


def _shape(rows: list[Row], columns: int) -> Iterator[str]:
    """Every row has the same number of labels and ends in the one '*'."""
    if odd := [f"{_show(row[0])} with {len(row)}" for row in rows if len(row) != columns]:
        yield f"rows ({name_some(odd)}) must have {columns} columns, as most rows do; give every level a label"
    if rootless := [_show(row[0]) for row in rows if row[-1] != ROOT]:
        yield f"rows ({name_some(rootless)}) must end in '*'; put '*' into the last column"
    if early := [_show(row[0]) for row in rows if row.count(ROOT) > (row[-1] == ROOT) or row[0] == ROOT]:
        yield f"rows ({name_some(early)}) must have '*' at the end only; name what stands before it"


def _spelling(rows: list[Row]) -> Iterator[str]:
    """Labels are one line of text each, not empty, with no white space around."""
    labels = set(chain.from_iterable(rows))
    if "" in labels:
        empty = [f"row {number}" for number, row in enumerate(rows, start=1) if "" in row]
        yield f"labels ({name_some(empty)}) must not be empty; give every level a label"
    for wrong, must in (
        ({label for label in labels if label != label.strip()}, "not begin or end with white space; trim them"),
        (set(filter(_NOT_TEXT.search, labels)), "be one line of text; take out what cannot be printed"),
    ):
        if wrong:
            in_order = (label for label in dict.fromkeys(chain.from_iterable(rows)) if label in wrong)
            yield f"labels ({name_some(map(_show, in_order), len(wrong))}) must {must}"


def _twins(levels: Sequence[Row], apart: Sequence[Sequence[str]]) -> Iterator[str]:
    """No two labels of one level are the same to a person's eye, but for leaves that are kept `apart`."""
    for number, level in enumerate(levels):
        labels = dict.fromkeys(level)
        if len(set(map(_seen_as, labels))) == len(labels):
            continue
        alike: dict[str, list[str]] = {}
        for label in labels:
            alike.setdefault(_seen_as(label), []).append(label)
        told = [] if number else list(map(set, apart))
        groups = [group for group in alike.values() if len(group) > 1 and not any(map(set(group).issubset, told))]
        if not groups:
            continue
        twins = [" and ".join(map(_show, group[:3])) for group in groups]
        or_say = "" if number else ", or say same or distinct in the domain"
        yield (
            f"{_level(number)} ({name_some(twins)}) must differ in more than letter case and white space; "
            f"spell them the same or apart{or_say}"
        )


def _seen_as(label: str) -> str:
    """A label without case and white space; in one masked by '*' ("E1 6**") every character has its place."""
    return label.casefold() if ROOT in label else "".join(label.split()).casefold()


def _parents(levels: Sequence[Row]) -> Iterator[str]:
    """Every label of a level has one parent."""
    for number, (children, above) in enumerate(pairwise(levels[:-1])):  # the last one's is '*', or the shape is wrong
        distinct = len(set(children))
        if distinct == len(children) or distinct == len(set(zip(children, above, strict=True))):
            continue
        parents: dict[str, list[str]] = {}
        for child, parent in dict.fromkeys(zip(children, above, strict=True)):
            parents.setdefault(child, []).append(parent)
        several = [
            f"{_show(child)} under {' and '.join(map(_show, over[:3]))}"
            for child, over in parents.items()
            if len(over) > 1
        ]
        yield (f"{_level(number)} ({name_some(several)}) must have one parent each; move the rows or rename the label")


def _coverage(keys: Keys, values: Values) -> Iterator[str]:
    """The leaves are the values of the domain, no fewer and no more."""
    leaves = dict.fromkeys(keys)
    domain = values if isinstance(values, range) else frozenset[int | str](values)
    kind = type(next(iter(values), ""))
    if wrong := [_show(leaf) for leaf in leaves if type(leaf) is not kind]:
        yield f"leaves ({name_some(wrong)}) must be whole numbers, as the domain's values are; mend the rows"
    if unused := [_show(leaf) for leaf in leaves if type(leaf) is kind and leaf not in domain]:
        yield f"leaves ({name_some(unused)}) must be values of the domain; delete the rows or widen the domain"
    if missed := len(values) - (len(leaves) - len(wrong) - len(unused)):
        missing = (_show(value) for value in values if value not in leaves)
        yield f"values ({name_some(missing, missed)}) must have a row each; add them to the hierarchy"


def _intervals(rows: list[Row], keys: Keys) -> Iterator[str]:
    """An interval contains the whole numbers below it."""
    labels = set(chain.from_iterable(row[1:] for row in rows))
    known = {label: ends for label in labels if (ends := interval(label))}
    wrong = [
        f"{_show(label)} over {key}"
        for key, row in zip(keys, rows, strict=True)
        if isinstance(key, int)
        for label in row[1:]
        if (ends := known.get(label)) and not ends[0] <= key <= ends[1]
    ]
    if wrong:
        yield f"intervals ({name_some(wrong)}) must contain the leaves below them; mend the label or the rows"


def interval(label: str) -> Interval | None:
    """The whole numbers that a label of an upper level names, or None where it is no interval.

    Known are "0-4", "0..4", "[0, 5[", "[0,5)", "]0, 5]", "(0,5]", "<5", ">=65" and "65+"; a negative bound has its
    sign: "-10--6".
    """
    if found := _FROM_TO.fullmatch(label):
        return int(found[1]), int(found[2])
    if found := _BRACKETS.fullmatch(label):
        return int(found[2]) + (found[1] != "["), int(found[3]) - (found[4] != "]")
    if found := _ONE_SIDED.fullmatch(label):
        bound = int(found[2])
        match found[1]:
            case "<":
                return -math.inf, bound - 1
            case "<=" | "≤":
                return -math.inf, bound
            case ">":
                return bound + 1, math.inf
            case _:
                return bound, math.inf
    if found := _AND_MORE.fullmatch(label):
        return int(found[1]), math.inf
    return None


def _level(number: int) -> str:
    return f"labels of level {number}" if number else "leaves"


def _show(label: int | str) -> str:
    """A label for a message: in quotes, nothing that a terminal would obey, not too long."""
    shown = repr(label)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 3] + "..."
