"""What a run waits for: minutes as told, hours if it may, a server that loads; and never one that is not there."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.call import Call, Watcher
from slant.collector.ask.pace import Pace, Ticket
from slant.collector.ask.retries import LongWaits, NextStep, judge
from slant.collector.providers.exchange import Exchange
from slant.collector.request.record import Request
from tests.support.clusters import free_port
from tests.support.local_server import LocalServer, answers, error
from tests.support.tiny_study import write_tiny
from tests.support.typed import typed

DAY = "Rate limit reached on tokens per day (TPD): Limit 100000, Used 99999. Please try again in 25m3s."


async def judged(longest_s: float, pause_s: float, *, agrees: bool = False) -> list[NextStep]:
    asked: list[float] = []

    def may_wait(model: str, wait_s: float, reason: str) -> bool:
        asked.append(wait_s)
        return agrees

    waits = LongWaits(longest_s, may_wait)
    steps = [await waits.judged("m", NextStep("stop", "HTTP 429", pause_s=pause_s)) for _ in range(2)]
    assert len(asked) == (pause_s > longest_s)  # once for a model
    return steps


def test_a_long_wait_is_waited_where_it_may_be_else_the_model_stops() -> None:
    waited, stopped = ("again", 1503.0), ("stop", 0.0)
    for longest_s, agrees, expected in [(600, False, stopped), (600, True, waited), (1800, False, waited)]:
        for step in asyncio.run(judged(longest_s, 1503.0, agrees=agrees)):
            assert (step.action, step.pause_s) == expected
            assert ("--longest-wait 1503" in step.reason) == (expected == stopped)


def test_the_limit_of_a_day_stops_its_model_after_one_request_and_says_what_to_type(tmp_path: Path) -> None:
    async def limited(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return error(429, "rate_limit_exceeded", DAY)

    with LocalServer(limited) as server:
        study = str(write_tiny(tmp_path))
        [row] = collect(tmp_path / "a.duckdb", study, ["local/m"], base_url=server.base_url, concurrency=1).models
    assert (len(server.bodies), row["failed"]) == (1, 0)
    assert "--longest-wait 1503" in row["stopped_because"]


def test_a_wait_that_was_agreed_to_holds_for_the_entire_call() -> None:
    class Agreeing(Watcher):
        asked = 0

        def may_wait(self, model: str, wait_s: float, reason: str) -> bool:
            self.asked += 1
            return True

    watcher = Agreeing()
    call = Call.begun(Request("a.duckdb", "rmiat", longest_wait=600), watcher)
    for part in (call, replace(call, request=replace(call.request, yes=True))):  # a pilot and the rest, or two looks
        step = asyncio.run(part.long_waits.judged("m", NextStep("stop", "HTTP 429", pause_s=1503.0)))
        assert (step.action, watcher.asked) == ("again", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "asked", "exit_code"), [("y", 9, 0), ("n", 1, 1)])
def test_a_longer_wait_is_asked_for_once_at_a_terminal(
    answer: str, asked: int, exit_code: int, python: list[str], root: Path, tmp_path: Path
) -> None:
    async def limited(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(server.bodies) == 1:
            return web.json_response({"error": {"message": "Slow down."}}, status=429, headers={"retry-after": "1"})
        return await answers(request, body)

    with LocalServer(limited) as server:
        words = [*python, "-m", "slant.collector", "--study", str(write_tiny(tmp_path)), "--model", "local/m"]
        words += ["--base-url", server.base_url, "--db", str(tmp_path / "a.duckdb"), "--concurrency", "1"]
        done, shown = typed([*words, "--longest-wait", "0.5"], answer, root)
    assert (done, len(server.bodies)) == (exit_code, asked), shown
    assert shown.count("Wait 1 s, until it goes on? [y/N]") == 1
    assert ("--longest-wait 1" in " ".join(shown.split())) == (answer == "n")


def test_a_wait_of_years_is_no_setting_and_a_sentence_ends_once() -> None:
    refused = NextStep("stop", "HTTP 429: Come back tomorrow.", pause_s=1e300)
    reason = asyncio.run(LongWaits().judged("m", refused)).reason
    assert reason == (
        "HTTP 429: Come back tomorrow. It requests a wait of years, and this run waits 10 min at most (ask again "
        "after that)"
    )


@pytest.mark.slow
def test_a_server_that_loads_its_model_is_waited_for(tmp_path: Path) -> None:
    async def loads(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(server.bodies) <= 4:
            return error(503, "", "Loading model")
        return await answers(request, body)

    with LocalServer(loads) as server:
        options: dict[str, Any] = {"base_url": server.base_url, "concurrency": 1, "max_retries": 1}
        report = collect(tmp_path / "a.duckdb", str(write_tiny(tmp_path)), ["local/m"], **options)
    assert report.is_complete


def test_a_model_on_its_way_is_told_from_one_that_failed_to_load() -> None:
    on_its_way = [
        "Loading model",
        "model not ready",
        "The endpoint is scaling up from zero",
        "Weights are being downloaded",
    ]
    failed = ["error loading model: out of memory", "Model could not finish loading", "The server is overloaded"]
    said = {text: judge(Exchange(status=503, body=json.dumps({"error": text})), 1) for text in (*on_its_way, *failed)}
    assert [text for text, step in said.items() if step.is_loading] == on_its_way
    assert {step.action for step in said.values()} == {"again"}


def test_nobody_at_an_address_is_one_sentence_and_no_failed_trial(tmp_path: Path) -> None:
    options: dict[str, Any] = {"base_url": f"http://127.0.0.1:{free_port()}/v1", "concurrency": 4, "max_retries": 0}
    [row] = collect(tmp_path / "a.duckdb", str(write_tiny(tmp_path)), ["local/m"], **options).models
    assert row["failed"] == 0
    assert row["stopped_because"].startswith("no server answers at http://127.0.0.1:")


def test_what_is_paused_says_for_how_long_and_counts_its_patience_from_then() -> None:
    now = [100.0]
    pace = Pace(clock=lambda: now[0])
    pace.in_flight = 1
    pace.leave(Ticket(0, 100.0, False), 429, {}, 1500.0)
    assert (pace.paused_s, "waits 25 min" in str(pace)) == (1500.0, True)
    now[0] += 1600
    assert not pace.is_hopeless
