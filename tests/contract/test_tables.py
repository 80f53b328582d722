"""Quantiles, histograms and tables of two things: in every family that can answer sums."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from cases import Case, House, only, ward_frame

import discreet

ROWS_AS_THEY_ARE = only(lambda case: "qit" in case.tables, "quasi-identifiers are not published as they are")


@pytest.fixture
def release(case: Case, published: House) -> Iterator[discreet.Release]:
    if case.name == "response":
        pytest.skip("the fourth family answers counts alone")
    with discreet.open_release(published.folder / "one") as release:
        yield release


@ROWS_AS_THEY_ARE
@pytest.mark.parametrize("share", ["1/100", 0.25, 0.5, 0.9, "99/100"])
def test_quantiles_of_a_quasi_identifier_are_exact(release, share):
    """The least age that at least such a share have or stay below, sorted and counted by hand."""
    ages = sorted(ward_frame().query("gender == 'F'")["age"])
    wanted = ages[math.ceil(len(ages) * float(eval(str(share)))) - 1]  # noqa: S307 - our own numbers
    found = release.quantile("age", share, "gender = 'F'")
    assert found.exact
    assert found.value == wanted


def test_quantiles_of_people_with_a_sensitive_value_rise(release):
    """A larger share is no smaller number; value and interval stay within the domain, in every family."""
    found = [release.quantile("age", share, "disease = 'Flu'") for share in (0.1, 0.5, 0.9)]
    values = [each.value for each in found if each.value is not None]
    assert values == sorted(values)
    for each in found:
        assert each.bounds == (0, 110) or each.exact
        assert each.bounds[0] <= each.low <= each.high <= each.bounds[1]
        assert each.value is None or each.low <= each.value <= each.high


def test_a_quantile_of_nobody_is_unknown(release):
    """No value and the whole domain; the note says why."""
    found = release.quantile("age", 0.5, "age < 0")
    assert found.value is None
    assert found.bounds == (0, 110)
    assert found.note


def test_a_histogram_counts_each_band_as_its_condition(release):
    """Bands of a width, and bands between edges; a number on an edge is in the band above it."""
    bands = release.histogram("age", width=37, where="disease = 'Flu'")
    assert [band for (band,), _ in bands] == ["0 to 37", "37 to 74", "74 to 111"]
    for (low, high), ((_,), found) in zip(((0, 36), (37, 73), (74, 110)), bands, strict=True):
        assert found.bounds == release.count(f"disease = 'Flu' AND age BETWEEN {low} AND {high}").bounds
    edges = release.histogram("age", edges=[18, 65])
    assert [band for (band,), _ in edges] == ["18 to 65"]
    assert edges["18 to 65"].bounds == release.count("age >= 18 AND age < 65").bounds


def test_cells_of_a_table_are_counts_of_their_own(release):
    """Each is the unbiased count of its condition; margins are counts too."""
    table = release.crosstab("gender", "disease", where="age > 20")
    assert (table.row_labels, table.column_labels) == (("M", "F"), ("Measles", "Asthma", "HIV", "Flu"))
    for gender, disease in (("F", "Flu"), ("M", "HIV")):
        cell = table[gender, disease]
        same = release.count(f"age > 20 AND gender = '{gender}' AND disease = '{disease}'", estimator="unbiased")
        assert cell.bounds == same.bounds
        if same.design is not None and cell.design is not None and same.conditional_on == "publisher's coins":
            assert cell.design.value == pytest.approx(same.design.value)
    women = release.count("age > 20 AND gender = 'F'", estimator="unbiased")
    assert table.row_totals[1].bounds == women.bounds
    assert len(table.as_json()) == 8
    assert table.to_arrow().num_rows == 8
    with pytest.raises(KeyError):
        table["F", "Plague"]


def test_the_fitted_table_has_the_published_margins_and_nobody_below_0(release):
    """Rows and columns add up to one another, and to every margin that is certain."""
    table = release.crosstab(("postcode", 1), "disease", where="gender = 'F'")
    fitted = np.array(table.fitted)
    assert (fitted >= 0).all()
    assert fitted.shape == (2, 4)
    for axis, totals in ((1, table.row_totals), (0, table.column_totals)):
        for found, total in zip(fitted.sum(axis=axis), totals, strict=True):
            if total.exact:
                assert found == pytest.approx(total.bounds[0], abs=1e-3)
    for row, cells in zip(fitted, table.cells, strict=True):
        for fits, cell in zip(row, cells, strict=True):
            if cell.exact:
                assert fits == pytest.approx(cell.bounds[0], abs=1e-3)


def test_intervals_that_hold_at_once_are_wider_but_no_wider_than_they_need(release):
    """Each holds the one that holds by itself, and none is wider than Bonferroni's."""
    alone, both = (release.crosstab("gender", "disease", together=each) for each in (False, True))
    for one, other in zip(alone.cells, both.cells, strict=True):
        for narrow, wide in zip(one, other, strict=True):
            assert wide.low <= narrow.low + 1e-9
            assert narrow.high <= wide.high + 1e-9
            if narrow.design is not None and (narrow.design.standard_error or 0) > 0:
                times = (wide.design.high - wide.design.low) / (2 * wide.design.standard_error)
                assert 1.95 < times < 2.74  # Bonferroni's for 8 cells


def test_mistakes_are_one_sentence(release):
    """Of shares, widths, edges and names."""
    for wrong, words in (
        (lambda: release.quantile("age", 1), "between 0 and 1"),
        (lambda: release.quantile("disease", 0.5), "disease holds text"),
        (lambda: release.histogram("age"), "must have a width"),
        (lambda: release.histogram("age", width=0), "must be above 0"),
        (lambda: release.histogram("age", edges=[3, 1]), "each larger than the one before"),
        (lambda: release.histogram("age", width="wide"), "a number in digits"),
        (lambda: release.crosstab("gender", "diseases"), "did you mean disease"),
        (lambda: release.crosstab("gender", "gender"), "GROUP BY must name each column once"),
        (lambda: release.crosstab("age", 3), "the name of a column"),
    ):
        with pytest.raises(discreet.QueryError, match=words) as refused:
            wrong()
        assert "\n" not in str(refused.value)
