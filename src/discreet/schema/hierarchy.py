"""Hierarchies in ARX's format: no header, ';' between columns, one row a leaf from leaf to root, '*' last."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

from discreet.errors import PolicyError
from discreet.schema.domain import Listed


def read_hierarchy(path: Path) -> Listed:
    """The leaves in file order with their ancestors; raises PolicyError with every problem found."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [tuple(row) for row in csv.reader(file, delimiter=";") if row]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise PolicyError(f"hierarchy ({path.name}) must be a readable UTF-8 file; check the path") from None
    if problems := _problems(rows):
        raise PolicyError(f"hierarchy ({path.name}): " + "; ".join(problems))
    return Listed(values=tuple(row[0] for row in rows), paths=tuple(rows))


def _problems(rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return ["the file is empty; give one row a leaf, leaf to root, '*' last"]
    found = []
    leaves = [row[0] for row in rows]
    if twice := sorted({leaf for leaf in leaves if leaves.count(leaf) > 1}) if len(set(leaves)) < len(leaves) else []:
        found.append(f"leaves must be distinct; {', '.join(twice[:5])} stand more than once")
    if len({len(row) for row in rows}) > 1:
        found.append("every row must have the same number of columns")
    if rootless := [row[0] for row in rows if row[-1] != "*"]:
        found.append(f"every row must end in '*'; {', '.join(rootless[:5])} do not")
    if any(not label for row in rows for label in row):
        found.append("no label may be empty")
    parents: dict[tuple[int, str], set[str]] = {}
    for row in rows:
        for level, (child, parent) in enumerate(pairwise(row)):
            parents.setdefault((level, child), set()).add(parent)
    if split := sorted(child for (_, child), above in parents.items() if len(above) > 1):
        found.append(f"every value must have one parent; {', '.join(split[:5])} have several")
    return found
