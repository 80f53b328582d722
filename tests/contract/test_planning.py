"""Planning as a custodian does it: every way to choose sizes side by side, sweeps, reasons, and Anatomy."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cases import contents, publish, saved
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.datasets.hospital import write_hospital
from discreet.mechanism.buckets.planning.anatomy import anatomy_classes, modelling_l, why_not_anatomy
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.series.store import Series


@pytest.fixture(scope="module")
def hospital(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("planning") / "h"
    write_hospital(folder, 3_000)
    return folder


def run(folder: Path, *words: str, code: int = 0) -> str:
    files = [str(folder / "hospital.csv"), "--policy", str(folder / "hospital.toml")]
    done = CliRunner().invoke(app, [words[0], *files, *words[1:]])
    assert done.exit_code == code, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.output


# The command line


def test_all_sizes_stand_side_by_side(hospital):
    """optimal, multi, two and one in the order of their loss, and Anatomy with the reason why it is not possible."""
    plans = json.loads(run(hospital, "plan", "--sizes", "all", "--json"))["plans"]
    assert [each["name"] for each in plans[:4]] == ["optimal", "multi", "two", "one"]
    losses = [each["loss"] for each in plans[:3]]
    assert losses == sorted(losses)
    assert losses[0] < losses[2]
    assert plans[0]["mse"] == pytest.approx(losses[0] / 2_999)
    assert plans[4]["name"].startswith("anatomy, l = ")
    assert "l-diversity keeps these tolerances only with l =" in plans[4]["note"]
    shown = run(hospital, "plan", "--sizes", "all")
    assert "optimal" in shown
    assert "1.000" in shown


@pytest.mark.slow
@pytest.mark.parametrize("over", ["theta", "max_size"])
def test_a_sweep_shows_the_trade_off(hospital, over):
    """The loss falls as the parameter grows, and a value without a plan says why."""
    plans = json.loads(run(hospital, "plan", "--sweep", over, "--json"))["plans"]
    losses = [each["loss"] for each in plans if each["loss"] is not None]
    assert len(losses) > 2
    assert losses == sorted(losses, reverse=True)
    assert all(each["note"] for each in plans if each["loss"] is None)
    assert f"{over} {plans[-1]['name']:>4}  loss" in run(hospital, "plan", "--sweep", over)


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_a_sweep_can_be_drawn(hospital, tmp_path, ending):
    """A file with the right beginning, and one sentence for any other ending."""
    run(hospital, "plan", "--sweep", "theta", "--figure", str(tmp_path / f"sweep{ending}"))
    start = (tmp_path / f"sweep{ending}").read_bytes()[:200]
    assert start.startswith(b"\x89PNG") if ending == ".png" else b"<?xml" in start


def test_the_sizes_of_a_plan_can_be_chosen_on_the_command_line(hospital):
    """--sizes one plans with one size; the plan states its gap and its metrics."""
    content = json.loads(run(hospital, "plan", "--sizes", "two", "--json"))
    assert len(content["classes"]) <= 2
    best = json.loads(run(hospital, "plan", "--sizes", "optimal", "--json"))
    assert best["loss"] <= content["loss"]
    assert best["gap"] == pytest.approx((best["loss"] - best["lower_bound"]) / best["loss"])
    assert best["times_least"] == pytest.approx(best["loss"] / best["lower_bound"])
    assert 1 <= best["times_least"] <= 1.5
    assert best["kept_slack"] == best["slack"] == "3/10"


def test_reasons_say_what_a_higher_tolerance_saves(hospital):
    """The first reason saves most, and words name the values."""
    reasons = json.loads(run(hospital, "plan", "--explain", "--json"))["reasons"]
    assert [each["saves"] for each in reasons] == sorted((each["saves"] for each in reasons), reverse=True)
    assert reasons[0]["saves"] > 0
    assert f"{reasons[0]['value']}: " in run(hospital, "plan", "--explain")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--sizes", "three"), "sizes (three) must be one of optimal, multi, two, one"),
        (("--sweep", "gamma"), "plans of buckets are not compared over gamma; choose one of sizes, theta, max_size"),
        (("--figure", "x.png"), "--figure draws a sweep"),
        (("--sweep", "theta", "--figure", "x.pdf"), "figure (x.pdf) must end in .png or .svg"),
    ],
)
def test_a_wrong_choice_is_one_sentence(hospital, words, sentence):
    """Exit 2, and what to say instead."""
    assert sentence in run(hospital, "plan", *words, code=2)


def test_a_publish_plans_once_and_the_series_remembers_no_classes(hospital, tmp_path, monkeypatch):
    """The first time and again; what was drawn is the same."""
    policy, plans = discreet.Policy.load(hospital / "hospital.toml"), []
    right = discreet.Buckets.plan_of

    def counted(self, *given):
        plans.append(self)
        return right(self, *given)

    monkeypatch.setattr(discreet.Buckets, "plan_of", counted)
    for number in (1, 2):
        table = discreet.read_table(hospital / "hospital.csv", policy)
        discreet.publish(table, policy, to=tmp_path / f"r{number}", series=tmp_path / "h.series").close()
        table.close()
        assert len(plans) == number
    with Series(tmp_path / "h.series") as series:
        assert {entry.memo for entry in series.entries()} == {""}
    assert contents(tmp_path / "r1") == contents(tmp_path / "r2")


# Anatomy


@pytest.fixture
def anatomy(tmp_path) -> Path:
    """A table of 103 rows in which no value is above a fourth, and a policy with l = 3."""
    values = [f"v{i % 7}" for i in range(103)]
    rows = "\n".join(f"{i % 5},{value}" for i, value in enumerate(values))
    (tmp_path / "t.csv").write_text("q,s\n" + rows + "\n")
    (tmp_path / "t.toml").write_text(
        'version = 1\n[table]\nquasi_identifiers = ["q"]\nsensitive = "s"\n[domains.q]\nintegers = [0, 4]\n'
        '[domains.s]\nvalues = ["v0", "v1", "v2", "v3", "v4", "v5", "v6"]\n[mechanism]\nkind = "anatomy"\nl = 3\n'
    )
    return tmp_path


def test_anatomy_publishes_buckets_of_l_and_one_more_with_different_values(anatomy):
    """103 rows, l = 3: 33 buckets of 3 and one of 4, no value twice in any; verified and answered like the others."""
    policy = discreet.Policy.load(anatomy / "t.toml")
    table = discreet.read_table(anatomy / "t.csv", policy)
    assert discreet.plan(table, policy).classes == ((3, 33), (4, 1))
    release = discreet.publish(table, policy, to=anatomy / "release")
    table.close()
    assert release.count("s = 'v0'").exact
    release.close()
    st = pq.read_table(anatomy / "release" / "data" / "st.parquet")
    assert set(st["COUNT"].to_pylist()) == {1}
    assert discreet.verify(anatomy / "release").holds
    assert contents(publish(anatomy / "t.csv", policy, anatomy / "again")) == contents(anatomy / "release")
    assert saved(policy, anatomy / "saved.toml").mechanism == policy.mechanism


def test_a_release_of_anatomy_that_states_another_l_does_not_verify(anatomy):
    """The promise is 1/l for every value; a manifest that says otherwise is caught."""
    publish(anatomy / "t.csv", discreet.Policy.load(anatomy / "t.toml"), anatomy / "release")
    path = anatomy / "release" / "datapackage.json"
    manifest = json.loads(path.read_text())
    for wrong in ({"kind": "anatomy", "l": 4}, {"kind": "anatomy", "l": 3, "note": "x"}, {"kind": "anatomy"}):
        manifest["discreet"]["mechanism"] = wrong
        path.write_text(json.dumps(manifest))
        assert not discreet.verify(anatomy / "release").holds


def test_anatomy_refuses_a_table_that_is_not_eligible():
    """A value above 1/l of the rows: named, with the l that would do."""
    with pytest.raises(discreet.Infeasible, match="flu is; l 2 would do") as refusal:
        discreet.Anatomy(l=4).plan_of({"flu": 40, "cold": 25, "hiv": 25, "cough": 10})
    assert refusal.value.values == ("flu",)
    assert discreet.Anatomy(l=2).plan_of({"flu": 40, "cold": 25, "hiv": 25, "cough": 10}).classes == ((2, 50),)


@pytest.mark.parametrize("wrong", [1, 0, -3, 1000, "4", True, 2.0])
def test_an_l_that_makes_no_sense_is_refused(wrong):
    """One sentence that names it."""
    with pytest.raises(discreet.PolicyError, match=r"l \("):
        discreet.Anatomy(l=wrong)


def test_anatomy_keeps_its_promise_on_every_eligible_table():
    """Sizes l and l + 1 hold the table and every value fits at most once, for all small tables that are eligible."""
    for a in range(1, 9):
        for b in range(1, 9):
            for c in range(9):
                counts = {"a": a, "b": b, "c": c}
                rows = sum(counts.values())
                for l in (2, 3):  # noqa: E741 - the paper's name
                    eligible = max(counts.values()) * l <= rows
                    try:
                        plan = discreet.Anatomy(l=l).plan_of(counts)
                    except discreet.Infeasible:
                        assert not eligible or rows % l > rows // l or l == 3
                        continue
                    assert eligible
                    for value, shares in plan.allocation.items():
                        assert sum(shares.values()) == counts[value]
                        assert all(records <= dict(plan.classes)[size] for size, records in shares.items())


def test_modelling_tolerances_by_l_diversity_is_explained():
    """[WWFW] Remark 1: l = ceil(1 / min f'), and the frequent value that it would forbid."""
    counts = {"flu": 90, "hiv": 10}
    limits = {"flu": Fraction(1), "hiv": Fraction(3, 10)}
    assert modelling_l(limits) == 4
    reason = why_not_anatomy(counts, limits)
    assert reason is not None
    assert "l = 4" in reason
    assert "flu is 90.00%" in reason
    assert why_not_anatomy({"a": 50, "b": 50}, {"a": Fraction(1, 2), "b": Fraction(1, 2)}) is None


def test_anatomys_loss_ignores_eligibility():
    """[WWFW] section 7.2.1: sizes l and l + 1 for any table, for the papers' curves."""
    classes = anatomy_classes(300_000, 29)
    assert classes == ((29, 10_320), (30, 24))
    assert loss_of(classes) == 10_320 * 28**2 + 24 * 29**2
    assert anatomy_classes(7, 4) is None
