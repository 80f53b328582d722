"""Running an item and writing what it gives: a page, a CSV, and each figure as PNG and SVG."""

from __future__ import annotations

import csv
from importlib.metadata import version
from pathlib import Path

from discreet.errors import DiscreetError
from discreet.evaluate.figure import save_figure
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.ground.progress import Progress


def reproduce(
    item: Item, to: Path, *, data: Path | None = None, quick: bool = False, progress: Progress | None = None
) -> Result:
    """Run one item and write NAME.md, NAME.csv and its figures into the folder `to`."""
    setting = Setting(
        sources=Sources(folder=data, quick=quick),
        quick=quick,
        tell=lambda done: progress(item.name, done) if progress else None,
    )
    result = item.run(setting)
    try:
        to.mkdir(parents=True, exist_ok=True)
        names = []
        for short, figure in result.figures:
            name = f"{item.name}-{short}".lower()
            save_figure(figure, to / f"{name}.png", to / f"{name}.svg")
            names.append(name)
        with (to / f"{item.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(result.columns)
            writer.writerows(result.rows)
        (to / f"{item.name}.md").write_text(_page(item, result, names, quick=quick), encoding="utf-8")
    except OSError as error:
        raise DiscreetError(f"folder ({to}) must be one that can be written: {error.strerror}") from None
    return result


def _page(item: Item, result: Result, figures: list[str], *, quick: bool) -> str:
    lines = [
        f"# {item.line[0].upper()}{item.line[1:]}",
        "",
        f"{item.paper}. Made with discreet {version('discreet')}"
        + (", a quick run of a small part: not for comparison." if quick else "."),
        "",
        f"**The paper's claim.** {item.claim}",
        "",
        f"**Our figure.** {result.ours}.",
        "",
        f"**Why they differ.** {item.differs}",
        "",
        f"**Data.** {result.data[0].upper()}{result.data[1:]}.",
        "",
        *(f"![{name}]({name}.svg)" for name in figures),
        "",
        "| " + " | ".join(result.columns) + " |",
        "|" + "---|" * len(result.columns),
        *("| " + " | ".join(map(_shown, row)) + " |" for row in result.rows[:60]),
    ]
    if len(result.rows) > 60:
        lines += ["", f"{len(result.rows) - 60} more rows are in {item.name}.csv."]
    return "\n".join(lines) + "\n"


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "\\|")
