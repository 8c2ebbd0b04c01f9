"""What views say of themselves: their heads, the columns that each begins with, what every column means."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import duckdb
import pytest

from slant.analysis.archive.sealed_data import column_meanings
from slant.collector.designs import design_named
from slant.collector.designs.factorial.factors import RESERVED
from slant.collector.keep.database import writing
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.system.shipped_files import column_meanings as meanings_of
from tests.support.each_row import each_row
from tests.support.given import in_memory
from tests.support.view_files import FILES, every_view, head, is_ordered

OF_TRIALS = (
    "trials", "association_trials", "forced_choice_trials", "allocation_rounds", "allocation_candidates",
    "allocation_questions", "allocation_ratings", "pairing_trials", "pairing_words",
    "decision_trials", "retest_answers", "factorial_trials", "factorial_profiles", "factorial_choices",
    "observed_rounds",
)  # fmt: skip


@pytest.fixture(scope="module")
def columns() -> dict[str, list[str]]:
    """Of each table and view, in order."""
    query = "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() GROUP BY ALL"
    with in_memory() as connection:
        return dict(connection.execute(query).fetchall())


@every_view
def test_the_head_says_what_the_file_holds(view: str, columns: dict[str, list[str]]) -> None:
    text = FILES[view].read_text("utf-8")
    info = head(view)
    assert info.name == view
    assert f"CREATE OR REPLACE VIEW {view} AS" in text
    assert text.count("\n") <= 80
    named = set(re.findall(r"(?:FROM|JOIN) (\w+)", text))
    assert info.reads == named & set(columns)
    assert all(design_named(name).name for name in info.designs)


@each_row("view", [view for view, file in FILES.items() if file.parent.name == "2_tables"])
def test_a_table_begins_with_its_source_and_has_an_order(view: str, columns: dict[str, list[str]]) -> None:
    assert is_ordered(view)
    assert columns[view][0] == "source"
    of_all_models = view.startswith("topic_")
    assert {"study_version", "variant", *([] if of_all_models else ["model"])} <= set(columns[view])


def test_a_view_sorts_itself_or_says_how_it_is_shown_sorted() -> None:
    both = [view for view in FILES if head(view).order and "\nORDER BY" in FILES[view].read_text("utf-8")]
    assert both == []
    with in_memory() as connection:
        listed = connection.sql("SELECT view FROM view_orders").fetchall()
    assert [view for (view,) in listed] == [view for view in FILES if head(view).order]
    assert read_view_heads()["view_orders"].grain == ("view",)


def test_no_factor_of_a_study_can_have_the_name_of_a_column(columns: dict[str, list[str]]) -> None:
    may_be = {"item", "scale"}  # of questionnaires, whose columns they are
    assert {*columns["factorial_trials"], *columns["factorial_profiles"]} - may_be <= RESERVED


def test_each_column_of_the_views_of_trials_has_its_meaning_in_one_place(columns: dict[str, list[str]]) -> None:
    used = {name for view in OF_TRIALS for name in columns[view]}
    assert used | {"prompt"} == set(column_meanings())  # which an export adds
    assert list(column_meanings()) == sorted(column_meanings())


def test_columns_of_results_have_a_meaning_of_their_own_and_occur(columns: dict[str, list[str]]) -> None:
    meanings, used = meanings_of("result_columns"), set(chain.from_iterable(columns.values()))
    assert list(meanings) == sorted(set(meanings) & used - set(column_meanings()))


def test_columns_and_views_say_in_the_file_what_they_mean(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with writing(path):
        pass
    with duckdb.connect(str(path), read_only=True) as connection:
        comments = connection.sql("SELECT table_name, column_name, comment FROM duckdb_columns()").fetchall()
        of_views = dict(connection.sql("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall())
    found, heads = {(table, column): comment for table, column, comment in comments}, read_view_heads()
    of_trials = {place: comment for place, comment in found.items() if place[0] in OF_TRIALS}
    for (table, column), comment in of_trials.items():
        assert comment.startswith(column_meanings()[column]["meaning"]), (table, column)
    assert found["fits", "fitted_at"].startswith("When R fitted it")
    assert found["calls", "ended_at"] is None  # a time; of a conversation it is a task
    for name, info in heads.items():
        assert info.purpose.rstrip(".") in of_views[name], name
        assert of_views[name].startswith("Inner view") == info.is_inner
    inner = {name for name, info in heads.items() if info.is_inner}
    assert {"trial_rows", "all_trials"} <= inner
    assert not {"trials", "association_trials"} & inner
