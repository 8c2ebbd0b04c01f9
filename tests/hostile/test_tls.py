"""Keys on their way by real TLS: through a proxy, to a host that sends on to another, to one without a trusted name."""

from __future__ import annotations

import shutil
import ssl
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from slant.collector import RunReport, collect
from slant.collector.keep.journal import journal_folder
from tests.support.raw_server import Act, RawServer, http
from tests.support.tiny_study import write_tiny
from tests.support.tls import Authority, Proxy

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here")
KEY, PASSWORD, HOST = "sk-proj-AbC9xyz0123456789QwErTy", "proxy-password-77", "llm.example.org"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def tls(authority: Authority) -> ssl.SSLContext:
    return authority.context_for(HOST)


@pytest.fixture(autouse=True)
def trusting(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return monkeypatch


def asked(folder: Path, address: str, patch: pytest.MonkeyPatch) -> tuple[RunReport, str]:
    """Two trials, asked at `address`; the report, and all that was kept in files."""
    patch.setenv("OPENAI_BASE_URL", address)
    (folder / "s").mkdir()
    report = collect(
        folder / "a.duckdb", write_tiny(folder / "s"), ["openai/m"], pilot=2, yes=True,
        max_retries=0, time_limit=10,
    )  # fmt: skip
    assert isinstance(report, RunReport)
    kept = b"".join(path.read_bytes() for path in [folder / "a.duckdb", *journal_folder(folder / "a.duckdb").iterdir()])
    return report, kept.decode("latin-1")


def sends_on(to: str, status: str) -> Act:
    async def act(writer: Any) -> None:
        writer.write(http(b"", status, Location=to))
        await writer.drain()

    return act


def test_through_a_proxy_the_key_goes_in_tls_only(
    tls: ssl.SSLContext, tmp_path: Path, trusting: pytest.MonkeyPatch
) -> None:
    with RawServer(tls=tls) as server, Proxy(server.base_url) as proxy:
        trusting.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@127.0.0.1:{proxy.port}")
        report, kept = asked(tmp_path, f"https://{HOST}/v1", trusting)
    assert (report.models[0]["answered"], report.models[0]["last_failure"]) == (2, None)
    assert proxy.seen.startswith(f"CONNECT {HOST}:443".encode())
    assert b64encode(f"me:{PASSWORD}".encode()) in proxy.seen
    assert KEY.encode() not in proxy.seen
    assert all(f"Bearer {KEY}" in head for head in server.heads)
    assert KEY not in kept
    assert PASSWORD not in kept


@pytest.mark.slow
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_host_that_sends_on_to_another_hands_over_no_key(
    status: str, authority: Authority, tls: ssl.SSLContext, tmp_path: Path, trusting: pytest.MonkeyPatch
) -> None:
    thief = RawServer(tls=authority.context_for("thief.example.org"))
    with thief, RawServer(sends_on(f"{thief.base_url}/chat/completions", status), tls=tls) as server:
        report, kept = asked(tmp_path, server.base_url, trusting)
    assert (thief.heads, report.models[0]["answered"]) == ([], 0)
    assert KEY not in kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "refusal",
    [b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
     b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
     b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"\0" * 100, b""],
    ids=["a password is wanted", "it sends on", "it answers itself", "zeros", "another's certificate"],
)  # fmt: skip
def test_a_proxy_that_passes_nothing_on_gets_no_key(
    refusal: bytes, authority: Authority, tmp_path: Path, trusting: pytest.MonkeyPatch
) -> None:
    server = RawServer(tls=authority.context_for("thief.example.org"))
    with server, Proxy(server.base_url, refusal) as proxy:
        trusting.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@127.0.0.1:{proxy.port}")
        report, kept = asked(tmp_path, f"https://{HOST}/v1", trusting)
    assert (server.heads, report.models[0]["answered"]) == ([], 0)
    assert KEY.encode() not in proxy.seen
    assert KEY not in kept
    assert PASSWORD not in kept


def test_a_server_that_nobody_vouches_for_gets_no_key(tmp_path: Path, trusting: pytest.MonkeyPatch) -> None:
    with RawServer(tls=Authority(tmp_path / "other", "another authority").context_for(HOST)) as server:
        report, kept = asked(tmp_path, server.base_url, trusting)
    assert (server.heads, report.models[0]["answered"]) == ([], 0)
    assert KEY not in kept
    assert "certificate" in f"{report.models[0]['stopped_because']} {report.models[0]['last_failure']}"
