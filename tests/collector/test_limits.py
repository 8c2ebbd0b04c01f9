"""Limits and waits as servers write them into headers and bodies."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.ask.rate_limits import (
    StatedBudget,
    asked_wait_s,
    body_wait_s,
    duration_s,
    reset_s,
    retry_after_s,
    server_time,
    spoken,
    told_budgets,
)
from tests.support.each_row import each_row

NOW = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)


@each_row(
    ("text", "seconds"),
    [
        ("1m30s", 90.0), ("6ms", 0.006), ("20s", 20.0), ("1h2m3.5s", 3723.5), ("0s", 0.0), ("12.5", 12.5), ("7", 7.0),
        ("6m0s", 360.0), ("250µs", 0.00025), ("1d2h", 93_600.0), (" 89 ", 89.0),
        ("20 seconds", 20), ("PT1M30S", 90), ("1 hour 2 minutes", 3720), ("500 milliseconds", 0.5),
        ("", None), ("soon", None), ("-5", None), ("1m 30s", 90), ("nan", None), ("inf", None), ("٣", None),
    ],
)  # fmt: skip
def test_durations_are_read_as_openai_and_others_write_them(text: str, seconds: float | None) -> None:
    assert duration_s(text) == (None if seconds is None else pytest.approx(seconds))


@given(st.integers(0, 30), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_any_duration_comes_back_as_its_seconds(days: int, hours: int, minutes: int, seconds: int, ms: int) -> None:
    parts = f"{days}d{hours}h{minutes}m{seconds}s{ms}ms"
    assert duration_s(parts) == pytest.approx(((days * 24 + hours) * 60 + minutes) * 60 + seconds + ms / 1000)


def test_a_reset_may_be_a_moment() -> None:
    assert reset_s("2026-11-21T13:01:30Z", NOW.timestamp()) == 90.0
    assert reset_s("2026-11-21T14:01:30.500+01:00", NOW.timestamp()) == 90.5
    assert reset_s("2026-11-21T12:00:00Z", NOW.timestamp()) == 0.0
    assert reset_s(f"{NOW.timestamp() + 7:.0f}", NOW.timestamp()) == 7.0
    assert reset_s(f"{1000 * (NOW.timestamp() + 7):.0f}", NOW.timestamp()) == 7.0
    assert reset_s("next week", NOW.timestamp()) is None


def test_openais_headers_tell_requests_and_tokens() -> None:
    headers = {
        "x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms", "x-ratelimit-limit-tokens": "200000",
        "x-ratelimit-remaining-tokens": "150000", "x-ratelimit-reset-tokens": "1m30s", "server": "x",
    }  # fmt: skip
    assert told_budgets(headers) == (
        StatedBudget("requests", 500, 499, pytest.approx(0.12)),
        StatedBudget("tokens", 200_000, 150_000, 90),
    )


def test_anthropics_headers_tell_each_kind_of_tokens() -> None:
    headers = {
        f"anthropic-ratelimit-{kind}-{what}": value
        for kind in ("requests", "input-tokens", "output-tokens")
        for what, value in (("limit", "50"), ("remaining", "10"), ("reset", "2026-11-21T13:00:40Z"))
    }
    headers["date"] = format_datetime(NOW, usegmt=True)
    assert told_budgets(headers) == tuple(
        StatedBudget(k, 50, 10, 40.0) for k in ("requests", "input_tokens", "output_tokens")
    )


def test_a_budget_without_a_limit_or_a_rest_is_none() -> None:
    assert told_budgets({"x-ratelimit-limit-requests": "500", "x-ratelimit-reset-requests": "1s"}) == ()
    assert told_budgets({"x-ratelimit-limit": "0", "x-ratelimit-remaining": "0"}) == ()
    assert told_budgets({"x-ratelimit-limit": "9\x1f", "x-ratelimit-remaining": " 3"})[0].limit == 9
    assert told_budgets({"x-ratelimit-limit": "9", "x-ratelimit-remaining": "3"}) == (
        StatedBudget("requests", 9, 3, None),
    )


@pytest.mark.parametrize(
    ("headers", "budgets"),
    [
        # Azure: 500 are milliseconds, or else a limit of 120 a minute would allow more than the reset does
        ({"limit-requests": "120", "remaining-requests": "119", "reset-requests": "500",
          "renewalperiod-requests": "60"},
         [("requests", 120, 119, 0.5)]),
        ({"limit-requests": "10", "remaining-requests": "0", "reset-requests": "5000",
          "renewalperiod-requests": "5"},
         [("requests", 10, 0, 5.0)]),
        ({"limit-requests": "120", "remaining-requests": "119", "reset-requests": "500"},
         [("requests", 120, 119, 0.5)]),
        ({"limit-requests": "120", "remaining-requests": "119", "reset-requests": "500s"},
         [("requests", 120, 119, 500)]),
        # Mistral names the minute and no reset, Cerebras spans of different length
        ({"limit-req-minute": "60", "remaining-req-minute": "30"}, [("requests_minute", 60, 30, 30.0)]),
        ({"limit-tokens-day": "864000", "remaining-tokens-day": "863990", "reset-tokens-day": "33011.38"},
         [("tokens_day", 864_000, 863_990, 1.0)]),
        ({"limit": "100, 100;w=50", "remaining": "50", "reset": "50"}, [("requests", 100, 50, 25.0)]),
    ],
)  # fmt: skip
def test_a_reset_without_a_unit_is_not_believed_beyond_limit_and_period(
    headers: dict[str, str], budgets: list[Any]
) -> None:
    told = told_budgets({f"x-ratelimit-{name}": value for name, value in headers.items()})
    assert told == tuple(StatedBudget(*budget) for budget in budgets)


def test_retry_after_is_read_in_each_of_its_forms() -> None:
    date = format_datetime(NOW + timedelta(seconds=89), usegmt=True)
    assert retry_after_s({"retry-after": "89"}) == 89.0
    assert retry_after_s({"retry-after": date}, NOW.timestamp()) == 89.0
    assert retry_after_s({"retry-after": "9", "retry-after-ms": "1500"}) == 1.5
    assert retry_after_s({"retry-after": "1m29s"}) == 89.0
    assert retry_after_s({"retry-after": "9" * 4000}) == math.inf
    assert retry_after_s({}) is None


def test_a_moment_is_meant_by_the_servers_own_clock() -> None:
    wrong_clock = NOW - timedelta(days=400)
    headers = {
        "date": format_datetime(wrong_clock, usegmt=True),
        "retry-after": format_datetime(wrong_clock + timedelta(seconds=5), usegmt=True),
    }
    assert retry_after_s(headers) == 5.0
    assert server_time(headers) == wrong_clock.timestamp()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "details", "@type"]), inner),
)
TEXT = st.text(max_size=40) | st.from_regex(r"[0-9]{0,5}(ms|s|m|h)?[0-9.:TZ-]{0,9}", fullmatch=True)


@given(st.dictionaries(st.sampled_from(["error", "x"]), ANYTHING), TEXT, TEXT, TEXT)
def test_whatever_a_server_writes_is_a_wait_or_nothing(body: dict[str, object], one: str, two: str, date: str) -> None:
    wait_s = asked_wait_s({"retry-after": one, "retry-after-ms": two, "date": date}, body)
    assert wait_s is None or wait_s >= 0


@given(
    st.dictionaries(
        st.sampled_from(
            [
                f"{start}-ratelimit-{end}"
                for start in ("x", "anthropic")
                for end in (
                    "limit",
                    "limit-requests",
                    "remaining-requests",
                    "reset-requests",
                    "requests-limit",
                    "requests-remaining",
                    "requests-reset",
                    "tokens-limit",
                    "reset",
                )
            ]
        ),
        TEXT,
    )
)
def test_whatever_a_server_tells_of_its_budgets_is_finite_or_left_out(headers: dict[str, str]) -> None:
    for told in told_budgets(headers):
        assert math.isfinite(told.limit)
        assert 0 <= told.remaining <= told.limit
        assert told.reset_s is None or told.reset_s >= 0


def test_a_wait_is_told_in_words_that_fit() -> None:
    assert [spoken(s) for s in (0.4, 89, 720, 19_800, 7 * 86_400, 1e300)] == [
        "0 s",
        "89 s",
        "12 min",
        "5.5 h",
        "7 days",
        "years",
    ]


RETRY_INFO = [{"@type": "x"}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}]


@each_row(
    ("body", "seconds"),
    [
        ({"error": {"code": 429, "details": RETRY_INFO}}, 34.07),
        ({"error": {"message": "Rate limit reached. Please try again in 1m2.5s. Visit …"}}, 62.5),
        ({"error": {"message": "Please retry after 26 seconds."}}, 26),
        ({"error": {"message": "Please retry in 36.09s."}}, 36.09),
        ({"error": "please wait for 2 minutes"}, 120),
        ({"detail": "Too many requests, try again in 1h2m3s"}, 3723),
        ({"error": {"retry_after": 7}}, 7),
        ({"retry_after_ms": "700"}, 0.7),
        ({"error": {"message": "x", "metadata": {"headers": {"Retry-After": "9"}}}}, 9),
    ],
)
def test_a_body_may_ask_for_a_wait_where_the_headers_do_not(body: dict[str, object], seconds: float) -> None:
    assert asked_wait_s({}, body) == body_wait_s(body) == pytest.approx(seconds)
    assert asked_wait_s({"retry-after": "3"}, body) == 3.0
    assert asked_wait_s({}, None) is None


def test_a_budget_is_read_in_the_newer_form_of_ietf() -> None:
    policy, state = '"burst";q=10;w=1, "day";q=1000;w=86400', '"burst";r=5;t=1, "day";r=900;t=8000'
    (told,) = told_budgets({"ratelimit-policy": policy, "ratelimit": state})
    assert (told.kind, told.limit, told.remaining, told.reset_s) == ("requests", 10, 5, 1)
