"""Where in a TOML text a key stands, so that a problem can name its line (the standard parser does not tell)."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^\s*\[+(?P<name>[^\]#]+)\]+\s*(#.*)?$")
_PAIR = re.compile(r"""^\s*(?P<name>(?:[\w\-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w\-]+|"[^"]*"|'[^']*'))*)\s*=""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line (from 1) on which each table and each key starts; keys inside a value stand on the value's line."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _dotted(header["name"])
            found.setdefault(table, number)
        elif pair := _PAIR.match(line):
            found.setdefault((*table, *_dotted(pair["name"])), number)
    return found


def line_of(key: tuple[str, ...], lines: dict[tuple[str, ...], int]) -> int | None:
    """The line of a key, or of the nearest thing around it that has one."""
    for length in range(len(key), 0, -1):
        if key[:length] in lines:
            return lines[key[:length]]
    return None


def _dotted(name: str) -> tuple[str, ...]:
    """The parts of a dotted key, unquoted by the real parser."""
    try:
        node: Any = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        return (name.strip(),)
    parts: list[str] = []
    while isinstance(node, dict):
        part, node = next(iter(node.items()))
        parts.append(part)
    return tuple(parts)
