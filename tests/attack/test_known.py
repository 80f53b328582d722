"""Known others: F'-privacy by exact Bayes over every world of tiny publishers, and on releases that are made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pyarrow as pa
import pytest
from attack.slots import injections

import discreet
from discreet.attack.buckets.corruption import Corruption
from discreet.attack.buckets.knowing import most_of_people
from discreet.attack.buckets.within import WithinBucket
from discreet.evaluate.scratch import opened, released, schema_of

Values = tuple[str, ...]
Knowledge = dict[object, Counter[str]]


def believed(worlds: Iterable[tuple[object, str, int]]) -> Knowledge:
    """By all that an adversary sees, how much the worlds weigh in which the person has each value."""
    found: Knowledge = defaultdict(Counter)
    for seen, value, weight in worlds:
        found[seen][value] += weight
    return found


def largest(found: Knowledge, value: str) -> Fraction:
    """The most that any adversary believes of the person's having this value, whatever he sees."""
    return max(Fraction(each[value], sum(each.values())) for each in found.values())


def one_bucket(slots: Values, people: int, others: Sequence[int], law: dict[Values, int], *, flags: bool) -> Knowledge:
    """A publisher with one bucket, who hands its slots to people and draws its fakes by any law of their values."""

    def worlds() -> Iterator[tuple[object, str, int]]:
        for world in permutations(range(len(slots)), people):
            values = tuple(slots[place] for place in world)
            fakes = tuple(sorted(slots[place] for place in set(range(len(slots))) - set(world)))
            known = tuple((i, values[i]) for i in others)
            yield ((known, fakes) if flags else known), values[0], law[fakes]

    return believed(worlds())


@pytest.mark.parametrize("sigma", [0, 1, 2])
@pytest.mark.parametrize("people", [2, 3, 4])
def test_in_every_tiny_bucket_the_promise_holds_for_who_knows_so_many_and_for_no_more(people, sigma):
    """Every ST over three values, every value, whatever law fakes are drawn by and whether he can tell them or not: at
    most min(c, S) / (S - q), which is reached. So c <= f' (S - known) keeps f' for q = known, and one more may pass it.
    """
    coins = np.random.default_rng(people * 10 + sigma)
    passed = 0
    for slots in combinations_with_replacement("abc", people + sigma):
        choices = {tuple(sorted(each)) for each in combinations(slots, sigma)}
        law = {each: int(coins.integers(1, 9)) ** 2 for each in choices}
        for others in range(people):
            told = one_bucket(slots, people, range(1, 1 + others), law, flags=True)
            untold = one_bucket(slots, people, range(1, 1 + others), law, flags=False)
            for value in set(slots):
                most = most_of_people(slots.count(value), people, others)
                assert largest(untold, value) <= largest(told, value) == most
                limit = Fraction(slots.count(value), people - others)  # the tolerance that allows just this
                if others + 1 < people and limit < 1:
                    beyond = one_bucket(slots, people, range(1, 2 + others), law, flags=True)
                    assert largest(beyond, value) > limit
                    passed += 1
    assert passed > 0 or people == 2


def two_buckets(law: dict[tuple[Values, Values], int], others: int, *, flags: bool) -> Knowledge:
    """Six people in two buckets of three with a fake each: all tables with the same histogram are equally likely, the
    buckets are composed and their fakes drawn by any `law` that looks at the histogram only, and then rows are handed
    to slots of their value. He knows the totals, the first `others` beside the person, and everybody's bucket.
    """

    def worlds() -> Iterator[tuple[object, str, int]]:
        for (one, two), weight in law.items():
            for real in product(*(combinations(range(4), 3) for _ in range(2))):
                held = [tuple(one[i] for i in real[0]), tuple(two[i] for i in real[1])]
                if Counter(held[0] + held[1]) != TOTALS:
                    continue
                for mine in permutations(held[0]):
                    seen = (one, two), mine[1 : 1 + others]
                    yield ((seen, tuple(sorted(held[0]))) if flags else seen), mine[0], weight

    return believed(worlds())


TOTALS = Counter({"a": 2, "b": 2, "c": 1, "d": 1})
DISTINCT = ("abcd", "abcd")
REPEATED = ("abcc", "abdd")


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_totals_and_flags_give_nothing_beyond_the_promise_across_buckets(flags, seed):
    """COUNT 1 of 3 people: 1/2 is kept beside one known other and passed beside two; COUNT 2 keeps nothing at 1."""
    coins = np.random.default_rng(seed)
    law = {(tuple(one), tuple(two)): int(coins.integers(1, 50)) for one, two in (DISTINCT, REPEATED, REPEATED[::-1])}
    half = Fraction(1, 2)
    for others, holds in ((0, True), (1, True), (2, False)):
        found = two_buckets({tuple(map(tuple, DISTINCT)): 1}, others, flags=flags)
        assert all(largest(found, value) <= Fraction(1, 3 - others) for value in "abcd")
        assert (max(largest(found, value) for value in "abcd") <= half) is holds
    mixed = two_buckets(law, 1, flags=flags)
    for seen, beliefs in mixed.items():
        ((one, _), _) = seen[0] if flags else seen
        for value, weight in beliefs.items():
            assert Fraction(weight, sum(beliefs.values())) <= Fraction(one.count(value), 2)


def test_beliefs_about_others_are_covered_as_knowledge_is():
    """Any weights over the values of one other, mixed: never above c / (S - 1), and there where he is sure."""
    coins = np.random.default_rng(8)
    ways = injections("AABCD", 5)
    for _ in range(20):
        weights = {value: Fraction(int(coins.integers(0, 40)) ** 2 + 1) for value in "ABCD"}
        total = sum(weights[world[1]] for world, _ in ways.worlds)
        for value in "ABCD":
            belief = sum(weights[world[1]] for world, _ in ways.worlds if world[0] == value) / total
            assert belief <= most_of_people("AABCD".count(value), 5, 1)


def people(rows: int, values: int, seed: int) -> pa.Table:
    coins = np.random.default_rng(seed)
    drawn = coins.choice(values, rows, p=np.linspace(2, 1, values) / np.linspace(2, 1, values).sum())
    return pa.table({"number": [f"{i:05d}" for i in range(rows)], "value": [f"v{each:02d}" for each in drawn.tolist()]})


def report(rows: pa.Table, mechanism: object, **options: object) -> discreet.AuditReport:
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        return discreet.audit(release, table, attacks=[Corruption(), WithinBucket()], **options)


@pytest.mark.parametrize("known", [1, 2, 3])
@pytest.mark.parametrize("fakes", [0, 1])
@pytest.mark.parametrize(
    "tolerance", [discreet.Tolerance(floor="1/4"), discreet.Tolerance(theta=2, floor="1/8", values={"v00": 1})]
)
def test_releases_that_allow_for_known_others_keep_it(known, fakes, tolerance):
    """Nothing covered beats its bound for so many; one more is shown, passes the tolerance, and is not covered."""
    found = report(people(1_500, 14, known), discreet.Buckets(tolerance=tolerance, known=known, fakes=fakes))
    assert found.holds
    kept = found[f"corruption, the most that {named(known)} may give away"]
    beyond = found[f"corruption, the most that {named(known + 1)} may give away"]
    assert kept.covered
    assert kept.rate.rate <= kept.bound < beyond.rate.rate
    assert not beyond.covered
    for finding in found.findings:
        if finding.name == "corruption" and "others" in finding.details and finding.baseline_is.startswith("always"):
            assert finding.covered is (finding.details["others"] <= known)
    nearest = found["within-bucket, the share nearest to its tolerance"]
    assert nearest.rate.rate == pytest.approx(kept.rate.rate)
    assert nearest.details["known"] == known


def named(others: int) -> str:
    return f"{others} other{'s' * (others > 1)}"


@pytest.mark.parametrize("fakes", [0, 1])
def test_a_publisher_who_plans_for_nobody_and_states_one_is_found(monkeypatch, fakes):
    """He says known = 1 and plans as for 0: the covered findings beat their bound, as no right release's do."""
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"), slack=0, known=1, fakes=fakes)
    assert report(people(1_200, 12, 6), mechanism).holds
    loose = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"), slack=0, fakes=fakes)
    real = discreet.Buckets.plan_of
    monkeypatch.setattr(discreet.Buckets, "plan_of", lambda self, counts, progress=None: real(loose, counts, progress))
    found = report(people(1_200, 12, 6), mechanism, unverified=True)
    assert not found.holds
    assert found["corruption, the most that 1 other may give away"].beats
    assert found["corruption, the most that 1 other may give away"].rate.rate == pytest.approx(1 / 3)
    assert found["within-bucket, the share nearest to its tolerance"].beats
    assert found["corruption, 1 other known"].beats is (not fakes)  # 1/4 of five slots by the law of uniform fakes
