"""discreet plan: what would be published."""

from __future__ import annotations

from contextlib import closing

import discreet
from discreet.cli.options import AsJson, Data, Delimiter, Encoding, NoHeader, PolicyFile, csv_form
from discreet.cli.show import bar, guarded, show_json, show_plan
from discreet.schema.domain import key_of

EXAMPLE = "Example: discreet plan hospital.csv --policy hospital.toml"


@guarded
def plan(
    data: Data,
    policy: PolicyFile,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Plan a release: the buckets and what they cost. Nothing is written."""
    loaded = discreet.Policy.load(policy)
    with bar() as progress:
        table = discreet.read_table(data, loaded, csv=csv_form(delimiter, encoding, no_header), progress=progress)
    with closing(table):
        planned = discreet.plan(table, loaded)
    if not as_json:
        show_plan(planned)
        return
    show_json(
        {
            "loss": planned.loss,
            "lower_bound": planned.lower_bound,
            "proved_optimal": planned.proved_optimal,
            "classes": [{"size": size, "buckets": buckets} for size, buckets in planned.classes],
            "records": planned.records,
            "tolerance": {key_of(value): str(limit) for value, limit in planned.tolerance.items()},
        }
    )
