"""The rate controller against simulated providers, in virtual time: no server and no clock of this machine."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector.ask.pace import START_LIMIT, AdaptiveLimit, KeyPause, Pace, Paces
from slant.collector.ask.rate_limits import Budgets, StatedBudget
from tests.support.paced_server import LimitedServer, ask_for
from tests.support.virtual_time import run_virtually

MINUTE = 60.0


def test_it_starts_moderately_and_doubles_up_to_the_cap() -> None:
    server = LimitedServer(latency_s=1.0)
    seen: list[int] = []
    ask_for(6.5, server, cap=50, start=4, each=lambda pace, now: seen.append(pace.limit.allowed))
    assert (seen[0], seen[-1], server.most_at_once) == (4, 50, 50)
    assert ask_for(1.5, LimitedServer(latency_s=1.0), cap=50, start=4).limit.allowed == 8


def test_a_429_counts_once_a_round_trip() -> None:
    limit = AdaptiveLimit(cap=100, start=100)
    assert limit.rate_limited(sent_s=1.0, now_s=2.0) > 0
    assert [limit.rate_limited(sent_s=1.0 + n / 100, now_s=2.1) for n in range(50)] == [0.0] * 50
    assert limit.allowed == 70
    assert limit.rate_limited(sent_s=2.05, now_s=2.2) > 0
    assert limit.allowed == 49


def test_answers_to_what_was_sent_before_the_429_do_not_let_it_grow() -> None:
    limit = AdaptiveLimit(cap=100, start=100)
    limit.rate_limited(sent_s=1.0, now_s=2.0)
    assert not any(limit.answered(sent_s=1.0, now_s=3.0 + n, was_full=True) for n in range(50))
    assert limit.allowed == 70


def test_a_failing_server_pauses_growth_only() -> None:
    limit = AdaptiveLimit(cap=100, start=10)
    assert limit.troubled(1.0)
    assert not limit.troubled(2.0)
    assert not limit.answered(sent_s=3.0, now_s=4.0, was_full=True)
    assert limit.allowed == 10
    assert limit.answered(sent_s=13.0, now_s=14.0, was_full=True)
    assert limit.allowed == 11
    assert limit.spacing_s == 0


def test_an_answer_that_is_waited_for_very_long_is_said() -> None:
    said: set[str] = set()
    for seconds in (25, 45):
        said.add(str(ask_for(seconds, LimitedServer(latency_s=60.0), cap=4, each=lambda pace, now: None)))
    assert said == {"4 at once", "4 at once, the oldest open request is 45 s old"}
    assert str(ask_for(70, LimitedServer(latency_s=60.0), cap=4)) == "4 at once"


@pytest.mark.parametrize("latency_s", [0.01, 1.0, 60.0, 300.0])
def test_latency_never_slows_it(latency_s: float) -> None:
    server = LimitedServer(latency_s=latency_s)
    ask_for(20 * latency_s, server, cap=16)
    assert server.n_answered >= 0.99 * 16 * 19
    assert server.n_refused == 0


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(
    cap=st.integers(1, 24),
    start=st.integers(1, 24),
    latency_s=st.floats(0.5, 20.0),
    storm_from=st.floats(0.0, 30.0),
    storm_s=st.floats(0.5, 90.0),
    status=st.sampled_from([429, 500, 503, 529]),
    retry_after=st.sampled_from([None, "0", "1", "7"]),
)
def test_it_stays_between_one_and_the_cap_and_recovers_from_any_storm(
    cap: int, start: int, latency_s: float, storm_from: float, storm_s: float, status: int, retry_after: str | None
) -> None:
    until = storm_from + storm_s
    server = LimitedServer(latency_s=latency_s, storm=(storm_from, until), storm_status=status, retry_after=retry_after)
    seen: set[int] = set()
    pace = ask_for(until + 6 * MINUTE, server, cap, start, lambda pace, _: seen.add(pace.limit.allowed))
    assert min(seen) >= 1
    assert max(seen) <= cap
    assert server.most_at_once <= cap
    assert pace.limit.allowed == cap
    assert server.n_answered > 0


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(
    rate_per_s=st.floats(2.0, 10.0),
    seconds_of_burst=st.floats(1.0, 60.0),
    latency_s=st.floats(0.02, 3.0),
    retry_after=st.sampled_from([None, "1"]),
    tells_budget=st.booleans(),
)
def test_a_rate_limit_is_used_well_and_seldom_hit(
    rate_per_s: float, seconds_of_burst: float, latency_s: float, retry_after: str | None, tells_budget: bool
) -> None:
    burst = rate_per_s * seconds_of_burst
    server = LimitedServer(rate_per_s, burst, latency_s, retry_after=retry_after, tells_budget=tells_budget)
    seconds, cap = 5 * MINUTE, 50
    ask_for(seconds, server, cap)
    possible = min(rate_per_s, cap / latency_s) * seconds
    assert server.n_answered >= 0.5 * possible  # the worst is a bucket of two, refilled at two a second: .56
    assert server.n_refused <= 0.2 * server.n_answered + cap


def test_told_budgets_keep_it_from_being_refused_at_all() -> None:
    server = LimitedServer(rate_per_s=10.0, burst=100.0, latency_s=0.5, tells_budget=True)
    ask_for(5 * MINUTE, server, cap=50, start=4)
    assert server.n_refused == 0
    assert server.n_answered >= 0.95 * (100 + 10 * 5 * MINUTE - 50)


def test_a_limit_of_requests_at_once_is_found() -> None:
    server = LimitedServer(latency_s=2.0, allowed_at_once=10)
    ask_for(10 * MINUTE, server, cap=64)
    assert server.n_answered >= 0.7 * 10 / 2.0 * 10 * MINUTE


def test_token_budgets_are_spent_as_answers_cost() -> None:
    async def measure() -> float:
        loop = asyncio.get_running_loop()
        pace = Pace(8, clock=loop.time)
        first = await pace.enter()
        assert first is not None
        headers = {
            f"x-ratelimit-{what}-tokens": value
            for what, value in (("limit", "60000"), ("remaining", "1500"), ("reset", "58s500ms"))
        }
        pace.leave(first, 200, headers, 0.0)
        pace.used(600, 400)
        for _ in range(3):
            assert await pace.enter()
        return loop.time()

    assert run_virtually(measure()) == pytest.approx(1.5)  # 3,000 tokens, of which 1,500 were left; 1,000 come a second


def test_older_news_of_a_budget_changes_nothing() -> None:
    budgets = Budgets()
    newer, older = [budgets.spend(0.0) for _ in range(2)][::-1]
    budgets.learn([StatedBudget("requests", 100, 0, 60.0)], newer, sent_s=0.0)
    budgets.learn([StatedBudget("requests", 100, 99, 60.0)], older, sent_s=0.0)
    assert budgets.wait_s(0.0) == (pytest.approx(0.6), "requests")


def test_retry_after_pauses_the_key_for_every_model_and_no_other_key() -> None:
    async def measure() -> list[float]:
        loop = asyncio.get_running_loop()
        shared = KeyPause()
        asked, same_key, other_key = (Pace(4, pause=p, clock=loop.time) for p in (shared, shared, KeyPause()))
        ticket = await asked.enter()
        assert ticket is not None
        asked.leave(ticket, 429, {}, 89.0)
        times = []
        for pace in (other_key, same_key, asked):
            await pace.enter()
            times.append(loop.time())
        return times

    assert run_virtually(measure()) == [0.0, pytest.approx(89.0), pytest.approx(89.0)]


def test_a_429_without_a_wait_holds_up_only_its_own_model() -> None:
    async def measure() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        shared = KeyPause()
        refused, other = (Pace(4, pause=shared, clock=loop.time) for _ in range(2))
        ticket = await refused.enter()
        assert ticket is not None
        refused.leave(ticket, 429, {}, 0.0)
        await other.enter()
        others = loop.time()
        await refused.enter()
        return others, loop.time()

    others, own = run_virtually(measure())
    assert others == 0.0
    assert 0 < own <= 1


def test_closing_wakes_all_who_wait() -> None:
    async def measure() -> tuple[list[object], float]:
        loop = asyncio.get_running_loop()
        pace = Pace(1, clock=loop.time)
        await pace.enter()
        waiting = [asyncio.create_task(pace.enter()) for _ in range(3)]
        sleeping = asyncio.create_task(pace.sleep(3600))
        loop.call_later(5, pace.close)
        return [*await asyncio.gather(*waiting), await sleeping], loop.time()

    assert run_virtually(measure()) == ([None] * 4, 5.0)


def test_only_servers_of_this_machine_are_asked_at_full_concurrency_at_once() -> None:
    paces = Paces(200, lambda record: None)
    assert paces.pace("m", "local", "http://localhost:8080/v1", None).limit.allowed == 200
    assert paces.pace("m", "openai", "https://api.openai.com/v1", "k").limit.allowed == START_LIMIT


def test_every_move_of_the_limit_is_noted_with_its_wait() -> None:
    notes: list[dict[str, object]] = []

    async def play() -> None:
        pace = Pace(10, model="m", note=lambda record: notes.append(dict(record)))
        for status, asked_s in ((429, 0.0), (503, 0.0), (429, 30.0)):
            pace._own_pause.until_s = 0.0
            ticket = await pace.enter()
            assert ticket is not None
            pace.leave(ticket, status, {}, asked_s)
        pace.close()

    asyncio.run(play())
    assert [(n["event"], n["request_limit"], n["detail"]) for n in notes] == [
        ("started", 10, None),
        ("rate_limited", 7, "not asked for"),
        ("growth_paused", 7, "HTTP 503"),
        ("rate_limited", 4, "asked for"),
        ("ended", 4, None),
    ]
    assert notes[3]["wait_s"] == 30.0
    assert math.isclose(float(str(notes[1]["wait_s"])), 0.5)
