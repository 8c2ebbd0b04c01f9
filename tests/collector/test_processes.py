"""One run by several processes: everything is asked once, whoever is stopped or killed on the way."""

from __future__ import annotations

import asyncio
import csv
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import Watcher, collect
from slant.collector.ask.call import Call, run_anywhere
from slant.collector.errors import JournalError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.journal import FolderLock, journal_folder
from slant.collector.keep.journal_files import journal_paths
from slant.collector.plan.run_plan import part_of
from slant.collector.request.record import Request
from slant.collector.run.one_process import ask
from slant.collector.run.processes import _shared_out
from slant.collector.studies.catalogue import load_study
from tests.support.batching import Heard
from tests.support.journals import journal_text
from tests.support.local_server import LocalServer, answers, completion
from tests.support.planned import planned
from tests.support.processes import TypedCommand, children_of, is_running
from tests.support.stored import rows_in
from tests.support.tiny_choice import write_choice
from tests.support.tiny_study import write_tiny

REPEAT = 40
PLANNED = 8 * REPEAT
PRICES = '[[prices]]\nprovider = "local"\nmodel = "small"\ninput = 0\noutput = 1000.0\ndate = 2026-11-21\n'
LIMITED = ('provider = "local"\n', 'provider = "local"\nsettings = { max_tokens = 100 }\n')
ONCE = "SELECT count(*), count(DISTINCT trial_id) FROM trials"


async def slowly(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(0.4)  # one of two may start seconds after the other, and must not find it done
    return await answers(request, body)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer(slowly) as running:
        yield running


class Run(TypedCommand):
    """`collect --processes 2` on the tiny study, as a person would type it."""

    def __init__(self, folder: Path, server: LocalServer) -> None:
        more = ["--base-url", server.base_url, "--repetitions", REPEAT, "--concurrency", 8, "--processes", 2]
        super().__init__(write_tiny(folder), "local/small", folder / "a.duckdb", *more, "--format", "csv")
        self.server = server
        self.process = self.start()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + 60
        while not is_so():
            assert time.monotonic() < until, "it did not come to that"
            time.sleep(0.02)

    def both_ask(self) -> list[int]:
        """Waits until both processes have answers on disk; returns their numbers."""
        self.wait_until(lambda: sum(p.stat().st_size > 30_000 for p in journal_folder(self.db).glob("2*.jsonl")) == 2)
        return children_of(self.process.pid)

    def finish(self) -> None:
        self.server.handler = answers
        code, said = self.run()
        assert code == 0, said
        assert rows_in(self.db, ONCE) == [(PLANNED, PLANNED)]
        assert len(self.server.bodies) <= PLANNED + 16  # what was in flight at a kill is asked again


class Counting(Watcher):
    def __init__(self) -> None:
        self.begun = self.changes = 0

    def begin(self, lanes: Any, stop: Any) -> None:
        self.begun += 1

    def change(self, lane: Any, outcome: str) -> None:
        self.changes += 1


def test_two_processes_ask_everything_once_and_one_watcher_sees_it(tmp_path: Path, server: LocalServer) -> None:
    server.handler = answers
    study, watcher = write_tiny(tmp_path), Counting()
    report = collect(
        tmp_path / "a.duckdb", study, ["local/small"], base_url=server.base_url, repetitions=REPEAT, processes=2,
        watcher=watcher,
    )  # fmt: skip
    assert report.is_complete
    assert (watcher.begun, watcher.changes, len(server.bodies)) == (1, PLANNED, PLANNED)
    with reading(tmp_path / "a.duckdb") as connection:
        assert connection.execute(ONCE).fetchall() == [(PLANNED, PLANNED)]
        runs = connection.execute("SELECT run_id, settings ->> 'shard', end_reason FROM runs ORDER BY ALL").fetchall()
    assert {row[0] for row in runs} == set(report.run_id.split(", "))
    assert sorted(row[1:] for row in runs) == [("1/2", "finished"), ("2/2", "finished")]


@pytest.mark.slow
def test_what_a_provider_is_asked_for_beside_answers_is_asked_by_all_processes(
    tmp_path: Path, server: LocalServer
) -> None:
    server.handler = answers
    report = collect(
        tmp_path / "a.duckdb", write_choice(tmp_path), ["local/small"], base_url=server.base_url, processes=2,
        structured_output=True, logprobs=True,
    )  # fmt: skip
    assert report.is_complete
    assert len(server.bodies) == 22
    assert all(body["logprobs"] and body["response_format"]["type"] == "json_schema" for body in server.bodies)


def priced(folder: Path, server: LocalServer, budget_usd: float | None = None, **more: Any) -> dict[str, Any]:
    """The row of two processes that ask eight trials, each 100 tokens at most of $0.001."""
    prices = folder / "prices.toml"
    prices.write_text(PRICES, "utf-8")
    report = collect(
        folder / "a.duckdb", write_tiny(folder, study=LIMITED), ["local/small"], base_url=server.base_url,
        prices=prices, budget=budget_usd, **{"processes": 2, **more},
    )  # fmt: skip
    return report.models[0]


@pytest.mark.slow
@pytest.mark.parametrize(("uncounted", "cost_usd"), [('Sort "mocha"', 6 * 0.074), ("Sort", None)])
def test_costs_of_all_processes_add_up_and_are_unknown_where_none_is_known(
    tmp_path: Path, server: LocalServer, uncounted: str, cost_usd: float | None
) -> None:
    async def counts(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        is_counted = uncounted not in body["messages"][-1]["content"]
        return web.json_response(completion() | ({} if is_counted else {"usage": None}))

    server.handler = counts
    row = priced(tmp_path, server)
    assert (row["answered"], row["cost_usd"]) == (8, pytest.approx(cost_usd))


@pytest.mark.slow
def test_a_share_of_a_budget_that_is_too_small_for_a_request_says_so(tmp_path: Path, server: LocalServer) -> None:
    row = priced(tmp_path, server, 0.15)
    assert (row["asked"], server.bodies) == (0, [])
    assert "the share of one of 2 processes, up to $0.0750 of the budget, can't cover" in row["stopped_because"]
    assert row["stopped_because"].endswith("To continue: a higher --budget, or fewer --processes")


@pytest.mark.slow
def test_a_process_with_nothing_left_to_ask_keeps_no_share_of_the_budget(tmp_path: Path, server: LocalServer) -> None:
    first = priced(tmp_path, server, shard=(1, 2), processes=1)
    row = priced(tmp_path, server, first["cost_usd"] + 4 * 0.1)
    assert (row["asked"], row["answered"], row["stopped_because"]) == (4, 4, None)


def test_a_process_that_begins_late_has_its_whole_share_of_the_budget(tmp_path: Path, server: LocalServer) -> None:
    (tmp_path / "prices.toml").write_text(PRICES, "utf-8")
    study = load_study(str(write_tiny(tmp_path, study=LIMITED)))
    run_plan = planned(
        study, ["local/small"], tmp_path / "a.duckdb", base_url=server.base_url, prices=tmp_path / "prices.toml"
    )
    journal_folder(run_plan.db).mkdir()
    request, ledger = _shared_out(run_plan, Request(run_plan.db, study, budget=0.8), 2)
    for number in (1, 2):  # this one after the other has ended
        call = replace(Call.begun(request), ledger=replace(ledger))
        report = run_anywhere(ask(part_of(run_plan, number, 2), call))
        assert (report.models[0]["asked"], report.models[0]["stopped_because"]) == (4, None)


@pytest.mark.slow
def test_a_full_disk_stops_all_processes_and_keeps_every_answer(
    tmp_path: Path, small_disk: Path, server: LocalServer
) -> None:
    async def fill(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion() | {"padding": "x" * 20_000})

    server.handler, heard = fill, Heard()
    report = collect(
        small_disk / "a.duckdb", write_tiny(tmp_path), ["local/small"], base_url=server.base_url, repetitions=200,
        processes=2, concurrency=8, watcher=heard,
    )  # fmt: skip
    asked = len(server.bodies)
    kept = [journal_text(path).count(b'"attempt_id"') for path in journal_paths(journal_folder(report.db))]
    assert (report.disk_was_full, report.models[0]["stopped_because"]) == (True, "the disk is full")
    assert asked < 1600
    assert sum(kept) == asked == report.models[0]["asked"]
    # what the journals had reserved is free at the end, and may be enough to load what they hold
    assert report.is_loaded or heard.lines[-1].endswith("The answers are safe in the journal.")


@pytest.mark.slow
def test_a_killed_process_costs_nothing_that_was_answered_and_the_other_goes_on(
    tmp_path: Path, server: LocalServer
) -> None:
    run = Run(tmp_path, server)
    victim = run.both_ask()[0]
    os.kill(victim, signal.SIGKILL)
    shown, said = run.process.communicate(timeout=60)
    assert run.process.returncode == 1
    assert "was killed (SIGKILL). Its answers until then are kept" in said
    [(kept,)] = rows_in(run.db, "SELECT count(*) FROM trials")
    assert PLANNED // 2 < kept < PLANNED
    (row,) = csv.DictReader(shown.splitlines())
    assert int(row["asked"]) == kept
    run.finish()


@pytest.mark.slow
def test_ctrl_c_stops_all_in_order_and_loads_what_they_have(tmp_path: Path, server: LocalServer) -> None:
    run = Run(tmp_path, server)
    run.both_ask()
    run.process.send_signal(signal.SIGINT)
    _, said = run.process.communicate(timeout=60)
    assert run.process.returncode == 1
    assert said.count("Stopping: nothing new is asked") == 1
    with reading(run.db) as connection:
        assert connection.execute("SELECT count(*) FROM trials").fetchall() == [(len(server.bodies),)]
        assert connection.execute("SELECT DISTINCT end_reason FROM runs").fetchall() == [("stopped",)]
    run.finish()


@pytest.mark.slow
def test_processes_end_in_order_when_the_one_that_started_them_is_killed(tmp_path: Path, server: LocalServer) -> None:
    run = Run(tmp_path, server)
    children = run.both_ask()
    run.process.kill()
    run.process.wait()
    with pytest.raises(JournalError, match="Another collector"):  # the folder stays locked while they live
        FolderLock(journal_folder(run.db))
    run.wait_until(lambda: not any(map(is_running, children)))
    run.finish()


@pytest.mark.slow
def test_no_more_processes_start_than_there_are_trials(tmp_path: Path, server: LocalServer) -> None:
    db = tmp_path / "a.duckdb"
    report = collect(db, write_tiny(tmp_path), ["local/small"], base_url=server.base_url, processes=20)
    assert report.is_complete
    assert len(journal_paths(journal_folder(db))) == PLANNED // REPEAT


def test_processes_share_out_concurrency_and_budget(tmp_path: Path) -> None:
    run_plan = planned(load_study(str(write_tiny(tmp_path))), None, tmp_path / "a.duckdb", simulated=True)
    shared, ledger = _shared_out(run_plan, Request(run_plan.db, run_plan.study, budget=3.0), 3)
    assert (shared.concurrency, shared.budget, ledger.cap_usd) == (6, 1.0, 1.0)
    with pytest.raises(UsageError, match="processes must be at least 1"):
        collect(tmp_path / "a.duckdb", tmp_path / "study.toml", simulated=True, processes=0)
