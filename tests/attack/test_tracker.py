"""Trackers: averages of fresh answers find a person out at a price; differences of one release's answers do not."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attack.diffgen.presence import allowed
from discreet.attack.diffgen.tracker import Tracker, right_by_averaging
from discreet.errors import PolicyError
from discreet.evaluate.scratch import opened, released
from discreet.mechanism.diffgen.making.noise import SeededNoise

MECHANISMS = [discreet.DiffGen, discreet.Pairs]
PEOPLE = 100


def by_enumeration(epsilon, answers, counts):
    """The probability of a right answer over every combination of noises that matters, one by one."""
    p = np.exp(-epsilon)
    law = {step: (1 - p) / (1 + p) * p ** abs(step) for step in range(-24, 25)}
    found = 0.0
    for noises in product(law, repeat=answers * counts):
        chance = np.prod([law[each] for each in noises])
        mean = sum(noises) / answers + 1  # the truth is 1, the other side 0
        found += chance * (1 if mean > 0.5 else 0.5 if mean == 0.5 else 0)
    return found


@pytest.mark.parametrize(("answers", "counts"), [(1, 1), (2, 1), (1, 2), (3, 1)])
def test_averages_are_right_as_often_as_all_noises_say(answers, counts):
    """Enumerated at epsilon = 1.5; noise of half the size would be right more often."""
    wanted = by_enumeration(1.5, answers, counts)
    assert right_by_averaging(1.5, answers, counts=counts) == pytest.approx(wanted, abs=1e-9)
    assert right_by_averaging(3.0, answers, counts=counts) > wanted + 0.05


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0])
def test_one_fresh_answer_reaches_what_epsilon_allows_and_more_of_them_never_pass_it(epsilon):
    """Even odds about one record: one count is as good as any test; k answers cost k epsilon and stay within it."""
    assert right_by_averaging(epsilon, 1) == pytest.approx(allowed(epsilon), abs=1e-9)
    rates = [right_by_averaging(epsilon, answers) for answers in (1, 3, 9, 27, 81)]
    assert rates == sorted(rates)
    for answers, rate in zip((1, 3, 9, 27, 81), rates, strict=True):
        assert rate <= allowed(answers * epsilon) + 1e-9
        difference = right_by_averaging(epsilon, answers, counts=2)
        assert difference <= rate + 1e-12


def test_asking_often_finds_a_person_out():
    """At epsilon = .1, one answer is right 52.5 % of the time; the mean of 1,000, which cost 100, nearly always."""
    assert right_by_averaging(0.1, 1) == pytest.approx(0.525, abs=5e-4)
    assert right_by_averaging(0.1, 1_000) > 0.86
    assert right_by_averaging(1.0, 100) > 0.999


DOMAINS = {
    "place": discreet.Integers(low=0, high=2 * PEOPLE - 1),
    "sort": discreet.Listed(values=("a", "b")),
    "ill": discreet.Listed(values=("no", "yes")),
}
SCHEMA = discreet.Schema(quasi_identifiers=("place", "sort"), sensitive="ill", domains=DOMAINS)


def people(first, seed):
    """Every place has one person, and values that go with nothing."""
    coins = np.random.default_rng(seed)
    return pa.table(
        {
            "place": np.arange(first, first + PEOPLE),
            "sort": coins.choice(["a", "b"], PEOPLE),
            "ill": coins.permutation(np.repeat(["no", "yes"], PEOPLE // 2)),
        }
    )


def audited(mechanism, **given):
    policy = discreet.Policy(schema=SCHEMA, mechanism=mechanism)
    with (
        opened(people(0, 1), policy) as table,
        opened(people(PEOPLE, 2), policy) as kept,
        released(table, mechanism, 1) as release,
    ):
        return discreet.audit(release, table, attacks=[Tracker()], kept_out=kept, **given)


def exact_counts(self, counts, epsilon):
    return counts.copy()


def test_without_noise_differences_tell_everything(monkeypatch):
    """A publisher that forgets all noise gives away who is in and who has what, of people each in a place alone."""
    monkeypatch.setattr(SeededNoise, "laplace", exact_counts)
    report = audited(discreet.DiffGen(epsilon=20))
    assert report["tracker"].rate.rate > 0.95
    assert report["tracker"].control.rate < 0.65
    assert report["tracker, who is in"].rate.rate > 0.95


@pytest.mark.parametrize("kind", MECHANISMS)
def test_with_noise_they_tell_nearly_nothing_at_a_small_epsilon(kind):
    """At epsilon = .05 values are guessed as by a coin, in the release or kept out of it; nothing is called covered."""
    report = audited(kind(epsilon="0.05"))
    for finding in report.findings:
        assert finding.rate.low <= 0.5 + 1e-9 <= finding.rate.high + 0.05
        assert not finding.covered
    assert abs(report["tracker"].rate.rate - 0.5) < 0.26
    assert report["tracker, who is in"].bound == pytest.approx(allowed(0.05))


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_release_says_the_same_when_it_is_asked_again(kind):
    """There is no mean to take: two audits find the very same."""
    one, other = (audited(kind(epsilon=1)).as_json()["attacks"] for _ in range(2))
    assert one == other


def test_people_who_are_like_others_are_no_targets():
    """Where everybody has a twin, it says so."""
    twins = pa.concat_tables([people(0, 1), people(0, 1)])
    policy = discreet.Policy(schema=SCHEMA, mechanism=discreet.Pairs(epsilon=1))
    with opened(twins, policy) as table, released(table, policy.mechanism, 1) as release:
        report = discreet.audit(release, table, attacks=[Tracker()])
    assert report.left_out == (("tracker", "nobody is alone with his quasi-identifiers"),)


def test_bad_numbers_are_refused():
    """Each in one sentence."""
    for wrong in (lambda: Tracker(targets=0), lambda: right_by_averaging(0, 1), lambda: right_by_averaging(1, 0)):
        with pytest.raises(PolicyError, match="must be"):
            wrong()
