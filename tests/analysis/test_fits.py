"""Fits: the same numbers from both languages, kept once, and a failure that is a row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import mean, variance

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant import analysis
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.rows.cells import read_cells
from slant.collector.errors import DatabaseError, StudyError, UnknownNameError, UsageError
from slant.collector.keep.database import reading, writing
from slant.collector.keep.view_heads import ordered_view
from slant.collector.studies.catalogue import load_study
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database, in_memory, insert
from tests.support.plain_r import rscript

COLUMNS = ["term", "estimate", "std_error", "df", "statistic", "p_value", "conf_low", "conf_high"]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("fits") / "a.duckdb")


def test_the_same_rows_give_bit_equal_numbers_from_python_and_from_rscript(db: Path, tmp_path: Path) -> None:
    cell = read_cells(db, "rmiat", load_study("rmiat").fits["lme4"], source=None, measure=None, refusals_removed=True)[
        0
    ]
    cell.rows.write_csv(tmp_path / "rows.csv")
    quick = {"R_ENABLE_JIT": "0"}  # it ends before compiling would pay off; no number changes
    there = rscript("fit_from_csv.R", tmp_path / "rows.csv", r_folder(), **quick)
    mixed, size = analysis.fit(db, fit="lme4"), analysis.fit(db, fit="effect_size")
    is_cell = pl.col("model") == cell.key["model"]
    estimates = mixed.table.filter(is_cell)
    found = [value for name in COLUMNS[1:] for value in estimates[name].to_list()]
    found += mixed.variances.filter(is_cell)["variance"].to_list()
    found += mixed.diagnostics.filter(is_cell).select("log_lik", "aic").row(0)
    found += size.table.filter(is_cell).select("estimate", "std_error", "df", "conf_low", "conf_high").row(0)
    assert found == [float.fromhex(line) for line in there]


def test_a_fit_has_the_columns_that_every_engine_has(db: Path) -> None:
    for engine, terms in (("lme4", ["intercept", "conditionincompatible"]), ("effect_size", ["cohens_d"])):
        table = analysis.fit(db, study="rmiat", fit=engine).table
        assert table.columns[-9:] == [*COLUMNS, "fit"]
        assert table.filter(pl.col("model") == "o3-mini")["term"].to_list() == terms
        assert table["source"].unique().to_list() == ["simulated"]


@pytest.mark.slow
def test_refusals_are_removed_as_in_the_paper_or_kept(db: Path) -> None:
    removed = analysis.fit(db, fit="effect_size").diagnostics["n"].to_list()
    kept = analysis.fit(db, fit="effect_size", refusals_removed=False).diagnostics["n"].to_list()
    assert (removed, kept) == ([76, 76], [80, 80])


def test_an_unchanged_cell_is_not_fitted_again_and_a_changed_one_is(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    first = analysis.fit(db, fit="lme4").diagnostics
    again = analysis.fit(db, fit="lme4").diagnostics
    assert again.equals(first)
    with writing(db) as connection:
        connection.execute("UPDATE attempts SET tokens = tokens + 50 WHERE trial_id = 't1'")
    changed = analysis.fit(db, fit="lme4").diagnostics
    is_new = (changed["fitted_at"] != first["fitted_at"]).to_list()
    assert is_new == [True, False]
    with reading(db) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT call_id) FROM fits").fetchall() == [(2, 2)]
        assert connection.execute("SELECT count(*) FROM estimates").fetchall() == [(4,)]


def test_a_fit_that_fails_is_a_row_that_says_why_and_the_others_go_on(tmp_path: Path) -> None:
    rows = [{**row, "tokens": 64} if row["model"] == "o3-mini" else row for row in trials()]
    result = analysis.fit(database(tmp_path / "a.duckdb", rows, [RUN]), fit="lme4")
    status = dict(result.diagnostics.select("model", "status").iter_rows())
    assert status["o3-mini"] == "failed"
    assert status["deepseek-r1"] in ("ok", "singular")
    said = result.messages.filter(pl.col("kind") == "error")["text"].to_list()
    assert ["nothing to explain" in text for text in said] == [True]
    assert set(result.table["model"]) == {"deepseek-r1"}


def test_a_cell_of_refusals_only_fails_with_its_reason(tmp_path: Path) -> None:
    rows = [{**row, "answer": "No."} if row["model"] == "o3-mini" else row for row in trials()]
    result = analysis.fit(database(tmp_path / "a.duckdb", rows, [RUN]), fit="lme4")
    of_cell = result.messages.filter(pl.col("model") == "o3-mini")
    assert "There are no rows" in of_cell.filter(pl.col("kind") == "error")["text"][0]
    n = sum(row["model"] == "o3-mini" for row in rows)
    assert of_cell.filter(pl.col("kind") == "warning")["text"].to_list() == [
        f"All {n} rows are left out: is_refusal in {n}."
    ]


@pytest.mark.slow
def test_r_objects_are_saved_for_r_users(db: Path, tmp_path: Path) -> None:
    path = analysis.fit(db, fit="lme4").r_object(tmp_path / "o.rds", model="o3-mini")
    assert path.read_bytes()[:2] == b"\x1f\x8b"  # what saveRDS writes
    with pytest.raises(UnknownNameError, match="o3-mini"):
        analysis.fit(db, fit="lme4").r_object(tmp_path / "p.rds", model="o3-mimi")


def test_an_unknown_fit_names_those_that_the_study_defines(db: Path) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "lme4"'):
        analysis.fit(db, fit="lme5")


def test_a_source_that_has_no_rows_is_one_sentence(db: Path) -> None:
    with pytest.raises(DatabaseError, match="no rows of source collected"):
        analysis.fit(db, fit="lme4", source="collected")


def test_sources_are_never_mixed_in_one_fit(tmp_path: Path) -> None:
    rows = [*trials("imported"), *trials("simulated")]
    result = analysis.fit(database(tmp_path / "a.duckdb", rows, [RUN]), fit="effect_size", refusals_removed=False)
    sizes = sorted(result.diagnostics.select("source", "n").iter_rows())
    assert sizes == [*[("imported", 80)] * 2, *[("simulated", 80)] * 2]


@pytest.mark.slow
def test_trials_of_several_settings_and_seeds_are_fitted_with_a_warning(tmp_path: Path) -> None:
    models = [{"model": "o3-mini", "settings": {"max_tokens": 12}}, {"model": "deepseek-r1"}]
    runs = [{**RUN, "models": models, "seed": 1}, {**RUN, "run_id": "r2", "seed": 2}]
    rows = [{**row, "run_id": "r2" if row["model"] == "o3-mini" and row["item"] == "ant" else "r1"} for row in trials()]
    result = analysis.fit(database(tmp_path / "a.duckdb", rows, runs), fit="effect_size")
    assert result.diagnostics.select("model", "status").rows() == [("o3-mini", "warned"), ("deepseek-r1", "ok")]
    (text,) = result.messages.filter(pl.col("kind") == "warning")["text"]
    assert text.startswith("o3-mini was queried in several ways, which are mixed: 2 settings or frames, 2 seeds")


@pytest.mark.slow
def test_a_cell_of_several_measures_is_fitted_with_a_warning(tmp_path: Path) -> None:
    rows = [{**row, "token_source": "output" if row["item"] == "ant" else "usage"} for row in trials()]
    result = analysis.fit(database(tmp_path / "a.duckdb", rows, [RUN]), fit="effect_size")
    assert set(result.diagnostics["status"]) == {"warned"}
    assert "Token counts of 2 kinds are mixed: output, usage." in result.messages["text"].to_list()
    of_output = analysis.fit(tmp_path / "a.duckdb", fit="effect_size", measure="output")
    assert "Token counts" not in "".join(of_output.messages["text"].to_list())


def test_trials_without_a_count_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [{**row, "tokens": None} if row["item"] == "ant" and row["wording"] < 9 else row for row in trials()]
    found = analysis.fit(database(tmp_path / "a.duckdb", rows, [RUN]), fit="effect_size", refusals_removed=False)
    rows = found.diagnostics.select("status", "n", "n_missing", "messages").rows()
    assert rows == [("ok", 64, 16, "message: 16 rows without tokens left out.")] * 2


@pytest.mark.slow
def test_several_fits_of_one_engine_are_told_apart_by_name(db: Path) -> None:
    one = load_study("rmiat").fits["effect_size"]
    fits = {"size": replace(one, name="size"), "other": replace(one, name="other", outcome="position")}
    study = replace(load_study("rmiat"), fits=fits)
    both = analysis.fit(db, study, "effect_size")
    assert both.table["fit"].to_list() == ["size", "size", "other", "other"]
    assert analysis.fit(db, study, "size").table["fit"].to_list() == ["size", "size"]
    named = replace(study, fits={**fits, "effect_size": one})
    assert analysis.fit(db, named, "effect_size").diagnostics["fit"].to_list() == ["effect_size", "effect_size"]


def test_a_fit_lacks_no_key_that_its_engine_needs(db: Path) -> None:
    fit = replace(load_study("rmiat").fits["effect_size"], engine="lme4")
    with pytest.raises(StudyError, match='needs the key "formula" for lme4'):
        analysis.fit(db, replace(load_study("rmiat"), fits={"effect_size": fit}), "effect_size")


@pytest.mark.slow
def test_a_fit_of_another_version_of_a_package_is_made_again(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    first = analysis.fit(db, fit="lme4").diagnostics
    with writing(db) as connection:
        other = """regexp_replace(versions, '"lme4": "[^"]*"', '"lme4": "0.9"')"""
        mini = "SELECT call_id FROM fits WHERE model = 'o3-mini'"
        connection.execute(f"UPDATE calls SET versions = {other} WHERE call_id IN ({mini})")  # noqa: S608
    again = analysis.fit(db, fit="lme4").diagnostics
    is_new = dict(zip(first["model"], first["fitted_at"] != again["fitted_at"], strict=True))
    assert is_new == {"o3-mini": True, "deepseek-r1": False}


@pytest.mark.slow
def test_a_study_of_ones_own_is_fitted_by_its_path(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", [{**row, "study": "mine"} for row in trials()], [{**RUN, "study": "mine"}])
    with pytest.raises(UsageError, match="--study PATH"):
        analysis.fit(db, fit="effect_size")
    fit = replace(load_study("rmiat").fits["effect_size"], view="trials", drop_flags=())
    mine = replace(load_study("rmiat"), name="mine", fits={"effect_size": fit})
    assert analysis.fit(db, mine, "effect_size").table["study"].to_list() == ["mine", "mine"]


cells = st.tuples(
    st.sampled_from(["compatible", "incompatible"]),
    st.none() | st.integers(0, 40_000),
    st.sampled_from(["Pleasant", "No"]),
)
CONDITIONS = {"Stereotype-Consistent": "compatible", "Stereotype-Inconsistent": "incompatible"}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with in_memory() as opened:
        yield opened


def plain_d(rows: list[tuple[str, int | None, str]], refusals_removed: bool) -> tuple[float | None, float | None]:
    """d and its standard error as the conventions have them, without any SQL."""
    kept = [row for row in rows if row[1] is not None and not (refusals_removed and row[2] == "No")]
    low, high = ([row[1] for row in kept if row[0] == name] for name in ("compatible", "incompatible"))
    if len(low) < 2 or len(high) < 2:
        return None, None
    n = len(low) + len(high)
    pooled = sqrt(((len(low) - 1) * variance(low) + (len(high) - 1) * variance(high)) / (n - 2))
    if pooled == 0:
        return None, None
    d = (mean(high) - mean(low)) / pooled
    return d, sqrt(n / (len(low) * len(high)) + d**2 / (2 * n))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(cells, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_sql_agrees_with_plain_python_on_any_rows_in_any_order(
    connection: duckdb.DuckDBPyConnection, rows: list[tuple[str, int | None, str]], random: object
) -> None:
    random.shuffle(rows)  # type: ignore[attr-defined]
    connection.execute("DELETE FROM attempts")
    insert(connection, [{"condition": c, "tokens": tokens, "answer": answer} for c, tokens, answer in rows])
    found = ordered_view(connection, "effect_size_parts").select("refusals_removed, d, std_error").fetchall()
    assert [row[0] for row in found] == [True, False]
    for refusals_removed, d, std_error in found:
        wanted = plain_d(rows, refusals_removed)
        assert (d, std_error) == (wanted if wanted[0] is None else pytest.approx(wanted, rel=1e-9, abs=1e-9))


def authors_rows(shared: Path, model: str, test: str) -> list[dict[str, object]]:
    """One of the authors' files as rows of `attempts`, without the importer."""
    folder = look_up(shared / "published" / "map_models.csv", "model", model)["author_folder"]
    file = look_up(shared / "published" / "map_tests.csv", "test", test)["author_file"]
    frame = pl.read_csv(shared / "data" / "rmiat" / folder / f"{file}.csv", infer_schema=False)
    cell, named = {"model": model, "test": test, "source": "imported"}, {"answer": "attribute", "tokens": "tokens"}
    return [
        {**cell, "condition": CONDITIONS[row["condition"]], "reasoning_text": row.get("thought")}
        | {name: row[column] for name, column in named.items()}
        for row in frame.to_dicts()
    ]


def look_up(file: Path, key: str, value: str) -> dict[str, str]:
    with file.open(encoding="utf-8", newline="") as lines:
        return next(row for row in csv.DictReader(lines) if row[key] == value)


def printed(shared: Path, table: str, model: str, test: str) -> list[dict[str, str]]:
    with (shared / "published" / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if (row["model"], row["test"]) == (model, test)]


def assert_agrees(recomputed: float, text: str) -> None:
    decimals = len(text.partition(".")[2])
    assert abs(recomputed - float(text)) <= 0.5 * 10**-decimals + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("model", "test"), [("o3-mini", "flowers_insects"), ("claude-3.7-sonnet", "race_bertrand")])
def test_the_authors_rows_give_the_printed_tables(shared: Path, model: str, test: str) -> None:
    with in_memory() as opened:
        insert(opened, authors_rows(shared, model, test))
        for row in printed(shared, "s5_descriptives", model, test):
            where = f"condition = '{row['condition']}'"
            ((found, sd),) = (
                opened.view("tokens_by_condition").filter(where).project("mean_tokens, sd_tokens").fetchall()
            )
            assert_agrees(found, row["mean"])
            assert_agrees(sd, row["sd"])
            for mentions in printed(shared, "s11_iat_mentions", model, test):
                if mentions["condition"] == row["condition"]:
                    ((found,),) = opened.view("iat_mentions").filter(where).project("n_mentions").fetchall()
                    assert_agrees(found, mentions["mentions"])
        ((refusals,),) = opened.view("refusal_counts").project("n_refusals").fetchall()
        assert_agrees(refusals, printed(shared, "s4_refusals", model, test)[0]["refusals"])
        ((d,),) = opened.view("effect_size_parts").filter("refusals_removed").project("d").fetchall()
        starless = [row for row in printed(shared, "s3_effect_sizes", model, test) if row["refusals_removed"] == "true"]
        assert_agrees(d, starless[0]["d"])
        if model == "o3-mini":
            assert opened.view("token_sources").project("step").fetchall() == [(64,)]


def test_a_stored_study_that_can_t_be_read_says_why(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    with writing(db) as connection:
        connection.execute("UPDATE attempts SET study = 'mine'")
        connection.execute("INSERT INTO study_files VALUES ('mine', 'v1', 'x', 0, 'study.toml', 'name =', now())")
    with pytest.raises(UsageError, match="its text is not the one that was kept") as caught:
        analysis.fit(db, fit="effect_size")
    assert caught.value.details[-1].endswith("--study PATH/TO/STUDY.toml")
