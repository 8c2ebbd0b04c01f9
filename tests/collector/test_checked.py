"""A run of a model that was never checked, or failed, says so; so do its tables and its status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from slant.collector.model_checks.check import check_model
from slant.collector.model_checks.findings import table_notes
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze, run_collect
from tests.support.given import database
from tests.support.local_server import LocalServer
from tests.support.stored import rows_in
from tests.support.thinking_server import Thinker
from tests.support.tiny_study import write_tiny


@pytest.fixture
def db(tmp_path: Path) -> Path:
    write_tiny(tmp_path)
    return tmp_path / "t.duckdb"


def run(db: Path, *options: str) -> Result:
    with LocalServer() as server:
        its = ["--study", db.parent / "study.toml", "--model", "local/small", "--base-url", server.base_url]
        return run_collect(*its, "--db", db, *options)


def check(db: Path, thinker: Thinker) -> None:
    model = load_study(db.parent / "study.toml").model("small")
    with LocalServer(thinker) as server:
        check_model(model, db, base_url=server.base_url)


def verdicts(db: Path) -> list[str | None]:
    return [verdict for (verdict,) in rows_in(db, "SELECT check_verdict FROM token_sources")]


def test_an_unchecked_run_its_tables_and_its_status_say_so_and_how_to_find_out(db: Path) -> None:
    result = run(db)
    assert result.exit_code == 0, result.output
    assert "small is unchecked" in result.stderr
    assert "collect check-model local/small" in result.stderr
    assert verdicts(db) == ["unchecked"]
    tables = run_analyze("tables", "token_sources", "--db", db, "--format", "json")
    assert json.loads(tables.stdout)[0]["check_verdict"] == "unchecked"
    assert "Note: small is unchecked" in tables.stderr
    assert "small is unchecked" in run_collect("status", "--db", db).stderr


@pytest.mark.slow
def test_a_run_of_a_model_that_failed_says_why(db: Path) -> None:
    check(db, Thinker(lambda difficulty, body: 200 - difficulty))
    assert "small failed its check" in (said := run(db).stderr)
    assert "does not move with difficulty" in said
    assert verdicts(db) == ["not usable"]


@pytest.mark.slow
def test_a_checked_run_says_nothing(db: Path) -> None:
    check(db, Thinker(served_model="small"))
    assert "small" not in run(db).stderr
    assert verdicts(db) == ["ok"]
    assert table_notes(db) == []


@pytest.mark.slow
def test_simulated_answers_need_no_check(tmp_path: Path) -> None:
    model = {"model": "o3-mini", "provider": "simulated", "requested_model": "o3-mini"}
    its = {"run_id": "r1", "source": "simulated", "study": "rmiat", "study_version": "v1", "variant": "base"}
    db = database(tmp_path / "t.duckdb", [{}], [its | {"models": [model]}])
    assert table_notes(db) == []
    options = ["--study", "rmiat", "--model", "simulated/o3-mini", "--dry-run", "--db", db]
    assert "unchecked" not in run_collect(*options).stderr


def test_games_of_ones_own_are_not_about_token_counts(tmp_path: Path) -> None:
    model = {"model": "small", "provider": "local", "requested_model": "small"}
    its = {"run_id": "r1", "source": "collected", "study_version": "v1", "variant": "base", "models": [model]}
    row = {"source": "collected", "model": "small", "provider": "local", "requested_model": "small", "study": "mine"}
    for name, game, n in (("game", "g1", 0), ("single", None, 1)):
        db = database(tmp_path / f"{name}.duckdb", [row | {"game": game}], [its | {"study": "mine"}])
        assert len(table_notes(db)) == n


def test_a_provider_without_logprobs_is_told_before_it_is_asked(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    options = ["--study", db.parent / "study.toml", "--model", "anthropic/claude-x", "--logprobs", "--dry-run"]
    assert "anthropic gives no log-probabilities" in run_collect(*options, "--db", db).stderr
