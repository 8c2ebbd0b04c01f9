"""Money in real runs against a real server that bills what it says: cost, budget, and what can't be known."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import RunReport, Watcher, collect
from slant.collector.ask.lane_money import LaneMoney, may_be_billed
from slant.collector.ask.runner import Lane
from slant.collector.errors import UsageError
from slant.collector.progress.bar import ProgressWatcher
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.prices import Price
from tests.support.each_row import each_row
from tests.support.local_server import Handler, LocalServer, answers, completion, error
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

PRICES = '[[prices]]\nprovider = "local"\nmodel = "small"\ninput = 0\noutput = 1000.0\ndate = 2026-11-21\nsource = ""\n'
A_TOKEN = 0.001  # US dollars


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "study").mkdir()
    limited = ('provider = "local"\n', 'provider = "local"\nsettings = { max_tokens = 100 }\n')
    return str(write_tiny(tmp_path / "study", study=limited))


@pytest.fixture
def unlimited(tmp_path: Path) -> str:
    (tmp_path / "unlimited").mkdir()
    return str(write_tiny(tmp_path / "unlimited"))


def run(study: str, server: LocalServer, folder: Path, **more: Any) -> RunReport:
    prices = folder / "prices.toml"
    prices.write_text(PRICES, "utf-8")
    settings = {"concurrency": 8, "max_retries": 0, "time_limit": 5, "prices": prices, **more}
    return collect(
        folder / "a.duckdb",
        study,
        ["local/small"],
        base_url=server.base_url,
        **settings,
    )


def rows(folder: Path, query: str) -> list[Any]:
    return rows_in(folder / "a.duckdb", query)


class Bill:
    """A server that draws the length of each answer, and keeps the bill."""

    def __init__(self, longest: int) -> None:
        self.tokens = 0
        self.longest = longest
        self._draw = random.Random(20261121)

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(self._draw.uniform(0.0, 0.01))
        tokens = self._draw.randint(1, self.longest)
        self.tokens += tokens
        return web.json_response(completion(completion_tokens=tokens))


def test_a_budget_is_never_passed_where_requests_limit_their_answers(tiny: str, tmp_path: Path) -> None:
    bill = Bill(100)
    with LocalServer(bill) as server:
        report = run(tiny, server, tmp_path, budget=5.0, repetitions=40)
    assert 4.8 <= bill.tokens * A_TOKEN <= 5.0
    assert "the budget of $5.00 can't cover" in report.models[0]["stopped_because"]
    assert "higher --budget" in report.models[0]["stopped_because"]
    assert report.models[0]["cost_usd"] == pytest.approx(bill.tokens * A_TOKEN)
    assert rows(tmp_path, "SELECT sum(cost_usd), bool_and(cost_usd > 0) FROM attempts") == [
        (pytest.approx(bill.tokens * A_TOKEN), True)
    ]
    assert rows(tmp_path, "SELECT end_reason FROM runs") == [("incomplete",)]


@pytest.mark.slow
def test_without_a_limit_the_longest_answers_seen_are_the_reserve(unlimited: str, tmp_path: Path) -> None:
    bill = Bill(60)
    with LocalServer(bill) as server:
        run(unlimited, server, tmp_path, budget=20.0, repetitions=100)
    assert 19.8 <= bill.tokens * A_TOKEN <= 20.0


def test_the_same_command_after_a_stop_spends_nothing_more_and_a_higher_budget_goes_on(
    tiny: str, tmp_path: Path
) -> None:
    bill = Bill(100)
    with LocalServer(bill) as server:
        run(tiny, server, tmp_path, budget=2.0, repetitions=20)
        before = len(server.bodies)
        (tmp_path / "a.duckdb").unlink()  # the journal is the truth: what it says was spent, was spent
        report = run(tiny, server, tmp_path, budget=bill.tokens * A_TOKEN + 0.05, repetitions=20)
        assert len(server.bodies) == before
        assert report.models[0]["asked"] == 0
        report = run(tiny, server, tmp_path, budget=100.0, repetitions=20)
    assert report.is_complete
    assert rows(tmp_path, "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(160, 160)]


class Lanes(Watcher):
    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None:
        self.lanes = lanes


def test_where_the_budget_ends_nothing_is_left_in_flight_or_reserved(tiny: str, tmp_path: Path) -> None:
    seen = Lanes()
    with LocalServer(Bill(100)) as server:
        run(tiny, server, tmp_path, budget=1.0, repetitions=20, watcher=seen)
    (lane,) = seen.lanes
    assert (lane.pace.in_flight, lane.money.ledger.in_flight, lane.money.ledger.reserved_usd) == (0, 0, 0.0)


@pytest.mark.slow
def test_requests_that_break_off_may_be_billed_and_count_against_the_budget(tiny: str, tmp_path: Path) -> None:
    async def hang(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(1)
        return await answers(request, body)

    with LocalServer(hang) as server:
        report = run(tiny, server, tmp_path, budget=0.35, time_limit=0.3)
    assert len(server.bodies) == 3  # each may cost 100 tokens at $0.001
    assert "broke off" in report.models[0]["stopped_because"]
    assert rows(tmp_path, "SELECT count(*), count(cost_usd) FROM attempts") == [(3, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 100}, {"completion_tokens": 74}])
def test_answers_without_counts_count_against_the_budget_of_the_next_run_too(
    tiny: str, tmp_path: Path, usage: dict[str, int] | None
) -> None:
    async def uncounted(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion() | {"usage": usage})

    with LocalServer(uncounted) as server:
        first = run(tiny, server, tmp_path, budget=0.355)
        again = run(tiny, server, tmp_path, budget=0.355)
        assert len(server.bodies) == 3  # each may cost 100 tokens at $0.001
        assert run(tiny, server, tmp_path, budget=1.0).is_complete
    assert (first.models[0]["cost_usd"], again.models[0]["asked"]) == (None, 0)
    assert "the budget of $0.3550" in again.models[0]["stopped_because"]
    assert "up to $0.3000 for requests that were interrupted, lost" in again.models[0]["stopped_because"]


@pytest.mark.slow
def test_what_was_asked_while_no_price_was_known_counts_at_the_price_of_now(tiny: str, tmp_path: Path) -> None:
    with LocalServer() as server:
        collect(tmp_path / "a.duckdb", tiny, ["local/small"], base_url=server.base_url)
        report = run(tiny, server, tmp_path, budget=0.6, repetitions=2)
        assert len(server.bodies) == 8  # 74 tokens each
        (tmp_path / "a.duckdb").unlink()  # in the journal as in the database
        assert run(tiny, server, tmp_path, budget=0.6, repetitions=2).models == report.models
        assert run(tiny, server, tmp_path, budget=2.0, repetitions=2).is_complete
    assert "$0.0000 is spent and up to $0.5920 for requests" in report.models[0]["stopped_because"]


@each_row(
    ("seen", "is_billed"),
    [
        ({"error": "no complete answer within 600 s"}, True),
        ({"error": "ServerDisconnectedError: gone"}, True),
        ({"error": "ClientPayloadError: half a body", "status": 200}, True),
        ({"status": 200, "body": "not JSON"}, True),
        ({"error": "ClientConnectorError: refused"}, False),
        ({"error": "ClientProxyConnectionError: refused"}, False),
        ({"error": "no connection within 30 s: Connection timeout to host"}, False),
        ({"status": 200, "body": '{"error": {"code": 429}}'}, False),
        ({"status": 200, "body": '{"error": {"code": 502, "message": "cut off"}}'}, True),
        ({"status": 429, "body": "{}"}, False),
        ({"status": 500, "error": "ClientPayloadError: half a body"}, False),
    ],
)
def test_what_reached_the_model_may_be_billed_and_what_was_turned_away_is_not(
    seen: dict[str, Any], is_billed: bool
) -> None:
    assert may_be_billed(Exchange(queued_at="", sent_at="", **seen)) is is_billed


def failing(status: int, **body: Any) -> Handler:
    async def handler(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return error(status, "", "down") if not body else web.json_response(body, status=status)

    return handler


@pytest.mark.slow
def test_an_http_error_is_not_billed_unless_it_says_what_it_counted(tiny: str, tmp_path: Path) -> None:
    with LocalServer(failing(503)) as server:
        run(tiny, server, tmp_path, budget=0.35)
    assert len(server.bodies) == 8
    usage = {"prompt_tokens": 10, "completion_tokens": 40}
    with LocalServer(failing(503, error={"message": "cut off"}, usage=usage)) as server:
        report = run(tiny, server, tmp_path, budget=100.0)
    assert report.models[0]["cost_usd"] == pytest.approx(8 * 0.04)
    found = "SELECT count(*), count(cost_usd), sum(cost_usd), max(output_tokens) FROM attempts WHERE NOT is_final"
    assert rows(tmp_path, found) == [(16, 8, pytest.approx(0.32), 40)]


def test_a_model_without_a_price_has_a_cost_of_null_never_of_zero(unlimited: str, tmp_path: Path) -> None:
    with LocalServer() as server:
        report = collect(tmp_path / "a.duckdb", unlimited, ["local/other"], base_url=server.base_url)
    assert report.models[0]["cost_usd"] is None
    assert rows(tmp_path, "SELECT count(cost_usd) FROM attempts") == [(0,)]
    assert rows(tmp_path, "SELECT n_unpriced, cost_usd FROM costs") == [(8, None)]


def test_a_budget_wants_a_price_and_an_amount(unlimited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    for budget, model, said in [
        (5.0, "openai/gpt-77", "no price is known for openai/gpt-77"),
        (0.0, "openai/o3-mini", "budget must be above 0"),
    ]:
        with pytest.raises(UsageError, match=said):
            collect(tmp_path / "a.duckdb", unlimited, [model], yes=True, budget=budget)
    assert not (tmp_path / "a.duckdb").exists()


def test_the_progress_lines_and_the_final_report_show_what_it_cost_so_far(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("slant.collector.progress.bar.LINE_EVERY_S", 0.0)
    with LocalServer() as server:
        report = run(tiny, server, tmp_path, budget=100.0, watcher=ProgressWatcher())
    assert report.models[0]["cost_usd"] == pytest.approx(8 * 74 * A_TOKEN)
    assert "8 of 8 trials" in (lines := capsys.readouterr().err)
    assert "$0.59" in lines


def test_each_answer_that_was_seen_lets_less_be_set_aside_for_the_next_one() -> None:
    """Else a small budget ends after a few short answers, for lack of room for a long one that nobody expects."""
    price = Price("local", "small", 0.0, 1e6, None, None, None, "2026-11-21", "")
    reserves = [LaneMoney(price, seen=seen, longest=400).max_usd({}) for seen in (0, 15, 29, 30, 900)]
    assert reserves == [16_000, 8_000, 800, 800, 800]
