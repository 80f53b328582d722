"""A figure of an audit: each rate with its interval, beside what was promised and what is known without the release.

SVG by hand, a few kilobytes, with the numbers as text; it reads in light and in dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from discreet.attack.attack import Finding
from discreet.attack.report import shown_number

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 900, 460, 90, 26, 58
_MOST = 66  # signs of a title that have room beside the bars
_STYLE = (
    "text{font:13px sans-serif;fill:#24292f}.s{font-size:11px;fill:#57606a}.a{stroke:#d0d7de}.r{fill:#0969da}"
    ".x{fill:#cf222e}.c{fill:none;stroke:#bf8700;stroke-width:2}.i{stroke:#24292f;stroke-width:1.5}.b{stroke:#cf222e;stroke-width:2}"
    ".n{stroke:#57606a;stroke-width:2;stroke-dasharray:3 2}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.a{stroke:#3d444d}.r{fill:#4493f8}"
    ".x{fill:#f85149}.i{stroke:#e6edf3}.b{stroke:#f85149}.n{stroke:#9198a1}}"
)


def drawn(panels: Sequence[tuple[str, Sequence[Finding]]], title: str) -> str:
    """An SVG of shares, panel below panel: bars are rates, thin lines intervals, red lines bounds, dashes baselines.

    Numbers that are no shares have no place on this scale and are left out. Where all are of one attack, rows have the
    names of its findings alone.
    """
    rows: list[str] = []
    y = _TOP
    alone = len({each.name for _, findings in panels for each in findings}) == 1
    for name, findings in panels:
        some = [each for each in findings if each.share]
        if not some:
            continue
        rows.append(f'<text x="8" y="{y + 14}" font-weight="bold">{escape(name)}</text>')
        y += _ROW
        for each in some:
            rows += _row(each, y, (each.variant or each.name) if alone else each.title)
            y += _ROW
        y += 8
    axis = [
        f'<line class="a" x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" y1="{_TOP - 6}" y2="{y}"/>'
        f'<text class="s" x="{_x(tick):.1f}" y="{_TOP - 10}" text-anchor="middle">{100 * tick:.0f} %</text>'
        for tick in (0, 0.25, 0.5, 0.75, 1)
    ]
    key = "bar: rate (red where it beats its bound); thin line: interval; red: bound; dashed: without the release; "
    key += "ring: people who were kept out"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 28}" width="{_WIDTH}" role="img" '
            f'aria-label="{escape(title, quote=True)}">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style>",
            f'<text x="8" y="20" font-weight="bold">{escape(title)}</text>',
            *axis,
            *rows,
            f'<text class="s" x="8" y="{y + 16}">{key}</text>',
            "</svg>\n",
        )
    )


def _row(found: Finding, y: int, title: str) -> list[str]:
    """One finding: its title, its bar, its interval, bound and baseline, and the rate as text."""
    middle, rate = y + 10, found.rate
    parts = [
        f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(_short(title))}</text>',
        f'<rect class="{"x" if found.beats else "r"}" x="{_LEFT}" y="{y + 4}" height="12" '
        f'width="{_x(rate.rate) - _LEFT:.1f}"><title>{escape(found.measures)}</title></rect>',
    ]
    if rate.low < rate.high:
        parts.append(f'<line class="i" x1="{_x(rate.low):.1f}" x2="{_x(rate.high):.1f}" y1="{middle}" y2="{middle}"/>')
    for mark, at in (("b", found.bound), ("n", found.baseline)):
        if at is not None and at <= 1:
            parts.append(f'<line class="{mark}" x1="{_x(at):.1f}" x2="{_x(at):.1f}" y1="{y}" y2="{y + 20}"/>')
    if found.control is not None:
        parts.append(f'<circle class="c" cx="{_x(found.control.rate):.1f}" cy="{middle}" r="4"/>')
    parts.append(f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 14}">{escape(shown_number(found, rate.rate))}</text>')
    return parts


def _x(share: Fraction | float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(1.0, max(0.0, float(share)))


def _short(title: str) -> str:
    return title if len(title) <= _MOST else title[: _MOST - 3] + "..."
