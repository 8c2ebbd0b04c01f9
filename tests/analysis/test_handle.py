"""A database that is opened for several questions: what it brings to each, and how often the file is opened."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import slant
from slant.analysis.handle import Database
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.keep.database import writing
from tests.support.fitted import small_database
from tests.support.given import database, insert


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sources of one study, and a trial of another study."""
    path = small_database(tmp_path_factory.mktemp("handle") / "a.duckdb")
    with writing(path) as connection:
        more = [{"source": "collected", "run_id": "r8", "trial_id": "x1", "attempt_id": "x1"}]
        other = [{"study": "interference", "run_id": "r9", "trial_id": "x2", "attempt_id": "x2"}]
        insert(connection, [*more, *other])
    return path


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    opened: list[str] = []
    connect = duckdb.connect

    def counted(file: str, **settings: Any) -> duckdb.DuckDBPyConnection:
        opened.append(file)
        return connect(file, **settings)

    monkeypatch.setattr(duckdb, "connect", counted)
    return opened


def test_a_question_gets_study_and_source_from_the_database(path: Path) -> None:
    db = slant.open(path, "rmiat", source="collected")
    assert db.open_trials()["trial_id"].to_list() == ["x1"]
    (counts,) = db.tables(["outcome_counts"]).values()
    assert counts.select("source", "study").rows() == [("collected", "rmiat")]
    assert db.open_trials(source="simulated").height > 1


@pytest.mark.slow
def test_answers_are_those_of_the_plain_function(path: Path) -> None:
    db = slant.open(path, "rmiat", source="simulated")
    plain = slant.tables(path, study="rmiat", source="simulated")
    assert list(plain) == list(db.tables())
    assert all(pl.DataFrame.equals(frame, plain[name]) for name, frame in db.tables().items())


def test_own_arguments_come_first_and_what_the_database_brings_stays_as_keywords(path: Path) -> None:
    shown = inspect.signature(slant.open(path, "rmiat", workers=3).fit).parameters
    assert list(shown)[:2] == ["fit", "refusals_removed"]
    brought = {name: parameter.default for name, parameter in shown.items() if parameter.kind == parameter.KEYWORD_ONLY}
    assert brought == {
        "db": path, "study": "rmiat", "source": None, "measure": None, "workers": 3, "refit": False, "progress": None,
        "executor": None,
    }  # fmt: skip


def test_every_function_about_a_database_is_a_method(path: Path) -> None:
    functions = {name: getattr(slant.analysis, name) for name in slant.analysis.__all__}
    about = {name for name, its in functions.items() if inspect.isfunction(its) and name != "open"}
    without = {"atlas", "mixed_versions", "replay", "table_text"}
    assert about - without == set(dir(slant.open(path))) - set(dir(Database)) - {"db", "settings", "study", "_open"}


def test_in_a_block_the_file_is_opened_once(path: Path, openings: list[str]) -> None:
    with slant.open(path, "rmiat") as db:
        openings.clear()
        db.tables(["refusal_counts"])
        db.open_trials()
        db.tables(["outcome_counts"])
    assert openings == [str(path)]
    with writing(path):
        pass  # others can write again


def test_a_question_that_can_not_keep_to_a_source_says_so(path: Path) -> None:
    db = slant.open(path, "rmiat", source="simulated")
    with pytest.raises(UsageError, match=r"report\(\) takes no source, .* opened with source='simulated'"):
        db.report()
    with pytest.raises(UsageError, match=r"tables\(\) can't be called like this"):
        db.tables(nonsense=1)
    with pytest.raises(AttributeError, match="no question 'fitt'"):
        db.fitt()


def test_what_is_wrong_is_known_when_it_is_opened(path: Path, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="There is no database"):
        slant.open(tmp_path / "none.duckdb")
    for wrong in ({"study": "rmiatt"}, {"source": "simulatd"}, {"measure": "token"}):
        with pytest.raises(UnknownNameError):
            slant.open(path, **wrong)


def test_an_executor_of_one_call_replaces_the_workers_of_the_database(path: Path) -> None:
    db = slant.open(database(path.with_name("empty.duckdb"), []), workers=2)
    with ThreadPoolExecutor(1) as executor, pytest.raises(DatabaseError):  # not that the two exclude each other
        db.fit("lme4", executor=executor)
