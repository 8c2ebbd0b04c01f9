"""Everything that a server, a network or a machine can do to a run: no answer lost, none stored twice."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect as collect_here
from slant.collector.ask.client import Client
from slant.collector.keep import journal as journal_module
from slant.collector.providers.exchange import Request
from tests.support.fault_cases import FAULTS
from tests.support.fault_run import TRIALS, Suffered, collect, command, suffer_all
from tests.support.local_server import LocalServer, answers
from tests.support.processes import command_lines, n_open_files
from tests.support.raw_server import RawServer, http
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

KEY = "sk-te/st+key-0123456789=="


@pytest.fixture(scope="module")
def suffered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Suffered]:
    return suffer_all(FAULTS, tmp_path_factory.mktemp("faults"))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_of_a_server_loses_an_answer_or_doubles_one(name: str, suffered: dict[str, Suffered]) -> None:
    fault, found = FAULTS[name], suffered[name]
    assert (found.lost, found.doubled, found.left) == (0, 0, 0)
    assert found.outcomes == {fault.outcome: TRIALS}
    assert found.tries == fault.tries * TRIALS


def self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate that nobody has signed but itself."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is needed to make a certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run(["openssl", *words, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.mark.slow
def test_a_server_whose_certificate_nobody_vouches_for_gets_no_request(tmp_path: Path) -> None:
    with RawServer(tls=self_signed(tmp_path)) as server:
        done = collect(tmp_path, server.base_url, "--max-retries", 0, model="openai/o3-mini", OPENAI_API_KEY=KEY)
    assert done.returncode == 1
    assert server.heads == []
    assert "certificate" in rows_in(tmp_path / "a.duckdb", "SELECT error FROM attempts")[0][0].lower()


@pytest.mark.slow
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_so_that_the_key_stays_with_its_host(tmp_path: Path, status: str) -> None:
    async def elsewhere(writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"", status, Location=f"{other.base_url}/chat/completions"))
        await writer.drain()

    with RawServer() as other, RawServer(elsewhere) as server:
        done = collect(tmp_path, server.base_url, model="openai/o3-mini", OPENAI_API_KEY=KEY)
        assert (len(other.heads), len(server.heads) > 0) == (0, True)
    assert "redirect" in done.stderr
    assert done.returncode == 1


@pytest.mark.slow
def test_ten_thousand_refused_connections_leave_nothing_behind() -> None:
    async def ask() -> set[str]:
        request = Request("http://127.0.0.1:9/v1", {}, {"messages": []})
        async with Client(100, 5) as client:

            async def work() -> list[str]:
                return [str((await client.exchange(request, "")).error) for _ in range(100)]

            return {
                error.partition(":")[0]
                for errors in await asyncio.gather(*(work() for _ in range(100)))
                for error in errors
            }

    before = n_open_files()
    assert asyncio.run(ask()) == {"ClientConnectorError"}
    assert n_open_files() <= before


@pytest.mark.slow
def test_a_server_that_is_gone_is_asked_no_more_than_it_takes_to_see_that(tmp_path: Path) -> None:
    done = collect(tmp_path, "http://127.0.0.1:9/v1", "--max-retries", 0, "--repetitions", 1250)
    assert done.returncode == 1
    assert "no server answers at http://127.0.0.1:9/v1" in done.stderr
    assert rows_in(tmp_path / "a.duckdb", "SELECT count(*) < 40 FROM attempts") == [(True,)]


def test_a_clock_that_jumps_back_an_hour_moves_no_duration_and_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumped: list[int] = []

    class Jumping:
        def __getattr__(self, name: str) -> Any:
            return getattr(time, name)

        def time_ns(self) -> int:
            return time.time_ns() - 3_600_000_000_000 * bool(jumped)

    async def jump(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        jumped.extend([1] if len(server.bodies) == 4 else [])
        return await answers(request, body)

    monkeypatch.setattr(journal_module, "time", Jumping())
    began = time.monotonic()
    db = tmp_path / "a.duckdb"
    with LocalServer(jump) as server:
        study = str(write_tiny(tmp_path))
        collect_here(db, study, ["local/small"], base_url=server.base_url, concurrency=2)
    assert jumped
    assert time.monotonic() - began < 20
    assert rows_in(db, "SELECT count(*), min(latency_s) >= 0, max(latency_s) < 10 FROM trials") == [(8, True, True)]


@pytest.mark.slow
def test_a_key_is_in_no_file_no_message_and_no_process_list_however_it_is_echoed(tmp_path: Path) -> None:
    escaped = json.dumps(f"your key is {KEY}").replace("/", "\\/")

    async def echo(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        processes.extend(command_lines())
        body = f'{{"error": {{"message": {escaped}}}}}'.encode()
        writer.write(http(body, "500 Oops", x_request_id=KEY, x_ratelimit_note=KEY))
        await writer.drain()

    processes: list[bytes] = []
    with RawServer(echo) as server:
        done = collect(tmp_path, server.base_url, model="openai/o3-mini", OPENAI_API_KEY=KEY)
        sent = server.heads[0]
    status = subprocess.run(
        [*command(tmp_path, "")[:3], "status", "--db", tmp_path / "a.duckdb"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert KEY in sent
    assert any(b"collector" in words for words in processes)
    kept = {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    shown = {
        "stdout": done.stdout.encode(),
        "stderr": done.stderr.encode(),
        "status": (status.stdout + status.stderr).encode(),
    }
    forms = [KEY.encode(), KEY.replace("/", "\\/").encode(), KEY.replace("/", "%2F").encode()]
    everything = kept | shown | {f"process {no}": words for no, words in enumerate(processes)}
    assert [name for name, text in everything.items() if any(form in text for form in forms)] == []
    assert rows_in(tmp_path / "a.duckdb", "FROM attempts WHERE response LIKE '%[key]%'")
