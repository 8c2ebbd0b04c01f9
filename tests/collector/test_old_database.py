"""Databases and journals that older versions of slant left still open, show every table, load and resume."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from slant.analysis.rows.views import open_trials, stored_views
from slant.collector import collect
from slant.collector.cli import collect as command
from slant.collector.errors import DatabaseError
from slant.collector.keep import database as store
from slant.collector.keep.database import reading
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.plan.conversations import plan
from slant.collector.records import Trial
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_dir
from tests.support.fault_run import query
from tests.support.local_server import LocalServer
from tests.support.tiny_study import write_tiny

MIGRATIONS = sorted((sql_dir() / "migrations").glob("[0-9]*.sql"))
QUICK: dict[str, Any] = {"concurrency": 4, "max_retries": 0}


def old_line(trial: Trial, number: int) -> dict[str, object]:
    """One attempt with the fields that there were."""
    return {
        "attempt_id": f"old-{number}",
        "run_id": "old",
        "sequence": number,
        "conversation_id": trial.trial_id,
        "trial_id": trial.trial_id,
        "turn": 1,
        "try_no": 1,
        "is_final": True,
        "source": "collected",
        "study": trial.study,
        "study_version": trial.study_version,
        "variant": trial.variant,
        "model": trial.model,
        "provider": "local",
        "requested_model": "small",
        "repetition": 1,
        "position": trial.position,
        "test": trial.test,
        "condition": trial.condition,
        "item": trial.item,
        "group": trial.group,
        "wording": 1,
        "outcome": "answered",
        "answer": "Calm",
        "tokens": 64,
        "token_source": "usage",
    }


# The oldest sees every migration; the others are tried in `make test-full`.
SCHEMAS = [pytest.param(schema, marks=pytest.mark.slow) for schema in range(1, len(MIGRATIONS))]


def old_database(db: Path, rows: list[dict[str, object]], schema: int = 1) -> None:
    """As the first migrations alone made it, with some answers."""
    with duckdb.connect(str(db), config={"storage_compatibility_version": "v1.2.0"}) as connection:
        for migration in MIGRATIONS[:schema]:
            connection.execute(migration.read_text("utf-8"))
        connection.execute(f"INSERT INTO slant VALUES ('schema', '{schema}'), ('views', 'old')")  # noqa: S608
        for row in rows:
            names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO attempts ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608


def old_journal(db: Path, rows: list[dict[str, object]]) -> None:
    journal_folder(db).mkdir()
    run = {
        "kind": "run", "run_id": "old", "source": "collected", "study": "drinks", "seed": 1, "repetitions": 1,
        "models": '[{"model": "small", "planned": 8}]', "tests": "[]", "started_at": "2026-01-01T00:00:00.000000",
    }  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in [run, *rows])
    (journal_folder(db) / "old.jsonl").write_text(text, encoding="utf-8")


def test_an_old_database_with_an_old_journal_resumes_where_it_stopped(tmp_path: Path) -> None:
    db, study = tmp_path / "a.duckdb", load_study(write_tiny(tmp_path))
    trials = [conversation.trials[0] for conversation in plan(study, study.model("small"))]
    lines = [old_line(trial, number) for number, trial in enumerate(trials, 1)]
    old_database(db, lines[:3])
    old_journal(db, lines[3:5])
    with LocalServer() as server:
        report = collect(db, study, ["small"], base_url=server.base_url, **QUICK)
    assert (report.models[0]["already_done"], len(server.bodies)) == (5, 3)
    assert query(db, "SELECT count(*), count(DISTINCT trial_id), count(cost_usd) FROM trials") == [(8, 8, 0)]


def tiny_lines(folder: Path) -> list[dict[str, object]]:
    study = load_study(write_tiny(folder))
    trials = [conversation.trials[0] for conversation in plan(study, study.model("small"))]
    return [old_line(trial, number) for number, trial in enumerate(trials, 1)]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_database_of_each_older_schema_shows_every_table_of_today(tmp_path: Path, schema: int) -> None:
    db = tmp_path / "a.duckdb"
    old_database(db, tiny_lines(tmp_path), schema)
    with reading(db) as connection:
        counted = {view: len(connection.view(view).fetchall()) for view in stored_views(connection)}
        kept = connection.execute("SELECT value FROM slant WHERE name = 'schema'").fetchall()
    assert set(counted) == set(read_view_heads())
    assert (counted["trials"], counted["allocation_games"]) == (8, 0)
    assert kept == [(str(len(MIGRATIONS)),)]


def test_an_old_database_that_another_process_reads_is_read_as_it_is_and_renewed_later(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    old_database(db, tiny_lines(tmp_path))
    with another_reader(db):
        with reading(db) as connection:
            assert stored_views(connection) == []
            assert connection.execute("SELECT count(*) FROM attempts").fetchall() == [(8,)]
        with pytest.raises(DatabaseError, match="could not be brought up to date"):
            open_trials(db, view="trials")
    store._not_renewed.clear()  # as in a new process
    assert open_trials(db, view="trials").height == 8


def test_a_command_that_needs_what_an_old_database_lacks_says_so_in_a_sentence(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    old_database(db, tiny_lines(tmp_path))
    with another_reader(db):
        done = CliRunner().invoke(command, ["status", "--db", str(db)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "was made by an older slant, lacks what this needs, and could not be brought up to date" in done.stderr
    store._not_renewed.clear()


def test_an_old_database_into_which_an_older_collector_writes_is_left_to_it(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    old_database(db, tiny_lines(tmp_path))
    journal_folder(db).mkdir()
    (journal_folder(db) / "collector.lock").write_text(f"process {os.getppid()} since noon", encoding="utf-8")
    with reading(db) as connection:
        assert connection.execute("SELECT value FROM slant WHERE name = 'schema'").fetchall() == [("1",)]


@contextmanager
def another_reader(db: Path) -> Iterator[None]:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); input()"
    words = [sys.executable, "-c", code, str(db)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield
        process.communicate("\n")
