"""Real processes of the real command, killed, interrupted and disturbed while they ask a real server."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from aiohttp import web

from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths
from slant.collector.keep.journal_loader import load_journals
from tests.support.journals import journal_text, only_journal
from tests.support.local_server import LocalServer, answers
from tests.support.processes import TypedCommand, children_of, is_running, wait_until
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

REPETITIONS = 40
PLANNED = 8 * REPETITIONS
# The same command; but its answers are in the database at once, and not when it may be a busy machine's turn.
LOADS_AT_ONCE = """
from slant.collector.ask import journal_writer as keeper
from slant.collector.cli import collect
keeper.FLUSH_EVERY_S = keeper.LATE_S = 0.1
collect(prog_name="collect")
"""


async def slowly(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(random.uniform(0.005, 0.04))
    return await answers(request, body)


# The same command; but Ctrl-C comes at the moment when it is about to call FUNCTION of MODULE.
INTERRUPTED = """
import os, signal
from slant.collector import cli
import slant.collector.MODULE as module
module.FUNCTION = lambda *given, **named: os.kill(os.getpid(), signal.SIGINT)
cli.collect(prog_name="collect")
"""


class Command(TypedCommand):
    """`collect` on the tiny study, as a person would type it."""

    def __init__(self, folder: Path, server: LocalServer) -> None:
        (folder / "study").mkdir()
        more = ["--base-url", server.base_url, "--repetitions", REPETITIONS, "--concurrency", 8]
        super().__init__(write_tiny(folder / "study"), "local/small", folder / "a.duckdb", *more)
        self.environment = {"PYTHONUNBUFFERED": "1"}

    def load_at_once(self) -> None:
        self.run_code(LOADS_AT_ONCE)

    def run_code(self, code: str) -> None:
        place = self.words.index("-m")
        self.words[place : place + 2] = ["-c", code]

    def finish(self) -> None:
        code, messages = self.run()
        assert code == 0, messages

    def acknowledged(self) -> int:
        """How many answers are in the journals, whole lines only."""
        lines = [
            line for path in journal_paths(journal_folder(self.db)) for line in journal_text(path).splitlines(True)
        ]
        return sum(b'"is_final":true' in line and line.endswith(b"\n") for line in lines)

    def wait_for(self, answers_kept: int) -> None:
        until, seen = time.monotonic() + 30, -1
        while time.monotonic() < until:
            size = sum(path.stat().st_size for path in journal_paths(journal_folder(self.db)))
            if size != seen and self.acknowledged() >= answers_kept:
                return
            seen = size
            time.sleep(0.01)
        raise AssertionError("the run did not get that far in 30 s")


@pytest.fixture
def server() -> Any:
    with LocalServer(slowly) as running:
        yield running


@pytest.fixture
def command(tmp_path: Path, server: LocalServer) -> Command:
    return Command(tmp_path, server)


def final_rows(db: Path) -> tuple[int, int]:
    load_journals(db)
    found: tuple[int, int] = rows_in(db, "SELECT count(*), count(DISTINCT trial_id) FROM trials")[0]
    return found


def test_the_first_ctrl_c_waits_for_what_is_in_flight_and_says_how_to_go_on(
    command: Command, server: LocalServer
) -> None:
    async def leisurely(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(0.1)
        return await answers(request, body)

    server.handler = leisurely
    for send in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # each to the run that goes on with the one before
        process = command.start()
        command.wait_for(command.acknowledged() + 10)
        process.send_signal(send)
        _, messages = process.communicate(timeout=30)
        assert process.returncode == 1
        assert "waiting for the answers in flight" in messages
        assert "same command" in messages
        assert command.acknowledged() == len(server.bodies) < PLANNED
    server.handler = answers
    command.finish()
    assert len(server.bodies) == PLANNED


@pytest.mark.slow
def test_the_second_ctrl_c_leaves_at_once(command: Command, server: LocalServer) -> None:
    async def hang_after_forty(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(30 if len(server.bodies) > 40 else 0)
        return await answers(request, body)

    server.handler = hang_after_forty
    process = command.start()
    command.wait_for(40)
    while len(server.bodies) <= 41:  # one that hangs must be in flight, else the first Ctrl-C ends it all
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Leaving at once" in messages
    assert "Traceback" not in messages


@pytest.mark.slow
def test_a_second_collector_is_told_who_is_there_and_asks_nothing(command: Command, server: LocalServer) -> None:
    first_may_end = threading.Event()

    async def hold(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(server.bodies) > 20:
            await asyncio.to_thread(first_may_end.wait, 20)
        return await answers(request, body)

    server.handler = hold
    first = command.start()
    command.wait_for(10)
    code, messages = command.run()
    first_may_end.set()
    assert (code, f"process {first.pid}" in messages) == (1, True)
    first.communicate(timeout=60)
    assert len(server.bodies) == PLANNED


@pytest.mark.slow
def test_a_process_that_dies_leaves_no_simulator_behind(tmp_path: Path) -> None:
    process = TypedCommand(Path("rmiat"), "simulated/o3-mini", tmp_path / "a.duckdb").start()
    # its first child is git, which is asked for the commit
    folder = journal_folder(tmp_path / "a.duckdb")
    assert wait_until(lambda: any(b'"outcome"' in journal_text(path) for path in journal_paths(folder)))
    children = children_of(process.pid)
    assert children
    process.kill()
    process.wait()
    assert wait_until(lambda: not any(map(is_running, children)))


@pytest.mark.slow
def test_a_simulator_whose_address_nobody_reads_ends_without_a_traceback(python: list[str], root: Path) -> None:
    (reads, writes), (nobody_reads, says) = os.pipe(), os.pipe()
    os.close(nobody_reads)
    words = [*python, "-m", "slant.collector.ask.simulator", "--study", "rmiat"]
    process = subprocess.Popen(words, cwd=root, stdin=reads, stdout=says, stderr=subprocess.PIPE, text=True)
    os.close(reads)
    os.close(writes)
    assert (process.communicate(timeout=60)[1], process.returncode) == ("", 0)


@pytest.mark.slow
def test_rows_go_to_stdout_and_messages_to_stderr(command: Command) -> None:
    command.words += ["--format", "json"]
    rows, messages = command.start().communicate(timeout=60)
    (row,) = json.loads(rows)
    assert (row["model"], row["planned"], row["answered"]) == ("small", PLANNED, PLANNED)
    assert "Done" in messages


@pytest.mark.slow
def test_a_log_that_nobody_reads_any_more_does_not_stop_the_run(command: Command) -> None:
    process = command.start()
    assert process.stderr is not None
    process.stderr.close()
    assert process.stdout is not None
    process.stdout.read()
    process.wait(60)
    assert final_rows(command.db) == (PLANNED, PLANNED)


@pytest.mark.slow
def test_ctrl_c_ends_the_waiting_for_a_database_that_somebody_holds(command: Command) -> None:
    command.finish()
    journal = only_journal(command.db)
    with duckdb.connect(str(command.db)) as connection:  # one answer less in the database, and its journal gone
        connection.execute("DELETE FROM attempts WHERE sequence = 1")
    journal.unlink()
    reader = duckdb.connect(str(command.db), read_only=True)
    process = command.start()
    command.wait_for(1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=10)
    reader.close()
    assert process.returncode == 1
    assert "safe in the journal" in messages
    assert f"When the database is free: collect load --db {command.db}" in messages
    assert final_rows(command.db) == (PLANNED, PLANNED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "function", "kept", "said"),
    [
        (
            "plan.run_plan",
            "make_run_plan",
            0,
            'Left before "drinks" (base) was asked.\n  What is in {db} and next to it is',
        ),
        (
            "commands.terminal_watcher",
            "_print_report",
            8,
            "Left at once.\n  All answers so far are stored next to {db}. The same command asks",
        ),
    ],
)
def test_ctrl_c_when_no_request_is_in_flight_says_what_is_kept(
    command: Command, module: str, function: str, kept: int, said: str
) -> None:
    whole = command.words.copy()
    command.words[command.words.index("--repetitions") + 1] = "1"
    command.run_code(INTERRUPTED.replace("MODULE", module).replace("FUNCTION", function))
    code, messages = command.run()
    assert (code, command.acknowledged()) == (130, kept)
    assert f"\nError: {said.format(db=command.db)}" in messages
    command.words = whole
    command.finish()
    assert final_rows(command.db) == (PLANNED, PLANNED)
