"""What one operating system lacks: each function taken away, and then what is done instead; the proxy and the
certificates that the environment names: what is wrong with them is one sentence."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web

from slant.analysis.bridge.worker_start import worker_context
from slant.collector import collect, export_lake
from slant.collector.ask.client import Client
from slant.collector.errors import UsageError
from slant.collector.keep.database import writing
from slant.collector.providers.exchange import Request
from slant.collector.system import operating_system as system
from slant.collector.system.network import check_route, proxy_for
from slant.collector.view.bundle import export_for_scout
from tests.support.local_server import LocalServer
from tests.support.tiny_study import write_tiny
from tests.support.tracked import tracked_files

FULL_SYNC = 51  # F_FULLFSYNC of macOS


def fails_with(number: int):  # type: ignore[no-untyped-def]
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_macos_is_asked_to_empty_the_drives_own_memory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(system._fcntl, "F_FULLFSYNC", FULL_SYNC, raising=False)
    monkeypatch.setattr(system._fcntl, "fcntl", lambda *words: asked.append(words))
    monkeypatch.setattr(os, "fsync", fails_with(errno.EIO))
    monkeypatch.delattr(os, "fdatasync")
    system.onto_disk(7)
    assert asked == [(7, FULL_SYNC)]


@pytest.mark.parametrize("lacking", [(), ("fdatasync",)])
def test_a_drive_that_has_no_full_sync_gets_a_plain_one(
    monkeypatch: pytest.MonkeyPatch, lacking: tuple[str, ...]
) -> None:
    called: list[str] = []
    for name in ("fdatasync", "fsync"):
        monkeypatch.setattr(os, name, lambda file, name=name: called.append(name))
    for name in lacking:
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(system._fcntl, "F_FULLFSYNC", FULL_SYNC, raising=False)
    monkeypatch.setattr(system._fcntl, "fcntl", fails_with(errno.ENOTSUP))
    system.onto_disk(7)
    assert called == ["fsync" if lacking else "fdatasync"]


def test_a_disk_that_fails_is_never_taken_for_one_that_can_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system._fcntl, "F_FULLFSYNC", FULL_SYNC, raising=False)
    monkeypatch.setattr(system._fcntl, "fcntl", fails_with(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        system.onto_disk(7)
    monkeypatch.setattr(os, "posix_fallocate", fails_with(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        system.keep_room(7, 10)


@pytest.mark.parametrize("way", ["as here", "file system can't", "system can't"])
def test_room_is_kept_on_every_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "file system can't":
        monkeypatch.setattr(os, "posix_fallocate", fails_with(errno.EOPNOTSUPP), raising=False)
    elif way == "system can't":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with (tmp_path / "room").open("wb") as file:
        system.keep_room(file.fileno(), 100_000)
        kept = os.fstat(file.fileno())
    assert (kept.st_size, kept.st_blocks * 512 >= 100_000) == (100_000, True)


def test_what_is_written_survives_a_power_cut_by_each_folder_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file on the disk is lost all the same if a folder above it, or its name there, was not yet."""
    study = write_tiny(tmp_path)
    synced: set[Path | int] = set()

    def noted(file: int) -> None:
        if os.path.isdir(place := os.readlink(f"/proc/self/fd/{file}")):
            synced.update(Path(place).iterdir())
        else:
            synced.add(os.fstat(file).st_ino)

    monkeypatch.setattr(os, "fdatasync", noted)
    collect(tmp_path / "a.duckdb", study, simulated=True)
    export_lake(tmp_path / "a.duckdb", tmp_path / "deep" / "lake")
    export_for_scout(tmp_path / "a.duckdb", tmp_path / "other" / "scout.parquet")
    made = {path for name in ("a.duckdb.journal", "deep", "other") for path in tmp_path.glob(f"{name}/**/*")}
    made -= {path for path in made if path.suffix == ".lock" or path.name == "reserve"}
    assert {path for path in made if path not in synced} == set()
    assert {path for path in made if path.is_file() and path.stat().st_ino not in synced} == set()
    assert {tmp_path / "deep", tmp_path / "other", tmp_path / "a.duckdb.journal"} <= synced


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.EPERM])
def test_a_database_is_made_also_where_a_file_can_not_have_two_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "link", fails_with(number))
    with writing(tmp_path / "a.duckdb") as connection:
        assert connection.execute("SELECT count(*) FROM attempts").fetchall() == [(0,)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.duckdb"]
    (tmp_path / "made").touch()
    assert not system.put_in_place(tmp_path / "made", tmp_path / "a.duckdb")


def test_r_is_forked_on_linux_and_spawned_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, method in (("linux", "forkserver"), ("darwin", "spawn"), ("freebsd14", "spawn")):
        monkeypatch.setattr(sys, "platform", platform)
        assert worker_context().get_start_method() == method


def test_letters_are_utf8_and_sorted_as_c_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert system.r_locale() == {"LC_ALL": "", "LC_CTYPE": "en_US.UTF-8", "LC_COLLATE": "C"}
    monkeypatch.setattr(sys, "platform", "linux")
    assert system.r_locale() == {"LC_ALL": "C.UTF-8"}


def test_a_system_of_another_kind_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    system.check_supported()
    monkeypatch.setattr(system, "_fcntl", None)
    with pytest.raises(UsageError, match="wsl --install"):
        system.check_supported()


def test_cores_and_memory_are_told_in_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 5 < system.peak_memory_mb() < 50_000
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert system.core_count() == os.cpu_count()


def test_no_two_files_of_the_project_differ_only_in_capitals(root: Path) -> None:
    lower = Counter(path.casefold() for path in tracked_files(root))
    assert [path for path, times in lower.items() if times > 1] == []


def test_no_other_module_asks_which_system_it_runs_on(root: Path) -> None:
    asks = ("sys.platform", "os.name", "import fcntl", "import resource", "fdatasync", "posix_fallocate", "getaffinity")
    code = {
        str(path.relative_to(root)): path.read_text()
        for part in ("collector", "analysis")
        for path in (root / part).rglob("*.py")
    }
    assert {name for name, text in code.items() if any(word in text for word in asks)} == {
        "collector/system/operating_system.py"
    }


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
