"""discreet publish: from a table to a release."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import AsJson, Data, Delimiter, Encoding, NoHeader, PolicyFile, csv_form
from discreet.cli.passphrase import passphrase_from
from discreet.cli.show import bar, guarded, say, show_json
from discreet.errors import SigningError
from discreet.mechanism.load import load_for
from discreet.mechanism.mechanism import publishing
from discreet.mechanism.publish import check_decided, series_of
from discreet.mechanism.publish import publish as publish_table
from discreet.mechanism.sign import SigningKey
from discreet.table.read import read_table

EXAMPLE = "Example: discreet publish hospital.csv --policy hospital.toml -o release"


@guarded
def publish(
    data: Data,
    policy: PolicyFile,
    to: Annotated[Path, typer.Option("--output", "-o", help="The folder to make.", show_default=False)],
    replace: Annotated[bool, typer.Option("--replace", help="Replace a release of that name.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV copies as well.")] = False,
    series: Annotated[
        Path | None,
        typer.Option("--series", help="The private series file.", show_default="one of yours, for all your tables"),
    ] = None,
    new_series: Annotated[
        bool,
        typer.Option("--new-series", help="Go on although people of it were published before: the risk is yours."),
    ] = False,
    sign: Annotated[
        Path | None,
        typer.Option(
            "--sign", help="Sign it with this private key: Ed25519, OpenSSH's or PEM.", show_default="unsigned"
        ),
    ] = None,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            "--passphrase-file",
            help="The passphrase of that key, on the first line of a file.",
            show_default="DISCREET_PASSPHRASE, or you are asked",
        ),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Publish a table as a release folder that may leave the house."""
    form = csv_form(delimiter, encoding, no_header)
    loaded = load_for(policy, data, csv=form)
    check_decided(loaded)
    if passphrase_file is not None and sign is None:
        raise SigningError("--passphrase-file must come with --sign; it unlocks the key to sign with")
    key = None if sign is None else SigningKey.load(sign, passphrase_from(passphrase_file))
    notes: list[str] = []
    with bar() as progress:
        table = read_table(data, loaded, csv=form, progress=progress)
    with closing(table), bar() as progress:
        release = publish_table(
            table,
            loaded,
            to=to,
            series=series,
            new_series=new_series,
            replace=replace,
            csv=csv,
            sign=key,
            progress=progress,
            say=notes.append,
        )
    release.close()
    facts = release.facts
    signed = {} if key is None else {"signed": key.fingerprint}
    if as_json:
        content = {"release": str(to), "rows": release.rows, "size": release.size, "holds": release.holds}
        show_json({**content, "unit": release.unit, "facts": facts, "notes": notes, **signed})
        return
    say(f"published {release.size:,} {release.holds} as {to}; its counts are of {release.unit}")
    if release.unit_words:
        say(f"{release.unit}: {release.unit_words}")
    say(facts["words"])
    for note in (*publishing(loaded.mechanism).notes(loaded.schema), *notes):
        say(f"note: {note}")
    if "warning" in facts:
        say(f"note: {facts['warning']}", style="bold")
    if key is not None:
        say(f"signed by {key.fingerprint}; say --key to verify, with the public key, to check that")
    say("not covered:")
    for each in facts["not_covered"]:
        say(f"  - {each}")
    say(f"Keep the series file ({series_of(series, loaded, to)}) private and safe: it holds the key.")
