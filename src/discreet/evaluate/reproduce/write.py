"""Running an item and writing what it gives: a page, a CSV, its provenance as JSON, each figure as PNG and SVG."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.evaluate.figure import save_figure
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.reproduce.provenance import Provenance, checkout, provenance
from discreet.ground.progress import Progress

_SHOWN = 60  # rows of a page; the CSV has them all


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """An item's result and where it comes from."""

    item: Item
    result: Result
    made: Provenance

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.item.name,
            "paper": self.item.paper,
            "claim": self.item.claim,
            "ours": self.result.ours,
            "data": self.result.data,
            "provenance": self.made.as_json(),
        }


def reproduce(
    item: Item, to: Path, *, data: Path | None = None, quick: bool = False, progress: Progress | None = None
) -> Reproduced:
    """Run one item and write NAME.md, NAME.csv, NAME.json and its figures into the folder `to`."""
    quick = quick and not item.whole
    sources = Sources(folder=data, quick=quick)
    setting = Setting(sources=sources, quick=quick, tell=lambda done: progress(item.name, done) if progress else None)
    code = checkout()  # before the run, since the code that is loaded is that of now
    start = time.process_time()
    result = item.run(setting)
    cpu = time.process_time() - start
    try:
        to.mkdir(parents=True, exist_ok=True)
        names = []
        for short, figure in result.figures:
            name = f"{item.name}-{short}".lower()
            save_figure(figure, to / f"{name}.png", to / f"{name}.svg")
            names.append(name)
        made = provenance(code, quick=quick, seeds=sources.seeds.as_json(), cpu=cpu)
        found = Reproduced(item=item, result=result, made=made)
        with (to / f"{item.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(result.columns)
            writer.writerows(result.rows)
        (to / f"{item.name}.json").write_text(json.dumps(found.as_json(), indent=2) + "\n", encoding="utf-8")
        (to / f"{item.name}.md").write_text(_page(found, names, sources.seeds.words), encoding="utf-8")
    except OSError as error:
        raise DiscreetError(f"folder ({to}) must be one that can be written: {error.strerror}") from None
    return found


def _page(found: Reproduced, figures: list[str], seeds: str) -> str:
    item, result = found.item, found.result
    lines = [
        f"# {item.line[0].upper()}{item.line[1:]}",
        "",
        f"{item.paper}." + (" A quick run of a small part: not for comparison." if found.made.quick else ""),
        "",
        f"**The paper's claim.** {item.claim}",
        "",
        f"**Our figure.** {result.ours}.",
        "",
        f"**Why they differ.** {item.differs}",
        "",
        f"**Data.** {result.data[0].upper()}{result.data[1:]}.",
        "",
        f"**Made with.** {found.made.sentence(seeds)}.",
        "",
        *(f"![{name}]({name}.svg)" for name in figures),
        "",
        "| " + " | ".join(result.columns) + " |",
        "|" + "---|" * len(result.columns),
        *("| " + " | ".join(map(_shown, row)) + " |" for row in result.rows[:_SHOWN]),
    ]
    if len(result.rows) > _SHOWN:
        lines += ["", f"{len(result.rows) - _SHOWN} more rows are in {item.name}.csv."]
    return "\n".join(lines) + "\n"


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "\\|")
