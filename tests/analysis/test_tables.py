"""Trials and tables as Polars frames: what comes back, and the sentence where nothing can."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from slant.analysis.rows.views import open_trials, table_info, tables, view_names
from slant.collector.errors import DatabaseError, SlantError, UnknownNameError, UsageError
from slant.collector.keep.database import kept_open, let_go, reading, showing, writing
from slant.collector.keep.view_heads import read_header, view_texts
from slant.collector.system.shipped_files import studies_dir
from tests.support.given import database

HEADER = "-- a: what.\n-- grain: x, y\n-- note:  first\n--        second\nSELECT 1"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    rows = [
        {"tokens": 64, "output_tokens": 80},
        {"tokens": 128, "condition": "incompatible"},
        {"study": "mine", "model": "m"},
    ]
    return database(tmp_path / "a.duckdb", rows)


def test_trials_come_as_polars_with_unknown_as_null(db: Path) -> None:
    trials = open_trials(db, view="association_trials")
    assert trials["tokens"].to_list() == [64, 128]
    assert trials["latency_s"].to_list() == [None, None]
    assert open_trials(db, view="trials").height == 3


def test_the_measure_is_chosen_for_one_call_only(db: Path) -> None:
    assert open_trials(db, study="rmiat", measure="output")["tokens"].to_list() == [80, None]
    assert open_trials(db, study="rmiat")["tokens"].to_list() == [64, 128]


@pytest.mark.parametrize(
    ("view", "measure", "said"),
    [
        ("association_trial", None, 'no view "association_trial". Did you mean "association_trials"?'),
        ('x"; DROP VIEW trials', None, "There is no view"),
        ("trials", "outputs", 'Did you mean "output"?'),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(db: Path, view: str, measure: str | None, said: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        open_trials(db, view=view, measure=measure)
    assert said in str(error.value)


def test_a_database_of_an_older_slant_says_how_it_gets_its_views(db: Path) -> None:
    with writing(db) as connection:
        connection.execute("DROP VIEW iat_mentions")
    with pytest.raises(DatabaseError, match="older slant"):
        open_trials(db, view="iat_mentions")


def test_all_tables_come_with_those_of_the_paper_first(db: Path) -> None:
    frames = tables(db)
    infos = {
        name: info for name, info in table_info().items() if info.is_about("association") or info.is_about("allocation")
    }
    papers = [info.paper for info in infos.values() if info.paper and "allocation" not in info.designs]
    assert papers[:6] == ["Table S3", "Table S4", "Table S5", "Table S11", "Table S13", "Table S14"]
    assert list(frames) == list(infos)
    assert set(frames) < set(view_names(db))
    assert frames["tokens_by_condition"]["mean_tokens"].to_list() == [64, 128]


@pytest.mark.slow
def test_a_table_of_one_study_has_only_its_rows(db: Path) -> None:
    whole, of_mine = (tables(db, study=study, names=["outcome_counts"])["outcome_counts"] for study in (None, "mine"))
    assert (set(whole["study"]), of_mine["study"].to_list()) == ({"mine", "rmiat"}, ["mine"])
    assert "refusal_counts" not in tables(db, study="mine")


def test_tables_are_asked_for_by_name_and_in_that_order(db: Path) -> None:
    assert list(tables(db, names=["token_sources", "refusal_counts"])) == ["token_sources", "refusal_counts"]


@pytest.mark.parametrize(
    ("names", "study", "kind", "said"),
    [
        (["refusals"], None, UnknownNameError, 'no table "refusals"'),
        (["refusal_counts"], "mine", UsageError, 'studies of the design "association"'),
        (None, "hiring", UnknownNameError, 'no study "hiring" in'),
    ],
)
def test_what_can_not_be_shown_is_said(
    db: Path, names: list[str] | None, study: str | None, kind: type[SlantError], said: str
) -> None:
    with pytest.raises(kind) as error:
        tables(db, study, names)
    assert said in str(error.value)


def test_a_database_without_trials_says_so(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="holds no trials yet"):
        tables(database(tmp_path / "empty.duckdb", []))


def test_the_head_of_a_view_is_read_with_its_second_lines_its_order_and_its_design() -> None:
    info = read_header(HEADER)
    assert (info.grain, info.note, info.title(is_printed=True)) == (("x", "y"), "first second", "a: what.")
    assert read_header(HEADER.replace("-- note", "-- reads: trials\n-- note")).note == info.note  # of another slant
    with pytest.raises(ValueError, match="the view a has no -- note:"):
        read_header(HEADER.replace("-- note", "-- study"))
    sorted_by = read_header(HEADER.replace("x, y", "sorted by x, model"))
    assert (info.order, sorted_by.grain, sorted_by.order) == ("", ("x", "model"), "x, models.model_no, model")
    of_games = read_header(HEADER.replace("-- note", "-- design: allocation\n-- note"))
    assert (of_games.is_about("allocation"), of_games.is_about(None), info.is_about("association")) == (
        True,
        False,
        True,
    )


def test_heads_of_our_views_have_no_key_that_nothing_reads() -> None:
    keys = {key for text in view_texts() for key in re.findall(r"\n-- (\w+): ", text)}
    assert keys == {"grain", "order", "design", "note", "paper", "inner", "gives", "fits", "lacks"}


@pytest.mark.slow
def test_tables_of_games_show_the_games_of_a_study_of_ones_own(tmp_path: Path) -> None:
    factors = '{"is_success":true,"n_rounds":1,"groups":["A","B"],"class_sizes":[1]}'
    game = {"study": "mine", "test": "rounds", "game": "g1", "round": 1, "choice": "A", "factors": factors}
    db = database(tmp_path / "mine.duckdb", [game, {"study": "rmiat"}])
    assert tables(db, study="mine")["allocation_game_ends"]["n_complete"].to_list() == [1]
    assert tables(db)["allocation_shares"]["study"].unique().to_list() == ["mine"]
    with pytest.raises(UsageError, match='studies of the design "allocation"'):
        tables(db, study="rmiat", names=["allocation_game_ends"])


def test_a_study_of_ones_own_may_be_named_by_its_file(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text((studies_dir() / "interference.toml").read_text("utf-8"), "utf-8")
    shutil.copytree(studies_dir() / "interference", tmp_path / "interference")
    with pytest.raises(UnknownNameError, match='no study "interference" in'):
        tables(db, study=str(file))


def test_tables_need_neither_r_nor_its_bridge(python: list[str]) -> None:
    code = "import sys, slant.analysis.rows.views; sys.exit(any(m.startswith('rpy2') for m in sys.modules))"
    assert subprocess.run([*python, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([{"study": "rmiat"}], {"follows_rule", "is_refusal", "first_option", "condition_label"}),
        ([{"study": "interference"}], {"is_consistent", "is_refusal", "first_option", "block_label"}),
        ([{"study": "hiring", "test": "rounds", "game": "g"}], {"choice", "is_refusal", "first_option", "class_label"}),
        ([{"study": "rmiat"}, {"study": "interference"}], {"is_refusal", "is_left_out"}),
    ],
)
def test_the_trials_that_are_there_come_in_the_columns_of_their_design(
    tmp_path: Path, rows: list[dict[str, str]], columns: set[str]
) -> None:
    trials = open_trials(database(tmp_path / "a.duckdb", rows))
    assert trials.height == len(rows)
    assert columns <= set(trials.columns)


@pytest.mark.parametrize(
    ("view", "study", "said"),
    [
        ("forced_choice_trials", None, 'has no rows: ".*a.duckdb" holds mine .allocation., rmiat .association.'),
        (None, "drinks", 'holds no trials of "drinks"'),
    ],
)
def test_no_rows_say_why(db: Path, view: str | None, study: str | None, said: str) -> None:
    with pytest.warns(UserWarning, match=said):
        assert open_trials(db, study=study, view=view).is_empty()


def test_a_database_that_is_kept_open_is_opened_once_and_shows_the_rows_that_are_chosen(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openings, connect = [], duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *given, **more: openings.append(1) or connect(*given, **more))
    with kept_open(db):
        assert len(tables(db, study="rmiat", names=["tokens_by_condition"])["tokens_by_condition"]) > 0
        with showing(versions=["none"]), pytest.warns(UserWarning, match="has no rows"):
            assert open_trials(db, view="trials").is_empty()
        assert open_trials(db, view="trials").height == 3
    assert len(openings) == 1


def test_others_can_write_in_between_where_the_file_is_let_go_of(db: Path) -> None:
    with kept_open(db):
        before = open_trials(db, view="trials").height
        let_go()  # as before R computes
        subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.connect({str(db)!r}).close()"], check=True)
        with writing(db) as connection:
            connection.execute("DELETE FROM attempts")
        assert before == 3
        with pytest.warns(UserWarning, match="holds no trials"):
            assert open_trials(db, view="trials").is_empty()


def test_writing_while_one_reads_in_a_kept_opening_is_refused(db: Path) -> None:
    with kept_open(db), reading(db), pytest.raises(RuntimeError, match="already open"), writing(db):
        pass
