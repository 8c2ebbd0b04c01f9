"""The proxy and the certificates that the environment names: what is wrong with them is one sentence."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.client import Client
from slant.collector.errors import UsageError
from slant.collector.providers.exchange import Request
from slant.collector.system.network import check_route, proxy_for
from tests.support.local_server import LocalServer
from tests.support.tiny_study import write_tiny

ELSEWHERE = "https://llm.example.org/v1"


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("HTTPS_PROXY", "proxy.example.org:3128", "HTTPS_PROXY names a proxy without a scheme"),
        ("https_proxy", "localhost:3128", "HTTPS_PROXY names a proxy without a scheme"),
        ("ALL_PROXY", "socks5://localhost:1080", "ALL_PROXY names a proxy of the kind socks5"),
        ("HTTPS_PROXY", "http://", "HTTPS_PROXY names no proxy that can be asked"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "SSL_CERT_FILE names certificates that are not there"),
        ("SSL_CERT_FILE", __file__, "SSL_CERT_FILE names a file that can't be read as certificates"),
        ("SSL_CERT_DIR", "/nowhere", "SSL_CERT_DIR names certificates that are not there"),
    ],
)
def test_what_is_wrong_with_the_way_to_a_server_is_one_sentence_before_anything_is_asked(
    variable: str, value: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-0123456789")
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=sentence) as refused:
        collect(tmp_path / "t.duckdb", str(write_tiny(tmp_path)), ["openai/m"], yes=True)
    assert len(str(refused.value).splitlines()) == 1
    assert not (tmp_path / "t.duckdb").exists()


def test_all_proxy_is_taken_where_no_nearer_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy:3128")
    assert proxy_for(ELSEWHERE) == "http://proxy:3128"
    monkeypatch.setenv("HTTPS_PROXY", "http://nearer:3128")
    assert proxy_for(ELSEWHERE) == "http://nearer:3128"
    assert proxy_for("http://localhost:8080/v1") is None


def test_a_server_on_this_machine_needs_no_proxy_and_no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "broken:3128")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    check_route("http://127.0.0.1:8080/v1")


@pytest.mark.slow
@pytest.mark.parametrize("packing", ["br", "compress"])
def test_a_body_in_a_packing_nobody_asked_for_stops_the_model_after_one_request(packing: str, tmp_path: Path) -> None:
    async def packed(request: web.Request, body: dict) -> web.StreamResponse:
        return web.Response(body=b"\x0b\x02\x80{}\x03", headers={"Content-Encoding": packing})

    with LocalServer(packed) as server:
        study = str(write_tiny(tmp_path))
        report = collect(tmp_path / "t.duckdb", study, ["local/m"], base_url=server.base_url)
        assert len(server.bodies) <= 16  # what was in flight
    assert "passes over Accept-Encoding" in report.models[0]["stopped_because"]


def test_a_broken_body_is_asked_again(tmp_path: Path) -> None:
    async def broken(request: web.Request, body: dict) -> web.StreamResponse:
        return web.Response(body=b"not gzip", headers={"Content-Encoding": "gzip"})

    async def exchange(url: str):
        async with Client(1, 5) as client:
            return await client.exchange(Request(f"{url}/chat", {}, {}), "")

    with LocalServer(broken) as server:
        assert "can't be unpacked (gzip)" in asyncio.run(exchange(server.base_url)).error
