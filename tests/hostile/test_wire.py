"""Servers that misuse HTTP: one sentence, no more memory than a body may have, and no key for another host."""

from __future__ import annotations

import asyncio
import resource
from datetime import UTC, datetime

import pytest

from slant.collector.ask import client as client_module
from slant.collector.ask.client import Client
from slant.collector.ask.rate_limits import retry_after_s
from slant.collector.ask.retries import judge
from slant.collector.providers.exchange import Exchange, Request
from tests.hostile.wire import ENDLESS_BODIES, GOOD, WAITS, WIRES, HostileWire
from tests.support.each_row import each_row
from tests.support.raw_server import Act, RawServer, http

KEY = {"Authorization": "Bearer sk-secret-0123456789"}


def asked(act: Act, time_limit_s: float = 20) -> Exchange:
    async def ask(url: str) -> Exchange:
        async with Client(1, time_limit_s) as client:
            return await client.exchange(Request(url, KEY, {"model": "m", "messages": [{"content": "x"}]}), "")

    with RawServer(act) as server:
        return asyncio.run(ask(server.base_url))


@pytest.mark.slow
@each_row("wire", WIRES)
def test_each_misuse_of_http_is_a_sentence_and_has_one_consequence(wire: HostileWire) -> None:
    step = judge(asked(wire.act, wire.time_limit_s), 1)
    assert wire.said in step.reason
    assert step.action == wire.action
    assert len(step.reason) <= 2100


@pytest.mark.parametrize("wire", ENDLESS_BODIES, ids=lambda wire: wire.name)
def test_a_body_is_read_no_further_than_its_limit_whatever_it_was_compressed_from(wire: HostileWire) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    step = judge(asked(wire.act, wire.time_limit_s), 1)
    assert (wire.said in step.reason, step.action) == (True, "again")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_only_codings_that_are_bounded_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_BODY_BYTES", 1_000_000)
    heads: list[str] = []

    async def ask(server: RawServer) -> Exchange:
        async with Client(1, 5) as client:
            request = Request(server.base_url, {}, {"model": "m", "messages": [{"content": "x"}]})
            return await client.exchange(request, "")

    with RawServer() as server:
        assert asyncio.run(ask(server)).status == 200
        heads += server.heads
    assert "accept-encoding: gzip, deflate\r\n" in heads[0].lower()


def test_an_answer_in_an_unknown_coding_is_read_as_it_stands() -> None:
    assert judge(asked(lambda writer: _write(writer, http(GOOD, Content_Encoding="x-none"))), 1).action == "read"


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


@each_row(("told", "wait_s"), WAITS.items())
def test_retry_after_is_a_wait_or_says_nothing(told: str, wait_s: float | None) -> None:
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
    assert retry_after_s({"retry-after": told}, noon) == pytest.approx(wait_s)
    step = judge(Exchange(status=429, body="{}", headers={"retry-after": told}), 1)
    assert step.action == ("stop" if (wait_s or 0) > 3600 else "again")
    assert 0 <= step.wait_s <= 3600
