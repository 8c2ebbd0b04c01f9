"""A new database is a copy of the one in the user's cache, and the same as one made from nothing; one with the tables
of an older slant is made again from its journal, one with older views gets new ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import pytest

from slant.analysis.rows.views import open_trials, stored_views
from slant.collector import collect
from slant.collector.errors import DatabaseError
from slant.collector.importing import row_contents
from slant.collector.keep import database as store
from slant.collector.keep.database import reading, writing
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.schema import cached_new_database, check_file, migration_texts
from slant.collector.keep.view_heads import ORDERS, read_view_heads
from slant.collector.plan.conversations import plan
from slant.collector.records import OWN, Attempt, Trial
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

QUICK: dict[str, Any] = {"concurrency": 4, "max_retries": 0}


def old_line(trial: Trial, number: int) -> dict[str, object]:
    """One attempt with the fields that there were."""
    of_trial = (
        "trial_id",
        "study",
        "study_version",
        "variant",
        "model",
        "position",
        "test",
        "condition",
        "item",
        "group",
    )
    return {name: getattr(trial, name) for name in of_trial} | {
        "attempt_id": f"old-{number}", "run_id": "old", "sequence": number, "conversation_id": trial.trial_id,
        "turn": 1, "try_no": 1, "is_final": True, "source": "collected", "provider": "local",
        "requested_model": "small", "repetition": 1, "wording": 1, "outcome": "answered", "answer": "Calm",
        "tokens": 64, "token_source": "usage",
    }  # fmt: skip


def old_tables(db: Path, rows: list[dict[str, object]], schema: int = 30) -> None:
    """As an older slant made it, with some answers."""
    with duckdb.connect(str(db), config={"storage_compatibility_version": "v1.2.0"}) as connection:
        connection.execute("CREATE TABLE slant (name TEXT, value TEXT)")
        connection.execute("INSERT INTO slant VALUES ('schema', ?), ('views', 'old')", [str(schema)])
        connection.execute("CREATE TABLE attempts (attempt_id TEXT, trial_id TEXT)")
        for row in rows:
            connection.execute("INSERT INTO attempts VALUES (?, ?)", [row["attempt_id"], row["trial_id"]])


def old_views(db: Path) -> None:
    """As a slant made it whose tables were the same, and whose views were others."""
    collect(db, write_tiny(db.parent), ["small"], simulated=True)
    with writing(db) as connection:
        connection.execute("DROP VIEW trials; DROP VIEW run_progress")
        connection.execute("UPDATE slant SET value = 'old' WHERE name = 'views'")
    store._checked.clear()  # as in a new process


def old_journal(db: Path, rows: list[dict[str, object]]) -> None:
    journal_folder(db).mkdir()
    run = {
        "kind": "run", "run_id": "old", "source": "collected", "study": "drinks", "seed": 1, "repetitions": 1,
        "models": '[{"model": "small", "planned": 8}]', "tests": "[]", "started_at": "2026-01-01T00:00:00.000000",
    }  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in [run, *rows])
    (journal_folder(db) / "old.jsonl").write_text(text, encoding="utf-8")


def tiny_lines(folder: Path) -> list[dict[str, object]]:
    study = load_study(write_tiny(folder))
    trials = [conversation.trials[0] for conversation in plan(study, study.model("small"))]
    return [old_line(trial, number) for number, trial in enumerate(trials, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("schema", [1, 30])
@pytest.mark.parametrize(
    "words",
    [["status"], ["load"], ["--study", "{study}", "--model", "local/small", "--base-url", "http://localhost:9"]],
)
def test_older_tables_are_left_as_they_are_with_a_sentence_that_says_how_they_are_made_again(
    tmp_path: Path, schema: int, words: list[str]
) -> None:
    db, lines = tmp_path / "a.duckdb", tiny_lines(tmp_path)
    old_tables(db, lines[:5], schema)
    old_journal(db, lines[:5])
    before = db.read_bytes()
    words = [word.format(study=tmp_path / "study.toml") for word in words]
    done = run_collect(*words, "--db", db)
    assert done.exit_code == 1, done.output
    assert "was made by an older slant" in done.stderr
    assert f"collect load --rebuild --db {db}" in done.stderr
    assert db.read_bytes() == before


@pytest.mark.slow
def test_older_tables_are_made_again_from_an_old_journal_which_resumes_where_it_stopped(tmp_path: Path) -> None:
    db, lines = tmp_path / "a.duckdb", tiny_lines(tmp_path)
    old_tables(db, lines[:3])
    old_journal(db, lines[:5])
    made = run_collect("load", "--rebuild", "--db", db)
    assert (made.exit_code, "5 attempts loaded" in made.stderr + made.stdout) == (0, True)
    with LocalServer() as server:
        report = collect(db, load_study(tmp_path / "study.toml"), ["small"], base_url=server.base_url, **QUICK)
    assert (report.models[0]["already_done"], len(server.bodies)) == (5, 3)
    assert rows_in(db, "SELECT count(*), count(DISTINCT trial_id), count(cost_usd) FROM trials") == [(8, 8, 0)]
    assert set(rows_in(db, "SELECT view_name FROM duckdb_views() WHERE NOT internal")) == {(n,) for n in all_names()}


def all_names() -> set[str]:
    return {*read_view_heads(), ORDERS}


@pytest.mark.slow
def test_tables_of_this_number_that_differ_are_also_made_again_from_the_journal(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    collect(db, write_tiny(tmp_path), ["small"], simulated=True)
    with duckdb.connect(str(db)) as connection:
        connection.execute("ALTER TABLE attempts DROP COLUMN phase")
    store._checked.clear()  # as in a new process
    with pytest.raises(DatabaseError, match="missing, or differs") as refused, reading(db):
        pass
    assert f"collect load --rebuild --db {db}" in str(refused.value)
    made = run_collect("load", "--rebuild", "--db", db)
    assert (made.exit_code, rows_in(db, "SELECT count(*) FROM trials")) == (0, [(8,)])


def test_older_tables_without_a_journal_are_left_to_the_slant_that_made_them(tmp_path: Path) -> None:
    old_tables(tmp_path / "a.duckdb", [])
    with pytest.raises(DatabaseError, match="older slant") as refused, reading(tmp_path / "a.duckdb"):
        pass
    assert "read it with the slant that made it" in str(refused.value)


@pytest.mark.slow
def test_older_views_that_another_process_reads_are_read_as_they_are_and_renewed_later(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    old_views(db)
    with another_reader(db):
        with reading(db) as connection:
            assert "trials" not in stored_views(connection)
            assert connection.execute("SELECT count(*) FROM attempts").fetchall() == [(8,)]
        with pytest.raises(DatabaseError, match="could not be updated"):
            open_trials(db, view="trials")
    store._not_renewed.clear()  # as in a new process
    assert open_trials(db, view="trials").height == 8


@pytest.mark.slow
def test_a_command_that_needs_what_older_views_lack_says_so_in_a_sentence(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    old_views(db)
    with another_reader(db):
        done = run_collect("status", "--db", db)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "was made by an older slant, lacks what this needs, and could not be brought up to date" in done.stderr
    store._not_renewed.clear()


@pytest.mark.slow
def test_older_views_of_a_database_into_which_a_collector_writes_are_left_to_it(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    old_views(db)
    (journal_folder(db) / "collector.lock").write_text(f"process {os.getppid()} since noon", encoding="utf-8")
    assert rows_in(db, "SELECT value FROM slant WHERE name = 'views'") == [("old",)]
    store._not_renewed.clear()


@contextmanager
def another_reader(db: Path) -> Iterator[None]:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); input()"
    words = [sys.executable, "-c", code, str(db)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield
        process.communicate("\n")


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the cached database in a home that has none yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cached_new_database()


def is_whole(path: Path) -> bool:
    with duckdb.connect(str(path), read_only=True) as connection:
        return check_file(connection, path)


def made(path: Path) -> Path:
    with writing(path):
        pass
    return path


def test_each_column_of_attempts_is_a_field_and_each_field_a_column() -> None:
    with duckdb.connect() as connection:
        for text in migration_texts():
            connection.execute(text)
        columns = set(connection.table("attempts").columns)
    found_in_sql = {"factor_lists", "is_repeated", "read_again_at"}  # by typed_rows, by the loader, by reread
    assert columns == {field.name for field in fields(Attempt)} | found_in_sql
    assert set(row_contents.OWN) <= set(OWN)  # else what a row has by itself is not inserted


@pytest.mark.slow
def test_the_second_database_is_a_copy_of_what_the_first_left_in_the_cache(cached: Path, tmp_path: Path) -> None:
    first = made(tmp_path / "first.duckdb")
    assert cached.exists()
    assert [path.suffix for path in cached.parent.iterdir()].count(".new") == 0
    second = made(tmp_path / "second.duckdb")
    assert cached.read_bytes() == first.read_bytes() == second.read_bytes()
    assert is_whole(second)


OTHERS = [pytest.param(b"", id="empty", marks=pytest.mark.slow), pytest.param(b"no database", id="garbage")]
OTHERS.append(pytest.param("another", id="another program's", marks=pytest.mark.slow))


@pytest.mark.slow
@pytest.mark.parametrize("content", OTHERS)
def test_a_cached_file_that_is_no_new_database_is_made_again(
    cached: Path, tmp_path: Path, content: bytes | str
) -> None:
    cached.parent.mkdir(parents=True)
    if isinstance(content, bytes):
        cached.write_bytes(content)
    else:
        with duckdb.connect(str(cached)) as connection:
            connection.execute("CREATE TABLE somebody (name TEXT)")
    assert is_whole(made(tmp_path / "a.duckdb"))
    assert is_whole(cached)


@pytest.mark.slow
def test_a_cached_file_that_was_cut_off_since_is_made_again(cached: Path, tmp_path: Path) -> None:
    made(tmp_path / "a.duckdb")
    os.truncate(cached, cached.stat().st_size // 2)
    assert is_whole(made(tmp_path / "b.duckdb"))
    assert is_whole(cached)


@pytest.mark.slow
def test_a_home_without_a_cache_costs_time_only(cached: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert is_whole(made(tmp_path / "a.duckdb"))


@pytest.mark.slow
def test_the_cache_keeps_the_databases_of_the_last_few_versions_only(cached: Path, tmp_path: Path) -> None:
    cached.parent.mkdir(parents=True)
    for number in range(9):
        old = cached.with_name(f"older-{number}.duckdb")
        old.touch()
        os.utime(old, (number, number))
    made(tmp_path / "a.duckdb")
    names = sorted(path.name for path in cached.parent.glob("*.duckdb"))
    assert names == sorted([cached.name, *(f"older-{number}.duckdb" for number in (6, 7, 8))])
