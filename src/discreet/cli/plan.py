"""discreet plan: what would be published, and what other choices would cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

import discreet
from discreet.cli.options import AsJson, Data, Delimiter, Encoding, NoHeader, PolicyFile, csv_form
from discreet.cli.show import bar, console, guarded, say, show_json, show_plan, show_reasons
from discreet.cli.show_leaves import show_leaf_plan
from discreet.cli.show_view import show_view
from discreet.evaluate.figure import Curve, Figure, save_figure
from discreet.evaluate.plans import Outcome, compare_sizes, sweep
from discreet.schema.domain import key_of

EXAMPLE = "Example: discreet plan hospital.csv --policy hospital.toml --sizes all"
_WIDTH = 30


@guarded
def plan(
    data: Data,
    policy: PolicyFile,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", help="Plan with other sizes than the policy's: optimal, multi, two, one; or all."),
    ] = None,
    over: Annotated[
        str | None, typer.Option("--sweep", help="Show how the cost moves with theta or with max_size.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Draw the sweep into this file (.png or .svg).", show_default=False),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what a higher tolerance would save, value by value.")
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    as_json: AsJson = False,
) -> None:
    """Plan a release: the buckets and what they cost. Nothing is written."""
    loaded = discreet.Policy.load(policy)
    if (sizes is not None or over is not None) and not isinstance(loaded.mechanism, discreet.Buckets):
        raise discreet.PolicyError(f"--sizes and --sweep are for buckets, not for {loaded.mechanism.kind}")
    if figure is not None and over is None:
        raise discreet.PolicyError("--figure draws a sweep; say --sweep theta or --sweep max_size as well")
    with bar() as progress:
        table = discreet.read_table(data, loaded, csv=csv_form(delimiter, encoding, no_header), progress=progress)
    with closing(table), bar() as progress:
        if isinstance(loaded.mechanism, discreet.Buckets):
            mechanism = loaded.mechanism
            if sizes is not None and sizes != "all":
                mechanism = replace(mechanism, sizes=sizes)
            if over is not None:
                return _show_sweep(sweep(table.histogram, mechanism, over), over, figure, as_json=as_json)
            if sizes == "all":
                return _show_all(compare_sizes(table.histogram, mechanism), as_json=as_json)
            planned = mechanism.plan(table.histogram, progress)
        else:
            found = discreet.plan(table, loaded, progress=progress)
            if isinstance(found, discreet.ViewPlan):
                return show_view(found, as_json=as_json)
            if isinstance(found, discreet.LeafPlan):
                return show_leaf_plan(found, as_json=as_json)
            planned = found
        reasons = planned.explain() if explain else ()
    if as_json:
        show_json(_as_json(planned, reasons))
        return None
    show_plan(planned)
    if explain:
        show_reasons(reasons)
    return None


def _as_json(planned: discreet.BucketPlan, reasons: Sequence[discreet.Reason]) -> dict[str, Any]:
    content: dict[str, Any] = {
        "loss": planned.loss,
        "lower_bound": planned.lower_bound,
        "proved_optimal": planned.proved_optimal,
        "gap": planned.gap,
        "mse": planned.mse,
        "information_loss": planned.information_loss,
        "classes": [{"size": size, "buckets": buckets} for size, buckets in planned.classes],
        "records": planned.records,
        "tolerance": {key_of(value): str(limit) for value, limit in planned.tolerance.items()},
    }
    if reasons:
        content["reasons"] = [
            {
                "value": key_of(reason.value),
                "records": reason.records,
                "tolerance": str(reason.tolerance),
                "least_size": reason.least_size,
                "sizes": {str(size): records for size, records in reason.sizes.items()},
                "relaxed": str(reason.relaxed),
                "saves": reason.saves,
            }
            for reason in reasons
        ]
    return content


def _show_all(outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    if as_json:
        return show_json({"plans": [outcome.as_json() for outcome in outcomes]})
    best = next(outcome.loss for outcome in outcomes if outcome.name == "optimal")
    table = Table("sizes", "loss", "/ optimal", "MSE", "IL", "buckets", "sizes used", box=None)
    for each in outcomes:
        table.add_row(*_row(each, best))
    console.print(table)
    for each in outcomes:
        if each.note:
            say(f"{each.name}: {each.note}")
    return None


def _row(outcome: Outcome, best: int | None) -> list[str]:
    if outcome.loss is None or outcome.mse is None or outcome.information_loss is None:
        return [outcome.name, "no plan"]
    ratio = f"{outcome.loss / best:.3f}" if best else ""
    row = [outcome.name, f"{outcome.loss:,}", ratio, f"{outcome.mse:.4f}", f"{outcome.information_loss:.6f}"]
    return [*row, f"{outcome.plan.buckets:,}", str(len(outcome.plan.classes))] if outcome.plan else row


def _show_sweep(outcomes: Sequence[Outcome], over: str, figure: Path | None, *, as_json: bool) -> None:
    found = [outcome for outcome in outcomes if outcome.mse is not None]
    if figure is not None:
        curve = Curve(label="MSE", points=tuple((float(each.name), each.mse or 0.0) for each in found))
        save_figure(Figure(title=f"cost against {over}", x=over, y="MSE", curves=(curve,)), figure)
    if as_json:
        return show_json({"sweep": over, "plans": [outcome.as_json() for outcome in outcomes]})
    most = max((each.mse or 0.0 for each in found), default=0.0)
    for each in outcomes:
        if each.loss is None or each.mse is None:
            say(f"  {over} {each.name:>4}  no plan")
            continue
        drawn = "█" * max(1, round(_WIDTH * each.mse / most)) if each.mse else ""
        say(f"  {over} {each.name:>4}  loss {each.loss:>14,}  MSE {each.mse:>9.4f}  {drawn}")
    for each in outcomes:
        if each.note:
            say(f"{over} {each.name}: {each.note}")
    return None
