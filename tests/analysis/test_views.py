"""Every view: its grain, its order, and one case of given rows and the rows expected of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import duckdb
import pytest

from slant.analysis.fitting.engines import ENGINES, tables_of
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.view_heads import ordered_view
from tests.support.each_row import each_row
from tests.support.given import database, fill, fill_variable, in_memory, insert, read_rows
from tests.support.view_files import (
    CASES,
    FILES,
    OF_PAPERS,
    OF_PRINT,
    check_case,
    every_view,
    head,
    is_ordered,
    read_rows_json,
)

KEPT = list(dict.fromkeys(table for name in ENGINES for table in tables_of(name).values()))
PERMUTED = ("permutations", "permutation_refits", "permutation_draws", "permutation_cells")
CALIBRATED = ("calibrations", "calibration_fits", "calibration_posteriors", "calibration_quantities")
GAMES = ("random_levels", "game_indices", "game_differences", "game_adjusted")
FITTED = ("calls", "stm_searches", "sensitivity", "retests", *PERMUTED, *CALIBRATED, *GAMES, *KEPT)
LOOKS = ("precision_looks",)
STUDIES = ("run_conditions", "run_participants", "study_files", "study_contents", "set_aside", "text_samples")
BASE_TABLES = {"attempts", "runs", "run_models", "run_tests", "checks", "pace_history", *STUDIES, *LOOKS, *FITTED}
# Views whose cases have rows of results.
ONCE = (
    "bayes_", "effects_over_words", "ratios_of_medians", "topic_", "specifications", "permutation_", "calibration_",
    "game_", "retest_", "estimates_over_clusters", "tests_of_terms",
    "category_effects", "version_differences", "policy_candidates", "learner_", "choice_estimates", "replayed_curves",
    "corrected_estimates", "choice_consistency",
    "tokens_and_latencies",
)  # fmt: skip


@pytest.fixture(scope="module")
def mixed() -> Iterator[duckdb.DuckDBPyConnection]:
    """All kinds of rows: sources, variants, versions, refusals, unknown tokens, failures, fallbacks, a duplicate."""
    kinds = [
        {}, {"tokens": 128}, {"tokens": None, "token_source": None}, {"outcome": "truncated", "answer": ""},
        {"outcome": "refused", "answer": "I can't", "choice": None}, {"answer": None, "outcome": "filtered"},
        {"is_final": False, "outcome": "failed"}, {"served_model": "o3-mini-2025-01-31"}, {"token_source": "output"},
        {"served_model": "o3-mini-2025-08-01"},
        {"requested_model": "o3-mini-2025-01-31", "served_model": "o1"}, {"reasoning_text": "an IAT"},
        {"reasoning_tokens_recounted": 70, "recount_tokenizer": "tiktoken:o200k_base"},
        {"batch_id": "b1"},
    ]  # fmt: skip
    cells = product(
        ["simulated", "collected"],
        ["base", "balanced"],
        ["v1", "v2"],
        ["o3-mini", "deepseek-r1"],
        ["flowers_insects", "age_valence"],
        ["compatible", "incompatible"],
        ["rmiat", "interference"],
        kinds,
    )
    names = ("source", "variant", "study_version", "model", "test", "condition", "study")
    rows = [dict(zip(names, cell, strict=False)) | cell[-1] for cell in cells]
    rows.append({"trial_id": "t1", "run_id": "r2"})
    rows.append({"source": "collected", "model": "uncounted", "tokens": None, "token_source": None})
    rows.append({"study": "hiring", "test": "elicitation", "item": "Doctors", "choice": "7.5"})
    of_games = ("allocation_games", "allocation_questions", "allocation_rating_by_class")
    others = ("pairing_answer_rows", "decision_turns", "retest_answers", "factorial_answer_rows")
    rows += [row for case in (*of_games, *others) for row in read_rows(CASES / case / "given.csv")]
    rows += read_rows(CASES / "observed_rounds" / "given.csv")[:2]
    coded = ("recomputed_logistic", "second_codings", "codings")
    rows += [row for case in coded for row in read_rows(CASES / case / "given.csv")]
    cases = ("association_trials", "run_progress")
    runs = [run for case in cases for run in read_rows_json(CASES / case / "runs.json")]
    with in_memory() as connection:
        insert(connection, rows, [run | {"run_id": f"r{number}"} for number, run in enumerate(runs)])
        calls = {}
        for table, prefix in product(FITTED[1:], (*ONCE, "recomputed_mixed", "recomputed_logistic")):
            for file in sorted(CASES.glob(f"{prefix}*/{table}.csv"))[:1]:
                fill(connection, table, read_rows(file))
                calls |= {row["call_id"]: row for row in read_rows(file.with_name("calls.csv"))}
        fill(connection, "calls", calls.values())
        fill(connection, "precision_looks", read_rows(CASES / "interval_widths" / "precision_looks.csv"))
        insert(connection, [{"attempt_id": "aside", "run_id": "r_aside", "trial_id": "t_aside"}], [])
        people = [{"run_id": "r0", "participant": number, "attributes": "{age_group=18-29}"} for number in (1, 2)]
        fill(connection, "run_participants", people)
        noted = {"of_run": "r_aside", "study": "rmiat", "reason": "a mistake", "is_back": False}
        fill(connection, "set_aside", [{**noted, "noted_at": "2026-01-01 10:00:00"}])
        fill_print(connection)
        yield connection


def fill_print(connection: duckdb.DuckDBPyConnection) -> None:
    """What a paper of each design prints."""
    for name in OF_PRINT:
        cases = ["recomputed_claims", "recomputed_game_claims"]
        if name == "printed_numbers":
            cases += ["recomputed_settings", "recomputed_shown_refusals", "missing_texts"]
        cases += ["recomputed_logistic"] if name == "planned_cells" else []
        rows = [row for case in cases for row in read_rows(CASES / case / f"{name}.csv")]
        fill_variable(connection, name, [{**row, "number_no": number} for number, row in enumerate(rows, 1)])


@pytest.fixture(scope="module")
def turned(mixed: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same rows, the last of each table first."""
    with in_memory() as connection:
        for table in sorted(BASE_TABLES):
            with registered(connection, "mixed_rows", frame_of(mixed.sql(f"FROM {table}")).reverse()):
                connection.execute(f"INSERT INTO {table} SELECT * FROM mixed_rows")  # noqa: S608
        fill_print(connection)
        yield connection


def test_every_view_has_a_case_and_every_case_a_view() -> None:
    assert {folder.name for folder in CASES.iterdir()} == set(FILES)


@each_row("view", [view for view in FILES if view not in OF_PAPERS])
def test_given_rows_become_the_expected_rows(view: str) -> None:
    check_case(view)


@pytest.mark.slow
@every_view
def test_the_stated_grain_makes_a_row_unique(view: str, mixed: duckdb.DuckDBPyConnection) -> None:
    result = mixed.view(view)
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    assert rows
    keys = [tuple(row[name] for name in head(view).grain) for row in rows if row.get("trial_id") != "t1"]
    assert len(keys) == len(set(keys))


@pytest.mark.slow
@every_view
def test_the_order_of_the_attempts_does_not_matter(
    view: str, mixed: duckdb.DuckDBPyConnection, turned: duckdb.DuckDBPyConnection
) -> None:
    there, here = (ordered_view(connection, view).fetchall() for connection in (turned, mixed))
    if not is_ordered(view):
        there, here = sorted(there, key=str), sorted(here, key=str)
    if view == "association_trials":  # two finals of one trial tie in every column that orders
        there, here = ([row for row in rows if "t1" not in row] for rows in (there, here))
    assert [list(map(rounded, row)) for row in there] == [list(map(rounded, row)) for row in here]


def test_rows_are_shown_as_the_study_declares_its_models_and_tests() -> None:
    parts = {
        "models": [{"model": "z", "model_no": 1}, {"model": "a", "model_no": 2}],
        "tests": [{"test": "y", "test_no": 1}, {"test": "b", "test_no": 2}],
    }
    cells = product(("a", "z", "m"), ("b", "y"))
    with in_memory() as connection:
        insert(
            connection,
            [{"model": model, "test": test} for model, test in cells],
            [{"run_id": "r1", "study": "rmiat", "study_version": "v1", **parts}],
        )
        shown = ordered_view(connection, "refusal_counts").select("model, test").fetchall()
    assert shown == [(model, test) for model in "zam" for test in "yb"]


def rounded(value: object) -> object:
    return float(f"{value:.10g}") if isinstance(value, float) else value


def test_two_finals_of_one_trial_are_reported() -> None:
    with in_memory() as connection:
        insert(connection, [{}, {}, {"trial_id": "t1", "run_id": "r2"}])
        rows = connection.sql("SELECT trial_id, n_finals, n_runs FROM duplicate_finals").fetchall()
    assert rows == [("t1", 2, 2)]


@pytest.mark.slow
def test_a_stored_view_is_read_by_someone_who_may_only_read(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", [{}, {"condition": "incompatible"}])
    with reading(db) as connection:
        for view in FILES:
            connection.view(view).fetchall()
        assert connection.view("tokens_by_condition").fetchall()
    with duckdb.connect(str(db), read_only=True) as shell:  # under another name than the writer gave it
        assert shell.sql("SELECT count(*) FROM association_trials").fetchall() == [(2,)]


@each_row(
    ("measure", "seen"),
    [
        (None, [(64, "usage"), (300, "output"), (70, "template")]),
        ("output", [(99, "output"), (300, "output"), (None, None)]),
        ("reasoning", [(64, "usage"), (None, None), (70, "template")]),
        ("recounted", [(60, "retokenized"), (None, None), (None, None)]),
    ],
)
def test_the_variable_measure_chooses_the_tokens_of_all_tables(
    measure: str | None, seen: list[tuple[int | None, str | None]]
) -> None:
    with in_memory() as connection:
        insert(
            connection,
            [
                {"tokens": 64, "reasoning_tokens": 64, "output_tokens": 99, "reasoning_tokens_recounted": 60},
                {"tokens": 300, "output_tokens": 300, "token_source": "output"},
                {"tokens": 70, "reasoning_tokens": 70, "token_source": "template"},
            ],
        )
        if measure:
            connection.execute("SET VARIABLE measure = ?", [measure])
        assert ordered_view(connection, "association_trials").select("tokens, token_source").fetchall() == seen
        total = connection.sql("SELECT mean_tokens * n FROM tokens_by_condition").fetchall()
    assert total == [(pytest.approx(sum(tokens or 0 for tokens, _ in seen)),)]


def test_an_unknown_measure_is_refused_in_the_shell_too() -> None:
    with in_memory() as connection:
        insert(connection, [{}])
        connection.execute("SET VARIABLE measure = 'tokens'")
        with pytest.raises(duckdb.Error, match="must be reasoning, output or recounted, not tokens"):
            connection.sql("FROM association_trials").fetchall()
