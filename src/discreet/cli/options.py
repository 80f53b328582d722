"""Arguments and options that several verbs share, in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Argument(help="The table: a CSV or Parquet file.", show_default=False)]
PolicyFile = Annotated[Path, typer.Option("--policy", "-p", help="The policy file (TOML).", show_default=False)]
Folder = Annotated[Path, typer.Argument(help="The release folder.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
