"""What a real llama.cpp server answered (tests/transcripts/local_smollm2.jsonl), served again and read again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from slant.collector.api import collect
from slant.collector.ask.call import Watcher
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.records import Prompt
from tests.support import TESTS
from tests.support.local_server import LocalServer

HERE = TESTS
SLICE = HERE / "local" / "rmiat_slice" / "study.toml"


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, Any]]:
    """By the hash of the prompt."""
    lines = (HERE / "transcripts" / "local_smollm2.jsonl").read_text(encoding="utf-8").splitlines()
    return {kept["read"]["prompt_hash"]: kept for kept in map(json.loads, lines)}


@pytest.fixture(scope="module")
def rows(recorded: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    async def as_recorded(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        kept = recorded[Prompt(tuple(body["messages"])).hash]
        headers = {name: value for name, value in kept["headers"].items() if name not in ("date", "server")}
        return web.Response(text=kept["response"], content_type="application/json", headers=headers)

    db = tmp_path_factory.mktemp("local") / "slice.duckdb"
    with LocalServer(as_recorded) as server:
        report = collect(db, str(SLICE), ["local/smollm2"], base_url=server.base_url, watcher=Watcher())
    assert report.is_complete
    with reading(db) as connection:
        found: list[dict[str, Any]] = frame_of(connection.table("attempts")).to_dicts()
    return found


def test_the_slice_asks_just_what_was_recorded(recorded: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    assert sorted(row["prompt_hash"] for row in rows) == sorted(recorded)
    assert len(rows) == 64


def test_a_real_servers_answers_are_read_as_they_were_when_it_gave_them(recorded: Any, rows: Any) -> None:
    for row in rows:
        kept = recorded[row["prompt_hash"]]
        assert {name: row[name] for name in kept["cell"]} == kept["cell"]
        assert {name: row[name] for name in kept["read"]} == kept["read"]


def test_the_record_holds_labels_talk_and_cut_off_answers(recorded: Any) -> None:
    assert {"answered", "malformed", "truncated"} <= {kept["read"]["outcome"] for kept in recorded.values()}


def test_what_llama_cpp_does_not_count_is_null_and_never_zero(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert (row["reasoning_tokens"], row["reasoning_tokens_recounted"], row["reasoning_text"]) == (None, None, None)
        assert row["tokens"] == row["output_tokens"] > 0
        assert row["token_source"] == "output"


def test_the_transcript_names_no_place_of_the_machine_that_made_it() -> None:
    text = (HERE / "transcripts" / "local_smollm2.md").read_text(encoding="utf-8")
    assert not [word for word in ("/home/", "/root/", "/tmp/", "/opt/", "/work/") if word in text]
    assert "$ collect --study tests/local/rmiat_slice/study.toml --model local/smollm2" in text
