"""A run against a real local server: what is asked, kept, asked again, and what stops it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import RunReport, Watcher, collect
from slant.collector.api import carry_out
from slant.collector.ask.call import Call
from slant.collector.ask.journal_writer import pause_s
from slant.collector.ask.runner import Lane
from slant.collector.errors import DatabaseError, ProviderError, UnknownNameError, UsageError
from slant.collector.keep.journal import journal_folder
from slant.collector.request.record import Request
from slant.collector.studies.catalogue import load_study
from tests.support.journals import only_journal
from tests.support.local_server import Handler, LocalServer, answers, completion, error
from tests.support.planned import planned
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

QUICK: dict[str, Any] = {"concurrency": 4, "max_retries": 2, "time_limit": 5}
KEY = "sk-secret-0123456789"


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    folder = tmp_path / "study"
    folder.mkdir()
    return str(write_tiny(folder))


def run(study: str, server: LocalServer, db: Path, **more: Any) -> RunReport:
    return collect(db, study, ["local/small"], base_url=server.base_url, **QUICK, **more)


def test_every_trial_is_asked_once_and_kept_with_its_request(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer() as server:
        report = run(tiny, server, db)
    assert report.is_complete
    assert len(server.bodies) == len(set(server.prompts)) == 8
    assert rows_in(db, "SELECT count(*), count(DISTINCT trial_id), sum(tokens) FROM trials") == [(8, 8, 8 * 64)]
    assert rows_in(db, "SELECT end_reason FROM runs") == [("finished",)]
    kept = [json.loads(request) for (request,) in rows_in(db, "SELECT request FROM attempts")]
    assert sorted(map(str, kept)) == sorted(map(str, server.bodies))


def test_a_resumed_run_asks_only_what_the_journal_lacks(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer() as server:
        run(tiny, server, db)
        (path,) = journal_folder(db).glob("*.jsonl")
        run_line, *lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([run_line, *[line for line in lines if b'"attempt_id"' in line][:3]]))
        db.unlink()
        report = run(tiny, server, db)
    assert report.models[0]["already_done"] == 3
    assert len(server.bodies) == 8 + 5
    assert rows_in(db, "SELECT count(*) FROM trials") == [(8,)]


@pytest.mark.slow
def test_a_copied_database_without_its_journal_buys_nothing_twice(tiny: str, tmp_path: Path) -> None:
    db, copy = tmp_path / "a.duckdb", tmp_path / "copy.duckdb"
    with LocalServer() as server:
        run(tiny, server, db)
        copy.write_bytes(db.read_bytes())
        run(tiny, server, copy)
    assert len(server.bodies) == 8


def test_a_refusal_is_an_outcome_and_is_never_asked_again(tiny: str, tmp_path: Path) -> None:
    async def refuse(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion("I'm sorry, but I can't help with that."))

    db = tmp_path / "a.duckdb"
    with LocalServer(refuse) as server:
        run(tiny, server, db)
        run(tiny, server, db)
    assert len(server.bodies) == 8
    assert rows_in(db, "SELECT outcome, count(*), min(tokens) FROM trials GROUP BY ALL") == [("refused", 8, 64)]


def failing_first(times: int, failure: Handler) -> Handler:
    seen: dict[str, int] = {}

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        prompt = body["messages"][-1]["content"]
        seen[prompt] = seen.get(prompt, 0) + 1
        return await failure(request, body) if seen[prompt] <= times else await answers(request, body)

    return handler


async def busy(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return error(429, "rate_limit_exceeded", "slow down", **{"retry-after-ms": "50"})


async def down(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return error(503, "", "down")


@pytest.mark.slow
def test_failures_are_asked_again_and_each_try_is_kept(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer(failing_first(1, busy)) as server:
        report = run(tiny, server, db)
    assert report.is_complete
    assert rows_in(db, "SELECT is_final, outcome, http_status, count(*) FROM attempts GROUP BY ALL ORDER BY 1") == [
        (False, "failed", 429, 8),
        (True, "answered", 200, 8),
    ]


def test_a_trial_whose_tries_all_failed_is_pending_again(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    options = {"concurrency": 8, "max_retries": 0}
    with LocalServer(failing_first(1, down)) as server:
        first = collect(db, tiny, ["local/small"], base_url=server.base_url, **options)
        again = collect(db, tiny, ["local/small"], base_url=server.base_url, **options)
    assert (first.is_complete, first.models[0]["failed"]) == (False, 8)
    assert again.is_complete
    assert rows_in(db, "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(8, 8)]


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [(401, "invalid_api_key", "Incorrect API key provided"), (404, "model_not_found", "no such model"),
     (429, "insufficient_quota", "You exceeded your current quota"), (302, "", "")],
)  # fmt: skip
def test_a_wrong_key_name_or_quota_stops_the_model_with_the_providers_sentence(
    tiny: str, tmp_path: Path, status: int, code: str, sentence: str
) -> None:
    async def no(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return error(status, code, sentence, Location="http://127.0.0.1:9/elsewhere")

    with LocalServer(no) as server:
        report = run(tiny, server, tmp_path / "a.duckdb", repetitions=20)
    assert sentence in report.models[0]["stopped_because"]
    assert len(server.bodies) <= QUICK["concurrency"]


def test_a_response_without_a_choice_is_asked_again_and_what_came_is_kept_whole(tiny: str, tmp_path: Path) -> None:
    async def odd(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({"choices": [], "usage": {"completion_tokens": 5}, "oddity": "\x00\ud800"})

    db = tmp_path / "a.duckdb"
    with LocalServer(odd) as server:
        run(tiny, server, db)
    assert rows_in(db, "SELECT outcome, is_final, count(*), min(tokens) FROM attempts GROUP BY ALL") == [
        ("failed", False, 24, 5)  # 8 trials, each tried three times
    ]
    assert "oddity" in rows_in(db, "SELECT response FROM attempts")[0][0]


@pytest.mark.slow
def test_a_key_is_found_in_no_file_even_when_the_provider_echoes_it(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def echo(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        text = f"Incorrect key: {request.headers['Authorization']}"
        echoing = completion(text) | {"id": KEY, "model": KEY, "system_fingerprint": KEY}
        return error(500, "", text) if len(server.bodies) % 2 else web.json_response(echoing)

    with LocalServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        collect(tmp_path / "a.duckdb", tiny, ["openai/o3-mini"], **QUICK, yes=True)
    assert KEY in server.headers[0]["Authorization"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 6
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert rows_in(tmp_path / "a.duckdb", "SELECT count(*) FROM attempts WHERE response LIKE '%[key]%'")[0][0] >= 8


def test_paid_requests_want_a_yes(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match="8 paid requests"):
        collect(tmp_path / "a.duckdb", tiny, ["openai/o3-mini"])
    assert not (tmp_path / "a.duckdb").exists()


def test_a_model_that_was_named_must_have_its_key(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="ANTHROPIC_API_KEY is not set"):
        collect(tmp_path / "a.duckdb", "rmiat", ["anthropic/claude-3-7-sonnet-20250219"])


def test_an_unknown_model_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "o3-mini"'):
        collect(tmp_path / "a.duckdb", "rmiat", ["o3-minni"])
    assert list(tmp_path.iterdir()) == []


def test_models_without_a_key_are_left_out_and_with_none_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "DEEPSEEK"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="Nothing was sent") as caught:
        collect(tmp_path / "a.duckdb", "rmiat")
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "--simulated" in str(caught.value)


def test_collect_works_where_an_event_loop_is_running_as_in_a_notebook(tiny: str, tmp_path: Path) -> None:
    async def cell(server: LocalServer) -> RunReport:
        return run(tiny, server, tmp_path / "a.duckdb")

    with LocalServer() as server:
        assert asyncio.run(cell(server)).is_complete


def test_a_full_disk_stops_the_run_and_keeps_every_answer(tiny: str, small_disk: Path) -> None:
    db = small_disk / "a.duckdb"

    async def fill(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion("Calm") | {"padding": "x" * 20_000})

    with LocalServer(fill) as server:
        report = run(tiny, server, db, repetitions=200)
        asked = len(server.bodies)
    assert report.disk_was_full
    assert asked < 1600
    assert only_journal(db).read_bytes().count(b'"attempt_id"') == asked


@pytest.mark.slow
def test_what_others_asked_since_the_offer_was_made_is_not_asked_again(tiny: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer() as server:
        run_plan = planned(load_study(tiny), ["local/small"], db, base_url=server.base_url)
        run(tiny, server, db)
        report = carry_out(run_plan, Call.begun(Request(db, tiny, **QUICK)))
    assert len(server.bodies) == 8
    assert report.models[0]["already_done"] == 8


def test_a_model_that_is_named_twice_is_asked_once(tiny: str, tmp_path: Path) -> None:
    with LocalServer() as server:
        collect(tmp_path / "a.duckdb", tiny, ["small", "local/small"], base_url=server.base_url, **QUICK)
    assert len(server.bodies) == 8


@pytest.mark.slow
def test_a_response_that_says_it_is_no_answer_is_asked_again(tiny: str, tmp_path: Path) -> None:
    async def overloaded(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        half = {"message": {"content": "Ca"}, "finish_reason": "insufficient_system_resource"}
        return web.json_response(completion() | {"choices": [half]})

    db = tmp_path / "a.duckdb"
    with LocalServer(failing_first(1, overloaded)) as server:
        assert run(tiny, server, db).is_complete
    assert rows_in(db, "SELECT outcome, count(*) FROM attempts GROUP BY ALL ORDER BY 1") == [
        ("answered", 8),
        ("failed", 8),
    ]


def test_base_url_never_takes_a_key_to_another_host(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with LocalServer() as server, pytest.raises(UsageError, match="key belongs to its own host") as caught:
        collect(tmp_path / "a.duckdb", tiny, ["local/small", "openai/o3-mini"], base_url=server.base_url, yes=True)
    assert "OPENAI_BASE_URL" in str(caught.value)
    assert server.bodies == []


@pytest.mark.parametrize("url", ["localhost:8080/v1", "foo", "http://", "ftp://h/v1", "http://me:secret@h/v1"])
def test_an_address_that_is_none_is_refused_before_anything_is_sent(tiny: str, tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError):
        collect(tmp_path / "a.duckdb", tiny, ["local/small"], base_url=url)
    assert not (tmp_path / "a.duckdb").exists()


def test_a_stand_in_for_a_key_does_not_black_out_ordinary_words(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "a")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        collect(tmp_path / "a.duckdb", tiny, ["openai/o3-mini"], **QUICK, yes=True)
    assert rows_in(tmp_path / "a.duckdb", "SELECT DISTINCT answer FROM trials") == [("Calm",)]


@pytest.mark.parametrize("place", [":memory:", "", "no/such/folder/a.duckdb"])
def test_a_place_where_no_database_can_last_is_refused(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with LocalServer() as server, pytest.raises(DatabaseError):
        run(tiny, server, Path(place))
    assert server.bodies == []
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


@given(st.floats(0, 1e6))
def test_the_database_is_left_alone_for_far_longer_than_it_is_held(held_s: float) -> None:
    assert pause_s(held_s) >= max(2.0, 11 * held_s)
    assert pause_s(held_s) <= max(20.0, 11 * held_s)


class Impatient(Watcher):
    """Stops the run at its first answer, as Ctrl-C does."""

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None:
        self._stop = stop

    def change(self, lane: Lane, outcome: str) -> None:
        self._stop()


def test_a_model_that_was_interrupted_says_so(tiny: str, tmp_path: Path) -> None:
    with LocalServer() as server:
        asked: dict[str, Any] = {"base_url": server.base_url, "concurrency": 1}
        report = collect(tmp_path / "a.duckdb", tiny, ["local/small"], watcher=Impatient(), **asked)
    assert (report.was_stopped, report.models[0]["stopped_because"]) == (True, "interrupted")
