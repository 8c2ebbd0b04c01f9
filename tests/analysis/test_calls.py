"""Calls of R: what is kept and known again, what a lost process costs, groups, files, labels that change no number."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.analysis.bridge.worker import Died
from slant.analysis.calls import results as kept_results
from slant.analysis.calls.call import Call, _groups, computed
from slant.analysis.calls.result_rows import table_schema
from slant.analysis.calls.results import Results, not_kept_yet, results
from slant.analysis.fitting.engines import ENGINES, tables_of
from slant.collector.errors import DatabaseBusyError, RError
from slant.collector.keep.database import writing
from slant.collector.stable_ids import stable_id
from tests.support.given import database
from tests.support.stored import rows_in

pytestmark = pytest.mark.needs("R")
LEVEL = {"n_rounds": 4, "n_groups": 2, "class_sizes": [1, 1], "n_games": 2, "seed": 1}


def level(n_cells: int = 3, label: int = 1, **arguments: Any) -> Call:
    """A call of a tenth of a second whose result is kept."""
    return Call(
        "random_level",
        arguments={**LEVEL, "n_cells": n_cells, **arguments},
        about={"n_cells": n_cells},
        tables={"": "random_levels"},
        columns={"seed": label},
        failed="random_levels",
    )


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return database(tmp_path / "a.duckdb", [{}])


def test_what_is_kept_is_given_again_and_not_computed(db: Path) -> None:
    first = results(db, [level(3), level(4)])
    again = results(db, [level(4), level(3)])
    assert len(first.computed) == 2
    assert again.computed == frozenset()
    assert again.of([level(3)]).frames["random_levels"].equals(first.of([level(3)]).frames["random_levels"])
    assert again.calls["call_id"].to_list() == [level(4).id, level(3).id]


@pytest.mark.slow
def test_a_new_result_takes_the_place_of_the_earlier_one_that_is_about_the_same_and_of_its_files(db: Path) -> None:
    first = results(db, [level()])
    folder = db.with_name("a.duckdb.models")
    folder.mkdir()
    (folder / f"{first.calls['call_id'][0]}.rds").write_bytes(b"old")
    other = results(db, [replace(level(), arguments={**level().arguments, "seed": 2})])
    assert len(other.computed) == 1
    assert rows_in(db, "SELECT DISTINCT call_id FROM random_levels") == [(other.calls["call_id"][0],)]
    assert rows_in(db, "SELECT count(*) FROM calls") == [(1,)]
    assert os.listdir(folder) == []
    results(db, [level(class_sizes=[0])], raises=False)  # one that failed leaves nothing of the earlier one
    assert rows_in(db, "SELECT level FROM random_levels") == [(None,)]


@pytest.mark.slow
def test_a_label_is_written_anew_and_nothing_is_computed(db: Path) -> None:
    results(db, [level(label=1)])
    again = results(db, [level(label=5)])
    assert again.computed == frozenset()
    assert set(again.frames["random_levels"]["seed"]) == {5}
    assert rows_in(db, "SELECT DISTINCT seed FROM random_levels") == [(5,)]


@pytest.mark.slow
def test_what_is_kept_is_given_without_r_and_computed_again_with_other_versions(db: Path) -> None:
    results(db, [level()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_results, "versions_now", lambda packages: None)
        assert results(db, [level()]).computed == frozenset()
    with writing(db) as connection:
        connection.execute("""UPDATE calls SET versions = '{"R": "1.0.0"}'""")
    assert not_kept_yet(db, [level()]) == [level()]


@pytest.mark.slow
def test_what_r_refuses_is_raised_or_is_a_row_that_failed_and_is_tried_again(db: Path) -> None:
    wrong = level(class_sizes=[0])
    with pytest.raises(RError, match="Can't simulate random games"):
        results(db, [wrong])
    failed = results(db, [wrong, level(4)], raises=False)
    assert failed.calls["status"].to_list() == ["failed", "ok"]
    assert "Can't simulate random games" in failed.calls["messages"][0]
    assert not_kept_yet(db, [wrong, level(4)]) == [wrong]
    with pytest.raises(RError, match="could not finish random_level"):
        failed.check_none_failed()


@pytest.mark.slow
def test_a_database_that_is_held_costs_no_result(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(*_: object) -> None:
        raise DatabaseBusyError("Somebody holds it.")

    monkeypatch.setattr(kept_results, "_write", held)
    given = results(db, [level()])
    assert given.not_kept == "Somebody holds it."
    assert given.frames["random_levels"].height > 0


class Dying(Executor):
    """Answers in a worker of ours, but for what holds the call of `fatal` cells, which it loses in this way."""

    def __init__(self, fatal: int, how: Died | Exception) -> None:
        self.fatal, self.how = fatal, how

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        (parcel,) = arguments
        future: Future[Any] = Future()
        if not any(task.arguments["n_cells"] == self.fatal for task in pickle.loads(parcel.content)):
            future.set_result(function(parcel))
        elif isinstance(self.how, Exception):
            future.set_exception(self.how)
        else:
            future.set_result(self.how)
        return future


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "said"),
    [
        (Died("It was killed."), "error: It was killed."),
        (OSError("The machine is gone."), "OSError: The machine is gone.), also when it ran alone."),
    ],
)
def test_a_process_that_dies_takes_no_other_call_of_its_group_with_it(
    db: Path, how: Died | Exception, said: str
) -> None:
    calls = [level(n) for n in range(2, 20)]
    given = results(db, calls, workers=Dying(14, how))
    failed = given.calls.filter(pl.col("status") == "failed")
    assert failed["call_id"].to_list() == [level(14).id]
    assert failed["messages"][0].endswith(said)
    assert given.frames["random_levels"]["call_id"].n_unique() == len(calls)


@pytest.mark.slow
def test_short_calls_go_in_groups_and_each_has_its_own_answer() -> None:
    calls = [Call("versions_of", arguments={"packages": []}) for _ in range(40)]
    answers = dict(computed(calls, workers=2))
    assert sorted(answers) == list(range(40))
    assert all(not answer.error for answer in answers.values())


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4))
def test_the_id_depends_on_what_is_asked_and_not_on_its_order(about: Mapping[str, Any]) -> None:
    turned = dict(reversed(about.items()))
    assert Call("f", about=about).id == Call("f", about=turned).id
    assert Call("f", about=about).id != Call("g", about=about).id
    assert Call("f", pl.DataFrame({"x": [1]}), about=about).id != Call("f", pl.DataFrame({"x": [2]}), about=about).id
    assert stable_id("call") != Call("f", about=about).id


def test_every_table_of_an_engine_is_in_the_database() -> None:
    for name in ENGINES:
        for table in tables_of(name).values():
            assert "call_id" in table_schema(table)


def test_no_results_are_empty_frames_with_their_columns(db: Path) -> None:
    nothing = results(db, [])
    assert isinstance(nothing, Results)
    assert nothing.calls.columns == list(table_schema("calls"))


@given(st.integers(0, 300), st.lists(st.floats(0, 30), max_size=8), st.integers(1, 16))
def test_groups_hold_each_call_once_in_order_and_become_smaller_until_all_workers_end_together(
    n: int, took: list[float], workers: int
) -> None:
    groups = _groups(range(n), took, workers)
    assert [number for group in groups for number in group] == list(range(n))
    sizes = [len(group) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert set(sizes[-workers:]) <= {1}
