"""The ratio attack: the law of a quotient of noisy counts, and rules that are learned from releases of noisy counts."""

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attack.diffgen.asking import answers, condition
from discreet.attack.diffgen.quotient import below, enough, quantile, success
from discreet.attack.diffgen.ratio import Ratio
from discreet.errors import PolicyError
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.mechanism.diffgen.making.noise import SeededNoise

MECHANISMS = [discreet.DiffGen, discreet.Pairs]


@pytest.mark.parametrize(("x", "y", "low", "high"), [(100, 99, 0.64, 1.52), (1_000, 990, 0.95, 1.03)])
def test_the_quotient_has_the_quantiles_that_were_worked_out(x, y, low, high):
    """At epsilon = .1 the 95 % interval of Y/X is wide at 100 people, where the paper calls it small, not at 1,000."""
    ends = [quantile(share, epsilon=0.1, x=x, y=y) for share in (0.025, 0.975)]
    assert [round(end, 2) for end in ends] == [low, high]


@pytest.mark.parametrize(("epsilon", "x", "y"), [(0.1, 100, 99), (0.1, 20, 5), (1.0, 3, 0), (0.02, 30, 30)])
def test_the_law_of_the_quotient_is_that_of_drawn_noise(epsilon, x, y):
    """Also where the noisy count of a rule is often negative; the law of half the noise is refused."""
    coins, number = np.random.default_rng(3), 400_000
    drawn = (y + coins.laplace(0, 1 / epsilon, number)) / (x + coins.laplace(0, 1 / epsilon, number))
    worst = 0.0
    for at in np.quantile(drawn, [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98]).tolist():
        own = below(at, epsilon=epsilon, x=x, y=y)
        error = math.sqrt(own * (1 - own) / number)
        assert abs((drawn <= at).mean() - own) < 5.5 * error + 1e-4
        worst = max(worst, abs((drawn <= at).mean() - below(at, epsilon=2 * epsilon, x=x, y=y)) / error)
    assert worst > 20


@pytest.mark.parametrize(("tolerance", "epsilon"), [(0.05, 0.1), (0.05, 1.0), (0.01, 0.5)])
def test_rules_are_right_from_as_many_people_on_as_was_worked_out(tolerance, epsilon):
    """4.1 / (tolerance epsilon) people are enough for 95 %; at a tenth of them the quotient is mostly wrong."""
    people = enough(tolerance, epsilon=epsilon)
    assert round(people * tolerance * epsilon, 1) == 4.1
    assert success(tolerance, epsilon=epsilon, x=people, y=0.99 * people) == pytest.approx(0.95, abs=0.005)
    assert success(tolerance, epsilon=epsilon, x=people / 10, y=0.99 * people / 10) < 0.5


def table_of(rows, right, seed):
    """A job says the value for so many of all people; the others have any of four values."""
    coins = np.random.default_rng(seed)
    one, two = coins.integers(0, 6, rows), coins.integers(0, 4, rows)
    said = np.where(coins.random(rows) < right, one % 4, coins.integers(0, 4, rows))
    return pa.table({"job": [f"j{i}" for i in one], "town": [f"t{i}" for i in two], "ill": [f"v{i}" for i in said]})


def audited(mechanism, right, *, rows=4_000):
    whole = table_of(2 * rows, right, 5)
    policy = discreet.Policy(schema=schema_of(whole, "ill"), mechanism=mechanism)
    with (
        opened(whole.slice(0, rows), policy) as table,
        opened(whole.slice(rows), policy) as kept,
        released(table, mechanism, 1) as release,
    ):
        return discreet.audit(release, table, attacks=[Ratio()], kept_out=kept)


def exact_counts(self, counts, epsilon):
    return counts.copy()


@pytest.mark.parametrize("kind", MECHANISMS)
def test_rules_are_learned_in_spite_of_noise_and_as_well_of_people_who_were_kept_out(kind):
    """Of people whose value goes with their job it is guessed right as often as it goes with them, in or out."""
    report = audited(kind(epsilon=4), 0.8)
    found, near = report["ratio"], report["ratio, accuracy of the ratio"]
    assert found.rate.rate > 0.8 > 0.35 > found.baseline
    assert abs(found.rate.rate - found.control.rate) < 0.05
    assert not found.covered
    assert report.holds
    assert near.rate.rate > 0.9
    assert found.details["people_who_match"] == 4_000


@pytest.mark.parametrize("kind", MECHANISMS)
def test_without_noise_every_rule_is_told(kind, monkeypatch):
    """A publisher that forgets all noise gives away rules that always hold."""
    monkeypatch.setattr(SeededNoise, "laplace", exact_counts)
    report = audited(kind(epsilon=4), 1.0)
    assert report["ratio"].rate.rate > 0.99
    assert report["ratio, accuracy of the ratio"].rate.rate == 1


@pytest.mark.parametrize("kind", MECHANISMS)
def test_at_a_small_epsilon_it_is_at_chance(kind):
    """Little is learned of 4,000 people at epsilon = .001, and with values that go with nothing none at epsilon = 4."""
    loud, unrelated = audited(kind(epsilon="0.001"), 0.8)["ratio"], audited(kind(epsilon=4), 0.0)["ratio"]
    assert loud.rate.low < loud.baseline
    assert loud.rate.rate < 0.55
    assert unrelated.control.low < 0.25 < unrelated.control.high
    assert unrelated.rate.rate < 0.35


def test_questions_name_values_of_every_kind():
    """Numbers below 0, decimals, dates, quotes and missing cells: each condition has the count of its own value."""
    domains = {
        "debt": discreet.Integers(low=-2, high=1, missing=True),
        "rate": discreet.Decimals(low=Decimal("-0.5"), high=Decimal("0.5"), step=Decimal("0.25")),
        "since": discreet.Dates(low="2020-01", high="2020-04", by="month"),
        "name of it": discreet.Listed(values=("it's", 'a "b"')),
    }
    schema = discreet.Schema(quasi_identifiers=("debt", "rate", "since"), sensitive="name of it", domains=domains)
    coins = np.random.default_rng(2)
    cells = {name: [list(own)[code] for code in coins.integers(0, len(own), 400)] for name, own in domains.items()}
    mechanism = discreet.DiffGen(epsilon=5)
    policy = discreet.Policy(schema=schema, mechanism=mechanism)
    with opened(pa.table(cells), policy) as table, released(table, mechanism, 1) as release:
        for name, own in domains.items():
            found = answers(release, [condition(schema, {name: code}) for code in range(len(own))])
            assert found.tolist() == pytest.approx([each.value for _, each in release.count_by(name)])
            assert found.sum() > 300


def test_bad_numbers_are_refused():
    """Each in one sentence that says what to do."""
    for wrong in (
        lambda: Ratio(rules=0),
        lambda: Ratio(tolerance=1.5),
        lambda: quantile(0.5, epsilon=0.1, x=0, y=0),
        lambda: enough(0, epsilon=1),
        lambda: quantile(1, epsilon=0.1, x=9, y=0),
    ):
        with pytest.raises(PolicyError, match="must"):
            wrong()
