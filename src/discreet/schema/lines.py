"""Where in a TOML text a key stands, so that a problem can name its line (the standard parser does not tell)."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_PAIR = re.compile(r"""^\s*(?P<name>(?:[\w\-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w\-]+|"[^"]*"|'[^']*'))*)\s*=""")
_LONG_TEXT = re.compile(r"""\"{3}|'{3}""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line (from 1) on which each table and each key starts; keys inside a value stand on the value's line."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    inside = ""  # the quotes of a text of several lines
    for number, line in enumerate(text.split("\n"), start=1):
        starts_inside = bool(inside)
        for quotes in _LONG_TEXT.findall(line):
            inside = "" if inside == quotes else inside or quotes
        if starts_inside:
            continue
        if line.lstrip().startswith("[") and (header := _path(line)):
            table = header
            found.setdefault(table, number)
        elif pair := _PAIR.match(line):
            found.setdefault((*table, *_path(f"{pair['name']} = 0")), number)
    return found


def line_of(key: tuple[str, ...], lines: dict[tuple[str, ...], int]) -> int | None:
    """The line of a key, or of the nearest thing around it that has one."""
    for length in range(len(key), 0, -1):
        if key[:length] in lines:
            return lines[key[:length]]
    return None


def _path(line: str) -> tuple[str, ...]:
    """The parts of the one key that a line declares, unquoted by the real parser; none where it declares none."""
    try:
        node: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    parts: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        part, node = next(iter(node.items()))
        parts.append(part)
        node = node[0] if isinstance(node, list) and node else node
    return tuple(parts)
