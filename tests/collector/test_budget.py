"""Money in real runs against a real server that bills what it says: cost, budget, and what can't be known. What
requests in flight may cost lies on disk: a run that was killed leaves it to the budget of the next one."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import RunReport, Watcher, collect
from slant.collector.ask.lane_money import BudgetReached, LaneMoney, Ledger, may_be_billed
from slant.collector.ask.runner import Lane
from slant.collector.errors import JournalError, UsageError
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.reserved_money import KEPT_S, ReservedMoney, left_files
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
    assert "for requests that were interrupted" in report.models[0]["stopped_because"]
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


@pytest.fixture
def db(tmp_path: Path) -> Path:
    journal_folder(tmp_path / "a.duckdb").mkdir()
    return tmp_path / "a.duckdb"


def in_flight(db: Path, usd: float) -> ReservedMoney:
    money = ReservedMoney(journal_folder(db), "run-1", "drinks")
    asyncio.run(money.cover(usd))
    return money


def test_what_was_in_flight_when_a_run_was_killed_counts_for_its_study_alone(db: Path) -> None:
    money = in_flight(db, 1.5)
    assert not left_files(db, "drinks")  # that run still goes
    money.close(is_settled=False)
    assert [*left_files(db, "drinks").values()] == [1.5]
    assert not left_files(db, "other")


def test_a_run_that_ended_in_order_leaves_nothing(db: Path) -> None:
    in_flight(db, 1.5).close(is_settled=True)
    assert not left_files(db, "drinks")
    assert list(journal_folder(db).iterdir()) == []


def test_after_thirty_days_nobody_is_billed_for_it_any_more(db: Path) -> None:
    in_flight(db, 1.5).close(is_settled=False)
    (file,) = journal_folder(db).iterdir()
    os.utime(file, (time.time(), time.time() - KEPT_S - 60))
    assert not left_files(db, "drinks")


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"study": "drinks"}', b'{"study": "drinks", "usd": "x"}', b"\0" * 512]
)
def test_a_damaged_note_is_an_error_and_never_no_money(content: bytes, db: Path) -> None:
    (journal_folder(db) / "run-1.reserved").write_bytes(content)
    with pytest.raises(JournalError, match="what requests of a killed run may have cost"):
        left_files(db, "drinks")


def test_what_is_on_disk_is_what_is_in_flight_and_never_less(db: Path) -> None:
    async def sent_and_answered() -> list[tuple[float, float]]:
        money, in_flight_usd, seen = ReservedMoney(journal_folder(db), "run-1", "drinks"), 0.0, []
        for change in (2.0, 0.5, -0.5, -1.5, 0.1, 1.0, -1.6, 0.05):
            in_flight_usd += change
            if change > 0:
                await money.cover(in_flight_usd)
            else:
                money.settled(in_flight_usd)
                await asyncio.sleep(0.05)
            seen.append((in_flight_usd, json.loads(next(journal_folder(db).iterdir()).read_bytes())["usd"]))
        await money.idle()
        money.close(is_settled=False)
        return seen

    seen = asyncio.run(sent_and_answered())
    assert all(in_flight_usd <= usd <= max(2 * in_flight_usd, 1e-9) + 1e-9 for in_flight_usd, usd in seen), seen


def test_a_budget_without_room_names_the_file_that_a_killed_run_left(db: Path) -> None:
    in_flight(db, 1.5).close(is_settled=False)
    ledger = Ledger(2.0, uncertain_usd=1.5, left=left_files(db, "drinks"))
    money = LaneMoney(Price("openai", "m", 1.0, 1_000_000.0, None, None, None, "", ""), ledger)
    with pytest.raises(BudgetReached, match=r"\$1\.5000 of it was in flight .* delete .*run-1\.reserved to release it"):
        asyncio.run(money.reserve({"max_tokens": 10}, asyncio.Event(), lambda: False))


# a request: what is reserved for it, what it costs in the end (None: it broke off), and which one in flight ends before
amounts = st.integers(0, 1000).map(lambda cents: cents / 100)
requests = st.lists(st.tuples(amounts, st.none() | amounts, st.integers(0, 5)), max_size=60)


@given(st.integers(0, 5000).map(lambda cents: cents / 100), requests)
def test_the_cap_is_passed_by_no_more_than_the_reserves_were_too_small(
    cap: float, asked: list[tuple[float, float | None, int]]
) -> None:
    ledger = Ledger(cap)
    in_flight: list[tuple[float, float | None]] = []
    too_small = billed = 0.0
    for reserve, cost, ending in [*asked, *[(cap + 1, 0.0, 0)] * len(asked)]:
        if in_flight and ending < len(in_flight):
            reserved, actual = in_flight.pop(ending)
            ledger.settle(reserved, actual, is_uncertain=True)
            billed += actual if actual is not None else reserved
            too_small += max(0.0, (actual or 0.0) - reserved)
        if ledger.reserve(reserve):
            in_flight.append((reserve, cost))
        # what is booked and reserved stays below the cap at every moment, but for what costs went over their reserve
        assert ledger.booked_usd + ledger.reserved_usd <= cap + too_small + 1e-6
        assert abs(ledger.booked_usd - billed) < 1e-6
        assert abs(ledger.reserved_usd - sum(reserved for reserved, _ in in_flight)) < 1e-6


@given(requests)
def test_without_a_cap_everything_fits_and_is_counted(asked: list[tuple[float, float | None, int]]) -> None:
    ledger = Ledger()
    for reserve, cost, _ in asked:
        assert ledger.reserve(reserve)
        ledger.settle(reserve, cost)
    assert abs(ledger.spent_usd - sum(cost or 0.0 for _, cost, _ in asked)) < 1e-6
    assert ledger.reserved_usd == 0


def test_a_sum_of_many_small_costs_fits_a_cap_of_just_that_much() -> None:
    ledger = Ledger(0.8)
    for _ in range(8):
        assert ledger.reserve(0.1)
        ledger.settle(0.1, 0.1)
    assert not ledger.reserve(0.1)
    assert ledger.is_hopeless(0.1)


def test_what_an_http_error_had_reserved_is_given_back_and_what_broke_off_is_not() -> None:
    ledger = Ledger(1.0)
    ledger.reserve(0.4)
    ledger.settle(0.4, None)
    assert ledger.booked_usd == 0
    ledger.reserve(0.4)
    ledger.settle(0.4, None, is_uncertain=True)
    assert (ledger.spent_usd, ledger.uncertain_usd) == (0, 0.4)
