"""What an engine says where rows or a statement are at fault, and not the engine."""

from __future__ import annotations


class Unfit(Exception):
    """What was asked cannot be done with these rows, files or numbers.

    It is for the room that asked, which knows whose fault that is and has a sentence for it. It never carries the
    engine's own message, which may quote cells: `why` is one of
    encoding, cells, asked (the statement's numbers or types) and other, `line` is where a text file is
    wrong, and `kind` is the engine's name of the error.
    """

    def __init__(self, kind: str, *, why: str = "other", line: int | None = None) -> None:
        super().__init__(kind)
        self.kind, self.why, self.line = kind, why, line
