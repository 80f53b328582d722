"""Figures: every curve has a colour and a marker of its own, told apart by the colour-blind and in grey."""

from __future__ import annotations

from itertools import combinations

import pytest

from discreet.errors import DiscreetError
from discreet.evaluate.figure import COLOURS, Curve, Figure, save_figure, style_of

# Of red, green and blue for people without red or green cones (Vienot, Brettel and Mollon 1999), in linear light.
BLINDNESS = {
    "protanopia": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deuteranopia": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> list[float]:
    """The colour as it looks, each part as the eye takes it (a cube root)."""
    light = linear(colour)
    mixed = [sum(share * part for share, part in zip(row, light, strict=True)) for row in matrix]
    return [max(part, 0.0) ** (1 / 3) for part in mixed]


def test_no_two_curves_look_alike():
    """The first eight differ in colour and in marker, the first 32 in the two or in the line."""
    first = [style_of(number) for number in range(8)]
    assert len({style.colour for style in first}) == len({style.marker for style in first}) == 8
    assert len({style.hatch for style in first}) == 8
    many = [style_of(number) for number in range(32)]
    assert len({(style.colour, style.marker, str(style.line)) for style in many}) == 32
    assert all(style_of(number, dashed=True)[:4] == style_of(number)[:4] for number in range(8))


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colours_differ_without_red_or_green(kind):
    """Any two, by a twelfth of the range at least."""
    for one, other in combinations(COLOURS, 2):
        pairs = zip(seen(one, BLINDNESS[kind]), seen(other, BLINDNESS[kind]), strict=True)
        assert sum((a - b) ** 2 for a, b in pairs) ** 0.5 > 1 / 12, (one, other)


def test_colours_are_dark_enough_on_white():
    """Even in grey: none is nearer to white than to black by much."""
    for colour in COLOURS:
        light = sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))
        assert 1.05 / (light + 0.05) > 2, colour


@pytest.mark.parametrize("kind", ["curves", "bars", "points"])
def test_every_curve_is_drawn_in_its_colour(kind, tmp_path):
    """In the SVG, by its number, for each kind of figure, with its name in the legend."""
    curves = tuple(
        Curve(label=f"method {number}", points=((1.0, number + 1.0), (2.0, 2.0 * number + 1.0))) for number in range(8)
    )
    figure = Figure(title="methods", x="x", y="y", curves=curves, kind=kind)
    save_figure(figure, tmp_path / "a.svg", tmp_path / "a.png")
    drawn = (tmp_path / "a.svg").read_text().lower()
    assert all(colour.lower() in drawn for colour in COLOURS)
    assert all(f"method {number}" in drawn for number in range(8))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_names_stand_below_bars_and_logarithms_have_plain_numbers(tmp_path):
    """What is compared is named; 20 is not 2 x 10^1."""
    curve = Curve(label="one", points=((0.0, 3.0), (1.0, 90.0)))
    figure = Figure(title="t", x="x", y="y", curves=(curve,), kind="bars", log_y=True, names=("n_D", "n_V"))
    save_figure(figure, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {word} -->" in drawn for word in ("n_D", "n_V", "20", "50"))


def test_another_ending_is_one_sentence(tmp_path):
    """Nothing is written."""
    figure = Figure(title="t", x="x", y="y", curves=(Curve(label="one", points=((0.0, 1.0),)),))
    with pytest.raises(DiscreetError, match=r"figure \(a.pdf\) must end in .png or .svg"):
        save_figure(figure, tmp_path / "a.pdf")
    assert not list(tmp_path.iterdir())
