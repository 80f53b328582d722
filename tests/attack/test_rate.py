"""Rates of attacks have intervals that cover, also where attempts hang together."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from discreet.attack.rate import clustered, computed, design_effect, rate_of
from discreet.errors import PolicyError

ROUNDS = 2_000


@pytest.mark.parametrize(("hits", "attempts"), [(0, 10), (3, 10), (10, 10), (1, 1), (0, 1), (250, 1_000)])
@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_independent_attempts_have_clopper_and_pearsons_interval(hits, attempts, confidence):
    """The same ends as from quantiles of beta distributions, and beyond them the hits are too improbable."""
    found, beyond = rate_of(hits, attempts, confidence), (1 - confidence) / 2
    low = beta.ppf(beyond, hits, attempts - hits + 1) if hits else 0
    high = beta.ppf(1 - beyond, hits + 1, attempts - hits) if hits < attempts else 1
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert binom.sf(hits - 1, attempts, found.low) <= beyond * (1 + 1e-9) or not hits
    assert binom.cdf(hits, attempts, found.high) <= beyond * (1 + 1e-9) or hits == attempts


@pytest.mark.parametrize("rate", [0.02, 0.25, 0.9])
@pytest.mark.parametrize("alike", [0.0, 0.3, 1.0])
def test_intervals_cover_where_attempts_of_a_cluster_hang_together(rate, alike):
    """Of 2,000 drawn sets the 95 % interval holds the rate in at least 92.5 %, five standard errors below."""
    coins = np.random.default_rng(round(100 * rate + 10 * alike))
    cluster = np.repeat(np.arange(150), coins.integers(1, 9, 150))
    held = 0
    for _ in range(ROUNDS):
        own = coins.random(150)[cluster]
        same = coins.random(len(cluster)) < alike
        hit = np.where(same, own, coins.random(len(cluster))) < rate
        found = clustered(hit, cluster, 0.95)
        held += found.low <= rate <= found.high
    assert held >= 0.925 * ROUNDS


@pytest.mark.parametrize("rate", [0.02, 0.25, 0.98])
def test_intervals_as_audits_take_them_cover_where_few_clusters_are_hit(rate):
    """At 99.9 % and with clusters that go alike as a whole, 3 of 150 of them in the mean: 12 misses of 2,000 are far
    more than right intervals have, and where the spread of so few clusters is believed there are 48 and more.
    """
    coins = np.random.default_rng(round(100 * rate))
    cluster = np.repeat(np.arange(150), coins.integers(1, 9, 150))
    found = [clustered((coins.random(150) < rate)[cluster], cluster, 0.999) for _ in range(ROUNDS)]
    assert sum(not each.low <= rate <= each.high for each in found) < 12


def test_an_interval_that_forgets_clusters_does_not_cover():
    """Where all of a cluster go alike, the interval for independent attempts holds the rate too seldom."""
    coins = np.random.default_rng(4)
    cluster = np.repeat(np.arange(100), 20)
    held, forgetful = 0, 0
    for _ in range(500):
        hit = (coins.random(100) < 0.3)[cluster]
        right, wrong = clustered(hit, cluster, 0.95), rate_of(int(hit.sum()), len(hit), 0.95)
        held += right.low <= 0.3 <= right.high
        forgetful += wrong.low <= 0.3 <= wrong.high
    assert held >= 450 > 300 > forgetful


def test_intervals_grow_no_smaller_where_hits_are_shared_out():
    """Exactly one hit in every cluster is not taken for certainty: the interval is that of independent attempts."""
    cluster = np.repeat(np.arange(100), 4)
    hit = np.tile([True, False, False, False], 100)
    assert clustered(hit, cluster, 0.95) == rate_of(100, 400, 0.95)


def test_clusters_that_all_went_alike_count_as_so_many_attempts():
    """No spread is seen in nothing but hits; then as many clusters are as many attempts."""
    assert design_effect(np.array([4.0, 4.0]), np.array([4.0, 4.0])) == 4
    assert clustered(np.ones(8, dtype=bool), np.repeat([0, 1], 4), 0.95).low == pytest.approx(rate_of(2, 2, 0.95).low)


def test_a_hit_in_one_small_cluster_is_no_independent_attempt():
    """One alone in a cluster of one, beside 99 of eight: the others may still go as wholes."""
    sizes = np.array([1.0] + [8.0] * 99)
    assert design_effect(np.array([1.0] + [0.0] * 99), sizes) == (1 + 99 * 64) / 793


def test_clusters_may_have_any_numbers():
    """What numbers clusters have, and in what order their attempts come, changes nothing."""
    coins = np.random.default_rng(8)
    cluster, hit = coins.integers(0, 20, 200), coins.random(200) < 0.4
    order = coins.permutation(200)
    assert clustered(hit[order], 7_000_000 - 3 * cluster[order], 0.99) == clustered(hit, cluster, 0.99)


def test_a_computed_rate_has_no_interval():
    """What follows from the files is no sample."""
    assert computed(0.25, 3).as_json() == {"rate": 0.25, "low": 0.25, "high": 0.25, "attempts": 3}


@pytest.mark.parametrize(("attempts", "confidence", "word"), [(0, 0.95, "attempts"), (3, 1.0, "confidence")])
def test_what_has_no_interval_is_refused_in_a_sentence(attempts, confidence, word):
    """No attempt, or a confidence that is none."""
    with pytest.raises(PolicyError, match=f"^{word} "):
        rate_of(0, attempts, confidence)
