"""The printed numbers beside the recomputed ones. The heavy part runs on the authors' own data, where they are."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import analysis
from analysis.compare import summary
from analysis.printed import KEY, half_unit, known_slips, printed_numbers
from collector.errors import DatabaseError, StudyError
from collector.importing.imports import import_trials
from collector.study import load_study
from tests.fitted import RUN, small_database, trials
from tests.given import database

FOLDERS = {
    "o3-mini": "o3-mini", "deepseek-r1": "DeepSeek-R1", "claude-3.7-sonnet": "Claude3.7", "gpt-oss-20b": "GPT-OSS-20B",
}  # fmt: skip


@pytest.fixture(scope="module")
def authors(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The comparison on the authors' raw data of four models (one file of Claude's is not available)."""
    db = tmp_path_factory.mktemp("compare") / "authors.duckdb"
    for model, folder in FOLDERS.items():
        import_trials("rmiat", [shared / "data" / "rmiat" / folder], db, model=model, layout="lee-lai")
    return analysis.compare(db, study="rmiat")


def test_the_authors_data_give_the_printed_numbers(authors: pl.DataFrame) -> None:
    counts = {row["table"]: (row["agrees"], row["with_data"]) for row in summary(authors).to_dicts()}
    assert (counts["S3"], counts["S4"], counts["S5"]) == ((154, 168), (39, 39), (156, 156))
    mixed = [counts[table] for table in ("S6", "S7", "S8", "S9")]
    assert tuple(map(sum, zip(*mixed, strict=True))) == (339, 351)
    assert counts["S10"] == (0, 0)


def test_what_does_not_agree_is_exactly_the_list_of_slips(authors: pl.DataFrame) -> None:
    short = authors.filter(~pl.col("agrees")).select(KEY).rows()
    assert sorted(map(str, short)) == sorted(map(str, known_slips(load_study("rmiat")).select(KEY).rows()))
    assert authors.filter(pl.col("status") == "disagrees").is_empty()


def test_cells_without_data_say_so(authors: pl.DataFrame) -> None:
    empty = authors.filter(pl.col("status") == "no data")
    found = empty.select("model", "test").unique().filter(pl.col("model") != "qwen3-8b").rows()
    assert found == [("claude-3.7-sonnet", "race_greenwald")]
    assert empty["recomputed"].null_count() == empty.height == 197


def test_every_slip_names_a_printed_number_as_printed_and_a_reason() -> None:
    study = load_study("rmiat")
    slips = known_slips(study)
    on = [*KEY, "printed"]
    assert slips.join(printed_numbers(study), on=on, how="anti", nulls_equal=True).is_empty()
    assert not slips.select(KEY).is_duplicated().any()
    assert slips["reason"].str.len_chars().min() > 20  # type: ignore[operator]


def test_printed_numbers_are_as_in_the_papers_tables(shared: Path) -> None:
    printed = printed_numbers(load_study("rmiat"))
    assert dict(printed.group_by("table").len().iter_rows()) == {
        "S3": 211, "S4": 50, "S5": 200, "S6": 90, "S7": 90, "S8": 90, "S9": 90, "S10": 90,
    }  # fmt: skip
    own = load_study("rmiat").published
    assert own is not None
    for name in ("s3_effect_sizes.csv", "s4_refusals.csv", "s5_descriptives.csv", "s6_s10_mixed_models.csv"):
        assert (own / name).read_bytes() == (shared / "published" / name).read_bytes()


@pytest.mark.parametrize(("printed", "unit"), [("1.04", 0.005), ("0.010", 0.0005), ("448", 0.5), ("-0.3", 0.05)])
def test_a_number_agrees_within_half_a_unit_of_its_last_digit(printed: str, unit: float) -> None:
    assert half_unit(printed) == pytest.approx(unit)


def test_simulated_rows_are_compared_but_never_called_slips(tmp_path: Path) -> None:
    rows = analysis.compare(small_database(tmp_path / "a.duckdb"))
    assert set(rows["status"]) == {"simulated", "no data"}
    assert rows["slip"].null_count() == rows.height
    assert rows.filter(pl.col("agrees").is_not_null())["model"].unique().sort().to_list() == ["deepseek-r1", "o3-mini"]


def test_each_source_is_compared_for_itself(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", [*trials("imported"), *trials("simulated")], [RUN])
    rows = analysis.compare(db)
    assert dict(rows.group_by("source").len().iter_rows()) == {"imported": 911, "simulated": 911}
    assert set(analysis.compare(db, source="imported")["source"]) == {"imported"}
    with pytest.raises(DatabaseError, match="no rows"):
        analysis.compare(db, source="collected")


def test_other_variants_are_not_compared_with_the_print(tmp_path: Path) -> None:
    rows = [{**row, "variant": "balanced"} for row in trials()]
    with pytest.raises(DatabaseError, match="as it stands"):
        analysis.compare(database(tmp_path / "a.duckdb", rows, [RUN]))


def test_a_study_without_printed_numbers_says_so(tmp_path: Path) -> None:
    from dataclasses import replace

    with pytest.raises(StudyError, match="nothing to compare"):
        analysis.compare(tmp_path / "a.duckdb", replace(load_study("rmiat"), published=None))
