"""Words dealt to groups at random in data that are there: what is found where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from slant import analysis
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.pages.parts.registry import nothing
from slant.analysis.questions.checks.nothing_finding import found_by_chance, nothing_rows
from slant.analysis.questions.checks.sentences import Context
from slant.analysis.questions.permutation.sentences import null_sentences
from slant.analysis.rows.views import open_trials
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.given import Row, database

pytestmark = pytest.mark.needs("R")
CONDITIONS = ("compatible", "incompatible")


def trials(model: str, effect: float) -> list[Row]:
    noise = np.random.default_rng(1).normal(200, 40, (8, 5, 2))
    return [
        {"study": "rmiat", "model": model, "test": "flowers_insects", "condition": condition, "item": f"word {word}",
         "group": "Flowers", "wording": wording + 1, "tokens": round(noise[word, wording, side] + effect * side)}
        for word in range(8) for wording in range(5) for side, condition in enumerate(CONDITIONS)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conditions")
    return database(folder / "a.duckdb", [*trials("o3-mini", 60), *trials("deepseek-r1", 0)])


@pytest.fixture(scope="module")
def result(db: Path) -> analysis.PermutationResult:
    return analysis.permute(db, permutations=200)


@pytest.mark.slow
def test_a_model_that_was_asked_in_one_condition_only_is_left_out_and_said(tmp_path: Path) -> None:
    half = [row for row in trials("deepseek-r1", 0) if row["condition"] == "compatible"]
    db = database(tmp_path / "a.duckdb", [*trials("o3-mini", 60), *half])
    done = run_analyze("permute", "--db", db, "--permutations", "20", "--format", "csv")
    assert (done.exit_code, "deepseek-r1 in flowers_insects" in done.stderr) == (0, True)
    assert pl.read_csv(done.stdout.encode())["model"].to_list() == ["o3-mini"] * 2


def test_what_is_there_stands_beside_what_is_found_where_nothing_is(result: analysis.PermutationResult) -> None:
    rows = {row["model"]: row for row in result.tests.to_dicts()}
    assert rows["o3-mini"]["p_two_sided"] < 0.02 < 0.2 < rows["deepseek-r1"]["p_two_sided"]
    assert {row["scale"] for row in rows.values()} == {"difference"}
    for row in rows.values():
        its = result.values.filter(pl.col("model") == row["model"])
        null = its.filter(pl.col("number") > 0)
        assert row["observed"] == its.filter(pl.col("number") == 0)["difference"].item()
        assert row["false_positives"] == (null["p_value"] < 0.05).mean()
        assert row["null_low"] < 0 < row["null_high"]


def test_it_is_kept_and_not_computed_again(db: Path, result: analysis.PermutationResult) -> None:
    before = open_trials(db, view="permutation_tests")["finished_at"].to_list()
    again = analysis.permute(db, permutations=200)
    assert again.tests.equals(result.tests)
    assert open_trials(db, view="permutation_tests")["finished_at"].to_list() == before
    kept = open_trials(db, view="permutation_values").filter(pl.col("engine") == "difference")
    assert kept.height == result.values.height == 2 * 201


@pytest.mark.slow
def test_the_page_of_checks_says_what_was_kept_and_what_the_variant_null_found(
    db: Path, result: analysis.PermutationResult
) -> None:
    sizes = pl.DataFrame({"model": ["o3-mini", "deepseek-r1"], "test": "flowers_insects", "verdict": "stays",
                          "reference_p": [0.001, 0.3], "p_value": [0.01, 0.4], "estimate": [60.0, -4.0],
                          "sd": [50.0, 40.0]})  # fmt: skip
    grain = nothing_rows(db, "rmiat", None, {})["nothing"].select("source", "study_version", "variant").row(0)
    base = sizes.with_columns(source=pl.lit(grain[0]), study_version=pl.lit(grain[1]), variant=pl.lit(grain[2]))
    null = base.with_columns(estimate=-pl.col("estimate") / 10, reference_p=pl.lit(0.2), variant=pl.lit("null"))
    rows = nothing_rows(db, "rmiat", None, {"crossed": pl.concat([base, null])})["nothing"]
    assert rows["variant"].unique().to_list() == ["base"]
    said = found_by_chance({"nothing": rows, "crossed": base}, Context({}, {}, {}, 0.05, 0.1, False))
    rate = 100 * sum(result.tests["false_positives"]) / 2
    assert f"p of Welch's test is below .05 in {rate:.1f} % of the permutations" in said.sentence
    assert "p is below 0.05 in none of 2 cells by the study's own model and in 1 of 2 cells over" in said.details[0]
    assert "0.07 in the middle, from 0.01 to 0.12; of the words as they are 0.65 in the middle" in said.details[1]


@pytest.mark.slow
def test_the_report_says_the_same_of_permutations_that_are_kept(db: Path, result: analysis.PermutationResult) -> None:
    tables = {"permutation_tests": open_trials(db, view="permutation_tests")}
    group = nothing(SectionData(load_study("rmiat"), tables, {}, {"source": "simulated"}))
    assert group is not None
    assert group.texts[1:] == tuple(null_sentences(nothing_rows(db, "rmiat", None, {})["nothing"]))


@pytest.mark.slow
def test_whole_words_and_the_mixed_model_stand_beside_it(db: Path, result: analysis.PermutationResult) -> None:
    arguments = ("permute", "--permutations", "20", "--db", str(db))
    refitted = run_analyze(*arguments, "--engine", "lme4")
    words = run_analyze(*arguments, "--whole-words", "--format", "json")
    assert (refitted.exit_code, words.exit_code) == (0, 0), refitted.output + words.output
    assert "p of the study's mixed model is below .05 in" in refitted.stderr
    assert "Sharp null, within wordings:" in refitted.stderr
    assert {row["null"] for row in json.loads(words.stdout)} == {"whole words"}
    kept = open_trials(db, view="permutation_tests")
    assert sorted(kept["engine"].to_list()) == [*["difference"] * 4, *["lme4"] * 4]
    assert set(kept["within"]) == {"model, test", "model, test, wording"}


def test_what_cannot_be_permuted_is_told(db: Path) -> None:
    with pytest.raises(UnknownNameError, match='no engine "brms"'):
        analysis.permute(db, engine="brms")
    with pytest.raises(UnknownNameError, match='"chains"'):
        analysis.permute(db, settings={"chains": 2})
