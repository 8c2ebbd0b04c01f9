"""The printed numbers next to the recomputed ones. The heavy part runs on the authors' own data, where they are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.paper.comparison import summary, with_verdicts
from slant.analysis.paper.published import KEY, half_unit, notes, published_numbers
from slant.collector import import_trials
from slant.collector.errors import DatabaseError, StudyError, UnknownNameError
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import load_study
from tests.support.authors import Authors
from tests.support.each_row import each_row
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database

MIXED_QUANTITIES = (
    "intercept_estimate", "intercept_std_error", "condition_estimate", "condition_std_error", "condition_stars",
    "var_prompt", "var_residual", "n", "loglik",
)  # fmt: skip


@pytest.fixture(scope="module")
def imported(authors: Authors, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The authors' raw data of five models and of the pilot. A comparison keeps fits, so it works on a copy."""
    db = shutil.copy(authors.db, tmp_path_factory.mktemp("compare") / "authors.duckdb")
    for model, folder in {"qwen3-8b": "Qwen3-8B", "deepseek-r1-pilot": "pilot/DeepSeek-R1"}.items():
        report = import_trials(db, "rmiat", [shared / "data" / "rmiat" / folder], model, "lee-lai")
        assert report.problems == []
    return db


@pytest.fixture(scope="module")
def compared(imported: Path) -> pl.DataFrame:
    return analysis.compare(imported, study="rmiat")


def standing(rows: pl.DataFrame, table: str) -> dict[str, int]:
    """How many numbers of a table have each status."""
    return dict(rows.filter(pl.col("table") == table)["status"].value_counts().iter_rows())


def number(rows: pl.DataFrame, claim: str) -> dict[str, Any]:
    """The row of one claim of the text, by its number."""
    (row,) = rows.filter((pl.col("table") == "text") & pl.col("quantity").str.starts_with(f"{claim} ")).to_dicts()
    return row


def with_data(compared: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Of each table, how many numbers agree and how many can be compared."""
    return {row["table"]: (row["agrees"], row["with_data"]) for row in summary(compared).to_dicts()}


@pytest.mark.slow
def test_the_authors_data_give_the_printed_numbers(compared: pl.DataFrame) -> None:
    counts = with_data(compared)
    assert (counts["S3"], counts["S4"], counts["S5"]) == ((191, 205), (49, 49), (196, 196))
    mixed = [counts[table] for table in ("S6", "S7", "S8", "S9")]
    assert tuple(map(sum, zip(*mixed, strict=True))) == (339, 351)
    assert (counts["S10"], counts["S12"]) == ((86, 90), (79, 81))
    assert [counts[f"v1 S{no}"] for no in range(3, 8)] == [(39, 39), (1, 2), (40, 40), (85, 91), (26, 28)]


@pytest.mark.slow
def test_what_does_not_agree_is_exactly_the_list_of_slips(compared: pl.DataFrame) -> None:
    short = compared.filter(~pl.col("agrees")).select(KEY).rows()
    assert sorted(map(str, short)) == sorted(map(str, notes(load_study("rmiat"), "slip").select(KEY).rows()))
    assert compared.filter(pl.col("status") == "disagrees").is_empty()


@pytest.mark.slow
def test_cells_without_data_say_so(compared: pl.DataFrame) -> None:
    empty = compared.filter(pl.col("status") == "no data")
    later = empty.filter(pl.col("table").is_in(["S3", "S4", "S5", "S8", "S10"]))
    assert later.select("model", "test").unique().rows() == [("claude-3.7-sonnet", "race_greenwald")]
    assert later.height == 20
    assert empty["recomputed"].null_count() == empty.height


@pytest.mark.slow
def test_what_is_not_checkable_is_told_apart_and_says_why(compared: pl.DataFrame) -> None:
    assert standing(compared, "S11") == {"agrees": 18, "not checkable": 4}
    unchecked = compared.filter(pl.col("status") == "not checkable")
    assert unchecked["agrees"].null_count() == unchecked.height
    assert unchecked["note"].null_count() == 0
    total = unchecked.filter(pl.col("test") == "total").select("condition", "recomputed", "note").rows()
    why = "Only part of its data is here. Missing: claude-3.7-sonnet in race_greenwald."
    assert total == [("compatible", 205.0, why), ("incompatible", 633.0, why)]
    mentions = unchecked.filter(table="S11", test="race_greenwald")["note"]
    assert all(note.startswith("Public, not compared: ") for note in mentions)
    assert "hold" in number(compared, "t004")["note"]


@pytest.mark.slow
def test_each_claim_of_the_text_is_checked_a_slip_or_has_its_reason(compared: pl.DataFrame) -> None:
    assert standing(compared, "text") == {"agrees": 81, "slip": 5, "no data": 2, "not checkable": 20}
    assert number(compared, "t070t")["recomputed"] == pytest.approx(78.542447, abs=1e-6)
    assert number(compared, "t106")["recomputed"] == pytest.approx(53.330207, abs=1e-6)
    assert number(compared, "t005")["recomputed"] == 2304
    assert "alphabetical reference" in number(compared, "t111")["note"]


@pytest.mark.slow
def test_the_least_of_all_models_decides_a_printed_bound(compared: pl.DataFrame) -> None:
    least = {name: number(compared, name) for name in ("t025", "t026")}
    assert [(row["printed"], row["status"]) for row in least.values()] == [("> 23.22", "slip"), ("> 5.61", "agrees")]
    assert number(compared, "t022p")["recomputed"] == pytest.approx(0.39296, abs=1e-5)


def test_a_bound_of_a_part_is_contradicted_only_where_it_is_of_all_models() -> None:
    """A topic model of fewer texts is another model: its 5.17 says nothing of a printed "< 4"."""
    known = {"source": "imported", "missing": "qwen3-8b", "slip": None, "reason": None, "how": None}
    cases = [("t067 topic3_pct", "< 4", 5.17), ("t026 max_p", "< 0.05", 0.2), ("t025 min_b", "> 23.22", 14.8)]
    rows = [{**known, "quantity": name, "printed": printed, "recomputed": value} for name, printed, value in cases]
    found = with_verdicts(pl.DataFrame(rows, schema_overrides=dict.fromkeys(("slip", "reason", "how"), pl.String)))
    assert found["status"].to_list() == ["not checkable", "disagrees", "disagrees"]
    assert found["note"][0] == "Only part of its data is here. Missing: qwen3-8b."


@pytest.mark.parametrize(
    ("printed", "value", "status"),
    [
        ("1.996e-17", 1.9962e-17, "agrees"), ("1.996e-17", 1.99e-17, "disagrees"), ("1.996e-17", 0.0, "disagrees"),
        ("-2.5E3", -2520.0, "agrees"), ("< 2.2e-16", 1e-17, "agrees"), ("< 2.2e-16", 3e-16, "disagrees"),
    ],
)  # fmt: skip
def test_a_number_may_be_printed_with_an_exponent(printed: str, value: float, status: str) -> None:
    row = {"source": "imported", "quantity": "p", "printed": printed, "recomputed": value}
    known = dict.fromkeys(("missing", "slip", "reason", "how"))
    found = with_verdicts(pl.DataFrame([{**row, **known}], schema_overrides=dict.fromkeys(known, pl.String)))
    assert found["status"].to_list() == [status]


@pytest.mark.slow
def test_tables_can_be_compared_alone(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    assert set(analysis.compare(db, tables=["S4", "S5"])["table"]) == {"S4", "S5"}
    with reading(db) as connection:
        assert connection.table("fits").fetchall() == []  # none of these two needs a fit
    with pytest.raises(UnknownNameError, match='Did you mean "S11"'):
        analysis.compare(db, tables=["s11"])


@pytest.mark.slow
def test_a_model_that_no_claim_speaks_of_changes_no_claim(tmp_path: Path) -> None:
    """The pilot of a paper's model, and a model of one's own, next to one that claims speak of."""
    alone = analysis.compare(small_database(tmp_path / "a.duckdb"), tables=["text"])
    more = [{**row, "model": f"{row['model']}-pilot", "tokens": 2 * row["tokens"]} for row in trials()]
    both = analysis.compare(database(tmp_path / "b.duckdb", [*trials(), *more], [RUN]), tables=["text"])
    assert both.drop("study_version").equals(alone.drop("study_version"))
    assert alone["recomputed"].is_not_null().sum() > 20


@pytest.mark.slow
def test_only_models_that_the_paper_has_not_leave_every_number_open(tmp_path: Path) -> None:
    rows = [{**row, "model": f"mine/{row['model']}", "source": "collected"} for row in trials()]
    compared = analysis.compare(database(tmp_path / "a.duckdb", rows, [{**RUN, "source": "collected"}]))
    assert set(compared["status"]) == {"no data", "not checkable"}


@pytest.mark.slow
def test_s12_is_the_table_of_the_pilot_as_soon_as_it_is_imported(tmp_path: Path) -> None:
    rows = [{**row, "model": "deepseek-r1-pilot", "test": "age_valence", "source": "imported"} for row in trials()]
    compared = analysis.compare(database(tmp_path / "a.duckdb", rows, [{**RUN, "source": "imported"}]), tables=["S12"])
    with_data = compared.drop_nulls("recomputed")
    assert set(with_data["test"]) == {"age_valence"}
    assert with_data["quantity"].to_list() == list(MIXED_QUANTITIES)


def test_every_slip_names_a_printed_number_and_a_reason() -> None:
    study = load_study("rmiat")
    slips = notes(study, "slip")
    assert slips.join(published_numbers(study), on=KEY, how="anti", nulls_equal=True).is_empty()
    assert not slips.select(KEY).is_duplicated().any()
    assert slips["note"].str.len_chars().min() > 20  # type: ignore[operator]


def test_printed_numbers_are_as_in_the_papers_tables(shared: Path) -> None:
    printed = published_numbers(load_study("rmiat"))
    first = dict(zip((f"S{no}" for no in range(3, 15)), (211, 50, 200, 90, 90, 90, 90, 90, 22, 81, 4, 12), strict=True))
    of_v1 = {"v1 S3": 39, "v1 S4": 2, "v1 S5": 40, "v1 S6": 91, "v1 S7": 28}
    assert dict(printed.group_by("table").len().iter_rows()) == {**first, "text": 108, **of_v1}
    for name, table in (("s5_descriptives", "S5"), ("v1_s5_descriptives", "v1 S5")):
        rows = pl.read_csv(shared / "published" / f"{name}.csv", infer_schema=False)
        given = rows.unpivot(["mean", "sd"], index=["model", "test", "condition"], variable_name="quantity")
        here = printed.filter(table=table).select("model", "test", "condition", "quantity", value="printed")
        assert here.sort(here.columns).equals(given.sort(given.columns))


@each_row(
    ("printed", "unit"),
    [
        ("1.04", 0.005), ("> 1.04", 0.005), (".36", 0.005), ("0.010", 0.0005), ("448", 0.5), ("-0.3", 0.05),
        ("1.996e-17", 5e-21), ("2E3", 500.0),
    ],
)  # fmt: skip
def test_a_number_agrees_within_half_a_unit_of_its_last_digit(printed: str, unit: float) -> None:
    assert half_unit(printed) == pytest.approx(unit)


def test_simulated_rows_are_compared_but_never_called_slips(tmp_path: Path) -> None:
    rows = analysis.compare(small_database(tmp_path / "a.duckdb"))
    assert set(rows["status"]) == {"simulated", "no data", "not checkable"}
    assert rows["slip"].null_count() == rows.height
    named = rows.filter(pl.col("agrees").is_not_null() & (pl.col("table") != "text"))
    assert named["model"].unique().sort().to_list() == ["deepseek-r1", "o3-mini"]


@pytest.mark.slow
def test_each_source_is_compared_for_itself(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", [*trials("imported"), *trials("simulated")], [RUN])
    rows = analysis.compare(db)
    assert dict(rows.group_by("source").len().iter_rows()) == {"imported": 1338, "simulated": 1338}
    assert set(analysis.compare(db, source="imported")["source"]) == {"imported"}
    with pytest.raises(DatabaseError, match="no rows"):
        analysis.compare(db, source="collected")


@pytest.mark.slow
def test_other_variants_are_not_compared_with_the_print(tmp_path: Path) -> None:
    rows = [{**row, "variant": "balanced"} for row in trials()]
    with pytest.raises(DatabaseError, match="as its file has it"):
        analysis.compare(database(tmp_path / "a.duckdb", rows, [RUN]))


def test_a_study_without_printed_numbers_says_so(tmp_path: Path) -> None:
    from dataclasses import replace

    with pytest.raises(StudyError, match="nothing to compare"):
        analysis.compare(tmp_path / "a.duckdb", replace(load_study("rmiat"), published=None))


def planning(planned: int) -> dict[str, Any]:
    """A run that planned this many trials of its only test, in each of its two models; 80 of each are here."""
    (test,) = RUN["tests"]
    return {**RUN, "source": "imported", "tests": [{**test, "planned": planned}]}


@pytest.mark.slow
def test_a_cell_that_is_only_partly_here_is_not_judged(tmp_path: Path) -> None:
    partly = analysis.compare(database(tmp_path / "a.duckdb", trials("imported"), [planning(100)]))
    whole = analysis.compare(database(tmp_path / "b.duckdb", trials("imported"), [planning(80)]))
    in_table = pl.col("table").str.starts_with("S")
    assert partly.filter(in_table)["recomputed"].equals(whole.filter(in_table)["recomputed"], null_equal=True)
    of_cell = partly.filter(pl.col("model") == "o3-mini", in_table).drop_nulls("recomputed")
    assert set(of_cell["table"]) == {"S3", "S4", "S5", "S6"}
    assert set(of_cell["status"]) == {"not checkable"}
    lack = "Missing: o3-mini in flowers_insects: 20 of 100 trials."
    assert of_cell["note"].str.ends_with(lack).all()
    assert "disagrees" not in set(partly["status"])
    assert "disagrees" in set(whole.filter(pl.col("table").is_in(["S5", "S6"]))["status"])
    assert "; o3-mini in flowers_insects: 20 of 100 trials" in number(partly, "t007")["note"]
    assert not whole["note"].fill_null("").str.contains("of 100 trials").any()


@pytest.mark.slow
def test_a_bound_is_contradicted_by_no_estimate_of_a_part(tmp_path: Path) -> None:
    """Printed: in all models b > 23.22; with few trials it may be anything."""
    partly = analysis.compare(database(tmp_path / "a.duckdb", trials("imported"), [planning(100)]), tables=["text"])
    bounds = partly.filter(pl.col("quantity").str.contains("min_b|max_p"), pl.col("test") == "flowers_insects")
    assert bounds.height
    assert set(bounds["status"]) == {"not checkable"}
    assert bounds["note"].str.contains("Each of its cells is incomplete").all()
