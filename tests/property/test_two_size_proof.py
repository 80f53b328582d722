"""That no two-size setting loses less is proved by looking at each: held against plain loops on every small table."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.mechanism.buckets.papers.two_size_proof import prove_two_sizes
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.two_size import best_two_sizes


def places(counts: list[int], caps: list[list[int]], sizes: tuple[int, int], buckets: tuple[int, int]) -> bool:
    """Whether every record finds a place, by trying every share of every value in the first size."""
    need = sizes[0] * buckets[0]
    choices = [
        [first for first in range(count + 1) if first <= cap[0] * buckets[0] and count - first <= cap[1] * buckets[1]]
        for count, cap in zip(counts, caps, strict=True)
    ]
    return any(sum(chosen) == need for chosen in product(*choices))


@st.composite
def problems(draw) -> tuple[list[int], list[list[int]], list[int]]:
    """A few counts, sizes in a row, and caps that grow with the size and reach it at most."""
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    least = draw(st.integers(1, 3))
    sizes = list(range(least, least + draw(st.integers(2, 3))))
    parts = draw(st.lists(st.integers(1, 6), min_size=len(counts), max_size=len(counts)))
    return counts, [[part * size // 6 for size in sizes] for part in parts], sizes


@settings(deadline=None, max_examples=150)
@given(problems(), st.integers(0, 60))
def test_it_counts_what_plain_loops_count(problem, loss):
    """How many settings lose less, and how many of them are valid, for any loss."""
    counts, caps, sizes = problem
    rows, smaller, valid = sum(counts), 0, 0
    for j, k in combinations(range(len(sizes)), 2):
        for buckets in product(range(rows + 1), repeat=2):
            if buckets[0] * sizes[j] + buckets[1] * sizes[k] != rows:
                continue
            if buckets[0] * (sizes[j] - 1) ** 2 + buckets[1] * (sizes[k] - 1) ** 2 < loss:
                smaller += 1
                own = [[row[j], row[k]] for row in caps]
                valid += places(counts, own, (sizes[j], sizes[k]), buckets)
    found = prove_two_sizes(np.array(caps), np.array(counts), np.array(sizes), loss)
    assert (found.smaller, found.valid, found.holds) == (smaller, valid, not valid)


@settings(deadline=None, max_examples=150)
@given(problems())
def test_the_closed_form_is_proved_and_nothing_worse_is(problem):
    """With its loss the proof holds, with one more it does not; where there is no plan, it holds at any loss."""
    counts, sizes = np.array(problem[0]), np.array(problem[2])
    caps = np.array(problem[1])
    best = best_two_sizes(caps, counts, sizes)
    if best is None:
        assert prove_two_sizes(caps, counts, sizes, 10_000).holds
    else:
        assert prove_two_sizes(caps, counts, sizes, loss_of(best)).holds
        assert not prove_two_sizes(caps, counts, sizes, loss_of(best) + 1).holds
