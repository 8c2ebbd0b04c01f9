"""The printed numbers of Cohen & Kincaid next to ours, on answers that are made up to have the printed counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.paper.comparison import compare, with_verdicts
from slant.analysis.paper.published import KEY, not_checkable, notes, published_numbers
from slant.analysis.paper.reconstruction import MADE_UP, bases_in_words, reconstruct_answers
from slant.analysis.paper.sources import sources_of
from slant.collector.errors import StudyError
from slant.collector.importing.imports import import_trials
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import Study, load_study
from tests.support.commands import run_analyze
from tests.support.each_row import each_row
from tests.support.given import fill, fill_result

COUNTED = ("Table 3", "design")


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("interference")


def imported(folder: Path, rows: pl.DataFrame) -> Path:
    rows.write_csv(folder / "paper.csv")
    import_trials(folder / "paper.duckdb", "interference", [folder / "paper.csv"])
    return folder / "paper.duckdb"


@pytest.fixture(scope="module")
def paper(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The way that the documents show: reconstruct, import."""
    done = run_analyze("reconstruct", "--study", "interference", "--format", "csv")
    rows = pl.read_csv(done.stdout.encode(), infer_schema=False)
    assert (done.exit_code, rows.height) == (0, 960)
    return imported(tmp_path_factory.mktemp("paper"), rows)


@pytest.mark.slow
def test_the_counts_of_table_3_come_out_exactly_and_all_valid_answers_are_coded(paper: Path) -> None:
    found = analysis.compare(paper, "interference", tables=COUNTED)
    assert (found.height, set(found["status"])) == (45, {"agrees"})
    counts = found.filter(pl.col("quantity").is_in(["n_valid", "n_trials"]))
    assert counts["recomputed"].to_list() == counts["printed"].cast(pl.Float64).to_list()
    assert found.filter(pl.col("quantity") == "coverage_percent")["recomputed"].item() == 100


@pytest.mark.slow
def test_what_the_counts_decide_is_called_a_reproduction_of_made_up_answers(paper: Path) -> None:
    found = analysis.compare(paper, "interference", tables=COUNTED)
    assert set(found["basis"]) == {"reproduction"}
    assert next(bases_in_words(found)).startswith("These answers are constructed")
    assert "45 numbers (Table 3, design)" in list(bases_in_words(found))[1]


@pytest.mark.slow
def test_answers_of_models_are_no_reconstruction(study: Study, tmp_path: Path) -> None:
    db = imported(tmp_path, reconstruct_answers(study).with_columns(detail=pl.lit("answered by a model")))
    found = analysis.compare(db, "interference", tables=COUNTED)
    assert found["basis"].null_count() == found.height
    assert list(bases_in_words(found)) == []


@pytest.mark.slow
def test_a_cell_that_is_only_partly_here_is_not_judged(study: Study, tmp_path: Path) -> None:
    rows = reconstruct_answers(study).filter((pl.col("model") != "gpt-5") | (pl.col("position") < 300))
    found = analysis.compare(imported(tmp_path, rows), "interference", tables=["Table 3"])
    of_gpt = found.filter((pl.col("model") == "gpt-5") & (pl.col("status") == "not checkable"))
    assert of_gpt.select("model", "test").n_unique() == 1
    assert of_gpt["note"].str.contains("20 of 160 trials").all()
    assert set(found.filter(pl.col("model") != "gpt-5")["status"]) == {"agrees"}


@pytest.mark.slow
def test_answers_that_a_provider_forced_into_a_schema_are_no_part_of_table_3(study: Study, tmp_path: Path) -> None:
    forced = pl.col("factors").str.replace('"structured_output": false', '"structured_output": true', literal=True)
    is_forced = pl.col("model") == "gpt-5"
    rows = reconstruct_answers(study).with_columns(factors=pl.when(is_forced).then(forced).otherwise("factors"))
    found = analysis.compare(imported(tmp_path, rows), "interference", tables=["Table 3"])
    standing = dict(found.select("model", "status").unique().iter_rows())
    assert standing == {"claude-sonnet-4": "agrees", "gemini-2.5-pro": "agrees", "gpt-5": "no data"}


@pytest.mark.slow
def test_every_answer_says_that_no_model_gave_it(study: Study, paper: Path) -> None:
    rows = analysis.open_trials(paper, view="trials")
    assert (set(rows["detail"]), set(rows["source"])) == ({MADE_UP}, {"imported"})
    with pytest.raises(StudyError, match='no reconstruction of "rmiat"'):
        reconstruct_answers(load_study("rmiat"))


def test_words_take_turns_so_that_failures_are_of_all_categories(study: Study) -> None:
    rows = reconstruct_answers(study).filter(pl.col("answer") == '{"answer": ""}', pl.col("model") == "gpt-5")
    of_career = rows.filter(pl.col("test") == "gender_career")
    shared = of_career.group_by("item").len().filter(pl.col("len") == 2)
    assert (of_career.height, shared.height, rows.height) == (10, 4, 20)
    assert of_career["group"].n_unique() == 4


@each_row(
    ("printed", "tolerance", "value", "agrees"),
    [
        ("1-2", 0.5, 2.4, True), ("1-2", 0.5, 0.4, False), ("near 0", 0.02, -0.01, True), ("near 0", 0.02, 0.03, False),
        ("normal(0,1)", None, 1.0, True), ("normal(0,1)", None, 0.0, False), ("0.086", 0.01, 0.0835, True),
        ("0.086", None, 0.0835, False), ("-1.86", 0.3, -2.1, True), ("> 0.98", None, 0.9788, True),
        (".18", None, 0.19, False), ("CrI overlaps 0", None, 1.0, True),
    ],
)  # fmt: skip
def test_ranges_words_and_tolerances_are_judged(
    printed: str, tolerance: float | None, value: float, agrees: bool
) -> None:
    known: dict[str, Any] = dict.fromkeys(("missing", "slip", "reason", "how", "why"))
    row = {**known, "source": "imported", "quantity": "x", "printed": printed, "recomputed": value}
    texts = dict.fromkeys(known, pl.String)
    found = with_verdicts(
        pl.DataFrame([row | {"tolerance": tolerance}], schema_overrides=texts | {"tolerance": pl.Float64})
    )
    assert found["agrees"].item() is agrees


def test_each_number_has_a_key_a_tolerance_or_a_reason_and_no_row_names_another(study: Study) -> None:
    numbers = published_numbers(study)
    assert not numbers.select(KEY).is_duplicated().any()
    for about in (notes(study, "slip"), not_checkable(study)):
        assert about.height
        assert about.join(numbers, on=KEY, how="anti", nulls_equal=True).is_empty()
    near = notes(study, "tolerance")
    open_numbers = numbers.join(not_checkable(study), on=KEY, how="anti", nulls_equal=True)
    assert open_numbers.join(near, on=["table", "quantity"], how="anti").is_empty()
    assert near.join(numbers, on=["table", "quantity"], how="anti").is_empty()
    assert set(near["basis"]) == {"reproduction", "reconstruction", "setting"}


def permuted(db: Path, study: Study) -> pl.DataFrame:
    sources = tuple(source for source in sources_of(study) if source.name == "recomputed_permutations")
    return compare(db, study, sources=sources).filter(quantity="permuted_delta_p")


def test_without_permutations_it_says_what_to_type(study: Study, paper: Path) -> None:
    counted = tuple(
        source for source in sources_of(study) if source.name in ("recomputed_permutations", "recomputed_design")
    )
    rows = compare(paper, study, sources=counted).filter(quantity="permuted_delta_p")
    assert rows["recomputed"].null_count() == rows.height == 2
    assert "analyze permute --study interference" in rows["note"][0]


@pytest.mark.slow
def test_the_permuted_number_is_the_middle_of_the_latest_null_distribution(study: Study, tmp_path: Path) -> None:
    db = imported(tmp_path, reconstruct_answers(study))
    run = {"study": study.name, "study_version": study.version, "source": "imported", "variant": "base",
           "fit": "interference", "engine": "brms", "formula": "is_consistent ~ block"}  # fmt: skip
    cell = {"kind": "population", "scale": "delta_p"}
    with writing(db) as connection:
        days = {"old": "2026-01-01", "new": "2026-01-02"}
        for test, day in days.items():
            fill_result(connection, "permutations", [{**run, "permutation_id": test}], test, ended_at=day)
        means = [("old", "gender_career", 0.5), ("new", "gender_career", 0.01), ("new", "gender_science", -0.02)]
        of_claude = {**cell, "model": "claude-sonnet-4"}
        rows = [{**of_claude, "call_id": p, "test": d, "null_mean": mean} for p, d, mean in means]
        fill(connection, "permutation_cells", rows)
    found = permuted(db, study)
    assert found.select("model", "recomputed").rows() == [("claude-sonnet-4", 0.01), (None, -0.02)]


@pytest.mark.slow
def test_the_fits_come_as_near_to_the_print_as_the_tolerances_say(paper: Path) -> None:
    found = analysis.compare(paper, "interference")
    counts = dict(found["status"].value_counts().iter_rows())
    assert not {"disagrees", "no data"} & set(counts)
    assert set(found.filter(pl.col("table") == "Table 1")["status"]) == {"agrees"}
    means = found.filter(pl.col("quantity") == "compliance_percent")
    assert (means.height, set(means["status"])) == (12, {"agrees"})
    assert set(found.filter(pl.col("basis") == "setting")["status"]) == {"agrees"}
    slips = found.filter(pl.col("status") == "slip")
    assert slips.filter(pl.col("quantity") == "sign_of_condition_difference").height == 4
    assert counts["not checkable"] == 7  # five of the settings, and the permutations, which are not made here


def test_the_printed_numbers_are_as_handed_down(study: Study, shared: Path) -> None:
    given = pl.read_csv(shared / "published" / "published_interference.csv", infer_schema=False)
    numbers = published_numbers(study)
    observed = given.filter(pl.col("metric") == "observed compliance")["value"].to_list()
    assert numbers.filter(quantity="valid_percent")["printed"].to_list() == observed
    assert numbers.height == 135
