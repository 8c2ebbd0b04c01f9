"""Runs against a real server that refuses, asks for waits or breaks down: nothing lost, nothing doubled."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import RunReport, collect
from slant.collector.ask.runner import GIVE_UP_AFTER
from tests.support.local_server import LocalServer, answers, completion, error
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

EAGER: dict[str, Any] = {"concurrency": 8, "max_retries": 5, "time_limit": 5}
Refusal = Callable[[], web.Response]


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "study").mkdir()
    return str(write_tiny(tmp_path / "study"))


def run(study: str, server: LocalServer, db: Path, options: dict[str, Any] = EAGER, **more: Any) -> RunReport:
    return collect(db, study, ["local/small"], base_url=server.base_url, **options, **more)


class Storm:
    """Refuses so many requests, then answers: ten are all eight of the first round and some of the second."""

    def __init__(self, requests: float, refusal: Refusal, only_model: str | None = None) -> None:
        self.requests, self.refusal, self.only_model = requests, refusal, only_model
        self.refused = 0

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if self.only_model in (None, body["model"]) and self.refused < self.requests:
            self.refused += 1
            return self.refusal()
        return await answers(request, body)


def http_date(seconds_ahead: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds_ahead), usegmt=True)


def quota(delay: str) -> web.Response:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    return web.json_response({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [info]}}, status=429)


REFUSALS: dict[str, Refusal] = {
    "429 without a word": lambda: error(429, "rate_limit_exceeded", "slow down"),
    "429, seconds": lambda: error(429, "", "", **{"retry-after": "1"}),
    "429, milliseconds": lambda: error(429, "", "", **{"retry-after-ms": "300"}),
    "429, a date": lambda: error(429, "", "", **{"retry-after": http_date(1)}),
    "429, RetryInfo": lambda: quota("0.5s"),
    "429 in a 200": lambda: web.json_response({"error": {"code": 429, "message": "Provider returned error"}}),
    "500": lambda: error(500, "", "oops"),
    "503, seconds": lambda: error(503, "", "", **{"retry-after": "1"}),
    "529": lambda: web.json_response({"error": {"type": "overloaded_error"}}, status=529),
    "a page of HTML": lambda: web.Response(text="<html>busy</html>", status=503, content_type="text/html"),
}


@pytest.mark.slow
@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_storm_costs_time_and_not_one_answer(tiny: str, tmp_path: Path, refusal: Refusal) -> None:
    storm = Storm(10, refusal)
    with LocalServer(storm) as server:
        report = run(tiny, server, tmp_path / "a.duckdb", repetitions=10)
    assert report.is_complete
    assert rows_in(tmp_path / "a.duckdb", "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(80, 80)]
    assert (len(server.bodies), storm.refused) == (90, 10)


@pytest.mark.slow
@pytest.mark.parametrize("refusal", ["429 without a word", "429 in a 200"])
def test_a_429_storm_does_not_use_up_the_tries_of_a_trial(tiny: str, tmp_path: Path, refusal: str) -> None:
    options = {"concurrency": 8, "max_retries": 1, "time_limit": 5}
    with LocalServer(Storm(12, REFUSALS[refusal])) as server:
        report = run(tiny, server, tmp_path / "a.duckdb", options)
    assert report.is_complete
    assert rows_in(tmp_path / "a.duckdb", "SELECT max(try_no) FROM attempts")[0][0] > 2


def test_retry_after_is_the_least_wait_and_a_pause_of_the_whole_key(tiny: str, tmp_path: Path) -> None:
    times: list[float] = []

    async def once(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        times.append(time.monotonic())
        return error(429, "", "", **{"retry-after": "2"}) if len(times) == 1 else await answers(request, body)

    with LocalServer(once) as server:
        report = run(tiny, server, tmp_path / "a.duckdb", {"concurrency": 1, "time_limit": 1})
    assert (report.is_complete, len(times)) == (True, 9)  # the wait is no part of the time that an answer may take
    assert times[1] - times[0] >= 2.0
    waited = rows_in(tmp_path / "a.duckdb", "SELECT max(queue_wait_s), max(latency_s) FROM trials")
    assert waited[0][0] >= 2.0 > waited[0][1]


@pytest.mark.parametrize("wait", ["18000", "99999999999999999999", http_date(90_000)], ids=["5 h", "years", "a date"])
def test_an_absurd_wait_stops_the_model_with_a_sentence(tiny: str, tmp_path: Path, wait: str) -> None:
    storm = Storm(math.inf, lambda: error(429, "rate_limit_exceeded", "Come back tomorrow.", **{"retry-after": wait}))
    started = time.monotonic()
    with LocalServer(storm) as server:
        report = run(tiny, server, tmp_path / "a.duckdb", repetitions=10)
    said = report.models[0]["stopped_because"]
    assert "Come back tomorrow." in said
    assert "It requests a wait of" in said
    assert "10 min at most" in said
    assert len(server.bodies) <= EAGER["concurrency"]
    assert time.monotonic() - started < 20


def test_without_retries_nothing_is_asked_twice(tiny: str, tmp_path: Path) -> None:
    options = {"concurrency": 8, "max_retries": 0}
    with LocalServer(Storm(math.inf, REFUSALS["429, milliseconds"])) as server:
        report = run(tiny, server, tmp_path / "a.duckdb", options)
    assert (report.models[0]["failed"], len(server.bodies)) == (8, 8)


def test_a_server_that_only_breaks_down_stops_the_model_and_not_the_other(tiny: str, tmp_path: Path) -> None:
    options = {"concurrency": 8, "max_retries": 0}
    storm = Storm(math.inf, REFUSALS["529"], only_model="broken")
    with LocalServer(storm) as server:
        report = collect(
            tmp_path / "a.duckdb",
            tiny,
            ["local/broken", "local/small"],
            base_url=server.base_url,
            **options,
            repetitions=10,
        )
    broken, small = sorted(report.models, key=lambda model: model["model"])
    assert f"{GIVE_UP_AFTER} trials in a row failed" in broken["stopped_because"]
    assert (small["answered"], small["stopped_because"]) == (80, None)


def test_one_model_in_a_storm_does_not_slow_another(tiny: str, tmp_path: Path) -> None:
    async def until_the_other_is_done(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        n_small = sum(asked["model"] == "small" for asked in server.bodies)
        is_refused = body["model"] == "stormy" and n_small < 80
        return REFUSALS["429 without a word"]() if is_refused else await answers(request, body)

    db = tmp_path / "a.duckdb"
    with LocalServer(until_the_other_is_done) as server:
        report = collect(db, tiny, ["local/stormy", "local/small"], base_url=server.base_url, **EAGER, repetitions=10)
    assert report.is_complete
    waited = dict(rows_in(db, "SELECT model, max(queue_wait_s) FROM trials GROUP BY model"))
    assert waited["small"] < 0.5 <= waited["local/stormy"]
    assert rows_in(db, "SELECT count(*) FROM pace_history WHERE model = 'small' AND event = 'rate_limited'") == [(0,)]


def test_a_quota_stops_one_model_at_once_and_the_others_go_on(tiny: str, tmp_path: Path) -> None:
    async def spent(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if body["model"] == "poor":
            return error(429, "insufficient_quota", "You exceeded your current quota.", **{"retry-after": "30"})
        return await answers(request, body)

    started = time.monotonic()
    with LocalServer(spent) as server:
        report = collect(
            tmp_path / "a.duckdb",
            tiny,
            ["local/poor", "local/small"],
            base_url=server.base_url,
            **EAGER,
            repetitions=10,
        )
    poor, small = sorted(report.models, key=lambda model: model["model"])
    assert "You exceeded your current quota." in poor["stopped_because"]
    assert small["answered"] == 80
    assert time.monotonic() - started < 20


def test_the_history_of_limit_and_waits_is_kept_with_the_run(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer(Storm(10, REFUSALS["429, milliseconds"])) as server:
        report = run(tiny, server, db, repetitions=10)
    history = rows_in(db, "SELECT run_id, event, request_limit, wait_s FROM pace_history ORDER BY noted_at")
    assert {row[0] for row in history} == {report.run_id}
    assert history[0][1:] == ("started", 8, None)
    assert history[1][1:] == ("rate_limited", 5, 0.3)
    assert history[-1][1] == "ended"
    ((limit, decreases, waits, refused),) = rows_in(
        db, "SELECT least_limit, n_decreases, pause_s, n_rate_limited FROM run_pace"
    )
    assert 1 <= limit <= 5
    assert waits == pytest.approx(0.3 * decreases)
    assert refused >= 8


def test_told_budgets_are_kept_to(tiny: str, tmp_path: Path) -> None:
    async def telling(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        headers = {
            "x-ratelimit-limit-requests": "20",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "1s",
        }
        return web.json_response(completion(), headers=headers)

    started = time.monotonic()
    db = tmp_path / "a.duckdb"
    with LocalServer(telling) as server:
        report = run(tiny, server, db, repetitions=5)  # 40 requests at 20 a second, of which 8 go before it is told
    assert report.is_complete
    assert time.monotonic() - started > 1.2
    assert rows_in(db, "SELECT budget_wait_s > 0.5, n_rate_limited FROM run_pace") == [(True, 0)]
