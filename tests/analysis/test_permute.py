"""Permutation tests: the same numbers whoever refits, in whatever order, stopped or not; and what they say."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.calls.call import Answer
from slant.analysis.cli.progress import duration
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.permutation import permutations
from slant.analysis.questions.permutation.sentences import result_sentences
from slant.analysis.rows.views import open_trials
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.given import Row, database
from tests.support.processes import wait_until
from tests.support.stored import rows_in

pytestmark = pytest.mark.needs("R")
FIVE: dict[str, Any] = {"engine": "lme4", "permutations": 5}
OPTIONS = ("Male + Career", "Female + Family")


def trial(model: str, number: int, block: str) -> Row:
    """Every other incongruent word is missed by the first model; one congruent word by both."""
    is_miss = number == 3 if block == "congruent" else number % 2 == 0 and model == "claude-sonnet-4"
    cell = {"study": "interference", "model": model, "test": "gender_career", "condition": block}
    options = {"option_a": OPTIONS[0], "option_b": OPTIONS[1], "expected": OPTIONS[0], "choice": OPTIONS[is_miss]}
    return {**cell, "item": f"word {number}", "group": "Male", **options, "tokens": None, "token_source": None}


def made(path: Path) -> Path:
    blocks = ("congruent", "incongruent")
    models = ("claude-sonnet-4", "gpt-5")
    return database(path, [trial(m, n, b) for m in models for n in range(8) for b in blocks])


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return made(tmp_path / "a.duckdb")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> analysis.PermutationResult:
    """Five permutations, by two workers, without a stop."""
    return analysis.permute(made(tmp_path_factory.mktemp("whole") / "a.duckdb"), **FIVE, workers=2)


def is_same(one: analysis.PermutationResult, other: analysis.PermutationResult) -> bool:
    return one.values.equals(other.values) and one.tests.equals(other.tests)


def test_one_worker_and_two_give_the_same_bit_for_bit(db: Path, whole: analysis.PermutationResult) -> None:
    assert is_same(analysis.permute(db, **FIVE, workers=1), whole)
    assert whole.values["number"].unique().to_list() == list(range(6))
    assert whole.values["delta_p_items"].n_unique() > 6


@pytest.mark.slow
def test_a_stopped_test_goes_on_where_it_was_and_ends_the_same(db: Path, whole: analysis.PermutationResult) -> None:
    def stop(done: int, number: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analysis.permute(db, **FIVE, workers=1, progress=stop)
    told: list[int] = []
    again = analysis.permute(db, **FIVE, workers=1, progress=lambda done, number: told.append(done))
    assert is_same(again, whole)
    assert told == [3, 4, 5, 6]


@pytest.mark.slow
def test_more_permutations_are_added_to_those_there_are(db: Path, whole: analysis.PermutationResult) -> None:
    analysis.permute(db, engine="lme4", permutations=2)
    told: list[int] = []
    more = analysis.permute(db, **FIVE, progress=lambda done, number: told.append(done))
    assert told == [3, 4, 5, 6]
    assert is_same(more, whole)
    fewer = analysis.permute(db, engine="lme4", permutations=2)
    assert fewer.tests["n"].unique().to_list() == [2]
    assert open_trials(db, view="permutation_tests")["n"].unique().to_list() == [5]


@pytest.mark.slow
def test_the_database_keeps_what_was_found(db: Path) -> None:
    found = analysis.permute(db, **FIVE)
    kept = open_trials(db, view="permutation_tests")
    columns = ["model", "test", "kind", "scale", "observed", "null_mean", "n", "n_as_large", "p_one_sided", "p_high"]
    assert kept.select(columns).sort(columns[:4]).equals(found.tests.select(columns).sort(columns[:4]))
    assert kept.row(0, named=True)["n_units"] == 16
    assert open_trials(db, view="permutation_values").height == found.values.height == 6 * 2


@pytest.mark.slow
def test_p_counts_what_is_as_large_as_the_observed(whole: analysis.PermutationResult) -> None:
    for row in whole.tests.to_dicts():
        column = {"s": "s", "delta_p": "delta_p_items" if row["kind"] == "item_averaged" else "delta_p"}[row["scale"]]
        its = whole.values.filter(pl.col("model") == row["model"])
        null = its.filter(pl.col("number") > 0)[column]
        assert row["observed"] == its.filter(pl.col("number") == 0)[column].item()
        assert row["n_as_large"] == (null >= row["observed"]).sum()
        assert row["p_one_sided"] == pytest.approx((1 + row["n_as_large"]) / 6)
        assert row["null_mean"] == pytest.approx(null.mean())
        assert row["p_low"] <= row["n_as_large"] / 5 <= row["p_high"]


@pytest.mark.slow
def test_other_rows_are_another_test_which_takes_the_place_of_the_first(db: Path) -> None:
    first = analysis.permute(db, **FIVE)
    with writing(db) as connection:
        connection.execute("UPDATE attempts SET choice = 'Female + Family' WHERE item = 'word 5' AND model = 'gpt-5'")
    second = analysis.permute(db, **FIVE)
    assert not second.values.equals(first.values)
    assert open_trials(db, view="permutation_tests")["permutation_id"].n_unique() == 1
    analysis.permute(db, **FIVE, seed=2)
    assert open_trials(db, view="permutation_tests")["permutation_id"].n_unique() == 2


class Serial(Executor):
    """Answers a call as it is submitted; the refits of `lost` come to nothing."""

    def __init__(self, lost: tuple[int, ...] = ()) -> None:
        self.lost = lost
        self.done: list[Any] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        (parcel,) = arguments
        tasks = pickle.loads(parcel.content)
        self.done += tasks
        numbers = [task.arguments.get("number") for task in tasks]
        lost = Answer(error=("Gone.",), has_died=True)
        future: Future[Any] = Future()
        answers = pickle.loads(function(parcel))
        answered = [lost if n in self.lost else a for n, a in zip(numbers, answers, strict=True)]
        future.set_result(pickle.dumps(answered))
        return future


@pytest.mark.slow
def test_the_studys_own_fit_of_the_same_rows_stands_beside_the_observed(db: Path) -> None:
    assert analysis.permute(db, **FIVE).tests["observed_main_fit"].is_null().all()
    analysis.fit(db, "interference", "interference_lme4")
    found = analysis.permute(db, **FIVE).tests.filter(pl.col("scale") == "delta_p")
    is_median = pl.col("kind") == "population"
    assert found.filter(is_median)["observed_main_fit"].is_not_null().all()
    by = ["model", "kind"]
    kept = open_trials(db, view="permutation_tests").filter(pl.col("scale") == "delta_p")
    assert kept.sort(by)["observed_main_fit"].equals(found.sort(by)["observed_main_fit"])
    assert (
        found.filter(~is_median)["observed_main_fit"].is_null().all()
    )  # over the items asked: the fit's is over new ones


@pytest.mark.slow
def test_a_refit_is_coded_as_the_studys_own_fit(db: Path) -> None:
    study = load_study("interference")
    fit = study.fits["interference"]
    coded = replace(fit, settings={**fit.settings, "coding": "sum"})
    (test,) = permutations.list_tests(db, replace(study, fits={**study.fits, fit.name: coded}), "brms", 1, None, {})
    assert test.repetition(1).arguments["coding"] == "sum"


@pytest.mark.slow
def test_a_figure_is_drawn_from_what_is_kept(db: Path) -> None:
    study = load_study("interference")
    assert list(figure_rows(db, study, ["permutations"])) == []
    analysis.permute(db, **FIVE)
    (figure,) = figure_rows(db, study, ["permutations"])
    assert figure.part == "lme4"
    assert figure.rows["number"].unique().sort().to_list() == list(range(6))
    assert figure.rows["kind"].unique().to_list() == ["item_averaged"]


@pytest.mark.slow
def test_any_executor_can_refit(db: Path, tmp_path: Path, whole: analysis.PermutationResult) -> None:
    serial = Serial()
    assert is_same(analysis.permute(db, **FIVE, executor=serial), whole)
    assert len(serial.done) == 6 + 1
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert is_same(analysis.permute(made(tmp_path / "b.duckdb"), **FIVE, executor=pool), whole)


@pytest.mark.slow
def test_a_refit_that_failed_is_counted_and_tried_again(db: Path, whole: analysis.PermutationResult) -> None:
    found = analysis.permute(db, **FIVE, executor=Serial(lost=(2, 4)))
    assert found.tests["n"].unique().to_list() == [3]
    assert found.tests["n_failed"].unique().to_list() == [2]
    assert (found.tests["p_if_failed_large"] > found.tests["p_one_sided"]).all()
    assert found.refits.filter(pl.col("status") == "failed")["messages"].to_list() == ["error: Gone."] * 2
    assert any(said.startswith("2 of 5 refits failed") for said in result_sentences(found))
    assert is_same(analysis.permute(db, **FIVE), whole)


@pytest.mark.slow
def test_what_cant_be_permuted_is_said(db: Path) -> None:
    with pytest.raises(UsageError, match="permutations must be at least 1"):
        analysis.permute(db, permutations=0)
    with pytest.raises(UnknownNameError, match="lme4"):
        analysis.permute(db, engine="lme5")
    with pytest.raises(UnknownNameError, match="chains"):
        analysis.permute(db, settings={"chain": 1})
    with pytest.raises(UsageError, match="no model and test has answers in both conditions"):
        analysis.permute(database(db.with_name("r.duckdb"), [{}]), study="rmiat", engine="lme4")


@pytest.mark.slow
def test_the_command_prints_rows_and_says_what_to_compare_with(db: Path) -> None:
    command = ["permute", "--db", str(db), "--engine", "lme4", "--permutations", "5"]
    done = run_analyze(*command, "--format", "csv")
    assert done.exit_code == 0, done.output
    rows = pl.read_csv(done.stdout.encode())
    assert rows.height == 6
    assert {"p_one_sided", "p_two_sided", "p_low", "n_separated", "observed_main_fit"} <= set(rows.columns)
    assert "In the reference cell (claude-sonnet-4 and gender_career)" in done.stderr
    assert "2 cells are tested, and nothing is corrected" in done.stderr
    refits = run_analyze(*command, "--format", "csv", "--show", "refits")
    assert pl.read_csv(refits.stdout.encode())["number"].to_list() == list(range(6))


def test_time_left_is_said_as_people_say_it() -> None:
    assert [duration(s) for s in (41.7, 200, 3600, 9000)] == ["42 s", "3 min", "60 min", "2.5 h"]


def n_kept(db: Path) -> int:
    return int(rows_in(db, "SELECT count(*) FROM permutation_refits")[0][0])


@pytest.mark.slow
def test_a_kill_loses_at_most_what_was_being_refitted(db: Path, tmp_path: Path) -> None:
    many = {"engine": "lme4", "permutations": 600}  # some seconds: what ended is kept every two
    code = f"from slant import analysis; analysis.permute({str(db)!r}, **{many!r})"
    process = subprocess.Popen([sys.executable, "-c", code])
    wait_until(lambda: n_kept(db) >= 8, 120)
    process.kill()
    process.wait()
    kept = n_kept(db)
    assert 8 <= kept < 601
    told: list[int] = []
    again = analysis.permute(db, **many, progress=lambda done, number: told.append(done))
    assert told[0] == kept
    assert len(told) == 1 + 601 - kept
    assert is_same(again, analysis.permute(made(tmp_path / "b.duckdb"), **many))
