"""`collect status` beside a real run: rate, limit, waits, time left; --watch, which ends when the run does."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from aiohttp import web
from slant.collector import collect
from slant.collector.journal import journal_folder
from slant.collector.progress.going_on import for_people, running_process, sentence, with_test_pace
from slant.collector.progress.status import progress

from tests.local_server import LocalServer, answers, error
from tests.test_kill import PLANNED, Command
from tests.tiny_study import write_tiny

BUSY_FOR = 300


async def slow(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(0.3)
    return await answers(request, body)


@pytest.fixture
def server() -> Any:
    with LocalServer(slow) as running:
        yield running


@pytest.fixture
def command(python: list[str], root: Path, tmp_path: Path, server: LocalServer) -> Command:
    return Command(python, root, tmp_path, server)


def status(command: Command, *options: str) -> subprocess.CompletedProcess[str]:
    words = [*command.words[: command.words.index("--study")], "status", "--db", str(command.db), *options]
    return subprocess.run(words, cwd=command.root, capture_output=True, text=True, check=True, timeout=60)


def row_with(command: Command, name: str) -> dict[str, Any]:
    """The one model's row as soon as it holds a number there: rows reach the database a little after the journal."""
    until = time.monotonic() + 90  # the database may be twenty seconds late, and more on a busy machine
    while time.monotonic() < until:
        (row,) = json.loads(status(command, "--format", "json").stdout)
        if row[name]:
            return dict(row)
    raise AssertionError(f"no {name} in 90 s")


def test_status_tells_rate_limit_and_time_left_while_a_run_goes_on_and_not_after(
    command: Command, server: LocalServer
) -> None:
    command.repeat(10)
    process = command.start()
    command.wait_for(1)
    during = row_with(command, "rate_per_s")
    server.handler = answers
    process.communicate(timeout=60)
    (after,) = json.loads(status(command, "--format", "json").stdout)
    assert 0 < during["rate_per_s"] < 8 / 0.3 + 1
    assert during["request_limit"] == 8
    assert during["left_s"] > 0
    assert (after["n_done"], after["rate_per_s"], after["left_s"]) == (10 * PLANNED, None, None)


def test_by_test_there_are_a_rate_and_a_time_left_too(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer() as server:
        collect(str(write_tiny(tmp_path)), ["local/small"], db, base_url=server.base_url)
    assert with_test_pace(progress(db, "test"), db)["rate_per_s"].to_list() == [None]
    with duckdb.connect(str(db)) as connection:  # as if it went on, in this process, with as much to do again
        connection.execute("UPDATE runs SET finished_at = NULL")
        connection.execute("UPDATE run_tests SET planned = 2 * planned")
    (journal_folder(db) / "collector.lock").write_text(f"process {os.getpid()} since now")
    (row,) = with_test_pace(progress(db, "test"), db).to_dicts()
    assert (row["test"], row["n_planned"], row["n_done"]) == ("tea_coffee", 16, 8)
    assert row["left_s"] == pytest.approx(8 / row["rate_per_s"])
    assert sentence(row).startswith(f"small, tea_coffee: 8 of 16; {row['rate_per_s']:,.3g}/s; 0 refused")


def test_answers_that_are_only_in_the_journal_are_counted_too(command: Command, server: LocalServer) -> None:
    server.handler = answers
    command.finish()
    with duckdb.connect(str(command.db)) as connection:  # as if nothing but the start of the run had been loaded
        (path,) = journal_folder(command.db).glob("*.jsonl")
        connection.execute("DELETE FROM attempts")
        connection.execute("UPDATE loads SET byte_offset = ?", [path.read_bytes().index(b"\n") + 1])
    (row,) = json.loads(status(command, "--format", "json").stdout)
    assert (row["n_done"], row["n_answered"], row["n_planned"]) == (PLANNED, PLANNED, PLANNED)


def test_watching_repeats_lines_and_ends_with_the_run(command: Command) -> None:
    command.repeat(3)
    process = command.start()
    command.wait_for(10)
    watched = status(command, "--watch", "--every", "0.5")
    assert process.poll() is not None or process.wait(10) == 0
    lines = [line for line in watched.stdout.splitlines() if " small: " in line]
    assert len(lines) >= 3
    assert f"small: {3 * PLANNED} of {3 * PLANNED}" in lines[-1]
    assert "/s; 8 at once; " in watched.stdout
    assert "The run has ended." in watched.stderr


def test_a_wait_that_the_provider_asked_for_is_shown(command: Command, server: LocalServer) -> None:
    async def busy_at_last(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        busy = len(server.bodies) > 100
        return error(429, "", "slow down", **{"retry-after": str(BUSY_FOR)}) if busy else await answers(request, body)

    server.handler = busy_at_last
    process = command.start()
    command.wait_for(100)
    row = row_with(command, "waits_s")
    process.kill()
    process.communicate()
    assert 0 < row["waits_s"] <= BUSY_FOR
    assert row["request_limit"] == 5
    assert row["n_rate_limited"] >= 1


def test_nobody_is_watched_where_nobody_collects(command: Command, server: LocalServer) -> None:
    server.handler = answers
    command.finish()
    assert "Nobody is collecting" in status(command, "--watch").stderr


@pytest.mark.parametrize(
    "holder",
    ["", "process 1 since 2026: init", f"process {os.getpid()} since", "garbage"],
    ids=["nobody", "init", "this process", "garbage"],
)
def test_who_collects_is_whoever_wrote_itself_into_the_lock_and_lives(tmp_path: Path, holder: str) -> None:
    journal_folder(tmp_path / "a.duckdb").mkdir()
    (journal_folder(tmp_path / "a.duckdb") / "collector.lock").write_text(holder)
    known = {f"process {os.getpid()} since": os.getpid(), "process 1 since 2026: init": 1}
    assert running_process(tmp_path / "a.duckdb") == known.get(holder)


def test_a_process_that_is_gone_collects_no_more(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    journal_folder(tmp_path / "a.duckdb").mkdir()
    (journal_folder(tmp_path / "a.duckdb") / "collector.lock").write_text(f"process {gone.pid} since yesterday")
    assert running_process(tmp_path / "a.duckdb") is None
    assert running_process(tmp_path / "none.duckdb") is None


def test_people_see_only_columns_that_say_something() -> None:
    row = {"source": "collected", "study": "rmiat", "variant": "base", "model": "m", "n_planned": 9, "n_done": 0,
           "n_refused": 0, "n_malformed": 0, "rate_per_s": None}  # fmt: skip
    shown, title = for_people(pl.DataFrame([row, row | {"model": "n"}]))
    assert shown.columns == ["model", "n_planned", "n_done", "n_refused"]
    assert title == "source: collected, study: rmiat"


def test_a_line_holds_what_is_known() -> None:
    row = {"model": "m", "n_planned": 1200, "n_done": 60, "n_refused": 3, "n_failed_attempts": 2, "rate_per_s": 4.25,
           "request_limit": 7, "waits_s": 12.0, "n_rate_limited": 5, "cost_usd": 0.25, "left_s": 280.0}  # fmt: skip
    assert sentence(row) == (
        "m: 60 of 1,200; 4.25/s; 7 at once; waits 12 s; 5 times told to slow down; 3 refused; 2 failed attempts; "
        "$0.2500; 5 min left"
    )
