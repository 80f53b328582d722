"""Exact numbers: every way to write one, one limit, and what is printed is read back."""

import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import PolicyError
from discreet.ground.exact import LONGEST, exact, fraction_of, fraction_text, stated, toml_number

SECONDS = 0.5  # of CPU, for the most hostile number

NUMBERS = {
    "0.05": Fraction(1, 20),
    "1/20": Fraction(1, 20),
    "-1/4": Fraction(-1, 4),
    "+2": Fraction(2),
    " 0.5 ": Fraction(1, 2),
    "\t7\n": Fraction(7),
    ".5": Fraction(1, 2),
    ".5e-3": Fraction(1, 2000),
    "-.25E+2": Fraction(-25),
    "5.": Fraction(5),
    "2e-3": Fraction(1, 500),
    "1E+2": Fraction(100),
    "007": Fraction(7),
    "2/4": Fraction(1, 2),
    "1e-300": Fraction(1, 10**300),
}
NO_NUMBERS = [
    "",
    " ",
    ".",
    "-",
    "half",
    "nan",
    "inf",
    "-Infinity",
    "1/0",
    "0/0",
    "1/-4",
    "1/4e2",
    "1 / 4",
    "1,5",
    "1_000",
    "0x10",
    "１／４",
    "１/４",
    "０.５",
    "٣",
    "²",
    "½",
    "1e-400",
    "1e400",
    "1e200000000",
    "1e-999999999",
    "9" * 10_000,
    "1/" + "9" * 10_000,
    "0." + "1" * 10_000,
    "5 5",
    "5\n5",
    "5\x00",
]


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_a_text_is_the_fraction_that_it_says(text, number):
    """Decimals, fractions and exponents, with a sign and white space around."""
    assert fraction_of(text) == exact("theta", text) == number


@pytest.mark.parametrize("text", NO_NUMBERS, ids=lambda text: text[:12])
def test_what_is_no_number_or_too_long_is_refused_at_once(text):
    """Digits of other scripts, underscores and huge exponents too."""
    start = time.process_time()
    assert fraction_of(text) is None
    assert stated(text) is None
    with pytest.raises(PolicyError, match=r"theta \(.*\) must be a number such as 0\.05 or '1/20'"):
        exact("theta", text)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "given",
    [
        *(True, False, np.True_, None, [], {}, b"1", 1j),
        *(float("nan"), float("-inf"), np.float64("nan"), np.float32("inf")),
        *map(Decimal, ("NaN", "sNaN", "-Infinity", "1e-999999999", "1e999999999")),
        *(10**LONGEST, 10**5000, Fraction(1, 10**LONGEST), Fraction(10**5000, 7)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_value_that_is_no_number_or_too_long_is_refused_at_once(given):
    """True is not 1, and a sentence says so for numbers that cannot even be printed."""
    start = time.process_time()
    with pytest.raises(PolicyError, match=r"^theta \(.*\) must be a number such as 0\.05 or '1/20'$"):
        exact("theta", given)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (3, Fraction(3)),
        (0.05, Fraction(1, 20)),
        (1e-07, Fraction(1, 10**7)),
        (5e-324, Fraction(5, 10**324)),
        (1.7976931348623157e308, Fraction(17976931348623157 * 10**292)),
        (-0.0, Fraction(0)),
        (Decimal("0.05"), Fraction(1, 20)),
        (Decimal("1E-7"), Fraction(1, 10**7)),
        (np.float64(0.05), Fraction(1, 20)),
        (np.float32(0.05), Fraction(1, 20)),
        (np.int64(7), Fraction(7)),
        (np.uint8(200), Fraction(200)),
        (Fraction(1, 3), Fraction(1, 3)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_number_is_the_fraction_that_it_prints(given, number):
    """Of whichever library: 0.05 out of an array is 1/20, in single precision too."""
    assert fraction_of(given) == number


def test_a_fraction_of_an_arrays_number_does_not_wrap_around():
    """Its top is a whole number of Python, which never overflows."""
    found = exact("theta", np.int64(2**62))
    assert type(found.numerator) is int
    assert found * 4 == 2**64


fractions = st.builds(Fraction, st.integers(0, 10**60), st.integers(1, 10**60))


@given(fractions)
@example(Fraction(0))
@example(Fraction(10**198, 10**198 + 1))
@example(Fraction(1, 10**28 + 1))
def test_what_is_printed_is_read_back(number):
    """In a release in either form, and in TOML."""
    assert stated(fraction_text(number)) == stated(str(number)) == number
    assert fraction_of(toml_number(number)) == fraction_of(str(toml_number(number))) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_is_read_as_its_decimal_text(number):
    """The limit leaves room for all of them."""
    assert exact("theta", number) == exact("theta", repr(number)) == Fraction(repr(number))


@pytest.mark.parametrize(
    "text", ["0.5", "1e2", " 1/2", "1/2 ", "+1", "-1", "1/", "/2", "1/2/3", "1/0", 1, 0.5, None, True]
)
def test_a_release_states_numbers_in_digits_alone(text):
    """No sign, no point, no exponent, no space."""
    assert stated(text) is None


def test_the_limit_is_one_for_all():
    """A number of so many characters is read wherever it comes from, and one of one more nowhere."""
    fits, beyond = Fraction(10 ** (LONGEST - 3)), Fraction(10 ** (LONGEST - 2))
    assert len(fraction_text(fits)) == LONGEST
    for number, known in ((fits, True), (beyond, False)):
        exponent = f"1e{len(str(number.numerator)) - 1}"
        texts = [fraction_text(number), str(number.numerator), exponent]
        assert [fraction_of(each) is not None for each in (number, int(number), Decimal(int(number)), *texts)] == (
            [known] * 6
        )
        assert [stated(each) is not None for each in texts[:2]] == [known] * 2
