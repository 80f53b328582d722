"""discreet compare: how far off would answers be, under each of several policies?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from discreet.attack.keep import check_place
from discreet.cli.options import AsJson, Data, Delimiter, Encoding, NoHeader, csv_form
from discreet.cli.questions import check_each, read_questions
from discreet.cli.show import bar, guarded, say, say_aside, show_json, show_text
from discreet.errors import PolicyError
from discreet.evaluate.compare.compare import RELEASES
from discreet.evaluate.compare.compare import compare as rehearse
from discreet.evaluate.compare.kept import usual_place
from discreet.evaluate.compare.page import ENDINGS, write_comparison
from discreet.evaluate.compare.workload import COUNTS, OWN, PAPERS, WORKLOADS, question_for
from discreet.mechanism.load import load_for

EXAMPLE = "Example: discreet compare hospital.csv --policy hospital.toml --releases 1"


@guarded
def compare(
    data: Data,
    policy: Annotated[
        list[Path], typer.Option("--policy", "-p", help="A policy file (TOML); say it again.", show_default=False)
    ],
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions",
            help="A file with questions of your own, as `query --questions` takes it, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    workload: Annotated[
        str, typer.Option("--workload", help=f"What is asked otherwise: {', '.join(WORKLOADS)}.")
    ] = PAPERS,
    counts: Annotated[int, typer.Option("--counts", help="How many numbers of the workload are asked for.")] = COUNTS,
    releases: Annotated[
        int, typer.Option("--releases", help="How many releases of each policy, in scratch, with coins of a seed.")
    ] = RELEASES,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes that share the work; each reads the table.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=f"Write the result: {', '.join(ENDINGS)}.", show_default=False),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget a comparison that was interrupted.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV: a line for each policy and number of conditions.")] = (
        False
    ),
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Rehearse policies on the table: how far off answers would be, beside what each promises."""
    if csv and as_json:
        raise PolicyError("--csv and --json are two forms of one result; choose one")
    if output is not None:
        if output.suffix not in ENDINGS:
            raise PolicyError(f"output ({output}) must end in {' or '.join(ENDINGS)}")
        check_place(output, "comparison")
    form = csv_form(delimiter, encoding, no_header)
    read = [load_for(each, data, csv=form) for each in policy]
    texts = None
    if questions is not None:
        asked = read_questions(questions)
        for each in read:
            check_each(partial(question_for, policy=each), asked, questions)
        texts = [each.text for each in asked]
    place = usual_place(read, [str(counts), *([OWN, *texts] if texts else [workload])])
    if fresh:
        place.unlink(missing_ok=True)
    try:
        with bar() as progress:
            found = rehearse(
                data,
                read,
                questions=texts,
                workload=workload,
                counts=counts,
                releases=releases,
                jobs=jobs,
                state=place,
                csv=form,
                progress=progress,
                say=say_aside,
            )
    except KeyboardInterrupt:
        if place.exists():
            say_aside(f"what was rehearsed so far is in {place}, for you alone; the same command goes on from there")
        raise
    if output is not None:
        write_comparison(found, output)
    if as_json:
        show_json(found.as_json())
    elif csv:
        show_text(found.to_csv().rstrip("\n"))
    else:
        for line in found.lines:
            say(line)
