"""An open release asked by many: threads, limits of time and memory, cancelling, closing; and tables that close."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cases import ROWS, Case, break_at, policy_of, ward_frame

import discreet
from discreet.engine.duck.database import Database
from discreet.engine.faults import Unfit
from discreet.errors import Cancelled, EngineError, OutOfMemory, OutOfTime

THREADS = 16
CONDITIONS = (
    "",
    "age >= 30 AND disease = 'HIV'",
    "gender = 'F' OR postcode LIKE '02%'",
    "age % 3 = 1 AND gender = 'M'",
    "disease IN ('Flu', 'Asthma') AND age BETWEEN 10 AND 60",
    "NOT (postcode = '9001' AND disease = 'Measles')",
)
LISTED = {"near": {"code": ["0213", "0214"]}}
ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE (a.range * b.range) % 7 = 3"


def questions(release: discreet.Release) -> Iterator[tuple[str, Callable[[discreet.Release], object]]]:
    """Questions of every form, to every estimator, each under a name."""
    for number, estimator in enumerate(release.estimators):
        for where in CONDITIONS[number and 4 :]:
            yield f"{estimator}: {where}", lambda each, w=where, e=estimator: each.count(w, estimator=e)
        yield f"{estimator}: many", lambda each, e=estimator: each.count_many(CONDITIONS, estimator=e)
        yield f"{estimator}: by", lambda each, e=estimator: each.count_by("gender", "disease", estimator=e)
        inside = "postcode IN (SELECT code FROM near) AND age < 50"
        yield f"{estimator}: aux", lambda each, e=estimator, w=inside: each.count(w, estimator=e, aux=LISTED)
    yield "sql", lambda each: each.query("SELECT gender, COUNT(*) FROM release WHERE age > 20 GROUP BY gender")


def in_threads(work: Callable[[int], object]) -> list[object]:
    """What each of THREADS threads gives, all started at once."""
    gate = threading.Barrier(THREADS)

    def run(number: int) -> object:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.fixture
def folder(seeded: Path) -> Path:
    return seeded


def test_sixteen_threads_get_the_answers_that_one_gets(folder):
    """Cold, when all learn the release at once, and warm; every form of question, every estimator."""
    with discreet.open_release(folder) as alone:
        asked = dict(questions(alone))
        expected = {name: repr(ask(alone)) for name, ask in asked.items()}
    names = list(asked)
    with discreet.open_release(folder) as release:

        def ask_all(number: int) -> dict[str, str]:
            turned = names[number % len(names) :] + names[: number % len(names)]
            return {name: repr(asked[name](release)) for name in turned}

        for _ in ("cold", "warm"):
            for answers in in_threads(ask_all):
                assert answers == expected


def test_one_threads_auxiliary_table_is_not_anothers(folder):
    """Each thread hands in another table under the same name."""
    with discreet.open_release(folder) as release:

        def ask(number: int) -> str:
            near = {"near": {"age": list(range(number, 100, 7))}}
            return repr(release.count("age IN (SELECT age FROM near)", aux=near))

        found = in_threads(ask)
        assert found == [ask(number) for number in range(THREADS)]


def test_a_question_that_takes_too_long_is_not_the_askers_fault(folder):
    """OutOfTime, and the release answers the next question that has time."""
    with discreet.open_release(folder, seconds=1e-6) as release, pytest.raises(OutOfTime, match="longer than 1e-06 s"):
        release.count("age > 30")
    with discreet.open_release(folder, seconds=60) as release, discreet.open_release(folder) as unlimited:
        assert release.count("age > 30") == unlimited.count("age > 30")


def test_a_question_that_needs_too_much_memory_is_not_the_askers_fault(folder):
    """OutOfMemory names the way out, and no condition is blamed; it is told as soon as it is known."""
    with pytest.raises(OutOfMemory, match="raise"), discreet.open_release(folder, memory="1kB") as release:
        release.count("age % 7 = 3 AND gender = 'F'")


def test_wrong_limits_are_refused_when_the_release_is_opened(folder):
    for wrong in ({"seconds": 0}, {"seconds": float("nan")}, {"memory": "much"}, {"memory": "0GB"}, {"memory": "-1GB"}):
        with pytest.raises(discreet.DiscreetError, match=next(iter(wrong))):
            discreet.open_release(folder, **wrong)


@pytest.mark.parametrize("column", ["age", "disease"])
def test_groups_of_a_vast_domain_are_refused_before_they_are_listed(column, folder, tmp_path):
    """A stranger's manifest may state any domain."""
    copy = tmp_path / "release"
    shutil.copytree(folder, copy)
    path = copy / "datapackage.json"
    stated = json.loads(path.read_text(encoding="utf-8"))
    stated["discreet"]["schema"]["domains"][column] = {"integers": [0, 2**53 - 1]}
    path.write_text(json.dumps(stated), encoding="utf-8")
    try:
        with discreet.open_release(copy) as release:
            assert len(release.count_by(column).rows) <= ROWS
    except (discreet.QueryError, discreet.ReleaseError):
        pass


def test_cancelling_stops_whoever_is_asking(folder):
    """From another thread, again and again until it hits: Cancelled, and then the release goes on answering."""
    with discreet.open_release(folder) as release:
        expected = release.count("age % 3 = 1")
        ended: list[Exception] = []

        def ask() -> None:
            try:
                while True:
                    release.count("age % 3 = 1")
            except Exception as error:
                ended.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while asking.is_alive():
            release.cancel()
            time.sleep(0.001)
        assert [type(each) for each in ended] == [Cancelled]
        assert release.count("age % 3 = 1") == expected


def test_a_closed_release_refuses_questions(folder):
    with discreet.open_release(folder) as release:
        release.count()
    with pytest.raises(discreet.QueryError, match="closed"):
        release.count()
    release.close()  # again, and nothing happens


@pytest.mark.parametrize("warm", [True, False])
def test_a_closed_release_draws_no_rows(warm):
    """Synthetic rows and training tables are questions too, whether or not the tables were read before."""
    with discreet.open_release(Path(__file__).parents[1] / "golden" / "diffgen-leaves" / "release") as release:
        assert isinstance(release, discreet.DiffGenRelease)
        if warm:
            assert release.sample(3).num_rows == 3
    for ask in (lambda: release.sample(3), release.to_training_table, lambda: release.check("age > 3")):
        with pytest.raises(discreet.QueryError, match="closed; open it again"):
            ask()


def test_closing_stops_what_is_being_answered(folder):
    """Every thread that asks in a loop ends with Cancelled or with the sentence that the release is closed."""
    release = discreet.open_release(folder)

    def ask(number: int) -> str:
        if number == 0:
            release.close()
        try:
            while True:
                release.count(f"age > {number}")
        except discreet.DiscreetError as error:
            return f"{type(error).__name__} {error}"

    for told in in_threads(ask):
        assert told.startswith("Cancelled") or "closed" in told or told.startswith("EngineError"), told


def test_a_table_closes_at_the_end_of_a_with(case: Case, tmp_path):
    """Its rows are gone: nobody gets one any more."""
    with discreet.read_table(ward_frame(), policy_of(case, tmp_path)) as table:
        assert sum(len(codes[0]) for codes in table.codes()) == table.rows
    with pytest.raises(EngineError):
        next(table.codes())


def test_a_check_that_the_engine_cannot_finish_is_not_a_broken_promise(case: Case, folder, monkeypatch):
    """Neither holds nor fails: the failure is said."""
    if case.name in ("diffgen", "pairs"):
        pytest.skip("its two small files are read without an engine")
    break_at(monkeypatch, Database, "rows", OutOfMemory, 0)
    with pytest.raises(OutOfMemory):
        discreet.verify(folder, allow_seeded=True)


# The database itself


@pytest.fixture
def database() -> Iterator[Database]:
    with Database() as opened:
        yield opened


def test_an_endless_statement_ends_in_time(database):
    begun = time.monotonic()
    with pytest.raises(OutOfTime), database.asking(0.2):
        database.rows(ENDLESS)
    assert time.monotonic() - begun < 10
    assert database.rows("SELECT 1") == [(1,)]


def test_an_endless_statement_is_cancelled(database):
    threading.Timer(0.2, database.cancel).start()
    with pytest.raises(Cancelled), database.asking():
        database.rows(ENDLESS)
    with database.asking():
        assert database.rows("SELECT 2") == [(2,)]


def test_what_a_question_registers_is_forgotten(database):
    with database.asking():
        database.register("mine", ward_frame(3))
        assert database.rows("SELECT count(*) FROM mine") == [(3,)]
    with pytest.raises(Unfit), database.asking():
        database.rows("SELECT count(*) FROM mine")


def test_every_connection_is_locked(tmp_path):
    """A question's own connection opens no more than the first, divides alike, and cannot be set otherwise."""
    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "inside").mkdir()
    with Database(paths=[tmp_path / "inside"]) as database, database.asking():
        assert database.rows("SELECT 1 / 0, 1 % 0") == [(None, None)]
        for forbidden in (f"SELECT * FROM '{outside}'", "SET enable_external_access = true", "INSTALL httpfs"):
            with pytest.raises(Unfit):
                database.rows(forbidden)


def test_the_engines_failures_are_told_apart_from_the_askers():
    """Overflow is what was asked; memory is the engine's; neither carries DuckDB's message."""
    with Database(memory="30MB") as database:
        with pytest.raises(Unfit) as asked:
            database.rows("SELECT 9223372036854775807::BIGINT + 1")
        assert (asked.value.why, str(asked.value)) == ("asked", "OutOfRangeException")
        with pytest.raises(OutOfMemory) as failed:
            database.rows("SELECT list(md5(range::VARCHAR)) FROM range(10000000)")
        assert "range" not in str(failed.value)
        assert failed.value.__cause__ is None
    with pytest.raises(EngineError):
        database.rows("SELECT 1")
