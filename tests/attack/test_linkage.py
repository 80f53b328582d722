"""Uniqueness and linkage, beside plain Python that shares no code with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from cases import CASES, policy_of, ward_frame, ward_schema

import discreet
from discreet.attack.linkage import AttributeLinkage, RecordLinkage
from discreet.attack.uniqueness import Uniqueness, curve
from discreet.mechanism.alphabeta.making.make import view_of

QI = ["age", "gender", "postcode"]
COARSE = ["gender", "postcode"]
BY_NAME = {case.name: case for case in CASES}


def crowd(rows: int = 240, seed: int = 2) -> pd.DataFrame:
    """A ward in which some people are alike: ages by tens."""
    found = ward_frame(rows, seed)
    found["age"] = found["age"] // 10 * 10
    return found


def audited(name, folder, frame, *attacks, seed=1, **options):
    """A release of a case and its audit; the rows as the files show them, for the oracle."""
    policy = policy_of(BY_NAME[name], folder)
    with discreet.read_table(frame, policy) as table:
        release = discreet.publish(table, policy, to=folder / "release", seed=seed)
        with release:
            report = discreet.audit(release, table, attacks=attacks, **options)
    return report, folder / "release" / "data"


def shown(folder, name):
    return pd.read_parquet(folder / f"{name}.parquet").astype(object)


def keys(frame, columns=QI):
    return list(frame[columns].itertuples(index=False, name=None))


def bucket_weights(folder, columns=QI):
    """For each combination the summed shares of the buckets of its rows, exactly."""
    qit, st = shown(folder, "qit"), shown(folder, "st")
    size = Counter(qit["BID"])
    held: dict[int, dict[str, Fraction]] = {}
    for bucket, value, count in zip(st["BID"], st["disease"], st["COUNT"], strict=True):
        held.setdefault(bucket, {})[value] = Fraction(int(count), size[bucket])
    found: dict[tuple, Counter] = {}
    for key, bucket in zip(keys(qit, columns), qit["BID"], strict=True):
        own = found.setdefault(key, Counter())
        for value, share in held[bucket].items():
            own[value] += share
    return found


WARD = ward_schema()
DOMAIN = ("Measles", "Asthma", "HIV", "Flu")


def best(weights):
    """The heaviest value, the first of the domain among equals."""
    return max(DOMAIN, key=lambda value: (weights.get(value, 0), -DOMAIN.index(value)))


@pytest.mark.parametrize("name", ["buckets", "near buckets", "alphabeta", "frapp"])
def test_uniqueness_is_what_counting_by_hand_gives(name, tmp_path):
    """The share of people, and of rows, whose quasi-identifiers are nobody else's."""
    case = BY_NAME[name]
    frame = crowd(case.public_rows or 240)
    report, data = audited(name, tmp_path, frame, Uniqueness())
    rows = shown(data, "qit" if "buckets" in name else "view")
    for title, side in (("in the table", frame), ("in the release", rows)):
        often = Counter(keys(side))
        alone = sum(often[key] == 1 for key in keys(side))
        assert report[f"uniqueness, {title}"].rate.rate == pytest.approx(alone / len(side), abs=0)
    people, often = Counter(keys(frame)), Counter(keys(rows))
    claims = [people[key] == 1 for key, number in often.items() if number == 1]
    if claims:
        assert report["uniqueness, claims"].rate.rate == pytest.approx(sum(claims) / len(claims))


def test_the_curve_has_every_set_of_columns_where_they_are_few():
    """With one, two and three columns known: means and maxima over all sets."""
    frame = crowd()
    side = {name: np.unique(frame[name], return_inverse=True)[1] for name in QI}
    for step in curve(side, tuple(QI), np.random.default_rng(1)):
        shares = []
        for columns in combinations(QI, int(step["columns"])):
            often = Counter(keys(frame, list(columns)))
            shares.append(sum(number == 1 for number in often.values()) / len(frame))
        assert step["alone"] == pytest.approx(sum(shares) / len(shares))
        assert step["most"] == max(shares)
        assert step["sets"] == len(shares)


@pytest.mark.parametrize("name", ["buckets", "near buckets", "alphabeta", "frapp"])
def test_right_links_are_one_over_the_candidates_where_the_row_is_there(name, tmp_path):
    """Every candidate is equally likely; who was kept out is always linked wrongly."""
    case = BY_NAME[name]
    frame, out = crowd(case.public_rows or 240), crowd(60, 9)
    report, data = audited(name, tmp_path, frame, RecordLinkage(), kept_out=out[[*QI, "disease"]])
    whole = [*QI] if "buckets" in name else [*QI, "disease"]
    rows = shown(data, "qit" if "buckets" in name else "view")
    often, full = Counter(keys(rows)), set(keys(rows, whole))
    right = [1 / often[key] if own in full else 0.0 for key, own in zip(keys(frame), keys(frame, whole), strict=True)]
    assert report["record-linkage"].rate.rate == pytest.approx(sum(right) / len(frame))
    wrong = [1 / often[key] if often[key] else 0.0 for key in keys(out)]
    assert report["record-linkage"].control.rate == pytest.approx(sum(wrong) / len(out))
    one = sum(often[key] == 1 for key in keys(frame)) / len(frame)
    assert report["record-linkage, one candidate"].rate.rate == pytest.approx(one)
    assert report["record-linkage"].baseline == 1 / len(rows)


@pytest.mark.parametrize("name", ["buckets", "near buckets"])
def test_attributes_are_guessed_from_the_buckets_of_all_candidates(name, tmp_path):
    """Shares of the candidates' buckets are pooled; the guess is the heaviest value."""
    frame, out = crowd(), crowd(60, 9)
    report, data = audited(name, tmp_path, frame, AttributeLinkage(), kept_out=out[[*QI, "disease"]])
    weights = bucket_weights(data)
    found = report["attribute-linkage"]
    right = [best(weights[key]) == value for key, value in zip(keys(frame), frame["disease"], strict=True)]
    assert found.rate.rate == pytest.approx(sum(right) / len(frame))
    usual = frame["disease"].value_counts().index[0]
    guessed = [best(weights[key]) if key in weights else usual for key in keys(out)]
    assert found.control.rate == pytest.approx(np.mean(np.array(guessed) == out["disease"].to_numpy()))
    assert not found.covered


@pytest.mark.parametrize("name", ["alphabeta", "frapp"])
def test_attributes_are_guessed_from_tuples_with_the_same_quasi_identifiers(name, tmp_path):
    """The value of most candidates; of whom no tuple is like, the most frequent value."""
    case = BY_NAME[name]
    frame = crowd(case.public_rows or 240)
    report, data = audited(name, tmp_path, frame, AttributeLinkage())
    said: dict[tuple, Counter] = {}
    rows = shown(data, "view")
    for key, value in zip(keys(rows), rows["disease"], strict=True):
        said.setdefault(key, Counter())[value] += 1
    often = frame["disease"].value_counts()
    usual = min((value for value in DOMAIN if often[value] == often.max()), key=DOMAIN.index)
    guessed = [best(said[key]) if key in said else usual for key in keys(frame)]
    found = report["attribute-linkage"]
    assert found.rate.rate == pytest.approx(np.mean(np.array(guessed) == frame["disease"].to_numpy()))
    with discreet.open_release(tmp_path / "release") as release:
        assert found.bound == release.guarantee.linked(4)


def test_an_outside_table_lends_its_columns_and_nothing_else(tmp_path):
    """With two coarse columns he links and guesses by these alone; his record may be anybody's who is like it."""
    frame = crowd()
    outside = frame[COARSE].iloc[:90]
    report, data = audited("buckets", tmp_path, frame, RecordLinkage(), AttributeLinkage(), outside=outside)
    qit = shown(data, "qit")
    often, weights = Counter(keys(qit, COARSE)), bucket_weights(data, COARSE)
    link = [1 / often[key] for key in keys(outside, COARSE)]
    assert report["record-linkage"].rate.rate == pytest.approx(sum(link) / len(outside))
    people = Counter(keys(frame, COARSE))
    both = Counter(keys(frame, [*COARSE, "disease"]))
    right = [both[(*key, best(weights[key]))] / people[key] for key in keys(outside, COARSE)]
    assert report["attribute-linkage"].rate.rate == pytest.approx(sum(right) / len(right))


def test_leaves_tell_of_a_person_what_the_leaf_of_his_cells_holds(tmp_path):
    """DiffGen: the class with most people in a person's leaf, spread over cells by the tables."""
    frame = ward_frame(1200, 3)
    report, data = audited("diffgen choices", tmp_path, frame, AttributeLinkage())
    leaves, tables = shown(data, "leaves"), shown(data, "tables")
    cut = {(a, c): v for a, c, v in zip(tables["ATTRIBUTE"], tables["CELL"], tables["VALUE"], strict=True)}
    inside: dict[tuple, float] = {}
    sums: Counter = Counter()
    for a, v, c, x, n in tables.itertuples(index=False, name=None):
        inside[a, c, x] = n
        sums[a, v, x] += n
    held = {(*row[:3], row[3]): row[4] for row in leaves[[*QI, "disease", "COUNT"]].itertuples(index=False, name=None)}
    hits = sure = 0
    for *cells, true in frame[[*QI, "disease"]].itertuples(index=False, name=None):
        named = dict(zip(QI, map(str, cells), strict=True))
        values = {name: cut[name, cell] for name, cell in named.items()}
        weight = {}
        for x in DOMAIN:
            weight[x] = held[(*[values[name] for name in QI], x)]
            for name, cell in named.items():
                weight[x] *= inside[name, cell, x] / sums[name, values[name], x] if sums[name, values[name], x] else 0
        first, second = sorted(weight.values(), reverse=True)[:2]
        if first > second * (1 + 1e-9) and all(sums[n, values[n], x] for n in QI for x in DOMAIN):
            sure += 1
            hits += best(weight) == true
    assert sure > 0.9 * len(frame)
    assert abs(report["attribute-linkage"].rate.rate - hits / len(frame)) <= 1 - sure / len(frame)


def test_a_model_of_pairs_tells_what_its_own_counts_tell(tmp_path):
    """Pairs: the value that the release itself counts most of among people with these quasi-identifiers."""
    frame = crowd(600, 4)
    policy = policy_of(BY_NAME["pairs"], tmp_path)
    with (
        discreet.read_table(frame, policy) as table,
        discreet.publish(table, policy, to=tmp_path / "release", seed=1) as release,
    ):
        some = frame[QI].drop_duplicates().head(25)
        schema = release.schema
        known = {name: np.array([list(schema.domains[name]).index(cell) for cell in some[name]]) for name in QI}
        told = release.believed(known)
        told = told / told.sum(axis=1, keepdims=True)
        for row, (age, gender, postcode) in enumerate(keys(some)):
            where = f"age = {age} AND gender = '{gender}' AND postcode = '{postcode}'"
            found = [each.design or each for _, each in release.count_by("disease", where=where)]
            counts = np.array([each.value for each in found])
            assert told[row] == pytest.approx(counts / counts.sum(), abs=1e-3)


def test_a_release_with_the_sensitive_column_in_the_clear_gives_every_unique_person_away(tmp_path, monkeypatch):
    """Weak: a view that keeps every tuple and adds next to none; safe: one whose noise drowns them."""
    import discreet.mechanism.alphabeta.making.make as making

    frame = ward_frame(120, 5)
    safe, _ = audited("alphabeta", tmp_path, frame, AttributeLinkage())
    monkeypatch.setattr(making, "view_of", lambda own, *_: own)
    weak = _published_again(tmp_path, frame, monkeypatch)
    assert weak.rate.low > 0.85
    assert safe["attribute-linkage"].rate.low <= safe["attribute-linkage"].bound


def _published_again(tmp_path, frame, monkeypatch):
    import importlib
    import pkgutil

    import discreet.mechanism.alphabeta as family
    import discreet.mechanism.alphabeta.making.make as making

    for each in pkgutil.walk_packages(family.__path__, family.__name__ + "."):
        module = importlib.import_module(each.name)
        if hasattr(module, "view_of"):
            monkeypatch.setattr(module, "view_of", making.view_of)
    folder = tmp_path / "weak"
    folder.mkdir()
    policy = policy_of(BY_NAME["alphabeta"], folder)
    with (
        discreet.read_table(frame, policy) as table,
        discreet.publish(table, policy, to=folder / "release", seed=1) as release,
    ):
        report = discreet.audit(release, table, attacks=[AttributeLinkage()], unverified=True)
    return report["attribute-linkage"]


def test_what_needs_rows_says_that_there_are_none(tmp_path):
    """Noisy counts have no row of anybody: record linkage is left out, uniqueness speaks of the table alone."""
    report, _ = audited("diffgen", tmp_path, ward_frame(), RecordLinkage(), Uniqueness())
    assert [name for name, _ in report.left_out] == ["record-linkage"]
    assert [each.title for each in report.findings] == ["uniqueness, in the table"]


def linked(folder, strength, monkeypatch, **options):
    """Record and attribute linkage, where a publisher keeps more of the tuples and shows less noise than it says."""

    def plant(own, earlier, guarantee, *rest):
        keep = guarantee.keep + Fraction(strength) * (1 - guarantee.keep)
        insert = guarantee.insert * (1 - Fraction(strength) * Fraction(999, 1000))
        return view_of(own, earlier, replace(guarantee, keep=keep, insert=insert), *rest)

    folder.mkdir()
    monkeypatch.setattr("discreet.mechanism.alphabeta.policy.alphabeta.view_of", plant)
    schema = replace(WARD, domains={**WARD.domains, "postcode": discreet.Integers(low=0, high=99)})
    frame = ward_frame(3_000, 3)
    frame["postcode"] = np.random.default_rng(4).integers(0, 100, len(frame))
    policy = policy_of(BY_NAME["alphabeta"], folder, schema=schema)
    with (
        discreet.read_table(frame, policy) as table,
        discreet.publish(table, policy, to=folder / "release", seed=1) as release,
    ):
        report = discreet.audit(
            release, table, attacks=[RecordLinkage(), AttributeLinkage()], unverified=True, **options
        )
    return report["record-linkage"].rate, report["attribute-linkage"]


def test_a_publisher_who_hides_people_less_than_it_says_is_linked_more(tmp_path, monkeypatch):
    """By both attacks: next to no noise and all tuples, and a quarter of that, beyond both intervals."""
    right, guess = linked(tmp_path / "right", 0, monkeypatch)
    for strength in (1, Fraction(1, 4)):
        more, better = linked(tmp_path / str(strength).replace("/", "of"), strength, monkeypatch)
        assert more.low > right.high, strength
        assert better.rate.low > guess.rate.high, strength


def test_one_who_knows_what_half_of_the_people_share_is_at_chance(tmp_path, monkeypatch):
    """Known by gender alone, a person has half of the rows for candidates; a value is guessed as if by habit."""
    outside = ward_frame(3_000, 3)[["gender"]]
    link, guess = linked(tmp_path / "right", 0, monkeypatch, outside=outside)
    assert link.rate < 4 / len(outside)
    assert guess.rate.low < guess.baseline
