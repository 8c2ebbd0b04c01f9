"""The printed numbers of Wu et al.: checked without raw data where that is possible, else next to games of models."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.analysis.paper import sources
from slant.analysis.paper.comparison import compare
from slant.analysis.paper.numbers import PRINT
from slant.analysis.paper.published import (
    KEY,
    WITHOUT_DATA,
    is_of_print,
    not_checkable,
    notes,
    published_numbers,
    scopes,
)
from slant.analysis.paper.sources import sources_of
from slant.collector.errors import StudyError
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import Study, load_study
from tests.support.commands import run_analyze
from tests.support.games_given import games, questions, refusals
from tests.support.given import database, fill_result, in_memory, insert

NOTE = "No raw data: not comparable."
SPREAD, APART = [[1, 1, 1, 1]] * 4, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]  # SI 0 and 2


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("hiring")


@pytest.fixture(scope="module")
def of_print(study: Study, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Of a database that holds another study only."""
    return compare(database(tmp_path_factory.mktemp("other") / "x.duckdb", [{}]), study)


def of_games(db: Path, study: Study, tables: Sequence[str] | None = None) -> pl.DataFrame:
    """The comparison without what needs no data, for that starts R."""
    of_answers = tuple(source for source in sources_of(study) if not source.is_of_print)
    return compare(db, study, sources=of_answers, tables=tables)


def played(study: Study) -> dict[str, list[list[list[int]]]]:
    """The printed matrices: by cell, game, group and class."""
    long = sources.matrices(study).sort("cell", "game", "group", "class")
    return {
        cell: [[list(row) for row in zip(*[iter(game["n"])] * 4, strict=True)] for _, game in its.group_by("game")]
        for (cell,), its in long.group_by("cell", maintain_order=True)
    }


def own_study(study: Study, folder: Path, *printed: str) -> Study:
    """A copy of the study under another name, which prints these numbers only."""
    text = study.path.read_text("utf-8").replace('name = "hiring"', 'name = "own"')
    (folder / "own.toml").write_text(text.replace("hiring/published.csv", "own.csv"), "utf-8")
    columns = "place,model,test,condition,quantity,printed,tolerance"
    (folder / "own.csv").write_text("\n".join([columns, *printed, ""]), "utf-8")
    return load_study(folder / "own.toml")


def one(found: pl.DataFrame, **key: Any) -> dict[str, Any]:
    (row,) = found.filter(**key).to_dicts()
    return row


def test_the_printed_numbers_are_as_handed_down(study: Study, shared: Path) -> None:
    given = pl.read_csv(shared / "published" / "published_hiring.csv", infer_schema=False)
    values = set(published_numbers(study)["printed"].cast(pl.Float64, strict=False).drop_nulls())
    numbers = given.select(pl.col("value", "plus_minus").cast(pl.Float64, strict=False))
    assert {number for row in numbers.iter_rows() for number in row if number is not None} <= values
    matrices = pl.read_csv(shared / "published" / "hiring_matrices.csv")
    assert sources.matrices(study)["n"].sum() == matrices.select(pl.sum_horizontal("^class_.*$")).sum().item()


@pytest.mark.slow
def test_without_answers_each_number_is_listed_once_and_those_of_models_are_not_comparable(
    study: Study, of_print: pl.DataFrame
) -> None:
    numbers = published_numbers(study).filter(pl.col("table") != "design")
    listed = of_print.filter(pl.col("table") != "design")
    assert set(of_print["source"]) == {PRINT}
    assert not listed.select(KEY).is_duplicated().any()
    assert listed.select(KEY).sort(KEY).equals(numbers.select(KEY).sort(KEY))
    absent = of_print.filter(pl.col("status") == "no data")
    assert absent.height > 100
    assert set(absent["note"]) == {NOTE}
    assert absent["agrees"].null_count() == absent.height


@pytest.mark.slow
def test_what_needs_no_data_agrees_or_is_a_slip_that_is_explained(study: Study, of_print: pl.DataFrame) -> None:
    checked = of_print.drop_nulls("agrees")
    assert set(checked["basis"]) == {WITHOUT_DATA}
    slips = checked.filter(pl.col("status") == "slip")
    assert dict(checked["status"].value_counts().iter_rows()) == {"agrees": 40, "slip": 9}
    assert slips.select(KEY).sort(KEY).equals(notes(study, "slip").select(KEY).sort(KEY))
    assert set(checked.filter(pl.col("table") == "design")["status"]) == {"agrees"}


@pytest.mark.slow
def test_si_and_half_width_of_the_printed_matrices_come_out(of_print: pl.DataFrame) -> None:
    found = of_print.filter(pl.col("table") == "matrices")
    rounded = {(row["model"], row["quantity"]): f"{row['recomputed']:.3f}" for row in found.to_dicts()}
    of_qwen = {("qwen-2.5-72b", "si"): "0.890", ("qwen-2.5-72b", "si_half_width"): "0.165"}
    assert rounded == of_qwen | {("gpt-4o", "si"): "1.303", ("gpt-4o", "si_half_width"): "0.133"}
    slip = one(found, model="qwen-2.5-72b", quantity="si")  # shown, not bent
    assert (slip["printed"], slip["status"]) == ("0.891", "slip")


def test_means_and_sums_of_printed_cells_are_those_printed(of_print: pl.DataFrame) -> None:
    frontier = {"model": "frontier", "test": "main", "table": "text"}
    assert one(of_print, **frontier, quantity="gasi")["recomputed"] == pytest.approx(0.5217, abs=5e-5)
    assert one(of_print, **frontier, quantity="si")["recomputed"] == pytest.approx(1.391, abs=5e-4)
    best = one(of_print, test="unequal_40", quantity="percent_best")
    assert (best["printed"], best["recomputed"]) == ("26.3", pytest.approx(26.5))
    sums = of_print.filter(pl.col("quantity") == "sum_of_shares")["recomputed"]
    assert sorted(sums) == pytest.approx([1] * 5 + [1.01] * 3)


def test_the_reasons_of_slips_hold_the_numbers_that_are_found(study: Study) -> None:
    reasons = " ".join(notes(study, "slip")["note"])
    found = sources.matrix_indices(study)
    qwen = found["qwen-2.5-72b", "main", "cot"]
    low, high = qwen["si_conf_low"], qwen["si_conf_high"]
    assert f"{low:.4f}"[1:] in reasons
    assert f"{high:.4f}" in reasons
    for cell in found.values():
        assert f"{cell['mutual_information_bits']:.3f}".removeprefix("0") in reasons
    random = sources.chance(study, 40, 30, False)
    for number in (*random["si"], *random["bgd"], random["bgd_divergence_bits"][0]):
        assert f"{number:.3f}"[1:] in reasons
    assert f"{sources.chance(study, 400, 1, True)['si'][0]:.3f}"[1:] in reasons


def test_a_later_version_is_shown_under_its_name_and_never_compared(study: Study, of_print: pl.DataFrame) -> None:
    later = of_print.filter(pl.col("table").str.starts_with("v4"))
    assert later.height == published_numbers(study)["table"].str.starts_with("v4").sum() > 150
    assert later["recomputed"].null_count() == later.height
    assert set(later["status"]) == {"not checkable"}
    assert later["note"].str.contains("never compared").all()


def test_each_number_has_a_key_and_what_is_known_of_one_names_it(study: Study) -> None:
    numbers = published_numbers(study)
    assert not numbers.select(KEY).is_duplicated().any()
    for about in (notes(study, "slip"), not_checkable(study)):
        assert about.join(numbers, on=KEY, how="anti", nulls_equal=True).is_empty()
    near = notes(study, "tolerance")
    assert near.join(numbers, on=["table", "quantity"], how="anti").is_empty()
    assert set(near["basis"]) == {None, WITHOUT_DATA}


def test_a_zero_at_the_end_is_printed(study: Study) -> None:
    numbers = published_numbers(study).filter(~is_of_print(study))
    said = {
        tuple(row[name] for name in ("table", "model", "condition", "quantity")): row["printed"]
        for row in numbers.to_dicts()
    }
    assert said["Table 1", "claude-sonnet-4", "direct", "gasi"] == "0.30"
    assert said["Table 2", "qwen-2.5-72b", "direct", "si"] == "0.190"
    assert said["text", "claude-sonnet-4 / claude-3-haiku", "direct", "si_ratio"] == "> 8"


@pytest.mark.parametrize(
    ("source", "status"), [("collected", "agrees"), pytest.param("simulated", "simulated", marks=pytest.mark.slow)]
)
def test_games_of_a_model_are_compared_and_those_of_participants_only_shown(
    study: Study, tmp_path: Path, source: str, status: str
) -> None:
    rows = games("qwen-2.5-72b", "main.cot", played(study)["qwen-2.5-72b, main, cot"], source)
    found = of_games(database(tmp_path / "x.duckdb", rows), study)
    si = one(found, table="text", model="qwen-2.5-72b", condition="cot", quantity="si")
    assert (si["status"], si["slip"]) == (status, None)
    assert si["recomputed"] == pytest.approx(0.8905, abs=5e-5)
    assert si["note"].startswith(NOTE) is (source == "simulated")
    interval = one(found, model="qwen-2.5-72b", quantity="si_conf_low")
    assert "analyze indices --study hiring" in interval["note"]


@pytest.mark.slow
def test_what_the_print_alone_contradicts_is_no_slip_of_another_sample(study: Study, tmp_path: Path) -> None:
    found = of_games(database(tmp_path / "x.duckdb", games("random", "main", [APART] * 30)), study)
    random = one(found, table="text", model="random", quantity="si")
    assert (random["status"], random["slip"], random["recomputed"]) == ("disagrees", None, pytest.approx(2))


@pytest.mark.slow
def test_kept_intervals_are_compared(study: Study, tmp_path: Path) -> None:
    db = database(tmp_path / "x.duckdb", games("claude-sonnet-4", "main", [APART] * 30))
    row = {"source": "collected", "study": "hiring", "study_version": study.version, "variant": "main",
           "model": "claude-sonnet-4", "answer_format": "direct", "index": "si", "n_games": 30, "n_incomplete": 0,
           "estimate": 2, "conf_low": 1.7, "conf_high": 1.9}  # fmt: skip
    with writing(db) as connection:
        fill_result(connection, "game_indices", [row])
    ends = of_games(db, study).filter(pl.col("quantity").str.starts_with("si_conf"), model="claude-sonnet-4")
    assert ends.select("recomputed", "status").rows() == [(1.7, "agrees"), (1.9, "agrees")]


@pytest.mark.slow
def test_a_cell_with_games_to_come_is_not_judged(study: Study, tmp_path: Path) -> None:
    found = of_games(database(tmp_path / "x.duckdb", games("gpt-4o", "main", [APART, SPREAD])), study)
    cell = one(found, table="Table 1", model="gpt-4o", condition="direct")
    assert cell["status"] == "not checkable"
    assert "gpt-4o in main, direct: 28 of 30 games" in cell["note"]
    mean = one(found, table="text", model="frontier", quantity="si")
    assert mean["recomputed"] == pytest.approx(1)
    assert "main: claude-sonnet-4 (direct), claude-sonnet-4 (cot)" in mean["note"]


@pytest.mark.slow
def test_a_reduction_is_the_mean_over_models_and_formats_of_answers(study: Study, tmp_path: Path) -> None:
    tests = {"resettlement": [APART] * 30, "resettlement_hair": [APART] * 20 + [SPREAD] * 10}
    models = [model.model for model in study.models if model.asked_by_default and model.frame == "direct"]
    rows = [
        row
        for model in models
        for test, its in tests.items()
        for answer in ("", ".cot")
        for row in games(model, test + answer, its)
    ]
    found = of_games(database(tmp_path / "x.duckdb", rows), study, ["text"])
    hair = one(found, test="resettlement_hair", quantity="si_reduction")
    assert (len(models), hair["recomputed"], hair["status"]) == (5, pytest.approx(2 / 3), "disagrees")
    mean = one(found, test="resettlement", quantity="si")
    assert (mean["recomputed"], mean["status"]) == (pytest.approx(2), "disagrees")
    assert one(found, test="resettlement", quantity="gasi_max")["status"] == "not checkable"  # other features lack


@pytest.mark.slow
def test_tables_4_and_5_and_their_pooled_shares_come_from_the_questions(study: Study, tmp_path: Path) -> None:
    named = [[1, 1, 2, 3]] * 15 + [[1, 2, 2, 4]] * 15
    cells = [(model, answer) for model in ("gpt-4o", "gemini-2.5-flash") for answer in ("", ".cot")]
    rows = [row for model, answer in cells for row in questions(model, f"unequal_40{answer}", named)]
    rows += [row for model, answer in cells for row in games(model, f"unequal_40{answer}", [SPREAD] * 30)]
    found = of_games(database(tmp_path / "x.duckdb", rows), study, ["Table 4", "text"])
    best = one(found, table="Table 4", model="gpt-4o", condition="cot", quantity="share_best")
    half = one(found, table="Table 4", model="gpt-4o", condition="cot", quantity="share_best_half_width")
    assert best["recomputed"] == pytest.approx(0.375)
    assert half["recomputed"] == pytest.approx(2.04523 * 0.125 * (30 / 29) ** 0.5 / 30**0.5, rel=1e-4)
    assert one(found, test="unequal_40", quantity="percent_fourth")["recomputed"] == pytest.approx(12.5)


@pytest.mark.slow
def test_the_quantile_of_t_in_sql_is_that_of_r() -> None:
    sizes = range(2, 41)
    with in_memory() as connection:
        insert(connection, [row for n in sizes for row in questions("m", f"of_{n}", [[1]] + [[2]] * (n - 1))])
        rows = connection.sql(
            "SELECT n_games, (conf_high - conf_low) / 2 / share_sd * sqrt(n_games) AS t FROM allocation_question_ranks "
            "WHERE rank = 1 ORDER BY n_games"
        ).fetchall()
    told = subprocess.run(["Rscript", "-e", "cat(qt(.975, 1:39))"], capture_output=True, text=True, check=True)
    assert [n for n, _ in rows] == list(sizes)
    assert [t for _, t in rows] == pytest.approx([float(t) for t in told.stdout.split()], rel=1.3e-3)


@pytest.mark.slow
def test_a_printed_p_value_says_what_to_type_and_is_then_that_of_the_kept_comparison(
    study: Study, tmp_path: Path
) -> None:
    rows = [row for v in ("main", "temperature_1_5") for row in games("gpt-4o", v, [APART] * 30)]
    db = database(tmp_path / "x.duckdb", rows)
    before = one(of_games(db, study, ["text"]), model="gpt-4o", quantity="p_value")
    assert "analyze differences --study hiring --reference main --condition temperature_1_5" in before["note"]
    row = {"source": "collected", "study": "hiring", "study_version": study.version, "between": "variant",
           "model": "gpt-4o", "answer_format": "direct", "condition": "temperature_1_5", "reference": "main",
           "index": "si", "n_games": 30, "n_games_reference": 30, "p_unstudentised": 0.294}  # fmt: skip
    with writing(db) as connection:
        fill_result(connection, "game_differences", [row])
        fill_result(connection, "game_adjusted", [{"difference_id": "c1", "index": "si"}], "a1")
    after = one(of_games(db, study, ["text"]), model="gpt-4o", quantity="p_value")
    assert (after["recomputed"], after["status"]) == (0.294, "agrees")


@pytest.mark.slow
def test_a_model_that_refuses_every_game_did_what_the_footnote_says(study: Study, tmp_path: Path) -> None:
    db = database(tmp_path / "x.duckdb", refusals("claude-sonnet-4", "steer_values", 30))
    outcome = one(of_games(db, study, ["text"]), test="steer_values", quantity="outcome")
    assert (outcome["printed"], outcome["status"]) == ("refused to respond", "agrees")


@pytest.mark.slow
def test_below_random_is_told_by_the_level_for_the_same_rounds(study: Study, tmp_path: Path) -> None:
    db = database(tmp_path / "x.duckdb", games("gpt-4o", "success_0_1", [SPREAD] * 30))
    before = one(of_games(db, study, ["text"]), model="gpt-4o", quantity="is_below_random")
    assert "analyze indices --study hiring" in before["note"]
    level = {"n_rounds": 16, "n_groups": 4, "class_sizes": "[5,5,5,5]", "is_balanced": False, "n_games": 30,
             "index": "si", "level": 0.5}  # fmt: skip
    with writing(db) as connection:
        fill_result(connection, "random_levels", [level])
    after = one(of_games(db, study, ["text"]), model="gpt-4o", quantity="is_below_random")
    assert (after["recomputed"], after["status"]) == (1, "agrees")


@pytest.mark.slow
def test_the_shell_shows_what_needs_no_data_by_its_source(tmp_path: Path) -> None:
    db = database(tmp_path / "x.duckdb", games("gpt-4o", "main", [APART] * 30))
    asked = ["compare", "--study", "hiring", "--source", "print", "--summary", "--format", "csv", "--db", str(db)]
    done = run_analyze(*asked)
    rows = pl.read_csv(done.stdout.encode())
    assert (done.exit_code, set(rows["source"])) == (0, {"print"})
    assert one(rows, table="matrices")["agrees"] == 3
    assert "Checked without raw data" in done.stderr


@pytest.mark.slow
def test_a_study_of_ones_own_with_other_printed_numbers_has_none_of_these(study: Study, tmp_path: Path) -> None:
    own = own_study(study, tmp_path, ",gpt-4o,main,,si,2,")
    rows = [{**row, "study": "own"} for row in games("gpt-4o", "main", [APART] * 2)]
    found = compare(database(tmp_path / "x.duckdb", rows), own)
    assert found.select("table", "model", "recomputed", "slip").rows() == [("print", "gpt-4o", 2.0, None)]


def test_every_name_in_print_is_known_here(study: Study) -> None:
    printed = published_numbers(study).filter(~is_of_print(study))
    assert set(printed["test"].drop_nulls()) <= set(study.variants)
    known = {model.model for model in study.models} | set(scopes(study)) | {"humans"}
    assert set(printed["model"].drop_nulls()) <= known


def test_matrices_are_read_as_they_are_printed(study: Study) -> None:
    first = sources.matrices(study).filter(cell="qwen-2.5-72b, main, cot", game=1).sort("group", "class")
    assert first["n"].to_list() == [9, 0, 2, 0, 2, 6, 2, 3, 1, 1, 5, 0, 2, 2, 4, 1]
    totals = sources.matrices(study).group_by("cell", "game").agg(pl.col("n").sum())
    assert (totals.height, set(totals["n"])) == (60, {40})


def test_a_row_of_a_printed_table_has_all_its_numbers(study: Study, tmp_path: Path) -> None:
    own = own_study(study, tmp_path, "T,gpt-4o,main,,si; bgd,0.10; > 2,0.1", "T,gpt-4o,main,,gasi,1; 2,")
    rows = published_numbers(own).select("quantity", "printed", "tolerance").rows()
    assert rows == [("si", "0.10", 0.1), ("bgd", "> 2", 0.1), ("gasi", "1; 2", None)]
    for printed, counts in (("0.10", "2 in quantity but 1 in printed"), ("1; 2; 3", "2 in quantity but 3 in printed")):
        with pytest.raises(StudyError, match=counts):
            published_numbers(own_study(study, tmp_path, f"T,gpt-4o,main,,si; bgd,{printed},"))


@pytest.mark.slow
@pytest.mark.parametrize(("value", "is_out"), [("2", False), ("2.01", True), ("-0.1", True), ("> 8", False)])
def test_an_index_beyond_its_bounds_is_found(study: Study, tmp_path: Path, value: str, is_out: bool) -> None:
    own = own_study(study, tmp_path, f"text,gpt-4o,main,,si,{value},", "text,,,,n_out_of_bounds,0,")
    found = sources.checked(own, pl.DataFrame(schema=sources.FACTS))
    assert found.select("quantity", "recomputed").rows() == [("n_out_of_bounds", is_out)]
