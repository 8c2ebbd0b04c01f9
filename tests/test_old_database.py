"""A database and a journal that were written before the second migration still open, load and resume."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb

from collector import Options, collect
from collector.files import sql_dir
from collector.journal import journal_folder
from collector.plan import plan
from collector.records import Trial
from collector.study import load_study
from tests.fault_run import query
from tests.local_server import LocalServer
from tests.tiny_study import write_tiny

QUICK = Options(concurrency=4, max_retries=0)


def old_line(trial: Trial, number: int) -> dict[str, object]:
    """One attempt with the fields that there were."""
    return {
        "attempt_id": f"old-{number}", "run_id": "old", "sequence": number, "conversation_id": trial.trial_id,
        "trial_id": trial.trial_id, "turn": 1, "try_no": 1, "is_final": True, "source": "collected",
        "study": trial.study, "study_version": trial.study_version, "variant": trial.variant, "model": trial.model,
        "provider": "local", "requested_model": "small", "repetition": 1, "position": trial.position,
        "test": trial.test, "condition": trial.condition, "item": trial.item, "group": trial.group, "wording": 1,
        "outcome": "answered", "answer": "Calm", "tokens": 64, "token_source": "usage",
    }  # fmt: skip


def old_database(db: Path, rows: list[dict[str, object]]) -> None:
    """As the first migration alone made it, with some answers."""
    with duckdb.connect(str(db), config={"storage_compatibility_version": "v1.2.0"}) as connection:
        connection.execute((sql_dir() / "migrations" / "0001_runs_and_attempts.sql").read_text("utf-8"))
        connection.execute("INSERT INTO slant VALUES ('schema', '1'), ('views', 'old')")
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
        report = collect(study, ["small"], db, base_url=server.base_url, options=QUICK)
    assert (report.models[0]["already_done"], len(server.bodies)) == (5, 3)
    assert query(db, "SELECT count(*), count(DISTINCT trial_id), count(cost_usd) FROM trials") == [(8, 8, 0)]
