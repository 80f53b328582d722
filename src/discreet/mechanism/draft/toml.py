"""TOML as text, with its comments: names and values quoted so that any header and any cell reads back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WIDTH = 118
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def quoted(text: str) -> str:
    """A text as a TOML string on one line; what cannot be seen is written by its number."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def key(name: str) -> str:
    """A name as a key: bare where TOML allows it."""
    return name if _BARE.fullmatch(name) else quoted(name)


def value(content: int | str) -> str:
    return quoted(content) if isinstance(content, str) else str(content)


def array(name: str, items: Iterable[int | str]) -> list[str]:
    """`name = [...]` on one line, or on as many as it needs."""
    written = [value(item) for item in items]
    line = f"{name} = [{', '.join(written)}]"
    return [line] if len(line) <= WIDTH else [f"{name} = [", *_wrapped(written), "]"]


def _wrapped(written: list[str]) -> Iterator[str]:
    line = ""
    for item in written:
        if line and len(line) + len(item) + 4 > WIDTH:
            yield line
            line = ""
        line += f"  {item}," if not line else f" {item},"
    yield line


def annotated(name: str, items: Iterable[tuple[str, str]]) -> list[str]:
    """`name = [...]` with one text a line and, where there is one, a comment behind it."""
    lines = [(f"  {quoted(item)},", comment) for item, comment in items]
    width = min(40, max((len(line) for line, comment in lines if comment), default=0))
    written = [f"{line:<{width}}  # {comment}" if comment else line for line, comment in lines]
    return [f"{name} = [", *written, "]"] if written else [f"{name} = []"]


def shown(content: object, most: int = 40) -> str:
    """A name or value for a comment: one line, shortened, and nothing in it that ends the comment."""
    text = "(empty)" if content is None else quoted(content) if isinstance(content, str) else str(content)
    return text if len(text) <= most else text[: most - 4] + '..."'


def comment(*sentences: str) -> list[str]:
    """Sentences as comment lines, wrapped; those that begin with spaces stay indented."""
    lines = []
    for sentence in sentences:
        indent = " " * (len(sentence) - len(sentence.lstrip(" ")))
        line = ""
        for word in sentence.strip(" ").split(" "):
            if line and len(line) + len(word) + 1 > WIDTH - 2 - len(indent):
                lines.append(f"# {indent}{line}")
                line = f"   {word}" if indent else word
            else:
                line = f"{line} {word}" if line else word
        lines.append(f"# {indent}{line}")
    return lines


def share(count: int, rows: int) -> str:
    """A share of the rows, for a comment."""
    return f"{100 * count / rows:.3g} %"
