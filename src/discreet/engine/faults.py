"""What an engine says where rows or a statement are at fault, and not the engine."""

from __future__ import annotations


class Unfit(Exception):
    """What was asked cannot be done with these rows, files or numbers.

    It is for the room that asked, which knows whose fault that is and has a sentence for it. It never carries the
    engine's own message, which may quote cells: `why` is one of
    encoding (text that is not UTF-8), decoding (text that is not in the encoding named), cells, file (it cannot be
    read), asked (the statement's numbers or types) and other. `line` is where a text file is wrong, `number` the
    system's number of what went wrong with a file, and `kind` the engine's name of the error.
    """

    def __init__(self, kind: str, *, why: str = "other", line: int | None = None, number: int | None = None) -> None:
        super().__init__(kind)
        self.kind, self.why, self.line, self.number = kind, why, line, number
