"""What a failed exchange means, and what the client makes of servers that misbehave."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.ask import client as client_module
from slant.collector.ask.client import Client
from slant.collector.ask.retries import judge
from slant.collector.providers.exchange import Exchange, Request
from tests.support.each_row import each_row
from tests.support.local_server import Handler, LocalServer


def came(status: int | None = None, body: str | None = None, error: str | None = None, **headers: str) -> Exchange:
    return Exchange(
        "", "", status=status, body=body, error=error, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


@each_row(
    ("exchange", "action"),
    [
        (came(200, "{}"), "read"),
        (came(200, '{"error": {"code": 502, "message": "upstream"}}'), "again"),
        (came(200, '{"error": {"code": 401, "message": "key"}}'), "stop"),
        (came(200, '{"error": "overloaded"}'), "again"),
        (came(200, '{"error": null, "choices": []}'), "read"),
        (came(429, "{}", retry_after="86400"), "stop"),
        (came(429, "{}", retry_after="inf"), "again"),
        (came(200, "\n\n  {}"), "read"),
        (came(200, "not json"), "again"),
        (came(200, "[1]"), "again"),
        (came(200, None), "again"),
        (came(200, "[" * 100_000), "again"),
        (came(429, '{"error": {"code": "rate_limit_exceeded"}}'), "again"),
        (came(429, '{"error": {"code": "insufficient_quota"}}'), "stop"),
        (came(400, '{"error": {"code": "invalid_prompt", "message": "it violates our policy"}}'), "filtered"),
        (came(400, '{"error": {"message": "unknown parameter"}}'), "stop"),
        (came(401, '{"error": {"message": "wrong key"}}'), "stop"),
        (came(404, '{"error": "no such model"}'), "stop"),
        (came(302, ""), "stop"),
        (came(500, "<html>"), "again"),
        (came(503), "again"),
        (came(529, '{"error": {"type": "overloaded_error"}}'), "again"),
        (came(error="no complete answer within 5 s"), "again"),
    ],
)
def test_each_kind_of_exchange_has_one_consequence(exchange: Exchange, action: str) -> None:
    assert judge(exchange, 1).action == action


def test_a_stop_repeats_the_providers_own_sentence() -> None:
    assert "wrong key" in judge(came(401, '{"error": {"message": "wrong key"}}'), 1).reason


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"error": "model \\"x\\" not found"}', 'HTTP 404: model "x" not found'),  # Ollama
        (
            '{"object": "error", "message": "No model x.", "type": "NotFoundError", "code": 404}',
            "HTTP 404: No model x.",
        ),
        ('{"detail": [{"loc": ["body"], "msg": "Field required"}]}', "HTTP 404: Field required"),
        ('{"detail": []}', "HTTP 404 (nothing answers at this address"),
    ],
)
def test_local_servers_say_what_is_wrong_each_in_a_shape_of_its_own(body: str, sentence: str) -> None:
    assert judge(came(404, body), 1).reason.startswith(sentence)


@pytest.mark.parametrize(
    "body", ['{"detail": "Not Found"}', "404 page not found", '{"error": {"message": "File Not Found"}}']
)
def test_an_address_without_v1_is_told_from_a_model_that_is_not_there(body: str) -> None:
    assert "want /v1 at the end of --base-url" in judge(came(404, body), 1).reason
    assert "/v1" not in judge(came(404, '{"error": {"message": "The model x does not exist"}}'), 1).reason


def test_retry_after_is_the_least_wait_and_a_pause() -> None:
    assert (
        judge(came(429, "{}", retry_after="30"), 1).wait_s,
        judge(came(429, "{}", retry_after="30"), 1).pause_s,
    ) == (30, 30)
    assert judge(came(503, "{}", retry_after="1"), 9).wait_s == 60.0


@given(st.integers(1, 10_000))
def test_waits_grow_and_end_at_a_minute(try_no: int) -> None:
    assert judge(came(500), try_no).wait_s <= judge(came(500), try_no + 1).wait_s <= 60


async def _hang(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response()


async def _reset(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _half_a_body(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.close()
    return response


async def _endless(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(10_000):
        await response.write(b" " * 100_000)
    return response


async def _bad_bytes(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return web.Response(body=b'{"a": "\xff\xfe"}')


def asked(handler: Handler, time_limit_s: float = 5) -> Exchange:
    async def ask(url: str) -> Exchange:
        async with Client(1, time_limit_s) as client:
            return await client.exchange(Request(url, {}, {"messages": []}), "")

    with LocalServer(handler) as server:
        return asyncio.run(ask(server.base_url))


@pytest.mark.parametrize("handler", [_reset, _half_a_body])
def test_a_broken_connection_is_an_error_and_asked_again(handler: Handler) -> None:
    exchange = asked(handler)
    assert exchange.error
    assert judge(exchange, 1).action == "again"


def test_silence_ends_at_the_time_limit() -> None:
    assert asked(_hang, time_limit_s=0.2).error == "no complete answer within 0.2 s"


def test_a_body_without_end_is_cut_off_before_memory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_BODY_BYTES", 1_000_000)
    exchange = asked(_endless)
    assert exchange.error is not None
    assert "longer than" in exchange.error


def test_bytes_that_are_not_utf8_are_kept_readable() -> None:
    exchange = asked(_bad_bytes)
    assert exchange.body == '{"a": "\\u00ff\\u00fe"}'
    assert exchange.json() == {"a": "ÿþ"}


def test_a_server_that_is_not_there_is_an_error_that_names_it() -> None:
    async def ask() -> Exchange:
        async with Client(1, 5) as client:
            return await client.exchange(Request("http://127.0.0.1:9/v1", {}, {}), "")

    exchange = asyncio.run(ask())
    assert exchange.error is not None
    assert "127.0.0.1:9" in exchange.error
    assert not exchange.was_dropped
