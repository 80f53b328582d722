"""Arguments and options that several verbs share, in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # most verbs read no table
    from discreet.table.source import CsvForm

Data = Annotated[str, typer.Argument(help="The table: a CSV or Parquet file, or a glob of them.", show_default=False)]
PolicyFile = Annotated[Path, typer.Option("--policy", "-p", help="The policy file (TOML).", show_default=False)]
Folder = Annotated[Path, typer.Argument(help="The release folder.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="What separates the cells of a CSV file.", show_default="found out")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="The encoding of a CSV file, such as latin-1.", show_default="UTF-8")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The CSV file has no header: its columns are column0, column1, ...")
]


def csv_form(delimiter: str | None, encoding: str | None, no_header: bool) -> CsvForm:
    """What was said about a CSV file; the rest is found out."""
    from discreet.table.source import CsvForm

    sign = "\t" if delimiter in ("tab", "\\t") else delimiter
    return CsvForm(delimiter=sign, encoding=encoding, header=False if no_header else None)
