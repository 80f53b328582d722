"""The classic models in an audit: a finding for each notion, of release and raw table, and never a verdict."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from cases import House, ward_frame, ward_schema

import discreet
from discreet.attack.attack import Group
from discreet.attack.classic import ClassicModels
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.policy.classic import classic_notes

QI = ["age", "gender", "postcode"]


@pytest.fixture
def published(case, tmp_path):
    """A release of the ward, and the series that knows it."""
    house = House(case, tmp_path)
    with discreet.open_release(house.publish(ward_frame(), "release")) as release:
        yield release, house


def audited(release, table=None, **options):
    return discreet.audit(release, table, attacks=[ClassicModels()], **options)


def test_every_release_is_measured_beside_its_raw_table(case, published):
    """Of the raw table for every family, of the release where it has classes; nothing of it is covered or beaten."""
    release, house = published
    with discreet.read_table(ward_frame(), house.policy) as table:
        report = audited(release, table, series=house.series)
    raw = [each for each in report.findings if each.variant.endswith("of the raw table")]
    own = [each for each in report.findings if each not in raw]
    assert len(raw) == 9 - (report["classic-models, beta-likeness of the raw table"].rate.rate > 2)
    assert bool(own) == (getattr(release, "classes", None) is not None)
    assert all(each.group is Group.MEASURED and not each.covered and not each.beats for each in report.findings)
    assert report.holds
    assert json.loads(json.dumps(report.as_json(), allow_nan=False))
    groups = Counter(zip(*(ward_frame()[name] for name in QI), strict=True))
    assert report["classic-models, k-anonymity of the raw table"].rate.rate == min(groups.values())


def test_strangers_measure_what_has_classes(case, published):
    """Without a table; where there are no classes it says so."""
    release, _ = published
    report = audited(release)
    if getattr(release, "classes", None) is None:
        assert not report.findings
        assert "no classes of people" in report.left_out[0][1]
    else:
        assert report["classic-models, k-anonymity"].rate.rate >= 1
        assert not any("raw" in each.variant for each in report.findings)


def test_people_outside_are_linked_where_rows_are_shown(case, published):
    """Presence is measured of the raw table, and of a release that shows everybody's quasi-identifiers."""
    release, house = published
    outside = ward_frame()[["gender", "postcode"]]
    with discreet.read_table(ward_frame(), house.policy) as table:
        report = audited(release, table, series=house.series, outside=outside)
    raw = report["classic-models, delta-presence of the raw table"]
    assert (raw.rate.rate, raw.details["certain"], raw.share) == (1, len(outside), True)
    shown = [each for each in report.findings if each.variant == "delta-presence"]
    assert [each.rate.rate for each in shown] == [1.0] * (getattr(release, "known", None) is not None)


def test_no_finding_shows_a_cell(case, published):
    """Numbers of classes, counts and shares only."""
    release, house = published
    with discreet.read_table(ward_frame(), house.policy) as table:
        report = audited(release, table, series=house.series)
    told = str(report) + json.dumps(report.as_json())
    assert not any(cell in told for cell in {*ward_frame()["disease"], *ward_frame()["postcode"]})


# --- which classic notion a tolerance is ---


def notes(**tolerance):
    """What is said of a tolerance over four values."""
    return " | ".join(classic_notes(Tolerance(**tolerance), 4))


@pytest.mark.parametrize(
    ("tolerance", "said"),
    [
        ({"floor": "1/4"}, "is l-diversity in the share form with l = 4: no value is more than 1/4 of"),
        ({"floor": "0.3"}, "is l-diversity in the share form with l = 10/3: no value is more than 3/10 of"),
        ({"floor": 1, "ceiling": "1/2"}, "is l-diversity in the share form with l = 2"),
        ({"floor": "1/4", "values": {"a": "1/10"}}, "includes l-diversity in the share form with l = 4"),
        ({"floor": "1/4", "values": {"a": "1/2"}}, "includes l-diversity in the share form with l = 2"),
        ({"values": dict.fromkeys("abcd", "1/2"), "theta": 3}, "is l-diversity in the share form with l = 2"),
        ({"theta": 8, "floor": "0.02", "ceiling": "1/3"}, "includes l-diversity in the share form with l = 3"),
        ({"theta": 3}, "is basic beta-likeness with beta = 2: no share of a bucket is more than 3 times"),
        ({"theta": "2.5", "ceiling": "1/2"}, "includes basic beta-likeness with beta = 3/2"),
        ({"theta": 3, "values": {"a": "1/10"}}, "of all values but those with a tolerance of their own"),
    ],
)
def test_a_policy_says_which_classic_notion_it_is(tolerance, said):
    """Only what holds for every table."""
    assert said in notes(**tolerance)


@pytest.mark.parametrize(
    "tolerance",
    [{}, {"floor": 1}, {"theta": 8, "floor": "0.02"}, {"theta": 1}, {"floor": "1/4", "values": {"a": 1}}],
)
def test_a_policy_that_is_none_of_them_says_nothing(tolerance):
    """A tolerance of 1 somewhere, or neither of the forms."""
    assert not notes(**tolerance)


@pytest.mark.parametrize(
    "tolerance",
    [
        {"floor": "1/4"}, {"theta": 3}, {"floor": "0.3", "values": {"a": "0.1"}}, {"theta": "2.5", "ceiling": "1/2"},
        {"theta": 8, "floor": "0.02", "ceiling": "1/3"}, {"theta": 3, "values": {"a": "1/10"}},
    ],
)  # fmt: skip
def test_what_a_policy_says_holds_of_its_tolerances(tolerance):
    """Of random histograms: no tolerance is above the share that is said, nor above so many times its own share."""
    told = notes(**tolerance)
    coins = np.random.default_rng(3)
    for _ in range(200):
        counts = dict(zip("abcd", coins.integers(1, 500, 4).tolist(), strict=True))
        for value, limit in Tolerance(**tolerance).of(counts).items():
            if "l = " in told:
                most = Fraction(told.split("no value is more than ")[1].split(" of")[0])
                assert limit == most if "is l-diversity" in told else limit <= most
            if "beta = " in told and value not in tolerance.get("values", {}):
                share = Fraction(counts[value], sum(counts.values()))
                times = Fraction(told.split("is more than ")[-1].split(" times")[0])
                assert limit == min(1, times * share) if "is basic" in told else limit <= times * share


def test_anatomy_is_diverse_in_every_form_it_names(tmp_path):
    """Measured on a release of it: distinct, by entropy and by shares, with the l of the policy."""
    mechanism = discreet.Anatomy(l=2)
    assert "l = 2 in every form" in mechanism.notes(ward_schema())[0]
    policy = discreet.Policy(schema=ward_schema(), mechanism=mechanism, identifiers=(), person="bed_tag")
    frame = ward_frame(119)  # buckets of two and of three
    with discreet.publish(discreet.read_table(frame, policy), policy, to=tmp_path / "r", seed=1) as release:
        found = discreet.measure(release)
    for notion in ("distinct l-diversity", "entropy l-diversity", "l-diversity by shares"):
        assert found[notion].holds(2)
    assert found["k-anonymity"].number == 2


def test_buckets_with_a_floor_are_as_diverse_as_they_say(tmp_path):
    """A release with floor 1/3 measures l = 3 at least, one with theta 2 a beta of 1 at most."""
    for number, (tolerance, notion, limit) in enumerate(
        [({"floor": "1/3"}, "l-diversity by shares", 3), ({"theta": 2}, "beta-likeness", 1)]
    ):
        mechanism = discreet.Buckets(tolerance=Tolerance(**tolerance))
        assert mechanism.notes(ward_schema())
        policy = discreet.Policy(schema=ward_schema(), mechanism=mechanism, identifiers=(), person="bed_tag")
        with discreet.publish(
            discreet.read_table(ward_frame(), policy), policy, to=tmp_path / f"r{number}", seed=1
        ) as release:
            assert discreet.measure(release)[notion].holds(limit)
