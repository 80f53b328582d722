"""FRAPP's promise is about one who looks up one tuple: one who reads the whole release may pass gamma.

A domain of six tuples and a table of two records, every release of it enumerated in exact fractions. Nothing here but
the last test uses the package.
"""

from fractions import Fraction
from itertools import product
from math import isqrt

import discreet
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.facts_1 import facts_1
from discreet.release.alphabeta.facts_2 import facts_2

TUPLES, D, GAMMA = range(6), Fraction(1, 4), Fraction(1, 2)
UNIT = 2**62
# At n = 2, m = 6 a tuple that is shown once has odds of 3 times what they were where 16 g^2 + 28 g = 19.
KEEP = Fraction((isqrt(2000 * UNIT**2) - 28 * UNIT) // 32, UNIT)
OTHER = (1 - KEEP) / 5
T, KNOWN = 0, 5
# He knows one record. The other is one of five tuples, none of them more probable to him than D.
PRIOR = {T: D} | dict.fromkeys((1, 2, 3, 4), (1 - D) / 4)

Release = tuple[int, ...]


def _law(last: int) -> dict[Release, Fraction]:
    """How probable each release is, in sorted order, where the known record and this one are the table."""
    found: dict[Release, Fraction] = {}
    for shown in product(TUPLES, repeat=2):
        chance = Fraction(1)
        for own, became in zip((KNOWN, last), shown, strict=True):
            chance *= KEEP if own == became else OTHER
        release = tuple(sorted(shown))
        found[release] = found.get(release, Fraction(0)) + chance
    return found


LAWS = {last: _law(last) for last in PRIOR}


def _posterior(seen: set[Release]) -> Fraction:
    """How probable it is to him that T is in the table, when he knows that the release is one of these."""
    joint = {last: PRIOR[last] * sum(LAWS[last][release] for release in seen) for last in PRIOR}
    return joint[T] / sum(joint.values())


def _showing(times: int) -> set[Release]:
    return {release for release in LAWS[T] if release.count(T) == times}


def test_the_laws_and_beliefs_are_probabilities():
    assert all(sum(law.values()) == 1 for law in LAWS.values())
    assert sum(PRIOR.values()) == 1
    assert max(PRIOR.values()) == D


def test_one_who_looks_up_one_tuple_is_held_at_gamma():
    """By what he is promised, and hardly more could be kept: gamma is reached to 18 digits."""
    assert GAMMA - Fraction(1, 10**18) < _posterior(_showing(1)) <= GAMMA
    assert _posterior(_showing(0)) >= D / GAMMA * D


def test_one_who_reads_the_whole_release_and_knows_the_other_record_passes_gamma():
    """.614 instead of .5, where the release shows the tuple once and the known record unchanged."""
    reached = {release: _posterior({release}) for release in _showing(1)}
    worst = max(reached, key=lambda release: reached[release])
    assert worst == (T, KNOWN)
    assert round(float(reached[worst]), 3) == 0.614
    assert reached[worst] > GAMMA
    assert all(reached[release] < GAMMA for release in reached if release != worst)


def test_it_is_no_more_than_the_odds_that_one_record_gives_away():
    """g / e times the odds before, whatever the release shows; two copies of the tuple reach it."""
    most = D * KEEP / (D * KEEP + (1 - D) * OTHER)
    assert max(_posterior({release}) for release in LAWS[T]) == most == _posterior({(T, T)})
    assert round(float(most), 3) == 0.646


def test_the_facts_say_so_from_version_2_on():
    """The package keeps the same probability, and states the same number."""
    own = FrappPrivacy(
        d=D,
        gamma=GAMMA,
        keep=discreet.Frapp(prior=D, posterior=GAMMA).parameters(n=2, m=6),
        rows=2,
        domain=6,
        candidates=1,
    )
    assert own.keep == KEEP
    assert own.whole == _posterior({(T, T)})
    before, after = facts_1(own, False), facts_2(own, False, 2)
    assert not any("whole release" in each for each in before["not_covered"])
    assert "may come near 64.59 % at a prior of d" in after["not_covered"][1]
    assert "looked up how often" in after["words"]
    assert "reads nothing else of it" in after["adversary"]
    assert after["inequality"] == before["inequality"]
