"""Figures: a few curves, bars or clouds of points, drawn without a screen, each curve in a style of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDINGS = (".png", ".svg")
WIDE = 36  # characters of a label with which two do not stand side by side in the legend
ROW = 0.24  # inches of a row of it
# Okabe and Ito's colours, which colour-blind people tell apart, without yellow; a purple that is darker than pink.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#5D3A9B")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # where colours are not seen
HATCHES = ("", "///", "...", "xxx", "---", "\\\\\\", "++", "oo")
LINES: tuple[Any, ...] = ("-", (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (4, 1, 1, 1, 1, 1)))
DASHED = (0, (6, 3))


class Style(NamedTuple):
    """How one curve is drawn; no two curves of a figure have the same colour and the same marker."""

    colour: str
    marker: str
    hatch: str
    hollow: bool
    line: Any


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points with a name; a point without a value is left out. `dashed` sets apart what is no method like the others;
    among points, it is a line.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What is drawn: curves over the same axes, bars side by side, or points alone; `names` stand below bars."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    kind: Literal["curves", "bars", "points"] = "curves"
    log_x: bool = False
    log_y: bool = False
    names: tuple[str, ...] = ()


def style_of(number: int, *, dashed: bool = False) -> Style:
    """The style of the curve of that number; the first 32 differ, and the first eight in colour and in marker."""
    turn, place = divmod(number, len(COLOURS))
    line = DASHED if dashed else LINES[(number + turn) % len(LINES)]
    return Style(
        COLOURS[place], MARKERS[(place + turn) % len(MARKERS)], HATCHES[place], hollow=bool(place % 2), line=line
    )


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

    columns = 1 if max(len(curve.label) for curve in figure.curves) > WIDE else 2
    rows = -(-len(figure.curves) // columns) if len(figure.curves) > 1 else 0
    sheet = Sheet(figsize=(6.4, 4.2 + ROW * rows), layout="constrained")
    FigureCanvasAgg(sheet)
    axes = sheet.add_subplot()
    for number, curve in enumerate(figure.curves):
        _draw(axes, figure, curve, number)
    _mark(axes, figure)
    if rows:  # outside, since inside it would hide curves
        sheet.legend(loc="outside lower center", ncols=columns, fontsize="small", handlelength=3)
    for path in paths:
        with matplotlib.rc_context({"svg.hashsalt": "discreet"}):
            sheet.savefig(path, dpi=120, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def _draw(axes: Axes, figure: Figure, curve: Curve, number: int) -> None:
    style = style_of(number, dashed=curve.dashed)
    xs, ys = [point[0] for point in curve.points], [point[1] for point in curve.points]
    face = "white" if style.hollow else style.colour
    if figure.kind == "bars":
        width = 0.8 / len(figure.curves)
        places = [x + (number - (len(figure.curves) - 1) / 2) * width for x in xs]
        look: dict[str, Any] = {"facecolor": "white" if style.hatch else style.colour, "edgecolor": style.colour}
        axes.bar(places, ys, width, label=curve.label, hatch=style.hatch, linewidth=0.8, **look)
    elif figure.kind == "points" and not curve.dashed:
        shape: dict[str, Any] = {"marker": style.marker, "markersize": 3.2, "markeredgewidth": 0.7, "alpha": 0.8}
        axes.plot(xs, ys, linestyle="none", color=style.colour, markerfacecolor=face, label=curve.label, **shape)
    else:
        marker = None if figure.kind == "points" else style.marker
        shape = {"marker": marker, "markersize": 6, "markerfacecolor": face, "linewidth": 1.6}
        axes.plot(xs, ys, color=style.colour, linestyle=style.line, label=curve.label, **shape)


def _mark(axes: Axes, figure: Figure) -> None:
    """Scales, ticks, names and a grid."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if figure.log_x:
        axes.set_xscale("log", base=2)
        ticks = sorted({point[0] for curve in figure.curves for point in curve.points})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    elif figure.names:
        axes.set_xticks(range(len(figure.names)), figure.names)
    elif all(float(point[0]).is_integer() for curve in figure.curves for point in curve.points):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if figure.log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(title=figure.title, xlabel=figure.x, ylabel=figure.y)
    axes.grid(visible=True, alpha=0.3)
    axes.set_axisbelow(True)
