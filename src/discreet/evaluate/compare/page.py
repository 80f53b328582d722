"""A comparison as a file: JSON, CSV, text, a page of HTML that asks no other host for anything, or its plot alone.

The plot has a panel for each promise, with its own scale: how far off answers are against the one number of the
promise. Within a panel a line joins the policies that no other one beats in both; nothing is joined across panels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from discreet.evaluate.compare.comparison import HEADER, Comparison, Rehearsed, by_conditions, cells_of
from discreet.evaluate.figure import COLOURS

ENDINGS = (".html", ".json", ".csv", ".svg", ".txt")
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BELOW = 720, 300, 70, 34, 230, 46
_STYLE = (
    "text{font:13px sans-serif;fill:#24292f}.s{font-size:11px;fill:#57606a}.a{stroke:#d0d7de}"
    ".f{fill:none;stroke:#57606a;stroke-dasharray:4 3}@media(prefers-color-scheme:dark){text{fill:#e6edf3}"
    ".s{fill:#9198a1}.a{stroke:#3d444d}.f{stroke:#9198a1}}"
)
_PAGE_STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.45 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:.5em 0 1.5em}th,td{padding:.2em .6em;text-align:right;border-bottom:1px "
    "solid #8884}th:first-child,td:first-child{text-align:left}.note{border-left:3px solid #d0a000;padding-left:.8em}"
)


def write_comparison(found: Comparison, to: Path) -> None:
    """Write it in the form that the ending says."""
    forms: dict[str, Callable[[], str]] = {
        ".json": lambda: json.dumps(found.as_json(), ensure_ascii=False, indent=1) + "\n",
        ".csv": found.to_csv,
        ".html": lambda: page(found),
        ".svg": lambda: frontier(found),
        ".txt": lambda: f"{found}\n",
    }
    to.write_text(forms[to.suffix](), encoding="utf-8")


def page(found: Comparison) -> str:
    """The whole comparison as one page."""
    parts = [
        f"<h1>{escape(found.table)}: policies rehearsed</h1>",
        f"<p>{found.rows:,} rows. {escape(found.asked)}.</p>",
        *(f'<p class="note">{escape(each)}.</p>' for each in found.notes),
        frontier(found),
    ]
    for notion, policies in found.notions.items():
        parts += [
            f"<h2>{escape(notion)}</h2>",
            f"<p>The number of the promise is the {escape(policies[0].stakes.what)}.</p>",
            _table([HEADER, *map(cells_of, policies)]),
            "<p>Mean / median error by how many quasi-identifiers a question names:</p>",
            _table(list(by_conditions(policies))),
            *(f"<p><b>{escape(each.policy)}</b>: {escape(each.promise)}</p>" for each in policies),
        ]
    title = f"{escape(found.table)}: policies rehearsed"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_PAGE_STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in _tagged(rows))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table>"


def _tagged(rows: Sequence[Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    return [("td" if place else "th", row) for place, row in enumerate(rows)]


def frontier(found: Comparison) -> str:
    """An SVG with a panel for each promise."""
    panels, y = [], 0
    for notion, policies in found.notions.items():
        known = [each for each in policies if each.overall.median is not None]
        if known:
            panels.append(f'<g transform="translate(0 {y})">{_panel(notion, known)}</g>')
            y += _HEIGHT
    title = f"{escape(found.table)}: median error against each promise"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" role="img">'
        f"<title>{title}</title><style>{_STYLE}</style>{''.join(panels)}</svg>"
    )


def unbeaten(policies: Sequence[Rehearsed]) -> list[Rehearsed]:
    """Those of one promise that no other one beats, or meets and beats in one: by promise and median error."""
    found: list[Rehearsed] = []
    for each in sorted(policies, key=_point):
        if not found or _point(each)[1] < _point(found[-1])[1]:
            found.append(each)
    return found


def _point(each: Rehearsed) -> tuple[float, float]:
    return each.stakes.number, each.overall.median or 0.0


def _panel(notion: str, policies: Sequence[Rehearsed]) -> str:
    right, bottom = max(_point(each)[0] for each in policies) * 1.1, max(_point(each)[1] for each in policies) * 1.1
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BELOW

    def at(each: Rehearsed) -> tuple[float, float]:
        x, y = _point(each)
        return _LEFT + wide * x / (right or 1), _TOP + high * (1 - y / (bottom or 1))

    parts = [f'<text x="8" y="18" font-weight="bold">{escape(notion)}</text>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = _LEFT + wide * tick, _TOP + high * (1 - tick)
        parts += [
            f'<line class="a" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + high}"/>',
            f'<line class="a" x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}"/>',
            f'<text class="s" x="{x:.1f}" y="{_TOP + high + 16}" text-anchor="middle">{right * tick:.2g}</text>',
            f'<text class="s" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{bottom * tick:.1%}</text>',
        ]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, unbeaten(policies)))
    parts.append(f'<polyline class="f" points="{joined}"/>')
    for place, each in enumerate(policies):
        (x, y), colour = at(each), COLOURS[place % len(COLOURS)]
        label = _TOP + 12 + 18 * place
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"><title>{escape(each.policy)}</title></circle>',
            f'<circle cx="{_WIDTH - _RIGHT + 24}" cy="{label - 4}" r="5" fill="{colour}"/>',
            f'<text class="s" x="{_WIDTH - _RIGHT + 36}" y="{label}">{escape(each.policy[:32])}</text>',
        ]
    below = f"{policies[0].stakes.what}; upwards, the median relative error"
    parts.append(f'<text class="s" x="{_LEFT}" y="{_HEIGHT - 12}">{escape(below)}</text>')
    return "".join(parts)
