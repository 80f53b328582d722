"""Figures: a few curves, bars or clouds of points, drawn without a screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from discreet.errors import DiscreetError

ENDINGS = (".png", ".svg")
MANY = 5  # curves with which a legend inside the axes has no room


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points with a name; a point without a value is left out."""

    label: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What is drawn: curves over the same axes, bars side by side, or points alone."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    kind: Literal["curves", "bars", "points"] = "curves"
    log_x: bool = False
    log_y: bool = False


def save_figure(figure: Figure, *paths: Path) -> None:
    """Draw the figure into each file; the ending says how. Raises DiscreetError where that cannot be done."""
    for path in paths:
        if path.suffix.lower() not in ENDINGS:
            raise DiscreetError(f"figure ({path.name}) must end in {' or '.join(ENDINGS)}")
    try:
        import matplotlib
    except ImportError:
        raise DiscreetError("figures need matplotlib; pip install 'discreet[figures]'") from None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    height = 4.2 if len(figure.curves) <= MANY else 5.2
    sheet = Sheet(figsize=(6.4, height), layout="constrained")
    FigureCanvasAgg(sheet)
    axes = sheet.add_subplot()
    for number, curve in enumerate(figure.curves):
        xs, ys = [point[0] for point in curve.points], [point[1] for point in curve.points]
        if figure.kind == "bars":
            width = 0.8 / len(figure.curves)
            axes.bar([x + (number - (len(figure.curves) - 1) / 2) * width for x in xs], ys, width, label=curve.label)
        elif figure.kind == "points":
            axes.plot(xs, ys, marker=".", markersize=2, linestyle="none", label=curve.label)
        else:
            axes.plot(xs, ys, marker="o", markersize=4, linestyle="--" if curve.dashed else "-", label=curve.label)
    if figure.log_x:
        axes.set_xscale("log", base=2)
        ticks = sorted({point[0] for curve in figure.curves for point in curve.points})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    if figure.log_y:
        axes.set_yscale("log")
    axes.set(title=figure.title, xlabel=figure.x, ylabel=figure.y)
    axes.grid(visible=True, alpha=0.3)
    if len(figure.curves) > MANY:
        sheet.legend(loc="outside lower center", ncols=2, fontsize="small")  # inside it would hide curves
    elif len(figure.curves) > 1:
        axes.legend()
    for path in paths:
        with matplotlib.rc_context({"svg.hashsalt": "discreet"}):
            sheet.savefig(path, dpi=120, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
