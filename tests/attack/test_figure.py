"""The figure of an audit: well-formed, with the numbers as text, and nothing that a name could put into it."""

from fractions import Fraction
from xml.etree import ElementTree

import pytest

from discreet.attack.attack import Finding, Group
from discreet.attack.figure import drawn
from discreet.attack.rate import computed, rate_of

SVG = "{http://www.w3.org/2000/svg}"


def finding(**changes: object) -> Finding:
    return Finding(
        **{
            "name": "guess",
            "group": Group.INFERENCE,
            "measures": "people",
            "rate": rate_of(30, 100, 0.95),
            "covered": True,
            "bound": Fraction(1, 4),
            "baseline": 0.1,
            "baseline_is": "before",
            **changes,
        }
    )


def bars(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}rect"))  # noqa: S314 - our own text


def test_a_bar_is_as_long_as_its_rate():
    """From the left end of the scale to the right one."""
    shares = (0.0, 0.25, 1.0)
    lengths = [
        float(each.get("width")) for each in bars(drawn([("p", [finding(rate=computed(s, 1)) for s in shares])], "t"))
    ]
    assert lengths[0] == 0
    assert lengths[1] == pytest.approx(lengths[2] / 4, abs=0.1)


def test_a_bar_is_red_where_the_bound_is_beaten_beyond_the_interval():
    """And only there: not for one whom the promise does not cover, nor within the interval."""
    high = rate_of(90, 100, 0.95)
    some = [finding(rate=high), finding(rate=high, covered=False), finding()]
    assert [each.get("class") for each in bars(drawn([("p", some)], "t"))] == ["x", "r", "r"]


def test_numbers_that_are_no_shares_are_left_out_and_names_are_text():
    """A k has no place on the scale; markup in a name stays a name."""
    svg = drawn([("<b>&", [finding(variant="<script>"), finding(share=False, rate=computed(7, 1))])], 'a "title" <')
    assert len(bars(svg)) == 1
    texts = [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314
    assert "<b>&" in texts
    assert "<script>" in texts
    assert "30.0 %" in texts


def test_rows_say_which_attack_where_there_are_several():
    """In the figure of one attack its name stands above, and rows have that of the finding."""
    one, other = finding(variant="some people"), finding(name="look")

    def texts(*some: Finding) -> list[str | None]:
        return [each.text for each in ElementTree.fromstring(drawn([("p", some)], "t")).iter(f"{SVG}text")]  # noqa: S314

    assert {"guess, some people", "look"} <= {*texts(one, other)}
    assert {"some people", "guess"} <= {*texts(one, finding())}


def test_people_who_were_kept_out_are_a_ring():
    """Where there is a control group."""
    assert "<circle" in drawn([("p", [finding(control=computed(0.5, 3))])], "t")
    assert "<circle" not in drawn([("p", [finding()])], "t")


def test_a_panel_without_a_share_is_left_out():
    """Nothing but the axis is drawn."""
    assert "measured" not in drawn([("measured", [finding(share=False)])], "t")
