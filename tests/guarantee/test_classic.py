"""Classic notions are measured exactly: the thesis's numbers, and any classes against the plain definitions.

The oracles loop over dicts of fractions, and distances are solved as linear programs; they share no code with the
product.
"""

import math
from collections import Counter, defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.errors import PolicyError, TableError
from discreet.guarantee.classic.alpha_k import alpha_k_anonymity
from discreet.guarantee.classic.classes import classes_of, numbered
from discreet.guarantee.classic.closeness import closeness, distances, ordered_closeness, ordered_distances
from discreet.guarantee.classic.distinct_diversity import distinct_diversity
from discreet.guarantee.classic.entropy_diversity import entropy_diversity
from discreet.guarantee.classic.k_anonymity import k_anonymity
from discreet.guarantee.classic.likeness import enhanced_likeness, likeness, rises
from discreet.guarantee.classic.logs import exceeds_log, sign_of_powers
from discreet.guarantee.classic.notions import every_notion
from discreet.guarantee.classic.presence import presence
from discreet.guarantee.classic.recursive_diversity import recursive_diversity
from discreet.guarantee.classic.share_diversity import eligible_diversity, share_diversity

ORIGINAL = (  # [W14] Table 2.1: job, sex, age, disease
    ("Engineer", "Male", 35, "Cancer"),
    ("Lawyer", "Male", 38, "HIV"),
    ("Engineer", "Male", 38, "Cancer"),
    ("Singer", "Female", 30, "Flu"),
    ("Singer", "Female", 30, "HIV"),
    ("Dancer", "Female", 30, "HIV"),
    ("Dancer", "Female", 30, "Flu"),
)
GENERAL = ([0, 0, 0, 1, 1, 1, 1], [0, 0, 2, 1, 2, 2, 2])  # Table 2.3: professionals, artists; Cancer, Flu, HIV
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=25)


def classes(counts, **options):
    """Classes of dicts: rows of each value."""
    cells = [(place, value, number) for place, each in enumerate(counts) for value, number in each.items()]
    return classes_of(*map(list, zip(*cells, strict=True)), **options)


def held(rows):
    """The counts of generated rows by class and value, and by value; None where nothing is counted."""
    found, whole = defaultdict(Counter), Counter()
    for group, value, count in rows:
        if count:
            found[group][value] += count
            whole[value] += count
    return (found, whole) if found else None


def shares(counts):
    total = sum(counts.values())
    return {value: Fraction(count, total) for value, count in counts.items()}


# --- the thesis ---


def test_table_2_3_has_the_thesis_numbers():
    """k = 3; t = .381 and .286 in its two classes, beta = 1.33 and .75; three of four artists have HIV."""
    found = classes_of(*GENERAL)
    assert k_anonymity(found).number == 3
    assert (closeness(found).number, closeness(found).group) == (Fraction(8, 21), 0)
    assert (likeness(found).number, likeness(found).group) == (Fraction(4, 3), 0)
    assert share_diversity(found).share == Fraction(3, 4)
    assert distances(found) == (Fraction(8, 21), Fraction(2, 7))
    assert rises(found) == (Fraction(4, 3), Fraction(3, 4))
    assert [round(float(each), 3) for each in distances(found)] == [0.381, 0.286]


def test_tables_2_1_and_2_2_joined_identify_three_people():
    """Bob, John and Jack are alone with job, sex and age; of the four women none is."""
    _, known = np.unique([" ".join(map(str, row[:3])) for row in ORIGINAL], return_inverse=True)
    found = presence(known, known)
    assert (found.number, found.least, found.certain, found.alone, found.beyond) == (1, 1, 7, 3, 0)


def test_table_2_3_contradicts_table_2_1():
    """Table 2.1 has HIV twice among the four women, not three times: 75 % is 50 %."""
    women = [row[3] for row in ORIGINAL if row[1] == "Female"]
    assert Fraction(women.count("HIV"), len(women)) == Fraction(1, 2)
    assert Fraction(GENERAL[1][3:].count(2), 4) == Fraction(3, 4)


def test_one_one_eight_of_ten_is_distinct_3_at_80_percent():
    """Distinct diversity does not see that one value has eight of ten rows."""
    found = distinct_diversity(classes([{0: 1, 1: 1, 2: 8}]))
    assert (found.number, found.share) == (3, Fraction(4, 5))
    assert share_diversity(classes([{0: 1, 1: 1, 2: 8}])).number == Fraction(5, 4)


def test_1_100_9899_allow_no_l_above_1():
    """One class of all rows is the best there is, and 9,899 of 10,000 are more than one in two."""
    assert eligible_diversity([1, 100, 9_899]) == Fraction(10_000, 9_899)
    assert math.floor(eligible_diversity([1, 100, 9_899])) == 1


def test_half_hiv_where_it_is_one_in_twenty():
    """95/5 against 50/50 has l = 2, t = .45 and beta = 9."""
    found = classes([{0: 10, 1: 10}, {0: 940, 1: 40}])
    assert found.totals.tolist() == [950, 50]
    own = share_diversity(classes([{0: 10, 1: 10}]))
    assert own.number == 2
    assert (closeness(found).number, closeness(found).group) == (Fraction(45, 100), 0)
    assert (likeness(found).number, likeness(found).group) == (9, 0)


# --- against the definitions ---


@settings(max_examples=few(2_000), deadline=None)
@given(ROWS)
def test_every_notion_is_what_its_definition_says(rows):
    """k, l in three forms, alpha and beta of any classes, as fractions; the class told is one that is so bad."""
    if (known := held(rows)) is None:
        return
    groups, whole = known
    made = classes_of(*map(list, zip(*rows, strict=True)))
    p = shares(whole)
    best = {
        "k": min(sum(each.values()) for each in groups.values()),
        "distinct": min(len(each) for each in groups.values()),
        "share": 1 / max(max(shares(each).values()) for each in groups.values()),
        "beta": max(shares(each)[x] / p[x] - 1 for each in groups.values() for x in each),
    }
    assert k_anonymity(made).number == best["k"] == sum(groups[k_anonymity(made).group].values())
    assert distinct_diversity(made).number == best["distinct"] == len(groups[distinct_diversity(made).group])
    assert share_diversity(made).number == best["share"]
    assert alpha_k_anonymity(made).number == 1 / best["share"]
    assert alpha_k_anonymity(made).k == best["k"]
    assert likeness(made).number == best["beta"]
    assert list(rises(made)) == [max(shares(groups[g])[x] / p[x] - 1 for x in groups[g]) for g in sorted(groups)]
    assert list(distances(made)) == [
        sum(abs(shares(groups[g]).get(x, 0) - p[x]) for x in p) / 2 for g in sorted(groups)
    ]
    worst = share_diversity(made)
    assert max(shares(groups[worst.group]).values()) == worst.share == 1 / best["share"]


@settings(max_examples=few(2_000), deadline=None)
@given(ROWS, st.integers(1, 4))
def test_recursive_diversity_is_what_its_definition_says(rows, l):  # noqa: E741 - the paper's name
    """r_1 < c (r_l + ...) holds in every class for each c above the number, and not for the number."""
    if (known := held(rows)) is None:
        return
    found = recursive_diversity(classes_of(*map(list, zip(*rows, strict=True))), l)

    def kept(c):
        ordered = [sorted(each.values(), reverse=True) for each in known[0].values()]
        return all(each[0] < c * sum(each[l - 1 :]) for each in ordered)

    if found.number is None:
        assert not kept(10**9)
        assert not found.holds(10**9)
    else:
        assert kept(found.number + Fraction(1, 10**12))
        assert found.holds(found.number + Fraction(1, 10**12))
        assert not kept(found.number)
        assert not found.holds(found.number)


def moved(q, p, distance):
    """The least work that turns one distribution into another: a linear program over who goes where."""
    size = len(q)
    cost = [distance(i, j) for i in range(size) for j in range(size)]
    leave = [[float(i == row) for i in range(size) for _ in range(size)] for row in range(size)]
    come = [[float(j == column) for _ in range(size) for j in range(size)] for column in range(size)]
    done = linprog(cost, A_eq=leave + come, b_eq=[*map(float, q), *map(float, p)], method="highs")
    assert done.status == 0
    return done.fun


@settings(max_examples=few(1_500), deadline=None)
@given(ROWS)
def test_distances_are_the_least_work(rows):
    """Both forms of t are the largest optimum of a linear program over the values that occur."""
    if (known := held(rows)) is None:
        return
    groups, whole = known
    made, values = classes_of(*map(list, zip(*rows, strict=True))), sorted(whole)
    p = [shares(whole)[x] for x in values]
    for measured, all_of_them, distance in (
        (closeness(made), distances(made), lambda i, j: float(i != j)),
        (ordered_closeness(made), ordered_distances(made), lambda i, j: abs(i - j) / max(1, len(values) - 1)),
    ):
        each = {g: moved([shares(own).get(x, 0) for x in values], p, distance) for g, own in groups.items()}
        assert measured.value == pytest.approx(max(each.values()), abs=1e-9)
        assert each[measured.group] == pytest.approx(max(each.values()), abs=1e-9)
        assert list(map(float, all_of_them)) == pytest.approx([each[g] for g in sorted(each)], abs=1e-9)
        assert measured.number == max(all_of_them)


@settings(max_examples=few(2_000), deadline=None)
@given(ROWS, st.fractions(Fraction(1, 2), 6, max_denominator=12))
def test_entropy_is_decided_with_whole_numbers(rows, l):  # noqa: E741 - the paper's name
    """A limit holds where S^S >= l^S prod c^c in every class, and the double is exp of the least entropy."""
    if (known := held(rows)) is None:
        return
    found = entropy_diversity(classes_of(*map(list, zip(*rows, strict=True))))
    kept, least = [], []
    for each in known[0].values():
        size = sum(each.values())
        kept.append(Fraction(size) ** size >= l**size * math.prod(count**count for count in each.values()))
        least.append(math.exp(-sum(float(q) * math.log(q) for q in shares(each).values())))
    assert found.holds(l) == all(kept)
    assert found.value == pytest.approx(min(least), rel=1e-12)
    assert least[list(known[0]).index(found.group)] == pytest.approx(min(least), rel=1e-12)


@pytest.mark.parametrize(
    ("counts", "whole"),
    [([1, 1], 2), ([250_000] * 2, 2), ([7] * 5, 5), ([4, 1, 1, 1, 1], 4), ([4 * 10**9, *[10**9] * 4], 4), ([9], 1)],
)
def test_entropy_that_is_just_enough_is_enough(counts, whole):
    """Where exp of the entropy is whole, that l holds and no larger one, whatever a float would say."""
    found = entropy_diversity(classes([dict(enumerate(counts))]))
    assert found.holds(whole)
    assert not found.holds(whole + Fraction(1, 10**40))
    assert found.value == whole


def test_the_double_of_an_entropy_is_right_to_its_last_digits():
    """Against 80 digits of counts up to a billion."""
    counts = [1, 3, 999_999_937, 12_345]
    found = entropy_diversity(classes([dict(enumerate(counts))]))
    with localcontext() as context:
        context.prec = 80
        size = Decimal(sum(counts))
        entropy = -sum(count / size * (count / size).ln() for count in map(Decimal, counts))
        assert abs(Decimal(found.value) / entropy.exp() - 1) < Decimal(2) ** -52


@settings(max_examples=few(2_000), deadline=None)
@given(st.dictionaries(st.integers(1, 40), st.integers(-12, 12), max_size=6))
def test_signs_of_powers_are_those_of_fractions(powers):
    """Also where the product is exactly 1."""
    product = math.prod((Fraction(base) ** power for base, power in powers.items()), start=Fraction(1))
    assert sign_of_powers(powers) == (product > 1) - (product < 1)


def test_powers_that_differ_in_the_hundredth_digit_are_told_apart():
    """Twelve to the sixth is exact; one added to a number of 100 digits is not lost."""
    assert sign_of_powers({12: 6, 144: -3}) == 0
    assert sign_of_powers({6: 3, 10: 3, 15: -3, 4: -3}) == 0
    assert sign_of_powers({10**100 + 1: 3, 10**100: -3}) == 1
    assert sign_of_powers({10**100: 3, 10**100 + 1: -3}) == -1


@settings(max_examples=few(2_000), deadline=None)
@given(ROWS)
def test_enhanced_likeness_forbids_what_no_beta_allows(rows):
    """(q - p) / p <= min(beta, -ln p) for every value of every class; else no beta is named."""
    if (known := held(rows)) is None:
        return
    groups, whole = known
    p, found = shares(whole), enhanced_likeness(classes_of(*map(list, zip(*rows, strict=True))))
    rises = [(shares(each)[x] / p[x] - 1, -math.log(p[x])) for each in groups.values() for x in each]
    allowed = all(rise <= most + 1e-12 for rise, most in rises)
    assert (found.number is not None) == allowed
    if allowed:
        assert found.number == max(rise for rise, _ in rises)


def test_a_number_beyond_a_logarithm_is_told_however_near():
    """Fractions just above and below ln 2 = .6931471805599453094172321214581765680755..."""
    digits = 6931471805599453094172321214581765680755
    assert exceeds_log(Fraction(digits + 1, 10**40), Fraction(1, 2))
    assert not exceeds_log(Fraction(digits, 10**40), Fraction(1, 2))
    assert not exceeds_log(Fraction(0), Fraction(1))


@settings(max_examples=few(1_000), deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.lists(st.integers(0, 6), min_size=1, max_size=20))
def test_presence_is_a_share_of_the_people_outside(inside, outside):
    """For everybody outside: rows inside of the same class over people outside of it, 1 at most."""
    found, own, people = presence(np.array(inside), np.array(outside)), Counter(inside), Counter(outside)
    chances = {each: Fraction(min(own[each], people[each]), people[each]) for each in people}
    assert found.number == max(chances.values())
    assert found.least == min(chances.values())
    assert found.certain == sum(people[each] for each in people if chances[each] == 1)
    assert found.alone == sum(own[each] == people[each] == 1 for each in people)
    assert found.beyond == sum(max(0, own[each] - people[each]) for each in own)
    assert found.number == chances[found.group] if len({*inside, *outside}) == max(*inside, *outside) + 1 else True


# --- known traps ---


@settings(max_examples=few(1_000), deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_how_they_are_counted_change_nothing(rows, coins):
    """Permuted rows, and rows told one by one instead of as counts, give the same report word by word."""
    if held(rows) is None:
        return
    single = [(group, value) for group, value, count in rows for _ in range(count)]
    coins.shuffle(single)
    one = classes_of(*map(list, zip(*rows, strict=True)), ordered=True)
    other = classes_of(*map(list, zip(*single, strict=True)), ordered=True)
    assert list(every_notion(one)) == list(every_notion(other))


@settings(max_examples=few(1_000), deadline=None)
@given(ROWS, st.permutations(range(6)))
def test_names_of_values_matter_to_the_ordered_distance_alone(rows, names):
    """All else is the same when values are called otherwise."""
    if held(rows) is None:
        return
    one = classes_of(*map(list, zip(*rows, strict=True)))
    other = classes_of(*map(list, zip(*[(g, names[v], c) for g, v, c in rows], strict=True)))
    assert [str(each).split(";")[0] for each in every_notion(one)] == [
        str(each).split(";")[0] for each in every_notion(other)
    ]


def test_a_value_that_does_not_occur_changes_nothing():
    """Counts of 0 are no value of a class, and take no place on the scale."""
    bare = classes([{0: 2, 5: 1}, {5: 4}], ordered=True)
    padded = classes([{0: 2, 3: 0, 5: 1, 9: 0}, {0: 0, 5: 4}], ordered=True)
    assert list(every_notion(bare)) == list(every_notion(padded))
    assert distinct_diversity(padded).number == 1


def test_equal_frequencies_are_no_distance():
    """Every class like the whole: t and beta are 0, exactly, with shares that no float holds."""
    found = classes([{0: 1, 1: 1, 2: 1}, {0: 7, 1: 7, 2: 7}], ordered=True)
    assert closeness(found).number == ordered_closeness(found).number == likeness(found).number == 0
    assert share_diversity(found).number == 3
    assert enhanced_likeness(found).number == 0


def test_shares_that_are_equal_as_doubles_are_told_apart():
    """Two shares that differ by 1e-18: the larger is found, though its double is the same."""
    a, b = Fraction(10**9, 3 * 10**9 + 1), Fraction(10**9 - 1, 3 * 10**9 - 2)
    assert float(a) == float(b)
    found = [{0: each.numerator, **fill(each.denominator - each.numerator, each.numerator)} for each in (a, b)]
    worse = max((a, b))
    assert share_diversity(classes(found)).share == worse
    assert share_diversity(classes(found[::-1])).share == worse


def fill(rest, most):
    """Other values for the rest of a class, none with so many rows."""
    parts, place = {}, 1
    while rest:
        parts[place] = min(rest, most - 1)
        rest -= parts[place]
        place += 1
    return parts


def test_counts_of_a_thousand_million_are_exact():
    """Products of such counts do not fit into 64 bits."""
    big = 2**44
    found = classes([{0: big, 1: 1}, {0: 1, 1: big, 2: 3}], ordered=True)
    n, p = 2 * big + 5, Fraction(big + 1, 2 * big + 5)
    assert found.rows == n
    first = Fraction(big, big + 1) - p
    second = (Fraction(big, big + 4) - p) + max(0, Fraction(3, big + 4) - Fraction(3, n))
    assert closeness(found).number == max(first, second)
    one = abs(Fraction(big, big + 1) - p) + abs(1 - (1 - Fraction(3, n)))
    two = abs(Fraction(1, big + 4) - p) + abs(Fraction(big + 1, big + 4) - (1 - Fraction(3, n)))
    assert ordered_closeness(found).number == max(one, two) / 2


@pytest.mark.parametrize("rows", [([], []), ([0, 1], [0, 1], [0, 0])])
def test_nobody_is_refused_in_a_sentence(rows):
    """No rows, or counts of nothing."""
    with pytest.raises(TableError, match="must have rows"):
        classes_of(*rows)


def test_counts_that_are_none_are_refused():
    """Negative ones, and more rows than are counted exactly."""
    with pytest.raises(TableError, match="whole numbers from 0 on"):
        classes_of([0], [0], [-1])
    with pytest.raises(TableError, match="below 2\\^53"):
        classes_of([0, 1], [0, 0], [2**52, 2**52])
    with pytest.raises(TableError, match="at least"):
        numbered([])
    with pytest.raises(PolicyError, match=r"^l \(0\)"):
        recursive_diversity(classes_of([0], [0]), 0)
    with pytest.raises(PolicyError, match="positions below 1"):
        alpha_k_anonymity(classes_of([0], [0]), of=[1])
    with pytest.raises(TableError, match="above it"):
        eligible_diversity([0, 0])
    with pytest.raises(TableError, match="both tables"):
        presence(np.array([], dtype=np.int64), np.array([1]))


def test_limits_are_decided_exactly():
    """At the number a limit holds, but for (c, l), whose inequality is strict; beyond it, it does not."""
    found = classes([{0: 1, 1: 2}, {0: 3, 1: 4}])
    bit = Fraction(1, 10**30)
    for each in (share_diversity(found), k_anonymity(found), distinct_diversity(found)):
        assert each.holds(each.number)
        assert not each.holds(each.number + bit)
    for each in (closeness(found), likeness(found), alpha_k_anonymity(found)):
        assert each.holds(each.number)
        assert not each.holds(each.number - bit)
    assert not recursive_diversity(found).holds(2)
    assert recursive_diversity(found).holds(2 + bit)
    with pytest.raises(PolicyError, match=r"^t \(near\)"):
        closeness(found).holds("near")


@settings(max_examples=few(1_000), deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2**61)] * 3), min_size=1, max_size=12))
def test_combinations_are_numbered_in_their_order(rows):
    """Equal rows have equal numbers, dense and ascending, however large the cells are."""
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    place = {row: number for number, row in enumerate(sorted(set(rows)))}
    assert numbered(columns).tolist() == [place[row] for row in rows]


def test_alpha_may_be_of_some_values_only():
    """A frequent value that is not sensitive does not count."""
    found = classes([{0: 8, 1: 2}, {0: 5, 1: 1}])
    assert alpha_k_anonymity(found).number == Fraction(5, 6)
    assert alpha_k_anonymity(found, of=[1]).number == Fraction(1, 5)
    assert alpha_k_anonymity(found, of=[1]).k == 6
